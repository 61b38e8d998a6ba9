define void @k4f85f22405d5f48cf1e6971ebebc7b32(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 32
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 40
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 48
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 56
  %v8 = load i64, ptr %v7, align 8
  %v9 = alloca [17408 x float], align 64
  %v10 = getelementptr i8, ptr %words, i64 64
  %v11 = load i64, ptr %v10, align 8
  %v12 = getelementptr i8, ptr %words, i64 72
  %v13 = load i64, ptr %v12, align 8
  %v14 = getelementptr i8, ptr %words, i64 80
  %v15 = load i64, ptr %v14, align 8
  %v16 = getelementptr i8, ptr %words, i64 88
  %v17 = load i64, ptr %v16, align 8
  %v18 = getelementptr i8, ptr %words, i64 96
  %v19 = load i64, ptr %v18, align 8
  %v20 = getelementptr i8, ptr %words, i64 104
  %v21 = load i64, ptr %v20, align 8
  %v22 = getelementptr i8, ptr %words, i64 112
  %v23 = load i64, ptr %v22, align 8
  %v24 = getelementptr i8, ptr %words, i64 120
  %v25 = load i64, ptr %v24, align 8
  %v26 = getelementptr i8, ptr %words, i64 128
  %v27 = load i64, ptr %v26, align 8
  %v28 = getelementptr i8, ptr %words, i64 136
  %v29 = load i64, ptr %v28, align 8
  %v30 = mul i64 %v15, 64
  %v31 = mul i64 %v17, 256
  %v32 = mul i64 %v19, 64
  %v33 = mul i64 %v21, 256
  %v34 = mul i64 %v23, 64
  %v35 = mul i64 %v25, 256
  %v36 = load ptr, ptr %words, align 8
  %v37 = getelementptr i8, ptr %words, i64 8
  %v38 = load ptr, ptr %v37, align 8
  %v39 = getelementptr i8, ptr %words, i64 16
  %v40 = load ptr, ptr %v39, align 8
  %v43 = alloca i64, align 8
  %v44 = alloca i64, align 8
  %v49 = alloca ptr, align 8
  %v54 = alloca ptr, align 8
  %v59 = alloca ptr, align 8
  %v60 = alloca i64, align 8
  %v82 = alloca i64, align 8
  %v89 = alloca i64, align 8
  %v183 = alloca i64, align 8
  %v198 = alloca i64, align 8
  %v213 = alloca i64, align 8
  %v225 = alloca i64, align 8
  %v256 = alloca i64, align 8
  %v270 = alloca i64, align 8
  %v285 = alloca i64, align 8
  %v316 = alloca i64, align 8
  %v343 = alloca i64, align 8
  %v431 = alloca i64, align 8
  %v518 = alloca i64, align 8
  br label %start
  start:
  %v41 = urem i64 %begin, %v29
  %v42 = udiv i64 %begin, %v29
  store i64 %v42, ptr %v43
  store i64 %v41, ptr %v44
  %v45 = mul i64 %v42, %v30
  %v46 = getelementptr i8, ptr %v36, i64 %v45
  %v47 = mul i64 %v41, %v31
  %v48 = getelementptr i8, ptr %v46, i64 %v47
  store ptr %v48, ptr %v49
  %v50 = mul i64 %v42, %v32
  %v51 = getelementptr i8, ptr %v38, i64 %v50
  %v52 = mul i64 %v41, %v33
  %v53 = getelementptr i8, ptr %v51, i64 %v52
  store ptr %v53, ptr %v54
  %v55 = mul i64 %v42, %v34
  %v56 = getelementptr i8, ptr %v40, i64 %v55
  %v57 = mul i64 %v41, %v35
  %v58 = getelementptr i8, ptr %v56, i64 %v57
  store ptr %v58, ptr %v59
  store i64 %begin, ptr %v60
  br label %b61
  b61:
  %v64 = load i64, ptr %v60
  %v65 = icmp slt i64 %v64, %end
  br i1 %v65, label %b62, label %b63
  b62:
  %v66 = load i64, ptr %v60
  %v67 = load ptr, ptr %v49
  %v68 = load ptr, ptr %v54
  %v69 = load ptr, ptr %v59
  %v70 = load i64, ptr %v43
  %v71 = load i64, ptr %v44
  %v72 = mul i64 %v70, 64
  %v73 = mul i64 %v71, 256
  %v74 = sub i64 %v11, %v72
  %v75 = icmp slt i64 64, %v74
  %v76 = select i1 %v75, i64 64, i64 %v74
  %v77 = sub i64 %v13, %v73
  %v78 = icmp slt i64 256, %v77
  %v79 = select i1 %v78, i64 256, i64 %v77
  %v80 = and i64 %v79, -8
  %v81 = and i64 %v76, -8
  store i64 0, ptr %v82
  br label %b83
  b83:
  %v86 = load i64, ptr %v82
  %v87 = icmp slt i64 %v86, %v80
  br i1 %v87, label %b84, label %b85
  b84:
  %v88 = load i64, ptr %v82
  store i64 0, ptr %v89
  br label %b90
  b90:
  %v93 = load i64, ptr %v89
  %v94 = icmp slt i64 %v93, %v81
  br i1 %v94, label %b91, label %b92
  b91:
  %v95 = load i64, ptr %v89
  %v96 = mul i64 %v88, %v21
  %v97 = getelementptr i8, ptr %v68, i64 %v96
  %v98 = mul i64 %v95, 4
  %v99 = getelementptr i8, ptr %v97, i64 %v98
  %v100 = mul i64 %v21, 0
  %v101 = getelementptr i8, ptr %v99, i64 %v100
  %v102 = load <8 x float>, ptr %v101, align 4
  %v103 = getelementptr i8, ptr %v99, i64 %v21
  %v104 = load <8 x float>, ptr %v103, align 4
  %v105 = mul i64 %v21, 2
  %v106 = getelementptr i8, ptr %v99, i64 %v105
  %v107 = load <8 x float>, ptr %v106, align 4
  %v108 = mul i64 %v21, 3
  %v109 = getelementptr i8, ptr %v99, i64 %v108
  %v110 = load <8 x float>, ptr %v109, align 4
  %v111 = mul i64 %v21, 4
  %v112 = getelementptr i8, ptr %v99, i64 %v111
  %v113 = load <8 x float>, ptr %v112, align 4
  %v114 = mul i64 %v21, 5
  %v115 = getelementptr i8, ptr %v99, i64 %v114
  %v116 = load <8 x float>, ptr %v115, align 4
  %v117 = mul i64 %v21, 6
  %v118 = getelementptr i8, ptr %v99, i64 %v117
  %v119 = load <8 x float>, ptr %v118, align 4
  %v120 = mul i64 %v21, 7
  %v121 = getelementptr i8, ptr %v99, i64 %v120
  %v122 = load <8 x float>, ptr %v121, align 4
  %v123 = mul i64 %v21, 8
  %v124 = getelementptr i8, ptr %v99, i64 %v123
  call void @llvm.prefetch.p0(ptr %v124, i32 0, i32 3, i32 1)
  %v125 = mul i64 %v21, 9
  %v126 = getelementptr i8, ptr %v99, i64 %v125
  call void @llvm.prefetch.p0(ptr %v126, i32 0, i32 3, i32 1)
  %v127 = mul i64 %v21, 10
  %v128 = getelementptr i8, ptr %v99, i64 %v127
  call void @llvm.prefetch.p0(ptr %v128, i32 0, i32 3, i32 1)
  %v129 = mul i64 %v21, 11
  %v130 = getelementptr i8, ptr %v99, i64 %v129
  call void @llvm.prefetch.p0(ptr %v130, i32 0, i32 3, i32 1)
  %v131 = mul i64 %v21, 12
  %v132 = getelementptr i8, ptr %v99, i64 %v131
  call void @llvm.prefetch.p0(ptr %v132, i32 0, i32 3, i32 1)
  %v133 = mul i64 %v21, 13
  %v134 = getelementptr i8, ptr %v99, i64 %v133
  call void @llvm.prefetch.p0(ptr %v134, i32 0, i32 3, i32 1)
  %v135 = mul i64 %v21, 14
  %v136 = getelementptr i8, ptr %v99, i64 %v135
  call void @llvm.prefetch.p0(ptr %v136, i32 0, i32 3, i32 1)
  %v137 = mul i64 %v21, 15
  %v138 = getelementptr i8, ptr %v99, i64 %v137
  call void @llvm.prefetch.p0(ptr %v138, i32 0, i32 3, i32 1)
  %v139 = mul i64 %v95, 1088
  %v140 = getelementptr i8, ptr %v9, i64 %v139
  %v141 = mul i64 %v88, 4
  %v142 = getelementptr i8, ptr %v140, i64 %v141
  %v143 = shufflevector <8 x float> %v102, <8 x float> %v104, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
  %v144 = shufflevector <8 x float> %v102, <8 x float> %v104, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
  %v145 = shufflevector <8 x float> %v107, <8 x float> %v110, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
  %v146 = shufflevector <8 x float> %v107, <8 x float> %v110, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
  %v147 = shufflevector <8 x float> %v113, <8 x float> %v116, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
  %v148 = shufflevector <8 x float> %v113, <8 x float> %v116, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
  %v149 = shufflevector <8 x float> %v119, <8 x float> %v122, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
  %v150 = shufflevector <8 x float> %v119, <8 x float> %v122, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
  %v151 = shufflevector <8 x float> %v143, <8 x float> %v145, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v152 = shufflevector <8 x float> %v143, <8 x float> %v145, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v153 = shufflevector <8 x float> %v144, <8 x float> %v146, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v154 = shufflevector <8 x float> %v144, <8 x float> %v146, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v155 = shufflevector <8 x float> %v147, <8 x float> %v149, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v156 = shufflevector <8 x float> %v147, <8 x float> %v149, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v157 = shufflevector <8 x float> %v148, <8 x float> %v150, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v158 = shufflevector <8 x float> %v148, <8 x float> %v150, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v159 = shufflevector <8 x float> %v151, <8 x float> %v155, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v160 = shufflevector <8 x float> %v151, <8 x float> %v155, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v161 = shufflevector <8 x float> %v153, <8 x float> %v157, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v162 = shufflevector <8 x float> %v153, <8 x float> %v157, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v163 = shufflevector <8 x float> %v152, <8 x float> %v156, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v164 = shufflevector <8 x float> %v152, <8 x float> %v156, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v165 = shufflevector <8 x float> %v154, <8 x float> %v158, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v166 = shufflevector <8 x float> %v154, <8 x float> %v158, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v167 = mul i64 1088, 0
  %v168 = getelementptr i8, ptr %v142, i64 %v167
  store <8 x float> %v159, ptr %v168, align 4
  %v169 = getelementptr i8, ptr %v142, i64 1088
  store <8 x float> %v161, ptr %v169, align 4
  %v170 = mul i64 1088, 2
  %v171 = getelementptr i8, ptr %v142, i64 %v170
  store <8 x float> %v163, ptr %v171, align 4
  %v172 = mul i64 1088, 3
  %v173 = getelementptr i8, ptr %v142, i64 %v172
  store <8 x float> %v165, ptr %v173, align 4
  %v174 = mul i64 1088, 4
  %v175 = getelementptr i8, ptr %v142, i64 %v174
  store <8 x float> %v160, ptr %v175, align 4
  %v176 = mul i64 1088, 5
  %v177 = getelementptr i8, ptr %v142, i64 %v176
  store <8 x float> %v162, ptr %v177, align 4
  %v178 = mul i64 1088, 6
  %v179 = getelementptr i8, ptr %v142, i64 %v178
  store <8 x float> %v164, ptr %v179, align 4
  %v180 = mul i64 1088, 7
  %v181 = getelementptr i8, ptr %v142, i64 %v180
  store <8 x float> %v166, ptr %v181, align 4
  %v182 = add i64 %v95, 8
  store i64 %v182, ptr %v89
  br label %b90
  b92:
  store i64 %v81, ptr %v183
  br label %b184
  b184:
  %v187 = load i64, ptr %v183
  %v188 = icmp slt i64 %v187, %v76
  br i1 %v188, label %b185, label %b186
  b185:
  %v189 = load i64, ptr %v183
  %v190 = mul i64 %v88, %v21
  %v191 = getelementptr i8, ptr %v68, i64 %v190
  %v192 = mul i64 %v189, 4
  %v193 = getelementptr i8, ptr %v191, i64 %v192
  %v194 = mul i64 %v189, 1088
  %v195 = getelementptr i8, ptr %v9, i64 %v194
  %v196 = mul i64 %v88, 4
  %v197 = getelementptr i8, ptr %v195, i64 %v196
  store i64 0, ptr %v198
  br label %b199
  b199:
  %v202 = load i64, ptr %v198
  %v203 = icmp slt i64 %v202, 8
  br i1 %v203, label %b200, label %b201
  b200:
  %v204 = load i64, ptr %v198
  %v205 = mul i64 %v204, %v21
  %v206 = getelementptr i8, ptr %v193, i64 %v205
  %v207 = load float, ptr %v206, align 4
  %v208 = mul i64 %v204, 4
  %v209 = getelementptr i8, ptr %v197, i64 %v208
  store float %v207, ptr %v209, align 4
  %v210 = add i64 %v204, 1
  store i64 %v210, ptr %v198
  br label %b199
  b201:
  %v211 = add i64 %v189, 1
  store i64 %v211, ptr %v183
  br label %b184
  b186:
  %v212 = add i64 %v88, 8
  store i64 %v212, ptr %v82
  br label %b83
  b85:
  store i64 %v80, ptr %v213
  br label %b214
  b214:
  %v217 = load i64, ptr %v213
  %v218 = icmp slt i64 %v217, %v79
  br i1 %v218, label %b215, label %b216
  b215:
  %v219 = load i64, ptr %v213
  %v220 = mul i64 %v219, %v21
  %v221 = getelementptr i8, ptr %v68, i64 %v220
  %v222 = mul i64 %v219, 4
  %v223 = getelementptr i8, ptr %v9, i64 %v222
  %v224 = and i64 %v76, -4
  store i64 0, ptr %v225
  br label %b226
  b226:
  %v229 = load i64, ptr %v225
  %v230 = icmp slt i64 %v229, %v224
  br i1 %v230, label %b227, label %b228
  b227:
  %v231 = load i64, ptr %v225
  %v232 = add i64 %v231, 1
  %v233 = add i64 %v231, 2
  %v234 = add i64 %v231, 3
  %v235 = mul i64 %v231, 4
  %v236 = getelementptr i8, ptr %v221, i64 %v235
  %v237 = load float, ptr %v236, align 4
  %v238 = mul i64 %v232, 4
  %v239 = getelementptr i8, ptr %v221, i64 %v238
  %v240 = load float, ptr %v239, align 4
  %v241 = mul i64 %v233, 4
  %v242 = getelementptr i8, ptr %v221, i64 %v241
  %v243 = load float, ptr %v242, align 4
  %v244 = mul i64 %v234, 4
  %v245 = getelementptr i8, ptr %v221, i64 %v244
  %v246 = load float, ptr %v245, align 4
  %v247 = mul i64 %v231, 1088
  %v248 = getelementptr i8, ptr %v223, i64 %v247
  store float %v237, ptr %v248, align 4
  %v249 = mul i64 %v232, 1088
  %v250 = getelementptr i8, ptr %v223, i64 %v249
  store float %v240, ptr %v250, align 4
  %v251 = mul i64 %v233, 1088
  %v252 = getelementptr i8, ptr %v223, i64 %v251
  store float %v243, ptr %v252, align 4
  %v253 = mul i64 %v234, 1088
  %v254 = getelementptr i8, ptr %v223, i64 %v253
  store float %v246, ptr %v254, align 4
  %v255 = add i64 %v231, 4
  store i64 %v255, ptr %v225
  br label %b226
  b228:
  store i64 %v224, ptr %v256
  br label %b257
  b257:
  %v260 = load i64, ptr %v256
  %v261 = icmp slt i64 %v260, %v76
  br i1 %v261, label %b258, label %b259
  b258:
  %v262 = load i64, ptr %v256
  %v263 = mul i64 %v262, 4
  %v264 = getelementptr i8, ptr %v221, i64 %v263
  %v265 = load float, ptr %v264, align 4
  %v266 = mul i64 %v262, 1088
  %v267 = getelementptr i8, ptr %v223, i64 %v266
  store float %v265, ptr %v267, align 4
  %v268 = add i64 %v262, 1
  store i64 %v268, ptr %v256
  br label %b257
  b259:
  %v269 = add i64 %v219, 1
  store i64 %v269, ptr %v213
  br label %b214
  b216:
  store i64 0, ptr %v270
  br label %b271
  b271:
  %v274 = load i64, ptr %v270
  %v275 = icmp slt i64 %v274, %v76
  br i1 %v275, label %b272, label %b273
  b272:
  %v276 = load i64, ptr %v270
  %v277 = mul i64 %v276, %v15
  %v278 = getelementptr i8, ptr %v67, i64 %v277
  %v279 = mul i64 %v276, 1088
  %v280 = getelementptr i8, ptr %v9, i64 %v279
  %v281 = mul i64 %v276, %v23
  %v282 = getelementptr i8, ptr %v69, i64 %v281
  %v283 = add i64 %v72, %v276
  %v284 = sub i64 1, 0
  store i64 0, ptr %v285
  br label %b286
  b286:
  %v289 = load i64, ptr %v285
  %v290 = icmp slt i64 %v289, 1
  br i1 %v290, label %b287, label %b288
  b287:
  %v291 = load i64, ptr %v285
  %v292 = mul i64 %v291, 1024
  %v293 = mul i64 1, 1024
  %v294 = icmp slt i64 %v293, %v79
  %v295 = select i1 %v294, i64 %v293, i64 %v79
  %v296 = sub i64 %v295, %v292
  %v297 = mul i64 %v292, 4
  %v298 = getelementptr i8, ptr %v278, i64 %v297
  %v299 = mul i64 %v292, 4
  %v300 = getelementptr i8, ptr %v280, i64 %v299
  %v301 = mul i64 %v292, 4
  %v302 = getelementptr i8, ptr %v282, i64 %v301
  %v303 = ptrtoint ptr %v302 to i64
  %v304 = sub i64 0, %v303
  %v305 = and i64 %v304, 63
  %v306 = udiv i64 %v305, 4
  %v307 = icmp ne i64 %v2, 0
  %v308 = mul i64 %v306, 4
  %v309 = add i64 %v303, %v308
  %v310 = and i64 %v309, 63
  %v311 = icmp eq i64 %v310, 0
  %v312 = and i1 %v307, %v311
  %v313 = icmp slt i64 %v306, %v296
  %v314 = select i1 %v313, i64 %v306, i64 %v296
  %v315 = select i1 %v312, i64 %v314, i64 0
  store i64 0, ptr %v316
  br label %b317
  b317:
  %v320 = load i64, ptr %v316
  %v321 = icmp slt i64 %v320, %v315
  br i1 %v321, label %b318, label %b319
  b318:
  %v322 = load i64, ptr %v316
  %v323 = sub i64 %v315, %v322
  %v324 = trunc i64 %v323 to i32
  %v325 = insertelement <8 x i32> poison, i32 %v324, i64 0
  %v326 = shufflevector <8 x i32> %v325, <8 x i32> poison, <8 x i32> zeroinitializer
  %v327 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v326
  %v328 = mul i64 %v322, 4
  %v329 = getelementptr i8, ptr %v298, i64 %v328
  %v330 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v329, i32 4, <8 x i1> %v327, <8 x float> zeroinitializer)
  %v331 = mul i64 %v322, 4
  %v332 = getelementptr i8, ptr %v300, i64 %v331
  %v333 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v332, i32 4, <8 x i1> %v327, <8 x float> zeroinitializer)
  %v334 = fadd <8 x float> %v330, %v333
  %v335 = mul i64 %v322, 4
  %v336 = getelementptr i8, ptr %v302, i64 %v335
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v334, ptr %v336, i32 4, <8 x i1> %v327)
  %v337 = add i64 %v322, 8
  store i64 %v337, ptr %v316
  br label %b317
  b319:
  %v338 = sub i64 %v296, %v315
  %v339 = and i64 %v338, -64
  %v340 = add i64 %v315, %v339
  br i1 %v312, label %b341, label %b342
  b341:
  store i64 %v315, ptr %v343
  br label %b344
  b344:
  %v347 = load i64, ptr %v343
  %v348 = icmp slt i64 %v347, %v340
  br i1 %v348, label %b345, label %b346
  b345:
  %v349 = load i64, ptr %v343
  %v350 = mul i64 %v349, 4
  %v351 = getelementptr i8, ptr %v298, i64 %v350
  %v352 = load <8 x float>, ptr %v351, align 4
  %v353 = add i64 %v349, 8
  %v354 = mul i64 %v353, 4
  %v355 = getelementptr i8, ptr %v298, i64 %v354
  %v356 = load <8 x float>, ptr %v355, align 4
  %v357 = add i64 %v349, 16
  %v358 = mul i64 %v357, 4
  %v359 = getelementptr i8, ptr %v298, i64 %v358
  %v360 = load <8 x float>, ptr %v359, align 4
  %v361 = add i64 %v349, 24
  %v362 = mul i64 %v361, 4
  %v363 = getelementptr i8, ptr %v298, i64 %v362
  %v364 = load <8 x float>, ptr %v363, align 4
  %v365 = add i64 %v349, 32
  %v366 = mul i64 %v365, 4
  %v367 = getelementptr i8, ptr %v298, i64 %v366
  %v368 = load <8 x float>, ptr %v367, align 4
  %v369 = add i64 %v349, 40
  %v370 = mul i64 %v369, 4
  %v371 = getelementptr i8, ptr %v298, i64 %v370
  %v372 = load <8 x float>, ptr %v371, align 4
  %v373 = add i64 %v349, 48
  %v374 = mul i64 %v373, 4
  %v375 = getelementptr i8, ptr %v298, i64 %v374
  %v376 = load <8 x float>, ptr %v375, align 4
  %v377 = add i64 %v349, 56
  %v378 = mul i64 %v377, 4
  %v379 = getelementptr i8, ptr %v298, i64 %v378
  %v380 = load <8 x float>, ptr %v379, align 4
  %v381 = mul i64 %v349, 4
  %v382 = getelementptr i8, ptr %v300, i64 %v381
  %v383 = load <8 x float>, ptr %v382, align 4
  %v384 = add i64 %v349, 8
  %v385 = mul i64 %v384, 4
  %v386 = getelementptr i8, ptr %v300, i64 %v385
  %v387 = load <8 x float>, ptr %v386, align 4
  %v388 = add i64 %v349, 16
  %v389 = mul i64 %v388, 4
  %v390 = getelementptr i8, ptr %v300, i64 %v389
  %v391 = load <8 x float>, ptr %v390, align 4
  %v392 = add i64 %v349, 24
  %v393 = mul i64 %v392, 4
  %v394 = getelementptr i8, ptr %v300, i64 %v393
  %v395 = load <8 x float>, ptr %v394, align 4
  %v396 = add i64 %v349, 32
  %v397 = mul i64 %v396, 4
  %v398 = getelementptr i8, ptr %v300, i64 %v397
  %v399 = load <8 x float>, ptr %v398, align 4
  %v400 = add i64 %v349, 40
  %v401 = mul i64 %v400, 4
  %v402 = getelementptr i8, ptr %v300, i64 %v401
  %v403 = load <8 x float>, ptr %v402, align 4
  %v404 = add i64 %v349, 48
  %v405 = mul i64 %v404, 4
  %v406 = getelementptr i8, ptr %v300, i64 %v405
  %v407 = load <8 x float>, ptr %v406, align 4
  %v408 = add i64 %v349, 56
  %v409 = mul i64 %v408, 4
  %v410 = getelementptr i8, ptr %v300, i64 %v409
  %v411 = load <8 x float>, ptr %v410, align 4
  %v412 = fadd <8 x float> %v352, %v383
  %v413 = fadd <8 x float> %v356, %v387
  %v414 = fadd <8 x float> %v360, %v391
  %v415 = fadd <8 x float> %v364, %v395
  %v416 = fadd <8 x float> %v368, %v399
  %v417 = fadd <8 x float> %v372, %v403
  %v418 = fadd <8 x float> %v376, %v407
  %v419 = fadd <8 x float> %v380, %v411
  %v420 = mul i64 %v349, 4
  %v421 = getelementptr i8, ptr %v302, i64 %v420
  store <8 x float> %v412, ptr %v421, align 32, !nontemporal !{i32 1}
  %v422 = getelementptr i8, ptr %v421, i64 32
  store <8 x float> %v413, ptr %v422, align 32, !nontemporal !{i32 1}
  %v423 = getelementptr i8, ptr %v421, i64 64
  store <8 x float> %v414, ptr %v423, align 32, !nontemporal !{i32 1}
  %v424 = getelementptr i8, ptr %v421, i64 96
  store <8 x float> %v415, ptr %v424, align 32, !nontemporal !{i32 1}
  %v425 = getelementptr i8, ptr %v421, i64 128
  store <8 x float> %v416, ptr %v425, align 32, !nontemporal !{i32 1}
  %v426 = getelementptr i8, ptr %v421, i64 160
  store <8 x float> %v417, ptr %v426, align 32, !nontemporal !{i32 1}
  %v427 = getelementptr i8, ptr %v421, i64 192
  store <8 x float> %v418, ptr %v427, align 32, !nontemporal !{i32 1}
  %v428 = getelementptr i8, ptr %v421, i64 224
  store <8 x float> %v419, ptr %v428, align 32, !nontemporal !{i32 1}
  %v429 = add i64 %v349, 64
  store i64 %v429, ptr %v343
  br label %b344
  b346:
  br label %b342
  b342:
  %v430 = select i1 %v312, i64 %v340, i64 %v315
  store i64 %v430, ptr %v431
  br label %b432
  b432:
  %v435 = load i64, ptr %v431
  %v436 = icmp slt i64 %v435, %v340
  br i1 %v436, label %b433, label %b434
  b433:
  %v437 = load i64, ptr %v431
  %v438 = mul i64 %v437, 4
  %v439 = getelementptr i8, ptr %v298, i64 %v438
  %v440 = load <8 x float>, ptr %v439, align 4
  %v441 = add i64 %v437, 8
  %v442 = mul i64 %v441, 4
  %v443 = getelementptr i8, ptr %v298, i64 %v442
  %v444 = load <8 x float>, ptr %v443, align 4
  %v445 = add i64 %v437, 16
  %v446 = mul i64 %v445, 4
  %v447 = getelementptr i8, ptr %v298, i64 %v446
  %v448 = load <8 x float>, ptr %v447, align 4
  %v449 = add i64 %v437, 24
  %v450 = mul i64 %v449, 4
  %v451 = getelementptr i8, ptr %v298, i64 %v450
  %v452 = load <8 x float>, ptr %v451, align 4
  %v453 = add i64 %v437, 32
  %v454 = mul i64 %v453, 4
  %v455 = getelementptr i8, ptr %v298, i64 %v454
  %v456 = load <8 x float>, ptr %v455, align 4
  %v457 = add i64 %v437, 40
  %v458 = mul i64 %v457, 4
  %v459 = getelementptr i8, ptr %v298, i64 %v458
  %v460 = load <8 x float>, ptr %v459, align 4
  %v461 = add i64 %v437, 48
  %v462 = mul i64 %v461, 4
  %v463 = getelementptr i8, ptr %v298, i64 %v462
  %v464 = load <8 x float>, ptr %v463, align 4
  %v465 = add i64 %v437, 56
  %v466 = mul i64 %v465, 4
  %v467 = getelementptr i8, ptr %v298, i64 %v466
  %v468 = load <8 x float>, ptr %v467, align 4
  %v469 = mul i64 %v437, 4
  %v470 = getelementptr i8, ptr %v300, i64 %v469
  %v471 = load <8 x float>, ptr %v470, align 4
  %v472 = add i64 %v437, 8
  %v473 = mul i64 %v472, 4
  %v474 = getelementptr i8, ptr %v300, i64 %v473
  %v475 = load <8 x float>, ptr %v474, align 4
  %v476 = add i64 %v437, 16
  %v477 = mul i64 %v476, 4
  %v478 = getelementptr i8, ptr %v300, i64 %v477
  %v479 = load <8 x float>, ptr %v478, align 4
  %v480 = add i64 %v437, 24
  %v481 = mul i64 %v480, 4
  %v482 = getelementptr i8, ptr %v300, i64 %v481
  %v483 = load <8 x float>, ptr %v482, align 4
  %v484 = add i64 %v437, 32
  %v485 = mul i64 %v484, 4
  %v486 = getelementptr i8, ptr %v300, i64 %v485
  %v487 = load <8 x float>, ptr %v486, align 4
  %v488 = add i64 %v437, 40
  %v489 = mul i64 %v488, 4
  %v490 = getelementptr i8, ptr %v300, i64 %v489
  %v491 = load <8 x float>, ptr %v490, align 4
  %v492 = add i64 %v437, 48
  %v493 = mul i64 %v492, 4
  %v494 = getelementptr i8, ptr %v300, i64 %v493
  %v495 = load <8 x float>, ptr %v494, align 4
  %v496 = add i64 %v437, 56
  %v497 = mul i64 %v496, 4
  %v498 = getelementptr i8, ptr %v300, i64 %v497
  %v499 = load <8 x float>, ptr %v498, align 4
  %v500 = fadd <8 x float> %v440, %v471
  %v501 = fadd <8 x float> %v444, %v475
  %v502 = fadd <8 x float> %v448, %v479
  %v503 = fadd <8 x float> %v452, %v483
  %v504 = fadd <8 x float> %v456, %v487
  %v505 = fadd <8 x float> %v460, %v491
  %v506 = fadd <8 x float> %v464, %v495
  %v507 = fadd <8 x float> %v468, %v499
  %v508 = mul i64 %v437, 4
  %v509 = getelementptr i8, ptr %v302, i64 %v508
  store <8 x float> %v500, ptr %v509, align 4
  %v510 = getelementptr i8, ptr %v509, i64 32
  store <8 x float> %v501, ptr %v510, align 4
  %v511 = getelementptr i8, ptr %v509, i64 64
  store <8 x float> %v502, ptr %v511, align 4
  %v512 = getelementptr i8, ptr %v509, i64 96
  store <8 x float> %v503, ptr %v512, align 4
  %v513 = getelementptr i8, ptr %v509, i64 128
  store <8 x float> %v504, ptr %v513, align 4
  %v514 = getelementptr i8, ptr %v509, i64 160
  store <8 x float> %v505, ptr %v514, align 4
  %v515 = getelementptr i8, ptr %v509, i64 192
  store <8 x float> %v506, ptr %v515, align 4
  %v516 = getelementptr i8, ptr %v509, i64 224
  store <8 x float> %v507, ptr %v516, align 4
  %v517 = add i64 %v437, 64
  store i64 %v517, ptr %v431
  br label %b432
  b434:
  store i64 %v340, ptr %v518
  br label %b519
  b519:
  %v522 = load i64, ptr %v518
  %v523 = icmp slt i64 %v522, %v296
  br i1 %v523, label %b520, label %b521
  b520:
  %v524 = load i64, ptr %v518
  %v525 = sub i64 %v296, %v524
  %v526 = trunc i64 %v525 to i32
  %v527 = insertelement <8 x i32> poison, i32 %v526, i64 0
  %v528 = shufflevector <8 x i32> %v527, <8 x i32> poison, <8 x i32> zeroinitializer
  %v529 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v528
  %v530 = mul i64 %v524, 4
  %v531 = getelementptr i8, ptr %v298, i64 %v530
  %v532 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v531, i32 4, <8 x i1> %v529, <8 x float> zeroinitializer)
  %v533 = mul i64 %v524, 4
  %v534 = getelementptr i8, ptr %v300, i64 %v533
  %v535 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v534, i32 4, <8 x i1> %v529, <8 x float> zeroinitializer)
  %v536 = fadd <8 x float> %v532, %v535
  %v537 = mul i64 %v524, 4
  %v538 = getelementptr i8, ptr %v302, i64 %v537
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v536, ptr %v538, i32 4, <8 x i1> %v529)
  %v539 = add i64 %v524, 8
  store i64 %v539, ptr %v518
  br label %b519
  b521:
  %v540 = add i64 %v291, %v284
  store i64 %v540, ptr %v285
  br label %b286
  b288:
  %v541 = add i64 %v276, 1
  store i64 %v541, ptr %v270
  br label %b271
  b273:
  %v542 = load i64, ptr %v44
  %v543 = add i64 %v542, 1
  store i64 %v543, ptr %v44
  %v544 = load ptr, ptr %v49
  %v545 = getelementptr i8, ptr %v544, i64 %v31
  store ptr %v545, ptr %v49
  %v546 = load ptr, ptr %v54
  %v547 = getelementptr i8, ptr %v546, i64 %v33
  store ptr %v547, ptr %v54
  %v548 = load ptr, ptr %v59
  %v549 = getelementptr i8, ptr %v548, i64 %v35
  store ptr %v549, ptr %v59
  %v550 = load i64, ptr %v44
  %v551 = icmp eq i64 %v550, %v29
  br i1 %v551, label %b552, label %b553
  b552:
  %v554 = mul i64 %v31, %v29
  %v555 = load ptr, ptr %v49
  %v556 = sub i64 0, %v554
  %v557 = getelementptr i8, ptr %v555, i64 %v556
  store ptr %v557, ptr %v49
  %v558 = mul i64 %v33, %v29
  %v559 = load ptr, ptr %v54
  %v560 = sub i64 0, %v558
  %v561 = getelementptr i8, ptr %v559, i64 %v560
  store ptr %v561, ptr %v54
  %v562 = mul i64 %v35, %v29
  %v563 = load ptr, ptr %v59
  %v564 = sub i64 0, %v562
  %v565 = getelementptr i8, ptr %v563, i64 %v564
  store ptr %v565, ptr %v59
  store i64 0, ptr %v44
  %v566 = load i64, ptr %v43
  %v567 = add i64 %v566, 1
  store i64 %v567, ptr %v43
  %v568 = load ptr, ptr %v49
  %v569 = getelementptr i8, ptr %v568, i64 %v30
  store ptr %v569, ptr %v49
  %v570 = load ptr, ptr %v54
  %v571 = getelementptr i8, ptr %v570, i64 %v32
  store ptr %v571, ptr %v54
  %v572 = load ptr, ptr %v59
  %v573 = getelementptr i8, ptr %v572, i64 %v34
  store ptr %v573, ptr %v59
  br label %b553
  b553:
  %v574 = add i64 %v66, 1
  store i64 %v574, ptr %v60
  br label %b61
  b63:
  %v575 = icmp ne i64 %v2, 0
  br i1 %v575, label %b576, label %b577
  b576:
  fence seq_cst
  br label %b577
  b577:
  ret void
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
