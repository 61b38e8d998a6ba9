define void @k3843864ff7e28f8550fcfe21749a82f6(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 24
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 32
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 40
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 48
  %v8 = load i64, ptr %v7, align 8
  %v9 = getelementptr i8, ptr %words, i64 56
  %v10 = load i64, ptr %v9, align 8
  %v11 = getelementptr i8, ptr %words, i64 64
  %v12 = load i64, ptr %v11, align 8
  %v13 = getelementptr i8, ptr %words, i64 72
  %v14 = load i64, ptr %v13, align 8
  %v15 = getelementptr i8, ptr %words, i64 80
  %v16 = load i64, ptr %v15, align 8
  %v17 = getelementptr i8, ptr %words, i64 88
  %v18 = load i64, ptr %v17, align 8
  %v19 = getelementptr i8, ptr %words, i64 96
  %v20 = load i64, ptr %v19, align 8
  %v21 = mul i64 %v2, 8
  %v22 = mul i64 %v4, 8
  %v23 = getelementptr i8, ptr %words, i64 104
  %v24 = load i64, ptr %v23, align 8
  %v25 = load ptr, ptr %words, align 8
  %v26 = getelementptr i8, ptr %words, i64 8
  %v27 = load ptr, ptr %v26, align 8
  %v28 = getelementptr i8, ptr %words, i64 112
  %v29 = load i64, ptr %v28, align 8
  %v30 = alloca i64, align 8
  %v33 = alloca ptr, align 8
  %v36 = alloca ptr, align 8
  %v37 = alloca i64, align 8
  %v97 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v30
  %v31 = mul i64 %begin, %v21
  %v32 = getelementptr i8, ptr %v25, i64 %v31
  store ptr %v32, ptr %v33
  %v34 = mul i64 %begin, %v22
  %v35 = getelementptr i8, ptr %v27, i64 %v34
  store ptr %v35, ptr %v36
  store i64 %begin, ptr %v37
  br label %b38
  b38:
  %v41 = load i64, ptr %v37
  %v42 = icmp slt i64 %v41, %end
  br i1 %v42, label %b39, label %b40
  b39:
  %v43 = load i64, ptr %v37
  %v44 = load ptr, ptr %v33
  %v45 = load ptr, ptr %v36
  %v46 = load i64, ptr %v30
  %v47 = mul i64 %v46, 8
  %v48 = sub i64 %v29, %v47
  %v49 = icmp sge i64 %v48, 8
  br i1 %v49, label %b50, label %b51
  b50:
  %v52 = load <8 x float>, ptr %v44, align 4
  %v53 = getelementptr i8, ptr %v44, i64 %v6
  %v54 = load <8 x float>, ptr %v53, align 4
  %v55 = mul i64 %v6, 2
  %v56 = getelementptr i8, ptr %v44, i64 %v55
  %v57 = load <8 x float>, ptr %v56, align 4
  %v58 = mul i64 %v6, 3
  %v59 = getelementptr i8, ptr %v44, i64 %v58
  %v60 = load <8 x float>, ptr %v59, align 4
  %v61 = mul i64 %v6, 4
  %v62 = getelementptr i8, ptr %v44, i64 %v61
  %v63 = load <8 x float>, ptr %v62, align 4
  %v64 = mul i64 %v6, 5
  %v65 = getelementptr i8, ptr %v44, i64 %v64
  %v66 = load <8 x float>, ptr %v65, align 4
  %v67 = mul i64 %v6, 6
  %v68 = getelementptr i8, ptr %v44, i64 %v67
  %v69 = load <8 x float>, ptr %v68, align 4
  %v70 = mul i64 %v6, 7
  %v71 = getelementptr i8, ptr %v44, i64 %v70
  %v72 = load <8 x float>, ptr %v71, align 4
  %v73 = shufflevector <8 x float> %v52, <8 x float> %v54, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v74 = shufflevector <8 x float> %v52, <8 x float> %v54, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v75 = fadd <8 x float> %v73, %v74
  %v76 = shufflevector <8 x float> %v57, <8 x float> %v60, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v77 = shufflevector <8 x float> %v57, <8 x float> %v60, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v78 = fadd <8 x float> %v76, %v77
  %v79 = shufflevector <8 x float> %v63, <8 x float> %v66, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v80 = shufflevector <8 x float> %v63, <8 x float> %v66, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v81 = fadd <8 x float> %v79, %v80
  %v82 = shufflevector <8 x float> %v69, <8 x float> %v72, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v83 = shufflevector <8 x float> %v69, <8 x float> %v72, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v84 = fadd <8 x float> %v82, %v83
  %v85 = shufflevector <8 x float> %v75, <8 x float> %v78, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v86 = shufflevector <8 x float> %v75, <8 x float> %v78, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v87 = fadd <8 x float> %v85, %v86
  %v88 = shufflevector <8 x float> %v81, <8 x float> %v84, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v89 = shufflevector <8 x float> %v81, <8 x float> %v84, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v90 = fadd <8 x float> %v88, %v89
  %v91 = shufflevector <8 x float> %v87, <8 x float> %v90, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v92 = shufflevector <8 x float> %v87, <8 x float> %v90, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v93 = fadd <8 x float> %v91, %v92
  store <8 x float> %v93, ptr %v45, align 4
  br label %b51
  b51:
  %v94 = xor i1 %v49, true
  br i1 %v94, label %b95, label %b96
  b95:
  store i64 0, ptr %v97
  br label %b98
  b98:
  %v101 = load i64, ptr %v97
  %v102 = icmp slt i64 %v101, %v48
  br i1 %v102, label %b99, label %b100
  b99:
  %v103 = load i64, ptr %v97
  %v104 = mul i64 %v103, %v2
  %v105 = getelementptr i8, ptr %v44, i64 %v104
  %v106 = mul i64 %v103, %v4
  %v107 = getelementptr i8, ptr %v45, i64 %v106
  %v108 = add i64 %v47, %v103
  %v109 = load <8 x float>, ptr %v105, align 4
  %v110 = shufflevector <8 x float> %v109, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %v111 = shufflevector <8 x float> %v109, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %v112 = fadd <4 x float> %v110, %v111
  %v113 = shufflevector <4 x float> %v112, <4 x float> poison, <2 x i32> <i32 0, i32 2>
  %v114 = shufflevector <4 x float> %v112, <4 x float> poison, <2 x i32> <i32 1, i32 3>
  %v115 = fadd <2 x float> %v113, %v114
  %v116 = extractelement <2 x float> %v115, i64 0
  %v117 = extractelement <2 x float> %v115, i64 1
  %v118 = fadd float %v116, %v117
  store float %v118, ptr %v107, align 4
  %v119 = add i64 %v103, 1
  store i64 %v119, ptr %v97
  br label %b98
  b100:
  br label %b96
  b96:
  %v120 = load i64, ptr %v30
  %v121 = add i64 %v120, 1
  store i64 %v121, ptr %v30
  %v122 = load ptr, ptr %v33
  %v123 = getelementptr i8, ptr %v122, i64 %v21
  store ptr %v123, ptr %v33
  %v124 = load ptr, ptr %v36
  %v125 = getelementptr i8, ptr %v124, i64 %v22
  store ptr %v125, ptr %v36
  %v126 = add i64 %v43, 1
  store i64 %v126, ptr %v37
  br label %b38
  b40:
  ret void
}
