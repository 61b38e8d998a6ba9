define void @k202155d5f9530be19b20a644369e3e9f(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 16
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 152
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 160
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 168
  %v8 = load i64, ptr %v7, align 8
  %v9 = getelementptr i8, ptr %words, i64 176
  %v10 = load i64, ptr %v9, align 8
  %v11 = getelementptr i8, ptr %words, i64 184
  %v12 = load i64, ptr %v11, align 8
  %v13 = getelementptr i8, ptr %words, i64 192
  %v14 = load i64, ptr %v13, align 8
  %v15 = getelementptr i8, ptr %words, i64 200
  %v16 = load i64, ptr %v15, align 8
  %v17 = getelementptr i8, ptr %words, i64 208
  %v18 = load i64, ptr %v17, align 8
  %v19 = getelementptr i8, ptr %words, i64 216
  %v20 = load i64, ptr %v19, align 8
  %v21 = getelementptr i8, ptr %words, i64 224
  %v22 = load i64, ptr %v21, align 8
  %v23 = load ptr, ptr %words, align 8
  %v24 = getelementptr i8, ptr %words, i64 8
  %v25 = load ptr, ptr %v24, align 8
  %v26 = getelementptr i8, ptr %words, i64 232
  %v27 = load i64, ptr %v26, align 8
  %v30 = alloca i64, align 8
  %v31 = alloca i64, align 8
  %v36 = alloca ptr, align 8
  %v41 = alloca ptr, align 8
  %v42 = alloca i64, align 8
  br label %start
  start:
  %v28 = urem i64 %begin, %v18
  %v29 = udiv i64 %begin, %v18
  store i64 %v29, ptr %v30
  store i64 %v28, ptr %v31
  %v32 = mul i64 %v29, %v20
  %v33 = getelementptr i8, ptr %v23, i64 %v32
  %v34 = mul i64 %v28, 0
  %v35 = getelementptr i8, ptr %v33, i64 %v34
  store ptr %v35, ptr %v36
  %v37 = mul i64 %v29, %v22
  %v38 = getelementptr i8, ptr %v25, i64 %v37
  %v39 = mul i64 %v28, 0
  %v40 = getelementptr i8, ptr %v38, i64 %v39
  store ptr %v40, ptr %v41
  store i64 %begin, ptr %v42
  br label %b43
  b43:
  %v46 = load i64, ptr %v42
  %v47 = icmp slt i64 %v46, %end
  br i1 %v47, label %b44, label %b45
  b44:
  %v48 = load i64, ptr %v42
  %v49 = load i64, ptr %v30
  %v50 = load i64, ptr %v31
  %v51 = load ptr, ptr %v36
  %v52 = load ptr, ptr %v41
  %v53 = udiv i64 %v48, %v27
  %v54 = getelementptr i8, ptr %v2, i64 %v8
  %v55 = mul i64 %v53, 4
  %v56 = getelementptr i8, ptr %v54, i64 %v55
  %v57 = load float, ptr %v56, align 4
  %v58 = mul i64 %v50, %v4
  %v59 = add i64 %v58, %v4
  %v60 = icmp slt i64 %v59, %v6
  %v61 = select i1 %v60, i64 %v59, i64 %v6
  store float %v57, ptr %v52, align 4
  %v62 = load i64, ptr %v31
  %v63 = add i64 %v62, 1
  store i64 %v63, ptr %v31
  %v64 = load ptr, ptr %v36
  %v65 = getelementptr i8, ptr %v64, i64 0
  store ptr %v65, ptr %v36
  %v66 = load ptr, ptr %v41
  %v67 = getelementptr i8, ptr %v66, i64 0
  store ptr %v67, ptr %v41
  %v68 = load i64, ptr %v31
  %v69 = icmp eq i64 %v68, %v18
  br i1 %v69, label %b70, label %b71
  b70:
  %v72 = mul i64 0, %v18
  %v73 = load ptr, ptr %v36
  %v74 = sub i64 0, %v72
  %v75 = getelementptr i8, ptr %v73, i64 %v74
  store ptr %v75, ptr %v36
  %v76 = mul i64 0, %v18
  %v77 = load ptr, ptr %v41
  %v78 = sub i64 0, %v76
  %v79 = getelementptr i8, ptr %v77, i64 %v78
  store ptr %v79, ptr %v41
  store i64 0, ptr %v31
  %v80 = load i64, ptr %v30
  %v81 = add i64 %v80, 1
  store i64 %v81, ptr %v30
  %v82 = load ptr, ptr %v36
  %v83 = getelementptr i8, ptr %v82, i64 %v20
  store ptr %v83, ptr %v36
  %v84 = load ptr, ptr %v41
  %v85 = getelementptr i8, ptr %v84, i64 %v22
  store ptr %v85, ptr %v41
  br label %b71
  b71:
  %v86 = add i64 %v48, 1
  store i64 %v86, ptr %v42
  br label %b43
  b45:
  ret void
}
