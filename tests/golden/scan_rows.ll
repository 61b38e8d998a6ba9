define void @k99ebadd34009a996a43ac26888dce67f(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 24
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 32
  %v4 = load i64, ptr %v3, align 8
  %v5 = alloca <8 x float>, align 64
  %v6 = alloca <8 x float>, align 64
  %v7 = alloca <8 x float>, align 64
  %v8 = alloca <8 x float>, align 64
  %v9 = alloca [2560 x i8], align 64
  %v10 = getelementptr i8, ptr %v9, i64 2048
  store <8 x float> zeroinitializer, ptr %v10, align 64
  %v11 = getelementptr i8, ptr %v9, i64 2112
  store <8 x float> zeroinitializer, ptr %v11, align 64
  %v12 = getelementptr i8, ptr %v9, i64 2176
  store <8 x float> zeroinitializer, ptr %v12, align 64
  %v13 = getelementptr i8, ptr %v9, i64 2240
  store <8 x float> zeroinitializer, ptr %v13, align 64
  %v14 = getelementptr i8, ptr %words, i64 40
  %v15 = load i64, ptr %v14, align 8
  %v16 = getelementptr i8, ptr %words, i64 48
  %v17 = load i64, ptr %v16, align 8
  %v18 = getelementptr i8, ptr %words, i64 56
  %v19 = load i64, ptr %v18, align 8
  %v20 = getelementptr i8, ptr %words, i64 64
  %v21 = load i64, ptr %v20, align 8
  %v22 = getelementptr i8, ptr %words, i64 72
  %v23 = load i64, ptr %v22, align 8
  %v24 = load ptr, ptr %words, align 8
  %v25 = getelementptr i8, ptr %words, i64 8
  %v26 = load ptr, ptr %v25, align 8
  %v27 = alloca i64, align 8
  %v30 = alloca ptr, align 8
  %v33 = alloca ptr, align 8
  %v34 = alloca i64, align 8
  %v45 = alloca i64, align 8
  %v61 = alloca i64, align 8
  %v74 = alloca [256 x float], align 64
  store <1024 x i8> zeroinitializer, ptr %v74, align 64
  %v78 = alloca [256 x float], align 64
  store <1024 x i8> zeroinitializer, ptr %v78, align 64
  %v91 = alloca i64, align 8
  %v103 = alloca i64, align 8
  %v124 = alloca i64, align 8
  %v296 = alloca i64, align 8
  %v455 = alloca i64, align 8
  %v467 = alloca i64, align 8
  br label %start
  start:
  store <8 x float> zeroinitializer, ptr %v5
  store <8 x float> zeroinitializer, ptr %v6
  store <8 x float> zeroinitializer, ptr %v7
  store <8 x float> zeroinitializer, ptr %v8
  store i64 %begin, ptr %v27
  %v28 = mul i64 %begin, %v21
  %v29 = getelementptr i8, ptr %v24, i64 %v28
  store ptr %v29, ptr %v30
  %v31 = mul i64 %begin, %v23
  %v32 = getelementptr i8, ptr %v26, i64 %v31
  store ptr %v32, ptr %v33
  store i64 %begin, ptr %v34
  br label %b35
  b35:
  %v38 = load i64, ptr %v34
  %v39 = icmp slt i64 %v38, %end
  br i1 %v39, label %b36, label %b37
  b36:
  %v40 = load i64, ptr %v34
  %v41 = load ptr, ptr %v30
  %v42 = load ptr, ptr %v33
  %v43 = load i64, ptr %v27
  %v44 = sub i64 %v17, 0
  store i64 0, ptr %v45
  br label %b46
  b46:
  %v49 = load i64, ptr %v45
  %v50 = icmp slt i64 %v49, %v17
  br i1 %v50, label %b47, label %b48
  b47:
  %v51 = load i64, ptr %v45
  %v52 = mul i64 %v51, 1024
  %v53 = mul i64 %v17, 1024
  %v54 = icmp slt i64 %v53, %v2
  %v55 = select i1 %v54, i64 %v53, i64 %v2
  %v56 = sub i64 %v55, %v52
  %v57 = mul i64 %v52, 4
  %v58 = getelementptr i8, ptr %v41, i64 %v57
  %v59 = mul i64 %v52, 4
  %v60 = getelementptr i8, ptr %v42, i64 %v59
  store i64 0, ptr %v61
  br label %b62
  b62:
  %v65 = load i64, ptr %v61
  %v66 = icmp slt i64 %v65, %v56
  br i1 %v66, label %b63, label %b64
  b63:
  %v67 = load i64, ptr %v61
  %v68 = add i64 %v52, %v67
  %v69 = udiv i64 %v68, 256
  %v70 = sub i64 %v56, %v67
  %v71 = icmp slt i64 %v70, 256
  %v72 = select i1 %v71, i64 %v70, i64 256
  %v73 = icmp eq i64 %v72, 256
  %v75 = mul i64 %v67, 4
  %v76 = getelementptr i8, ptr %v58, i64 %v75
  %v77 = select i1 %v73, ptr %v76, ptr %v74
  %v79 = mul i64 %v67, 4
  %v80 = getelementptr i8, ptr %v60, i64 %v79
  %v81 = select i1 %v73, ptr %v80, ptr %v78
  %v82 = xor i1 %v73, true
  br i1 %v82, label %b83, label %b84
  b83:
  %v85 = add i64 %v67, 0
  %v86 = mul i64 %v85, 4
  %v87 = getelementptr i8, ptr %v58, i64 %v86
  %v88 = mul i64 0, 4
  %v89 = getelementptr i8, ptr %v74, i64 %v88
  %v90 = and i64 %v72, -8
  store i64 0, ptr %v91
  br label %b92
  b92:
  %v95 = load i64, ptr %v91
  %v96 = icmp slt i64 %v95, %v90
  br i1 %v96, label %b93, label %b94
  b93:
  %v97 = load i64, ptr %v91
  %v98 = mul i64 %v97, 4
  %v99 = getelementptr i8, ptr %v87, i64 %v98
  %v100 = load <8 x float>, ptr %v99, align 4
  %v101 = getelementptr i8, ptr %v89, i64 %v98
  store <8 x float> %v100, ptr %v101, align 4
  %v102 = add i64 %v97, 8
  store i64 %v102, ptr %v91
  br label %b92
  b94:
  store i64 %v90, ptr %v103
  br label %b104
  b104:
  %v107 = load i64, ptr %v103
  %v108 = icmp slt i64 %v107, %v72
  br i1 %v108, label %b105, label %b106
  b105:
  %v109 = load i64, ptr %v103
  %v110 = mul i64 %v109, 4
  %v111 = getelementptr i8, ptr %v87, i64 %v110
  %v112 = load float, ptr %v111, align 4
  %v113 = mul i64 %v109, 4
  %v114 = getelementptr i8, ptr %v89, i64 %v113
  store float %v112, ptr %v114, align 4
  %v115 = add i64 %v109, 1
  store i64 %v115, ptr %v103
  br label %b104
  b106:
  br label %b84
  b84:
  %v116 = add i64 %v72, 63
  %v117 = udiv i64 %v116, 64
  %v118 = icmp ne i64 %v15, 0
  %v119 = and i1 %v73, %v118
  %v120 = ptrtoint ptr %v81 to i64
  %v121 = and i64 %v120, 31
  %v122 = icmp eq i64 %v121, 0
  %v123 = and i1 %v119, %v122
  store i64 0, ptr %v124
  br label %b125
  b125:
  %v128 = load i64, ptr %v124
  %v129 = icmp slt i64 %v128, %v117
  br i1 %v129, label %b126, label %b127
  b126:
  %v130 = load i64, ptr %v124
  %v131 = mul i64 %v130, 64
  %v132 = mul i64 %v131, 4
  %v133 = getelementptr i8, ptr %v77, i64 %v132
  %v134 = load <8 x float>, ptr %v133, align 4
  %v135 = add i64 %v131, 8
  %v136 = mul i64 %v135, 4
  %v137 = getelementptr i8, ptr %v77, i64 %v136
  %v138 = load <8 x float>, ptr %v137, align 4
  %v139 = add i64 %v131, 16
  %v140 = mul i64 %v139, 4
  %v141 = getelementptr i8, ptr %v77, i64 %v140
  %v142 = load <8 x float>, ptr %v141, align 4
  %v143 = add i64 %v131, 24
  %v144 = mul i64 %v143, 4
  %v145 = getelementptr i8, ptr %v77, i64 %v144
  %v146 = load <8 x float>, ptr %v145, align 4
  %v147 = add i64 %v131, 32
  %v148 = mul i64 %v147, 4
  %v149 = getelementptr i8, ptr %v77, i64 %v148
  %v150 = load <8 x float>, ptr %v149, align 4
  %v151 = add i64 %v131, 40
  %v152 = mul i64 %v151, 4
  %v153 = getelementptr i8, ptr %v77, i64 %v152
  %v154 = load <8 x float>, ptr %v153, align 4
  %v155 = add i64 %v131, 48
  %v156 = mul i64 %v155, 4
  %v157 = getelementptr i8, ptr %v77, i64 %v156
  %v158 = load <8 x float>, ptr %v157, align 4
  %v159 = add i64 %v131, 56
  %v160 = mul i64 %v159, 4
  %v161 = getelementptr i8, ptr %v77, i64 %v160
  %v162 = load <8 x float>, ptr %v161, align 4
  %v163 = shufflevector <8 x float> %v134, <8 x float> %v138, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v164 = shufflevector <8 x float> %v142, <8 x float> %v146, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v165 = shufflevector <8 x float> %v150, <8 x float> %v154, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v166 = shufflevector <8 x float> %v158, <8 x float> %v162, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v167 = shufflevector <8 x float> %v134, <8 x float> %v138, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v168 = shufflevector <8 x float> %v142, <8 x float> %v146, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v169 = shufflevector <8 x float> %v150, <8 x float> %v154, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v170 = shufflevector <8 x float> %v158, <8 x float> %v162, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v171 = shufflevector <8 x float> %v163, <8 x float> %v164, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v172 = shufflevector <8 x float> %v165, <8 x float> %v166, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v173 = shufflevector <8 x float> %v167, <8 x float> %v168, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v174 = shufflevector <8 x float> %v169, <8 x float> %v170, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v175 = shufflevector <8 x float> %v163, <8 x float> %v164, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v176 = shufflevector <8 x float> %v165, <8 x float> %v166, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v177 = shufflevector <8 x float> %v167, <8 x float> %v168, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v178 = shufflevector <8 x float> %v169, <8 x float> %v170, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v179 = shufflevector <8 x float> %v171, <8 x float> %v172, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v180 = shufflevector <8 x float> %v173, <8 x float> %v174, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v181 = shufflevector <8 x float> %v175, <8 x float> %v176, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v182 = shufflevector <8 x float> %v177, <8 x float> %v178, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v183 = shufflevector <8 x float> %v171, <8 x float> %v172, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v184 = shufflevector <8 x float> %v173, <8 x float> %v174, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v185 = shufflevector <8 x float> %v175, <8 x float> %v176, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v186 = shufflevector <8 x float> %v177, <8 x float> %v178, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v187 = mul i64 %v130, 8
  %v188 = mul i64 %v187, 64
  %v189 = getelementptr i8, ptr %v9, i64 %v188
  store <8 x float> %v179, ptr %v189, align 64
  %v190 = fadd <8 x float> %v179, %v180
  %v191 = mul i64 %v130, 8
  %v192 = add i64 %v191, 1
  %v193 = mul i64 %v192, 64
  %v194 = getelementptr i8, ptr %v9, i64 %v193
  store <8 x float> %v190, ptr %v194, align 64
  %v195 = fadd <8 x float> %v190, %v181
  %v196 = mul i64 %v130, 8
  %v197 = add i64 %v196, 2
  %v198 = mul i64 %v197, 64
  %v199 = getelementptr i8, ptr %v9, i64 %v198
  store <8 x float> %v195, ptr %v199, align 64
  %v200 = fadd <8 x float> %v195, %v182
  %v201 = mul i64 %v130, 8
  %v202 = add i64 %v201, 3
  %v203 = mul i64 %v202, 64
  %v204 = getelementptr i8, ptr %v9, i64 %v203
  store <8 x float> %v200, ptr %v204, align 64
  %v205 = fadd <8 x float> %v200, %v183
  %v206 = mul i64 %v130, 8
  %v207 = add i64 %v206, 4
  %v208 = mul i64 %v207, 64
  %v209 = getelementptr i8, ptr %v9, i64 %v208
  store <8 x float> %v205, ptr %v209, align 64
  %v210 = fadd <8 x float> %v205, %v184
  %v211 = mul i64 %v130, 8
  %v212 = add i64 %v211, 5
  %v213 = mul i64 %v212, 64
  %v214 = getelementptr i8, ptr %v9, i64 %v213
  store <8 x float> %v210, ptr %v214, align 64
  %v215 = fadd <8 x float> %v210, %v185
  %v216 = mul i64 %v130, 8
  %v217 = add i64 %v216, 6
  %v218 = mul i64 %v217, 64
  %v219 = getelementptr i8, ptr %v9, i64 %v218
  store <8 x float> %v215, ptr %v219, align 64
  %v220 = fadd <8 x float> %v215, %v186
  %v221 = mul i64 %v130, 8
  %v222 = add i64 %v221, 7
  %v223 = mul i64 %v222, 64
  %v224 = getelementptr i8, ptr %v9, i64 %v223
  store <8 x float> %v220, ptr %v224, align 64
  %v225 = mul i64 %v130, 64
  %v226 = add i64 %v225, 2048
  %v227 = getelementptr i8, ptr %v9, i64 %v226
  store <8 x float> %v220, ptr %v227, align 64
  %v228 = add i64 %v130, 1
  store i64 %v228, ptr %v124
  br label %b125
  b127:
  %v229 = getelementptr i8, ptr %v9, i64 2048
  %v230 = load <8 x float>, ptr %v229, align 64
  %v231 = getelementptr i8, ptr %v9, i64 2112
  %v232 = load <8 x float>, ptr %v231, align 64
  %v233 = getelementptr i8, ptr %v9, i64 2176
  %v234 = load <8 x float>, ptr %v233, align 64
  %v235 = getelementptr i8, ptr %v9, i64 2240
  %v236 = load <8 x float>, ptr %v235, align 64
  %v237 = shufflevector <8 x float> %v230, <8 x float> %v230, <8 x i32> <i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14>
  %v238 = shufflevector <8 x float> %v230, <8 x float> %v232, <8 x i32> <i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14>
  %v239 = shufflevector <8 x float> %v232, <8 x float> %v234, <8 x i32> <i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14>
  %v240 = shufflevector <8 x float> %v234, <8 x float> %v236, <8 x i32> <i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14>
  %v241 = fadd <8 x float> %v237, %v230
  %v242 = fadd <8 x float> %v238, %v232
  %v243 = fadd <8 x float> %v239, %v234
  %v244 = fadd <8 x float> %v240, %v236
  %v245 = select <8 x i1> <i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x float> %v230, <8 x float> %v241
  %v246 = shufflevector <8 x float> %v245, <8 x float> %v245, <8 x i32> <i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13>
  %v247 = shufflevector <8 x float> %v245, <8 x float> %v242, <8 x i32> <i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13>
  %v248 = shufflevector <8 x float> %v242, <8 x float> %v243, <8 x i32> <i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13>
  %v249 = shufflevector <8 x float> %v243, <8 x float> %v244, <8 x i32> <i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13>
  %v250 = fadd <8 x float> %v246, %v245
  %v251 = fadd <8 x float> %v247, %v242
  %v252 = fadd <8 x float> %v248, %v243
  %v253 = fadd <8 x float> %v249, %v244
  %v254 = select <8 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x float> %v245, <8 x float> %v250
  %v255 = shufflevector <8 x float> %v254, <8 x float> %v254, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11>
  %v256 = shufflevector <8 x float> %v254, <8 x float> %v251, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11>
  %v257 = shufflevector <8 x float> %v251, <8 x float> %v252, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11>
  %v258 = shufflevector <8 x float> %v252, <8 x float> %v253, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11>
  %v259 = fadd <8 x float> %v255, %v254
  %v260 = fadd <8 x float> %v256, %v251
  %v261 = fadd <8 x float> %v257, %v252
  %v262 = fadd <8 x float> %v258, %v253
  %v263 = select <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false, i1 false>, <8 x float> %v254, <8 x float> %v259
  %v264 = fadd <8 x float> %v263, %v260
  %v265 = fadd <8 x float> %v260, %v261
  %v266 = fadd <8 x float> %v261, %v262
  %v267 = fadd <8 x float> %v263, %v265
  %v268 = fadd <8 x float> %v264, %v266
  %v269 = load <8 x float>, ptr %v8
  %v270 = load <8 x float>, ptr %v5
  %v271 = fadd <8 x float> %v269, %v270
  %v272 = and i64 %v69, 15
  %v273 = icmp ne i64 %v272, 0
  %v274 = icmp sge i64 %v69, 16
  %v275 = select i1 %v274, <8 x float> %v271, <8 x float> %v270
  %v276 = select i1 %v273, <8 x float> %v275, <8 x float> %v269
  %v277 = icmp sgt i64 %v69, 0
  %v278 = shufflevector <8 x float> %v263, <8 x float> %v263, <8 x i32> <i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14>
  %v279 = shufflevector <8 x float> %v263, <8 x float> %v264, <8 x i32> <i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14>
  %v280 = shufflevector <8 x float> %v264, <8 x float> %v267, <8 x i32> <i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14>
  %v281 = shufflevector <8 x float> %v267, <8 x float> %v268, <8 x i32> <i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14>
  %v282 = fadd <8 x float> %v276, %v278
  %v283 = fadd <8 x float> %v276, %v279
  %v284 = fadd <8 x float> %v276, %v280
  %v285 = fadd <8 x float> %v276, %v281
  %v286 = select i1 %v277, <8 x float> %v282, <8 x float> %v278
  %v287 = select i1 %v277, <8 x float> %v283, <8 x float> %v279
  %v288 = select i1 %v277, <8 x float> %v284, <8 x float> %v280
  %v289 = select i1 %v277, <8 x float> %v285, <8 x float> %v281
  %v290 = select <8 x i1> <i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x float> %v276, <8 x float> %v286
  %v291 = getelementptr i8, ptr %v9, i64 2304
  store <8 x float> %v290, ptr %v291, align 64
  %v292 = getelementptr i8, ptr %v9, i64 2368
  store <8 x float> %v287, ptr %v292, align 64
  %v293 = getelementptr i8, ptr %v9, i64 2432
  store <8 x float> %v288, ptr %v293, align 64
  %v294 = getelementptr i8, ptr %v9, i64 2496
  store <8 x float> %v289, ptr %v294, align 64
  %v295 = shufflevector <8 x float> %v268, <8 x float> poison, <8 x i32> <i32 7, i32 7, i32 7, i32 7, i32 7, i32 7, i32 7, i32 7>
  store i64 0, ptr %v296
  br label %b297
  b297:
  %v300 = load i64, ptr %v296
  %v301 = icmp slt i64 %v300, %v117
  br i1 %v301, label %b298, label %b299
  b298:
  %v302 = load i64, ptr %v296
  %v303 = mul i64 %v302, 64
  %v304 = add i64 %v303, 2304
  %v305 = getelementptr i8, ptr %v9, i64 %v304
  %v306 = load <8 x float>, ptr %v305, align 64
  %v307 = icmp eq i64 %v69, 0
  %v308 = icmp eq i64 %v302, 0
  %v309 = and i1 %v307, %v308
  %v310 = select i1 %v309, <8 x i1> <i1 true, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false, i1 false>, <8 x i1> zeroinitializer
  %v311 = mul i64 %v302, 8
  %v312 = mul i64 %v311, 64
  %v313 = getelementptr i8, ptr %v9, i64 %v312
  %v314 = load <8 x float>, ptr %v313, align 64
  %v315 = fadd <8 x float> %v306, %v314
  %v316 = select <8 x i1> %v310, <8 x float> %v314, <8 x float> %v315
  %v317 = mul i64 %v302, 8
  %v318 = add i64 %v317, 1
  %v319 = mul i64 %v318, 64
  %v320 = getelementptr i8, ptr %v9, i64 %v319
  %v321 = load <8 x float>, ptr %v320, align 64
  %v322 = fadd <8 x float> %v306, %v321
  %v323 = select <8 x i1> %v310, <8 x float> %v321, <8 x float> %v322
  %v324 = mul i64 %v302, 8
  %v325 = add i64 %v324, 2
  %v326 = mul i64 %v325, 64
  %v327 = getelementptr i8, ptr %v9, i64 %v326
  %v328 = load <8 x float>, ptr %v327, align 64
  %v329 = fadd <8 x float> %v306, %v328
  %v330 = select <8 x i1> %v310, <8 x float> %v328, <8 x float> %v329
  %v331 = mul i64 %v302, 8
  %v332 = add i64 %v331, 3
  %v333 = mul i64 %v332, 64
  %v334 = getelementptr i8, ptr %v9, i64 %v333
  %v335 = load <8 x float>, ptr %v334, align 64
  %v336 = fadd <8 x float> %v306, %v335
  %v337 = select <8 x i1> %v310, <8 x float> %v335, <8 x float> %v336
  %v338 = mul i64 %v302, 8
  %v339 = add i64 %v338, 4
  %v340 = mul i64 %v339, 64
  %v341 = getelementptr i8, ptr %v9, i64 %v340
  %v342 = load <8 x float>, ptr %v341, align 64
  %v343 = fadd <8 x float> %v306, %v342
  %v344 = select <8 x i1> %v310, <8 x float> %v342, <8 x float> %v343
  %v345 = mul i64 %v302, 8
  %v346 = add i64 %v345, 5
  %v347 = mul i64 %v346, 64
  %v348 = getelementptr i8, ptr %v9, i64 %v347
  %v349 = load <8 x float>, ptr %v348, align 64
  %v350 = fadd <8 x float> %v306, %v349
  %v351 = select <8 x i1> %v310, <8 x float> %v349, <8 x float> %v350
  %v352 = mul i64 %v302, 8
  %v353 = add i64 %v352, 6
  %v354 = mul i64 %v353, 64
  %v355 = getelementptr i8, ptr %v9, i64 %v354
  %v356 = load <8 x float>, ptr %v355, align 64
  %v357 = fadd <8 x float> %v306, %v356
  %v358 = select <8 x i1> %v310, <8 x float> %v356, <8 x float> %v357
  %v359 = mul i64 %v302, 8
  %v360 = add i64 %v359, 7
  %v361 = mul i64 %v360, 64
  %v362 = getelementptr i8, ptr %v9, i64 %v361
  %v363 = load <8 x float>, ptr %v362, align 64
  %v364 = fadd <8 x float> %v306, %v363
  %v365 = select <8 x i1> %v310, <8 x float> %v363, <8 x float> %v364
  %v366 = shufflevector <8 x float> %v316, <8 x float> %v344, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v367 = shufflevector <8 x float> %v316, <8 x float> %v344, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v368 = shufflevector <8 x float> %v323, <8 x float> %v351, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v369 = shufflevector <8 x float> %v323, <8 x float> %v351, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v370 = shufflevector <8 x float> %v330, <8 x float> %v358, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v371 = shufflevector <8 x float> %v330, <8 x float> %v358, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v372 = shufflevector <8 x float> %v337, <8 x float> %v365, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v373 = shufflevector <8 x float> %v337, <8 x float> %v365, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v374 = shufflevector <8 x float> %v366, <8 x float> %v370, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v375 = shufflevector <8 x float> %v366, <8 x float> %v370, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v376 = shufflevector <8 x float> %v367, <8 x float> %v371, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v377 = shufflevector <8 x float> %v367, <8 x float> %v371, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v378 = shufflevector <8 x float> %v368, <8 x float> %v372, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v379 = shufflevector <8 x float> %v368, <8 x float> %v372, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v380 = shufflevector <8 x float> %v369, <8 x float> %v373, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v381 = shufflevector <8 x float> %v369, <8 x float> %v373, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v382 = shufflevector <8 x float> %v374, <8 x float> %v378, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v383 = shufflevector <8 x float> %v374, <8 x float> %v378, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v384 = shufflevector <8 x float> %v375, <8 x float> %v379, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v385 = shufflevector <8 x float> %v375, <8 x float> %v379, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v386 = shufflevector <8 x float> %v376, <8 x float> %v380, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v387 = shufflevector <8 x float> %v376, <8 x float> %v380, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v388 = shufflevector <8 x float> %v377, <8 x float> %v381, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v389 = shufflevector <8 x float> %v377, <8 x float> %v381, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v390 = mul i64 %v302, 64
  %v391 = mul i64 %v390, 4
  %v392 = getelementptr i8, ptr %v81, i64 %v391
  br i1 %v123, label %b393, label %b394
  b393:
  store <8 x float> %v382, ptr %v392, align 32, !nontemporal !{i32 1}
  %v395 = getelementptr i8, ptr %v392, i64 32
  store <8 x float> %v383, ptr %v395, align 32, !nontemporal !{i32 1}
  %v396 = getelementptr i8, ptr %v392, i64 64
  store <8 x float> %v384, ptr %v396, align 32, !nontemporal !{i32 1}
  %v397 = getelementptr i8, ptr %v392, i64 96
  store <8 x float> %v385, ptr %v397, align 32, !nontemporal !{i32 1}
  %v398 = getelementptr i8, ptr %v392, i64 128
  store <8 x float> %v386, ptr %v398, align 32, !nontemporal !{i32 1}
  %v399 = getelementptr i8, ptr %v392, i64 160
  store <8 x float> %v387, ptr %v399, align 32, !nontemporal !{i32 1}
  %v400 = getelementptr i8, ptr %v392, i64 192
  store <8 x float> %v388, ptr %v400, align 32, !nontemporal !{i32 1}
  %v401 = getelementptr i8, ptr %v392, i64 224
  store <8 x float> %v389, ptr %v401, align 32, !nontemporal !{i32 1}
  br label %b394
  b394:
  %v402 = xor i1 %v123, true
  br i1 %v402, label %b403, label %b404
  b403:
  store <8 x float> %v382, ptr %v392, align 4
  %v405 = getelementptr i8, ptr %v392, i64 32
  store <8 x float> %v383, ptr %v405, align 4
  %v406 = getelementptr i8, ptr %v392, i64 64
  store <8 x float> %v384, ptr %v406, align 4
  %v407 = getelementptr i8, ptr %v392, i64 96
  store <8 x float> %v385, ptr %v407, align 4
  %v408 = getelementptr i8, ptr %v392, i64 128
  store <8 x float> %v386, ptr %v408, align 4
  %v409 = getelementptr i8, ptr %v392, i64 160
  store <8 x float> %v387, ptr %v409, align 4
  %v410 = getelementptr i8, ptr %v392, i64 192
  store <8 x float> %v388, ptr %v410, align 4
  %v411 = getelementptr i8, ptr %v392, i64 224
  store <8 x float> %v389, ptr %v411, align 4
  br label %b404
  b404:
  %v412 = add i64 %v302, 1
  store i64 %v412, ptr %v296
  br label %b297
  b299:
  %v413 = and i64 %v69, 15
  %v414 = icmp ne i64 %v413, 0
  %v415 = load <8 x float>, ptr %v5
  %v416 = fadd <8 x float> %v415, %v295
  %v417 = select i1 %v414, <8 x float> %v416, <8 x float> %v295
  store <8 x float> %v417, ptr %v5
  %v418 = and i64 %v69, 15
  %v419 = icmp eq i64 %v418, 15
  br i1 %v419, label %b420, label %b421
  b420:
  %v422 = lshr i64 %v69, 4
  %v423 = load <8 x float>, ptr %v5
  %v424 = and i64 %v422, 63
  %v425 = icmp ne i64 %v424, 0
  %v426 = load <8 x float>, ptr %v6
  %v427 = fadd <8 x float> %v426, %v423
  %v428 = select i1 %v425, <8 x float> %v427, <8 x float> %v423
  store <8 x float> %v428, ptr %v6
  %v429 = load <8 x float>, ptr %v6
  %v430 = and i64 %v422, 63
  %v431 = icmp eq i64 %v430, 63
  br i1 %v431, label %b432, label %b433
  b432:
  %v434 = icmp eq i64 %v422, 63
  %v435 = load <8 x float>, ptr %v7
  %v436 = fadd <8 x float> %v435, %v429
  %v437 = select i1 %v434, <8 x float> %v429, <8 x float> %v436
  store <8 x float> %v437, ptr %v7
  br label %b433
  b433:
  %v438 = load <8 x float>, ptr %v7
  %v439 = fadd <8 x float> %v438, %v429
  %v440 = icmp sge i64 %v422, 63
  %v441 = add i64 %v422, 1
  %v442 = and i64 %v441, 63
  %v443 = icmp ne i64 %v442, 0
  %v444 = select i1 %v440, <8 x float> %v439, <8 x float> %v429
  %v445 = select i1 %v443, <8 x float> %v444, <8 x float> %v438
  store <8 x float> %v445, ptr %v8
  br label %b421
  b421:
  %v446 = xor i1 %v73, true
  br i1 %v446, label %b447, label %b448
  b447:
  %v449 = add i64 %v67, 0
  %v450 = mul i64 %v449, 4
  %v451 = getelementptr i8, ptr %v60, i64 %v450
  %v452 = mul i64 0, 4
  %v453 = getelementptr i8, ptr %v78, i64 %v452
  %v454 = and i64 %v72, -8
  store i64 0, ptr %v455
  br label %b456
  b456:
  %v459 = load i64, ptr %v455
  %v460 = icmp slt i64 %v459, %v454
  br i1 %v460, label %b457, label %b458
  b457:
  %v461 = load i64, ptr %v455
  %v462 = mul i64 %v461, 4
  %v463 = getelementptr i8, ptr %v453, i64 %v462
  %v464 = load <8 x float>, ptr %v463, align 4
  %v465 = getelementptr i8, ptr %v451, i64 %v462
  store <8 x float> %v464, ptr %v465, align 4
  %v466 = add i64 %v461, 8
  store i64 %v466, ptr %v455
  br label %b456
  b458:
  store i64 %v454, ptr %v467
  br label %b468
  b468:
  %v471 = load i64, ptr %v467
  %v472 = icmp slt i64 %v471, %v72
  br i1 %v472, label %b469, label %b470
  b469:
  %v473 = load i64, ptr %v467
  %v474 = mul i64 %v473, 4
  %v475 = getelementptr i8, ptr %v453, i64 %v474
  %v476 = load float, ptr %v475, align 4
  %v477 = mul i64 %v473, 4
  %v478 = getelementptr i8, ptr %v451, i64 %v477
  store float %v476, ptr %v478, align 4
  %v479 = add i64 %v473, 1
  store i64 %v479, ptr %v467
  br label %b468
  b470:
  br label %b448
  b448:
  %v480 = add i64 %v67, 256
  store i64 %v480, ptr %v61
  br label %b62
  b64:
  %v481 = add i64 %v51, %v44
  store i64 %v481, ptr %v45
  br label %b46
  b48:
  %v482 = load i64, ptr %v27
  %v483 = add i64 %v482, 1
  store i64 %v483, ptr %v27
  %v484 = load ptr, ptr %v30
  %v485 = getelementptr i8, ptr %v484, i64 %v21
  store ptr %v485, ptr %v30
  %v486 = load ptr, ptr %v33
  %v487 = getelementptr i8, ptr %v486, i64 %v23
  store ptr %v487, ptr %v33
  %v488 = add i64 %v40, 1
  store i64 %v488, ptr %v34
  br label %b35
  b37:
  %v489 = icmp ne i64 %v15, 0
  br i1 %v489, label %b490, label %b491
  b490:
  fence seq_cst
  br label %b491
  b491:
  ret void
}
