define void @k09309f4bf219c633c4d3fc3daf7ab03b(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
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
  %v13 = load ptr, ptr %words, align 8
  %v14 = getelementptr i8, ptr %words, i64 8
  %v15 = load ptr, ptr %v14, align 8
  %v16 = alloca i64, align 8
  %v19 = alloca ptr, align 8
  %v22 = alloca ptr, align 8
  %v23 = alloca i64, align 8
  %v38 = alloca i64, align 8
  %v67 = alloca i64, align 8
  %v92 = alloca i64, align 8
  %v157 = alloca i64, align 8
  %v221 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v16
  %v17 = mul i64 %begin, 0
  %v18 = getelementptr i8, ptr %v13, i64 %v17
  store ptr %v18, ptr %v19
  %v20 = mul i64 %begin, 0
  %v21 = getelementptr i8, ptr %v15, i64 %v20
  store ptr %v21, ptr %v22
  store i64 %begin, ptr %v23
  br label %b24
  b24:
  %v27 = load i64, ptr %v23
  %v28 = icmp slt i64 %v27, %end
  br i1 %v28, label %b25, label %b26
  b25:
  %v29 = load i64, ptr %v23
  %v30 = load i64, ptr %v16
  %v31 = load ptr, ptr %v19
  %v32 = load ptr, ptr %v22
  %v33 = mul i64 %v30, 8
  %v34 = add i64 %v33, 8
  %v35 = icmp slt i64 %v34, %v10
  %v36 = select i1 %v35, i64 %v34, i64 %v10
  %v37 = sub i64 %v36, %v33
  store i64 %v33, ptr %v38
  br label %b39
  b39:
  %v42 = load i64, ptr %v38
  %v43 = icmp slt i64 %v42, %v36
  br i1 %v43, label %b40, label %b41
  b40:
  %v44 = load i64, ptr %v38
  %v45 = mul i64 %v44, 1024
  %v46 = mul i64 %v36, 1024
  %v47 = icmp slt i64 %v46, %v6
  %v48 = select i1 %v47, i64 %v46, i64 %v6
  %v49 = sub i64 %v48, %v45
  %v50 = mul i64 %v45, 4
  %v51 = getelementptr i8, ptr %v31, i64 %v50
  %v52 = mul i64 %v45, 4
  %v53 = getelementptr i8, ptr %v32, i64 %v52
  %v54 = ptrtoint ptr %v53 to i64
  %v55 = sub i64 0, %v54
  %v56 = and i64 %v55, 63
  %v57 = udiv i64 %v56, 4
  %v58 = icmp ne i64 %v2, 0
  %v59 = mul i64 %v57, 4
  %v60 = add i64 %v54, %v59
  %v61 = and i64 %v60, 63
  %v62 = icmp eq i64 %v61, 0
  %v63 = and i1 %v58, %v62
  %v64 = icmp slt i64 %v57, %v49
  %v65 = select i1 %v64, i64 %v57, i64 %v49
  %v66 = select i1 %v63, i64 %v65, i64 0
  store i64 0, ptr %v67
  br label %b68
  b68:
  %v71 = load i64, ptr %v67
  %v72 = icmp slt i64 %v71, %v66
  br i1 %v72, label %b69, label %b70
  b69:
  %v73 = load i64, ptr %v67
  %v74 = sub i64 %v66, %v73
  %v75 = trunc i64 %v74 to i32
  %v76 = insertelement <8 x i32> poison, i32 %v75, i64 0
  %v77 = shufflevector <8 x i32> %v76, <8 x i32> poison, <8 x i32> zeroinitializer
  %v78 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v77
  %v79 = mul i64 %v73, 4
  %v80 = getelementptr i8, ptr %v51, i64 %v79
  %v81 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v80, i32 4, <8 x i1> %v78, <8 x float> zeroinitializer)
  %v82 = fcmp ole <8 x float> %v81, splat (float 0x0000000000000000)
  %v83 = select <8 x i1> %v82, <8 x float> splat (float 0x0000000000000000), <8 x float> %v81
  %v84 = mul i64 %v73, 4
  %v85 = getelementptr i8, ptr %v53, i64 %v84
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v83, ptr %v85, i32 4, <8 x i1> %v78)
  %v86 = add i64 %v73, 8
  store i64 %v86, ptr %v67
  br label %b68
  b70:
  %v87 = sub i64 %v49, %v66
  %v88 = and i64 %v87, -64
  %v89 = add i64 %v66, %v88
  br i1 %v63, label %b90, label %b91
  b90:
  store i64 %v66, ptr %v92
  br label %b93
  b93:
  %v96 = load i64, ptr %v92
  %v97 = icmp slt i64 %v96, %v89
  br i1 %v97, label %b94, label %b95
  b94:
  %v98 = load i64, ptr %v92
  %v99 = mul i64 %v98, 4
  %v100 = getelementptr i8, ptr %v51, i64 %v99
  %v101 = load <8 x float>, ptr %v100, align 4
  %v102 = add i64 %v98, 8
  %v103 = mul i64 %v102, 4
  %v104 = getelementptr i8, ptr %v51, i64 %v103
  %v105 = load <8 x float>, ptr %v104, align 4
  %v106 = add i64 %v98, 16
  %v107 = mul i64 %v106, 4
  %v108 = getelementptr i8, ptr %v51, i64 %v107
  %v109 = load <8 x float>, ptr %v108, align 4
  %v110 = add i64 %v98, 24
  %v111 = mul i64 %v110, 4
  %v112 = getelementptr i8, ptr %v51, i64 %v111
  %v113 = load <8 x float>, ptr %v112, align 4
  %v114 = add i64 %v98, 32
  %v115 = mul i64 %v114, 4
  %v116 = getelementptr i8, ptr %v51, i64 %v115
  %v117 = load <8 x float>, ptr %v116, align 4
  %v118 = add i64 %v98, 40
  %v119 = mul i64 %v118, 4
  %v120 = getelementptr i8, ptr %v51, i64 %v119
  %v121 = load <8 x float>, ptr %v120, align 4
  %v122 = add i64 %v98, 48
  %v123 = mul i64 %v122, 4
  %v124 = getelementptr i8, ptr %v51, i64 %v123
  %v125 = load <8 x float>, ptr %v124, align 4
  %v126 = add i64 %v98, 56
  %v127 = mul i64 %v126, 4
  %v128 = getelementptr i8, ptr %v51, i64 %v127
  %v129 = load <8 x float>, ptr %v128, align 4
  %v130 = fcmp ole <8 x float> %v101, splat (float 0x0000000000000000)
  %v131 = fcmp ole <8 x float> %v105, splat (float 0x0000000000000000)
  %v132 = fcmp ole <8 x float> %v109, splat (float 0x0000000000000000)
  %v133 = fcmp ole <8 x float> %v113, splat (float 0x0000000000000000)
  %v134 = fcmp ole <8 x float> %v117, splat (float 0x0000000000000000)
  %v135 = fcmp ole <8 x float> %v121, splat (float 0x0000000000000000)
  %v136 = fcmp ole <8 x float> %v125, splat (float 0x0000000000000000)
  %v137 = fcmp ole <8 x float> %v129, splat (float 0x0000000000000000)
  %v138 = select <8 x i1> %v130, <8 x float> splat (float 0x0000000000000000), <8 x float> %v101
  %v139 = select <8 x i1> %v131, <8 x float> splat (float 0x0000000000000000), <8 x float> %v105
  %v140 = select <8 x i1> %v132, <8 x float> splat (float 0x0000000000000000), <8 x float> %v109
  %v141 = select <8 x i1> %v133, <8 x float> splat (float 0x0000000000000000), <8 x float> %v113
  %v142 = select <8 x i1> %v134, <8 x float> splat (float 0x0000000000000000), <8 x float> %v117
  %v143 = select <8 x i1> %v135, <8 x float> splat (float 0x0000000000000000), <8 x float> %v121
  %v144 = select <8 x i1> %v136, <8 x float> splat (float 0x0000000000000000), <8 x float> %v125
  %v145 = select <8 x i1> %v137, <8 x float> splat (float 0x0000000000000000), <8 x float> %v129
  %v146 = mul i64 %v98, 4
  %v147 = getelementptr i8, ptr %v53, i64 %v146
  store <8 x float> %v138, ptr %v147, align 32, !nontemporal !{i32 1}
  %v148 = getelementptr i8, ptr %v147, i64 32
  store <8 x float> %v139, ptr %v148, align 32, !nontemporal !{i32 1}
  %v149 = getelementptr i8, ptr %v147, i64 64
  store <8 x float> %v140, ptr %v149, align 32, !nontemporal !{i32 1}
  %v150 = getelementptr i8, ptr %v147, i64 96
  store <8 x float> %v141, ptr %v150, align 32, !nontemporal !{i32 1}
  %v151 = getelementptr i8, ptr %v147, i64 128
  store <8 x float> %v142, ptr %v151, align 32, !nontemporal !{i32 1}
  %v152 = getelementptr i8, ptr %v147, i64 160
  store <8 x float> %v143, ptr %v152, align 32, !nontemporal !{i32 1}
  %v153 = getelementptr i8, ptr %v147, i64 192
  store <8 x float> %v144, ptr %v153, align 32, !nontemporal !{i32 1}
  %v154 = getelementptr i8, ptr %v147, i64 224
  store <8 x float> %v145, ptr %v154, align 32, !nontemporal !{i32 1}
  %v155 = add i64 %v98, 64
  store i64 %v155, ptr %v92
  br label %b93
  b95:
  br label %b91
  b91:
  %v156 = select i1 %v63, i64 %v89, i64 %v66
  store i64 %v156, ptr %v157
  br label %b158
  b158:
  %v161 = load i64, ptr %v157
  %v162 = icmp slt i64 %v161, %v89
  br i1 %v162, label %b159, label %b160
  b159:
  %v163 = load i64, ptr %v157
  %v164 = mul i64 %v163, 4
  %v165 = getelementptr i8, ptr %v51, i64 %v164
  %v166 = load <8 x float>, ptr %v165, align 4
  %v167 = add i64 %v163, 8
  %v168 = mul i64 %v167, 4
  %v169 = getelementptr i8, ptr %v51, i64 %v168
  %v170 = load <8 x float>, ptr %v169, align 4
  %v171 = add i64 %v163, 16
  %v172 = mul i64 %v171, 4
  %v173 = getelementptr i8, ptr %v51, i64 %v172
  %v174 = load <8 x float>, ptr %v173, align 4
  %v175 = add i64 %v163, 24
  %v176 = mul i64 %v175, 4
  %v177 = getelementptr i8, ptr %v51, i64 %v176
  %v178 = load <8 x float>, ptr %v177, align 4
  %v179 = add i64 %v163, 32
  %v180 = mul i64 %v179, 4
  %v181 = getelementptr i8, ptr %v51, i64 %v180
  %v182 = load <8 x float>, ptr %v181, align 4
  %v183 = add i64 %v163, 40
  %v184 = mul i64 %v183, 4
  %v185 = getelementptr i8, ptr %v51, i64 %v184
  %v186 = load <8 x float>, ptr %v185, align 4
  %v187 = add i64 %v163, 48
  %v188 = mul i64 %v187, 4
  %v189 = getelementptr i8, ptr %v51, i64 %v188
  %v190 = load <8 x float>, ptr %v189, align 4
  %v191 = add i64 %v163, 56
  %v192 = mul i64 %v191, 4
  %v193 = getelementptr i8, ptr %v51, i64 %v192
  %v194 = load <8 x float>, ptr %v193, align 4
  %v195 = fcmp ole <8 x float> %v166, splat (float 0x0000000000000000)
  %v196 = fcmp ole <8 x float> %v170, splat (float 0x0000000000000000)
  %v197 = fcmp ole <8 x float> %v174, splat (float 0x0000000000000000)
  %v198 = fcmp ole <8 x float> %v178, splat (float 0x0000000000000000)
  %v199 = fcmp ole <8 x float> %v182, splat (float 0x0000000000000000)
  %v200 = fcmp ole <8 x float> %v186, splat (float 0x0000000000000000)
  %v201 = fcmp ole <8 x float> %v190, splat (float 0x0000000000000000)
  %v202 = fcmp ole <8 x float> %v194, splat (float 0x0000000000000000)
  %v203 = select <8 x i1> %v195, <8 x float> splat (float 0x0000000000000000), <8 x float> %v166
  %v204 = select <8 x i1> %v196, <8 x float> splat (float 0x0000000000000000), <8 x float> %v170
  %v205 = select <8 x i1> %v197, <8 x float> splat (float 0x0000000000000000), <8 x float> %v174
  %v206 = select <8 x i1> %v198, <8 x float> splat (float 0x0000000000000000), <8 x float> %v178
  %v207 = select <8 x i1> %v199, <8 x float> splat (float 0x0000000000000000), <8 x float> %v182
  %v208 = select <8 x i1> %v200, <8 x float> splat (float 0x0000000000000000), <8 x float> %v186
  %v209 = select <8 x i1> %v201, <8 x float> splat (float 0x0000000000000000), <8 x float> %v190
  %v210 = select <8 x i1> %v202, <8 x float> splat (float 0x0000000000000000), <8 x float> %v194
  %v211 = mul i64 %v163, 4
  %v212 = getelementptr i8, ptr %v53, i64 %v211
  store <8 x float> %v203, ptr %v212, align 4
  %v213 = getelementptr i8, ptr %v212, i64 32
  store <8 x float> %v204, ptr %v213, align 4
  %v214 = getelementptr i8, ptr %v212, i64 64
  store <8 x float> %v205, ptr %v214, align 4
  %v215 = getelementptr i8, ptr %v212, i64 96
  store <8 x float> %v206, ptr %v215, align 4
  %v216 = getelementptr i8, ptr %v212, i64 128
  store <8 x float> %v207, ptr %v216, align 4
  %v217 = getelementptr i8, ptr %v212, i64 160
  store <8 x float> %v208, ptr %v217, align 4
  %v218 = getelementptr i8, ptr %v212, i64 192
  store <8 x float> %v209, ptr %v218, align 4
  %v219 = getelementptr i8, ptr %v212, i64 224
  store <8 x float> %v210, ptr %v219, align 4
  %v220 = add i64 %v163, 64
  store i64 %v220, ptr %v157
  br label %b158
  b160:
  store i64 %v89, ptr %v221
  br label %b222
  b222:
  %v225 = load i64, ptr %v221
  %v226 = icmp slt i64 %v225, %v49
  br i1 %v226, label %b223, label %b224
  b223:
  %v227 = load i64, ptr %v221
  %v228 = sub i64 %v49, %v227
  %v229 = trunc i64 %v228 to i32
  %v230 = insertelement <8 x i32> poison, i32 %v229, i64 0
  %v231 = shufflevector <8 x i32> %v230, <8 x i32> poison, <8 x i32> zeroinitializer
  %v232 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v231
  %v233 = mul i64 %v227, 4
  %v234 = getelementptr i8, ptr %v51, i64 %v233
  %v235 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v234, i32 4, <8 x i1> %v232, <8 x float> zeroinitializer)
  %v236 = fcmp ole <8 x float> %v235, splat (float 0x0000000000000000)
  %v237 = select <8 x i1> %v236, <8 x float> splat (float 0x0000000000000000), <8 x float> %v235
  %v238 = mul i64 %v227, 4
  %v239 = getelementptr i8, ptr %v53, i64 %v238
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v237, ptr %v239, i32 4, <8 x i1> %v232)
  %v240 = add i64 %v227, 8
  store i64 %v240, ptr %v221
  br label %b222
  b224:
  %v241 = add i64 %v44, %v37
  store i64 %v241, ptr %v38
  br label %b39
  b41:
  %v242 = load i64, ptr %v16
  %v243 = add i64 %v242, 1
  store i64 %v243, ptr %v16
  %v244 = load ptr, ptr %v19
  %v245 = getelementptr i8, ptr %v244, i64 0
  store ptr %v245, ptr %v19
  %v246 = load ptr, ptr %v22
  %v247 = getelementptr i8, ptr %v246, i64 0
  store ptr %v247, ptr %v22
  %v248 = add i64 %v29, 1
  store i64 %v248, ptr %v23
  br label %b24
  b26:
  %v249 = icmp ne i64 %v2, 0
  br i1 %v249, label %b250, label %b251
  b250:
  fence seq_cst
  br label %b251
  b251:
  ret void
}
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
