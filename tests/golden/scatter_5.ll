define void @k535f168a5367855ef0d1ccc7b0399408(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = alloca [5888 x i64], align 64
  %v2 = getelementptr i8, ptr %words, i64 48
  %v3 = load ptr, ptr %v2, align 8
  %v4 = getelementptr i8, ptr %words, i64 264
  %v5 = load i64, ptr %v4, align 8
  %v6 = getelementptr i8, ptr %v3, i64 %v5
  %v7 = getelementptr i8, ptr %words, i64 48
  %v8 = load ptr, ptr %v7, align 8
  %v9 = getelementptr i8, ptr %words, i64 272
  %v10 = load i64, ptr %v9, align 8
  %v11 = getelementptr i8, ptr %v8, i64 %v10
  %v12 = getelementptr i8, ptr %words, i64 280
  %v13 = load i64, ptr %v12, align 8
  %v14 = getelementptr i8, ptr %words, i64 288
  %v15 = load i64, ptr %v14, align 8
  %v16 = getelementptr i8, ptr %words, i64 40
  %v17 = load ptr, ptr %v16, align 8
  %v18 = getelementptr i8, ptr %words, i64 296
  %v19 = load i64, ptr %v18, align 8
  %v20 = alloca i64, align 8
  %v23 = alloca ptr, align 8
  %v24 = alloca i64, align 8
  %v42 = getelementptr i8, ptr %words, i64 304
  %v43 = load i64, ptr %v42, align 8
  %v44 = getelementptr i8, ptr %words, i64 312
  %v45 = load i64, ptr %v44, align 8
  %v46 = alloca i64, align 8
  %v59 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v20
  %v21 = mul i64 %begin, %v15
  %v22 = getelementptr i8, ptr %v17, i64 %v21
  store ptr %v22, ptr %v23
  store i64 %begin, ptr %v24
  br label %b25
  b25:
  %v28 = load i64, ptr %v24
  %v29 = icmp slt i64 %v28, %end
  br i1 %v29, label %b26, label %b27
  b26:
  %v30 = load i64, ptr %v24
  %v31 = mul i64 %v30, 4
  %v32 = getelementptr i8, ptr %v11, i64 %v31
  %v33 = load i32, ptr %v32, align 4
  %v34 = zext i32 %v33 to i64
  %v35 = add i64 %v30, 1
  %v36 = mul i64 %v35, 4
  %v37 = getelementptr i8, ptr %v11, i64 %v36
  %v38 = load i32, ptr %v37, align 4
  %v39 = zext i32 %v38 to i64
  %v40 = sub i64 %v39, %v34
  %v41 = load ptr, ptr %v23
  store i64 0, ptr %v46
  br label %b47
  b47:
  %v50 = load i64, ptr %v46
  %v51 = icmp slt i64 %v50, %v43
  br i1 %v51, label %b48, label %b49
  b48:
  %v52 = load i64, ptr %v46
  %v53 = sub i64 %v43, %v52
  %v54 = icmp slt i64 %v53, 256
  %v55 = select i1 %v54, i64 %v53, i64 256
  %v56 = mul i64 %v52, %v45
  %v57 = getelementptr i8, ptr %v41, i64 %v56
  %v58 = add i64 0, %v52
  store i64 0, ptr %v59
  br label %b60
  b60:
  %v63 = load i64, ptr %v59
  %v64 = icmp slt i64 %v63, %v55
  br i1 %v64, label %b61, label %b62
  b61:
  %v65 = load i64, ptr %v59
  %v66 = mul i64 %v65, %v19
  %v67 = getelementptr i8, ptr %v57, i64 %v66
  store i64 %v40, ptr %v67, align 8
  %v68 = add i64 %v65, 1
  store i64 %v68, ptr %v59
  br label %b60
  b62:
  %v69 = add i64 %v52, 256
  store i64 %v69, ptr %v46
  br label %b47
  b49:
  %v70 = load i64, ptr %v20
  %v71 = add i64 %v70, 1
  store i64 %v71, ptr %v20
  %v72 = load ptr, ptr %v23
  %v73 = getelementptr i8, ptr %v72, i64 %v15
  store ptr %v73, ptr %v23
  %v74 = add i64 %v30, 1
  store i64 %v74, ptr %v24
  br label %b25
  b27:
  ret void
}
