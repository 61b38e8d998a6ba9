define void @kef1c357138500f425c42ff9a324aedf6(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 48
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 232
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %v2, i64 %v4
  %v6 = getelementptr i8, ptr %words, i64 48
  %v7 = load ptr, ptr %v6, align 8
  %v8 = getelementptr i8, ptr %words, i64 240
  %v9 = load i64, ptr %v8, align 8
  %v10 = getelementptr i8, ptr %v7, i64 %v9
  %v11 = getelementptr i8, ptr %words, i64 248
  %v12 = load i64, ptr %v11, align 8
  %v13 = getelementptr i8, ptr %words, i64 256
  %v14 = load i64, ptr %v13, align 8
  %v15 = alloca i64, align 8
  %v27 = alloca i64, align 8
  %v28 = alloca i64, align 8
  %v51 = alloca i64, align 8
  %v62 = alloca i64, align 8
  %v63 = alloca i64, align 8
  %v85 = alloca i64, align 8
  %v102 = alloca i64, align 8
  %v104 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v15
  br label %b16
  b16:
  %v19 = load i64, ptr %v15
  %v20 = icmp slt i64 %v19, %end
  br i1 %v20, label %b17, label %b18
  b17:
  %v21 = load i64, ptr %v15
  %v22 = mul i64 %v21, 4096
  %v23 = add i64 %v22, 4096
  %v24 = icmp slt i64 %v23, %v14
  %v25 = select i1 %v24, i64 %v23, i64 %v14
  %v26 = sub i64 %v25, 1
  store i64 0, ptr %v27
  store i64 %v12, ptr %v28
  br label %b29
  b29:
  %v32 = load i64, ptr %v27
  %v33 = load i64, ptr %v28
  %v34 = icmp slt i64 %v32, %v33
  br i1 %v34, label %b30, label %b31
  b30:
  %v35 = load i64, ptr %v27
  %v36 = load i64, ptr %v28
  %v37 = add i64 %v35, %v36
  %v38 = lshr i64 %v37, 1
  %v39 = mul i64 %v38, 8
  %v40 = getelementptr i8, ptr %v5, i64 %v39
  %v41 = load i64, ptr %v40, align 8
  %v42 = lshr i64 %v41, 32
  %v43 = icmp slt i64 %v42, %v22
  %v44 = add i64 %v38, 1
  %v45 = load i64, ptr %v27
  %v46 = select i1 %v43, i64 %v44, i64 %v45
  store i64 %v46, ptr %v27
  %v47 = load i64, ptr %v28
  %v48 = select i1 %v43, i64 %v47, i64 %v38
  store i64 %v48, ptr %v28
  br label %b29
  b31:
  %v49 = load i64, ptr %v27
  %v50 = add i64 %v26, 1
  store i64 %v22, ptr %v51
  br label %b52
  b52:
  %v55 = load i64, ptr %v51
  %v56 = icmp slt i64 %v55, %v50
  br i1 %v56, label %b53, label %b54
  b53:
  %v57 = load i64, ptr %v51
  %v58 = trunc i64 %v49 to i32
  %v59 = mul i64 %v57, 4
  %v60 = getelementptr i8, ptr %v10, i64 %v59
  store i32 %v58, ptr %v60, align 4
  %v61 = add i64 %v57, 1
  store i64 %v61, ptr %v51
  br label %b52
  b54:
  store i64 0, ptr %v62
  store i64 %v12, ptr %v63
  br label %b64
  b64:
  %v67 = load i64, ptr %v62
  %v68 = load i64, ptr %v63
  %v69 = icmp slt i64 %v67, %v68
  br i1 %v69, label %b65, label %b66
  b65:
  %v70 = load i64, ptr %v62
  %v71 = load i64, ptr %v63
  %v72 = add i64 %v70, %v71
  %v73 = lshr i64 %v72, 1
  %v74 = mul i64 %v73, 8
  %v75 = getelementptr i8, ptr %v5, i64 %v74
  %v76 = load i64, ptr %v75, align 8
  %v77 = lshr i64 %v76, 32
  %v78 = icmp slt i64 %v77, %v26
  %v79 = add i64 %v73, 1
  %v80 = load i64, ptr %v62
  %v81 = select i1 %v78, i64 %v79, i64 %v80
  store i64 %v81, ptr %v62
  %v82 = load i64, ptr %v63
  %v83 = select i1 %v78, i64 %v82, i64 %v73
  store i64 %v83, ptr %v63
  br label %b64
  b66:
  %v84 = load i64, ptr %v62
  store i64 %v49, ptr %v85
  br label %b86
  b86:
  %v89 = load i64, ptr %v85
  %v90 = icmp slt i64 %v89, %v84
  br i1 %v90, label %b87, label %b88
  b87:
  %v91 = load i64, ptr %v85
  %v92 = mul i64 %v91, 8
  %v93 = getelementptr i8, ptr %v5, i64 %v92
  %v94 = load i64, ptr %v93, align 8
  %v95 = lshr i64 %v94, 32
  %v96 = add i64 %v95, 1
  %v97 = add i64 %v91, 1
  %v98 = trunc i64 %v97 to i32
  %v99 = mul i64 %v96, 4
  %v100 = getelementptr i8, ptr %v10, i64 %v99
  store i32 %v98, ptr %v100, align 4
  %v101 = add i64 %v91, 1
  store i64 %v101, ptr %v85
  br label %b86
  b88:
  store i64 %v49, ptr %v102
  %v103 = add i64 %v26, 1
  store i64 %v22, ptr %v104
  br label %b105
  b105:
  %v108 = load i64, ptr %v104
  %v109 = icmp slt i64 %v108, %v103
  br i1 %v109, label %b106, label %b107
  b106:
  %v110 = load i64, ptr %v104
  %v111 = load i64, ptr %v102
  %v112 = mul i64 %v110, 4
  %v113 = getelementptr i8, ptr %v10, i64 %v112
  %v114 = load i32, ptr %v113, align 4
  %v115 = zext i32 %v114 to i64
  %v116 = icmp slt i64 %v111, %v115
  %v117 = select i1 %v116, i64 %v115, i64 %v111
  store i64 %v117, ptr %v102
  %v118 = load i64, ptr %v102
  %v119 = trunc i64 %v118 to i32
  %v120 = mul i64 %v110, 4
  %v121 = getelementptr i8, ptr %v10, i64 %v120
  store i32 %v119, ptr %v121, align 4
  %v122 = add i64 %v110, 1
  store i64 %v122, ptr %v104
  br label %b105
  b107:
  %v123 = add i64 %v21, 1
  store i64 %v123, ptr %v15
  br label %b16
  b18:
  ret void
}
