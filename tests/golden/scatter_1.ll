define void @k3ae20660df927fc43247e6c0b4948583(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 48
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 56
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %v2, i64 %v4
  %v6 = getelementptr i8, ptr %words, i64 64
  %v7 = load i64, ptr %v6, align 8
  %v10 = alloca i64, align 8
  %v21 = getelementptr i8, ptr %words, i64 72
  %v22 = load i64, ptr %v21, align 8
  %v23 = getelementptr i8, ptr %words, i64 80
  %v24 = load i64, ptr %v23, align 8
  %v25 = getelementptr i8, ptr %words, i64 48
  %v26 = load ptr, ptr %v25, align 8
  %v27 = getelementptr i8, ptr %words, i64 88
  %v28 = load i64, ptr %v27, align 8
  %v29 = getelementptr i8, ptr %v26, i64 %v28
  %v30 = getelementptr i8, ptr %words, i64 96
  %v31 = load i64, ptr %v30, align 8
  %v32 = getelementptr i8, ptr %words, i64 104
  %v33 = load i64, ptr %v32, align 8
  %v34 = getelementptr i8, ptr %words, i64 112
  %v35 = load i64, ptr %v34, align 8
  %v36 = getelementptr i8, ptr %words, i64 120
  %v37 = load i64, ptr %v36, align 8
  %v38 = getelementptr i8, ptr %words, i64 128
  %v39 = load i64, ptr %v38, align 8
  %v40 = load ptr, ptr %words, align 8
  %v41 = alloca i64, align 8
  %v51 = alloca i64, align 8
  %v54 = alloca ptr, align 8
  %v58 = alloca i64, align 8
  br label %start
  start:
  %v8 = mul i64 %begin, %v7
  %v9 = mul i64 %end, %v7
  store i64 %v8, ptr %v10
  br label %b11
  b11:
  %v14 = load i64, ptr %v10
  %v15 = icmp slt i64 %v14, %v9
  br i1 %v15, label %b12, label %b13
  b12:
  %v16 = load i64, ptr %v10
  %v17 = trunc i64 0 to i32
  %v18 = mul i64 %v16, 4
  %v19 = getelementptr i8, ptr %v5, i64 %v18
  store i32 %v17, ptr %v19, align 4
  %v20 = add i64 %v16, 1
  store i64 %v20, ptr %v10
  br label %b11
  b13:
  store i64 %begin, ptr %v41
  br label %b42
  b42:
  %v45 = load i64, ptr %v41
  %v46 = icmp slt i64 %v45, %end
  br i1 %v46, label %b43, label %b44
  b43:
  %v47 = load i64, ptr %v41
  %v48 = mul i64 %v47, %v31
  %v49 = getelementptr i8, ptr %v29, i64 %v48
  %v50 = mul i64 %v47, 16384
  store i64 %v50, ptr %v51
  %v52 = mul i64 %v50, %v37
  %v53 = getelementptr i8, ptr %v40, i64 %v52
  store ptr %v53, ptr %v54
  %v55 = add i64 %v50, 16384
  %v56 = icmp slt i64 %v55, %v22
  %v57 = select i1 %v56, i64 %v55, i64 %v22
  store i64 %v50, ptr %v58
  br label %b59
  b59:
  %v62 = load i64, ptr %v58
  %v63 = icmp slt i64 %v62, %v57
  br i1 %v63, label %b60, label %b61
  b60:
  %v64 = load i64, ptr %v58
  %v65 = load ptr, ptr %v54
  %v66 = load i64, ptr %v65, align 8
  %v67 = icmp slt i64 %v66, %v39
  %v68 = select i1 %v67, i64 %v66, i64 %v39
  %v69 = icmp slt i64 %v68, 0
  %v70 = select i1 %v69, i64 0, i64 %v68
  %v71 = load i64, ptr %v51
  %v72 = shl i64 %v70, 32
  %v73 = or i64 %v72, %v64
  %v74 = lshr i64 %v70, %v33
  %v75 = and i64 %v74, %v24
  %v76 = mul i64 %v75, 4
  %v77 = getelementptr i8, ptr %v49, i64 %v76
  %v78 = load i32, ptr %v77, align 4
  %v79 = zext i32 %v78 to i64
  %v80 = add i64 %v79, 1
  %v81 = trunc i64 %v80 to i32
  %v82 = mul i64 %v75, 4
  %v83 = getelementptr i8, ptr %v49, i64 %v82
  store i32 %v81, ptr %v83, align 4
  %v84 = load i64, ptr %v51
  %v85 = add i64 %v84, 1
  store i64 %v85, ptr %v51
  %v86 = load ptr, ptr %v54
  %v87 = getelementptr i8, ptr %v86, i64 %v37
  store ptr %v87, ptr %v54
  %v88 = add i64 %v64, 1
  store i64 %v88, ptr %v58
  br label %b59
  b61:
  %v89 = add i64 %v47, 1
  store i64 %v89, ptr %v41
  br label %b42
  b44:
  ret void
}
