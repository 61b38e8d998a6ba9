define void @kff612fae70ad9fe0baa596dd8aa75fc8(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 48
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 160
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %v2, i64 %v4
  %v6 = getelementptr i8, ptr %words, i64 168
  %v7 = load i64, ptr %v6, align 8
  %v8 = getelementptr i8, ptr %words, i64 176
  %v9 = load i64, ptr %v8, align 8
  %v10 = getelementptr i8, ptr %words, i64 48
  %v11 = load ptr, ptr %v10, align 8
  %v12 = getelementptr i8, ptr %words, i64 184
  %v13 = load i64, ptr %v12, align 8
  %v14 = getelementptr i8, ptr %v11, i64 %v13
  %v15 = getelementptr i8, ptr %words, i64 192
  %v16 = load i64, ptr %v15, align 8
  %v17 = getelementptr i8, ptr %words, i64 200
  %v18 = load i64, ptr %v17, align 8
  %v19 = getelementptr i8, ptr %words, i64 208
  %v20 = load i64, ptr %v19, align 8
  %v21 = getelementptr i8, ptr %words, i64 216
  %v22 = load i64, ptr %v21, align 8
  %v23 = getelementptr i8, ptr %words, i64 224
  %v24 = load i64, ptr %v23, align 8
  %v25 = load ptr, ptr %words, align 8
  %v26 = alloca i64, align 8
  %v36 = alloca i64, align 8
  %v39 = alloca ptr, align 8
  %v43 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v26
  br label %b27
  b27:
  %v30 = load i64, ptr %v26
  %v31 = icmp slt i64 %v30, %end
  br i1 %v31, label %b28, label %b29
  b28:
  %v32 = load i64, ptr %v26
  %v33 = mul i64 %v32, %v16
  %v34 = getelementptr i8, ptr %v14, i64 %v33
  %v35 = mul i64 %v32, 16384
  store i64 %v35, ptr %v36
  %v37 = mul i64 %v35, %v22
  %v38 = getelementptr i8, ptr %v25, i64 %v37
  store ptr %v38, ptr %v39
  %v40 = add i64 %v35, 16384
  %v41 = icmp slt i64 %v40, %v7
  %v42 = select i1 %v41, i64 %v40, i64 %v7
  store i64 %v35, ptr %v43
  br label %b44
  b44:
  %v47 = load i64, ptr %v43
  %v48 = icmp slt i64 %v47, %v42
  br i1 %v48, label %b45, label %b46
  b45:
  %v49 = load i64, ptr %v43
  %v50 = load ptr, ptr %v39
  %v51 = load i64, ptr %v50, align 8
  %v52 = icmp slt i64 %v51, %v24
  %v53 = select i1 %v52, i64 %v51, i64 %v24
  %v54 = icmp slt i64 %v53, 0
  %v55 = select i1 %v54, i64 0, i64 %v53
  %v56 = load i64, ptr %v36
  %v57 = shl i64 %v55, 32
  %v58 = or i64 %v57, %v49
  %v59 = lshr i64 %v55, %v18
  %v60 = and i64 %v59, %v9
  %v61 = mul i64 %v60, 4
  %v62 = getelementptr i8, ptr %v34, i64 %v61
  %v63 = load i32, ptr %v62, align 4
  %v64 = zext i32 %v63 to i64
  %v65 = add i64 %v64, 1
  %v66 = trunc i64 %v65 to i32
  %v67 = mul i64 %v60, 4
  %v68 = getelementptr i8, ptr %v34, i64 %v67
  store i32 %v66, ptr %v68, align 4
  %v69 = mul i64 %v64, 8
  %v70 = getelementptr i8, ptr %v5, i64 %v69
  store i64 %v58, ptr %v70, align 8
  %v71 = load i64, ptr %v36
  %v72 = add i64 %v71, 1
  store i64 %v72, ptr %v36
  %v73 = load ptr, ptr %v39
  %v74 = getelementptr i8, ptr %v73, i64 %v22
  store ptr %v74, ptr %v39
  %v75 = add i64 %v49, 1
  store i64 %v75, ptr %v43
  br label %b44
  b46:
  %v76 = add i64 %v32, 1
  store i64 %v76, ptr %v26
  br label %b27
  b29:
  ret void
}
