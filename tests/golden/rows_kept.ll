define void @kb7f5ad7533263ac18cd8397ec1661753(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 24
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 32
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 40
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 48
  %v8 = load i64, ptr %v7, align 8
  %v9 = alloca [32768 x float], align 64
  %v10 = getelementptr i8, ptr %words, i64 56
  %v11 = load i64, ptr %v10, align 8
  %v12 = getelementptr i8, ptr %words, i64 64
  %v13 = load i64, ptr %v12, align 8
  %v14 = getelementptr i8, ptr %words, i64 72
  %v15 = load i64, ptr %v14, align 8
  %v16 = getelementptr i8, ptr %words, i64 80
  %v17 = load i64, ptr %v16, align 8
  %v18 = load ptr, ptr %words, align 8
  %v19 = getelementptr i8, ptr %words, i64 8
  %v20 = load ptr, ptr %v19, align 8
  %v21 = alloca i64, align 8
  %v24 = alloca ptr, align 8
  %v27 = alloca ptr, align 8
  %v28 = alloca i64, align 8
  %v38 = alloca [128 x float], align 64
  %v39 = alloca <8 x float>, align 64
  %v40 = alloca <8 x float>, align 64
  %v41 = alloca <8 x float>, align 64
  %v42 = alloca <8 x float>, align 64
  %v43 = alloca <8 x float>, align 64
  %v44 = alloca <8 x float>, align 64
  %v45 = alloca <8 x float>, align 64
  %v46 = alloca <8 x float>, align 64
  %v47 = alloca <8 x float>, align 64
  %v48 = alloca <8 x float>, align 64
  %v49 = alloca <8 x float>, align 64
  %v50 = alloca <8 x float>, align 64
  %v51 = alloca <8 x float>, align 64
  %v52 = alloca <8 x float>, align 64
  %v53 = alloca <8 x float>, align 64
  %v54 = alloca <8 x float>, align 64
  %v55 = alloca i64, align 8
  %v71 = alloca i64, align 8
  %v225 = alloca i64, align 8
  %v338 = alloca [128 x float], align 64
  %v339 = alloca <8 x float>, align 64
  %v340 = alloca <8 x float>, align 64
  %v341 = alloca <8 x float>, align 64
  %v342 = alloca <8 x float>, align 64
  %v343 = alloca <8 x float>, align 64
  %v344 = alloca <8 x float>, align 64
  %v345 = alloca <8 x float>, align 64
  %v346 = alloca <8 x float>, align 64
  %v347 = alloca <8 x float>, align 64
  %v348 = alloca <8 x float>, align 64
  %v349 = alloca <8 x float>, align 64
  %v350 = alloca <8 x float>, align 64
  %v351 = alloca <8 x float>, align 64
  %v352 = alloca <8 x float>, align 64
  %v353 = alloca <8 x float>, align 64
  %v354 = alloca <8 x float>, align 64
  %v355 = alloca [56 x float], align 64
  %v356 = alloca i64, align 8
  %v357 = alloca i64, align 8
  %v358 = alloca i64, align 8
  %v374 = alloca i64, align 8
  %v884 = alloca i64, align 8
  %v1049 = alloca float, align 8
  %v1051 = alloca i64, align 8
  %v1081 = alloca float, align 8
  %v1097 = alloca i64, align 8
  %v1126 = alloca i64, align 8
  %v1153 = alloca i64, align 8
  %v1220 = alloca i64, align 8
  %v1286 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v21
  %v22 = mul i64 %begin, %v15
  %v23 = getelementptr i8, ptr %v18, i64 %v22
  store ptr %v23, ptr %v24
  %v25 = mul i64 %begin, %v17
  %v26 = getelementptr i8, ptr %v20, i64 %v25
  store ptr %v26, ptr %v27
  store i64 %begin, ptr %v28
  br label %b29
  b29:
  %v32 = load i64, ptr %v28
  %v33 = icmp slt i64 %v32, %end
  br i1 %v33, label %b30, label %b31
  b30:
  %v34 = load i64, ptr %v28
  %v35 = load ptr, ptr %v24
  %v36 = load ptr, ptr %v27
  %v37 = load i64, ptr %v21
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v39
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v40
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v41
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v42
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v43
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v44
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v45
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v46
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v47
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v48
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v49
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v50
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v51
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v52
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v53
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v54
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v39
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v40
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v41
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v42
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v43
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v44
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v45
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v46
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v47
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v48
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v49
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v50
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v51
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v52
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v53
  store <8 x float> splat (float 0xFFF0000000000000), ptr %v54
  store i64 0, ptr %v55
  br label %b56
  b56:
  %v59 = load i64, ptr %v55
  %v60 = icmp slt i64 %v59, %v11
  br i1 %v60, label %b57, label %b58
  b57:
  %v61 = load i64, ptr %v55
  %v62 = mul i64 %v61, 1024
  %v63 = add i64 %v61, 1
  %v64 = mul i64 %v63, 1024
  %v65 = icmp slt i64 %v64, %v6
  %v66 = select i1 %v65, i64 %v64, i64 %v6
  %v67 = sub i64 %v66, %v62
  %v68 = mul i64 %v62, 4
  %v69 = getelementptr i8, ptr %v35, i64 %v68
  %v70 = and i64 %v67, -128
  store i64 0, ptr %v71
  br label %b72
  b72:
  %v75 = load i64, ptr %v71
  %v76 = icmp slt i64 %v75, %v70
  br i1 %v76, label %b73, label %b74
  b73:
  %v77 = load i64, ptr %v71
  %v78 = mul i64 %v77, 4
  %v79 = getelementptr i8, ptr %v69, i64 %v78
  %v80 = load <8 x float>, ptr %v79, align 4
  %v81 = add i64 %v77, 8
  %v82 = mul i64 %v81, 4
  %v83 = getelementptr i8, ptr %v69, i64 %v82
  %v84 = load <8 x float>, ptr %v83, align 4
  %v85 = add i64 %v77, 16
  %v86 = mul i64 %v85, 4
  %v87 = getelementptr i8, ptr %v69, i64 %v86
  %v88 = load <8 x float>, ptr %v87, align 4
  %v89 = add i64 %v77, 24
  %v90 = mul i64 %v89, 4
  %v91 = getelementptr i8, ptr %v69, i64 %v90
  %v92 = load <8 x float>, ptr %v91, align 4
  %v93 = add i64 %v77, 32
  %v94 = mul i64 %v93, 4
  %v95 = getelementptr i8, ptr %v69, i64 %v94
  %v96 = load <8 x float>, ptr %v95, align 4
  %v97 = add i64 %v77, 40
  %v98 = mul i64 %v97, 4
  %v99 = getelementptr i8, ptr %v69, i64 %v98
  %v100 = load <8 x float>, ptr %v99, align 4
  %v101 = add i64 %v77, 48
  %v102 = mul i64 %v101, 4
  %v103 = getelementptr i8, ptr %v69, i64 %v102
  %v104 = load <8 x float>, ptr %v103, align 4
  %v105 = add i64 %v77, 56
  %v106 = mul i64 %v105, 4
  %v107 = getelementptr i8, ptr %v69, i64 %v106
  %v108 = load <8 x float>, ptr %v107, align 4
  %v109 = load <8 x float>, ptr %v39
  %v110 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v109, <8 x float> %v80)
  store <8 x float> %v110, ptr %v39
  %v111 = load <8 x float>, ptr %v40
  %v112 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v111, <8 x float> %v84)
  store <8 x float> %v112, ptr %v40
  %v113 = load <8 x float>, ptr %v41
  %v114 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v113, <8 x float> %v88)
  store <8 x float> %v114, ptr %v41
  %v115 = load <8 x float>, ptr %v42
  %v116 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v115, <8 x float> %v92)
  store <8 x float> %v116, ptr %v42
  %v117 = load <8 x float>, ptr %v43
  %v118 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v117, <8 x float> %v96)
  store <8 x float> %v118, ptr %v43
  %v119 = load <8 x float>, ptr %v44
  %v120 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v119, <8 x float> %v100)
  store <8 x float> %v120, ptr %v44
  %v121 = load <8 x float>, ptr %v45
  %v122 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v121, <8 x float> %v104)
  store <8 x float> %v122, ptr %v45
  %v123 = load <8 x float>, ptr %v46
  %v124 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v123, <8 x float> %v108)
  store <8 x float> %v124, ptr %v46
  %v125 = add i64 %v77, 64
  %v126 = mul i64 %v125, 4
  %v127 = getelementptr i8, ptr %v69, i64 %v126
  %v128 = load <8 x float>, ptr %v127, align 4
  %v129 = add i64 %v125, 8
  %v130 = mul i64 %v129, 4
  %v131 = getelementptr i8, ptr %v69, i64 %v130
  %v132 = load <8 x float>, ptr %v131, align 4
  %v133 = add i64 %v125, 16
  %v134 = mul i64 %v133, 4
  %v135 = getelementptr i8, ptr %v69, i64 %v134
  %v136 = load <8 x float>, ptr %v135, align 4
  %v137 = add i64 %v125, 24
  %v138 = mul i64 %v137, 4
  %v139 = getelementptr i8, ptr %v69, i64 %v138
  %v140 = load <8 x float>, ptr %v139, align 4
  %v141 = add i64 %v125, 32
  %v142 = mul i64 %v141, 4
  %v143 = getelementptr i8, ptr %v69, i64 %v142
  %v144 = load <8 x float>, ptr %v143, align 4
  %v145 = add i64 %v125, 40
  %v146 = mul i64 %v145, 4
  %v147 = getelementptr i8, ptr %v69, i64 %v146
  %v148 = load <8 x float>, ptr %v147, align 4
  %v149 = add i64 %v125, 48
  %v150 = mul i64 %v149, 4
  %v151 = getelementptr i8, ptr %v69, i64 %v150
  %v152 = load <8 x float>, ptr %v151, align 4
  %v153 = add i64 %v125, 56
  %v154 = mul i64 %v153, 4
  %v155 = getelementptr i8, ptr %v69, i64 %v154
  %v156 = load <8 x float>, ptr %v155, align 4
  %v157 = load <8 x float>, ptr %v47
  %v158 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v157, <8 x float> %v128)
  store <8 x float> %v158, ptr %v47
  %v159 = load <8 x float>, ptr %v48
  %v160 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v159, <8 x float> %v132)
  store <8 x float> %v160, ptr %v48
  %v161 = load <8 x float>, ptr %v49
  %v162 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v161, <8 x float> %v136)
  store <8 x float> %v162, ptr %v49
  %v163 = load <8 x float>, ptr %v50
  %v164 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v163, <8 x float> %v140)
  store <8 x float> %v164, ptr %v50
  %v165 = load <8 x float>, ptr %v51
  %v166 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v165, <8 x float> %v144)
  store <8 x float> %v166, ptr %v51
  %v167 = load <8 x float>, ptr %v52
  %v168 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v167, <8 x float> %v148)
  store <8 x float> %v168, ptr %v52
  %v169 = load <8 x float>, ptr %v53
  %v170 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v169, <8 x float> %v152)
  store <8 x float> %v170, ptr %v53
  %v171 = load <8 x float>, ptr %v54
  %v172 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v171, <8 x float> %v156)
  store <8 x float> %v172, ptr %v54
  %v173 = add i64 %v77, 128
  store i64 %v173, ptr %v71
  br label %b72
  b74:
  %v174 = icmp slt i64 %v70, %v67
  br i1 %v174, label %b175, label %b176
  b175:
  %v177 = load <8 x float>, ptr %v39
  %v178 = mul i64 0, 4
  %v179 = getelementptr i8, ptr %v38, i64 %v178
  store <8 x float> %v177, ptr %v179, align 32
  %v180 = load <8 x float>, ptr %v40
  %v181 = mul i64 8, 4
  %v182 = getelementptr i8, ptr %v38, i64 %v181
  store <8 x float> %v180, ptr %v182, align 32
  %v183 = load <8 x float>, ptr %v41
  %v184 = mul i64 16, 4
  %v185 = getelementptr i8, ptr %v38, i64 %v184
  store <8 x float> %v183, ptr %v185, align 32
  %v186 = load <8 x float>, ptr %v42
  %v187 = mul i64 24, 4
  %v188 = getelementptr i8, ptr %v38, i64 %v187
  store <8 x float> %v186, ptr %v188, align 32
  %v189 = load <8 x float>, ptr %v43
  %v190 = mul i64 32, 4
  %v191 = getelementptr i8, ptr %v38, i64 %v190
  store <8 x float> %v189, ptr %v191, align 32
  %v192 = load <8 x float>, ptr %v44
  %v193 = mul i64 40, 4
  %v194 = getelementptr i8, ptr %v38, i64 %v193
  store <8 x float> %v192, ptr %v194, align 32
  %v195 = load <8 x float>, ptr %v45
  %v196 = mul i64 48, 4
  %v197 = getelementptr i8, ptr %v38, i64 %v196
  store <8 x float> %v195, ptr %v197, align 32
  %v198 = load <8 x float>, ptr %v46
  %v199 = mul i64 56, 4
  %v200 = getelementptr i8, ptr %v38, i64 %v199
  store <8 x float> %v198, ptr %v200, align 32
  %v201 = load <8 x float>, ptr %v47
  %v202 = mul i64 64, 4
  %v203 = getelementptr i8, ptr %v38, i64 %v202
  store <8 x float> %v201, ptr %v203, align 32
  %v204 = load <8 x float>, ptr %v48
  %v205 = mul i64 72, 4
  %v206 = getelementptr i8, ptr %v38, i64 %v205
  store <8 x float> %v204, ptr %v206, align 32
  %v207 = load <8 x float>, ptr %v49
  %v208 = mul i64 80, 4
  %v209 = getelementptr i8, ptr %v38, i64 %v208
  store <8 x float> %v207, ptr %v209, align 32
  %v210 = load <8 x float>, ptr %v50
  %v211 = mul i64 88, 4
  %v212 = getelementptr i8, ptr %v38, i64 %v211
  store <8 x float> %v210, ptr %v212, align 32
  %v213 = load <8 x float>, ptr %v51
  %v214 = mul i64 96, 4
  %v215 = getelementptr i8, ptr %v38, i64 %v214
  store <8 x float> %v213, ptr %v215, align 32
  %v216 = load <8 x float>, ptr %v52
  %v217 = mul i64 104, 4
  %v218 = getelementptr i8, ptr %v38, i64 %v217
  store <8 x float> %v216, ptr %v218, align 32
  %v219 = load <8 x float>, ptr %v53
  %v220 = mul i64 112, 4
  %v221 = getelementptr i8, ptr %v38, i64 %v220
  store <8 x float> %v219, ptr %v221, align 32
  %v222 = load <8 x float>, ptr %v54
  %v223 = mul i64 120, 4
  %v224 = getelementptr i8, ptr %v38, i64 %v223
  store <8 x float> %v222, ptr %v224, align 32
  store i64 %v70, ptr %v225
  br label %b226
  b226:
  %v229 = load i64, ptr %v225
  %v230 = icmp slt i64 %v229, %v67
  br i1 %v230, label %b227, label %b228
  b227:
  %v231 = load i64, ptr %v225
  %v232 = sub i64 %v67, %v231
  %v233 = trunc i64 %v232 to i32
  %v234 = insertelement <8 x i32> poison, i32 %v233, i64 0
  %v235 = shufflevector <8 x i32> %v234, <8 x i32> poison, <8 x i32> zeroinitializer
  %v236 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v235
  %v237 = mul i64 %v231, 4
  %v238 = getelementptr i8, ptr %v69, i64 %v237
  %v239 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v238, i32 4, <8 x i1> %v236, <8 x float> zeroinitializer)
  %v240 = and i64 %v231, 127
  %v241 = select <8 x i1> %v236, <8 x float> %v239, <8 x float> splat (float 0xFFF0000000000000)
  %v242 = mul i64 %v240, 4
  %v243 = getelementptr i8, ptr %v38, i64 %v242
  %v244 = load <8 x float>, ptr %v243, align 32
  %v245 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v244, <8 x float> %v241)
  %v246 = mul i64 %v240, 4
  %v247 = getelementptr i8, ptr %v38, i64 %v246
  store <8 x float> %v245, ptr %v247, align 32
  %v248 = add i64 %v231, 8
  store i64 %v248, ptr %v225
  br label %b226
  b228:
  %v249 = mul i64 0, 4
  %v250 = getelementptr i8, ptr %v38, i64 %v249
  %v251 = load <8 x float>, ptr %v250, align 32
  store <8 x float> %v251, ptr %v39
  %v252 = mul i64 8, 4
  %v253 = getelementptr i8, ptr %v38, i64 %v252
  %v254 = load <8 x float>, ptr %v253, align 32
  store <8 x float> %v254, ptr %v40
  %v255 = mul i64 16, 4
  %v256 = getelementptr i8, ptr %v38, i64 %v255
  %v257 = load <8 x float>, ptr %v256, align 32
  store <8 x float> %v257, ptr %v41
  %v258 = mul i64 24, 4
  %v259 = getelementptr i8, ptr %v38, i64 %v258
  %v260 = load <8 x float>, ptr %v259, align 32
  store <8 x float> %v260, ptr %v42
  %v261 = mul i64 32, 4
  %v262 = getelementptr i8, ptr %v38, i64 %v261
  %v263 = load <8 x float>, ptr %v262, align 32
  store <8 x float> %v263, ptr %v43
  %v264 = mul i64 40, 4
  %v265 = getelementptr i8, ptr %v38, i64 %v264
  %v266 = load <8 x float>, ptr %v265, align 32
  store <8 x float> %v266, ptr %v44
  %v267 = mul i64 48, 4
  %v268 = getelementptr i8, ptr %v38, i64 %v267
  %v269 = load <8 x float>, ptr %v268, align 32
  store <8 x float> %v269, ptr %v45
  %v270 = mul i64 56, 4
  %v271 = getelementptr i8, ptr %v38, i64 %v270
  %v272 = load <8 x float>, ptr %v271, align 32
  store <8 x float> %v272, ptr %v46
  %v273 = mul i64 64, 4
  %v274 = getelementptr i8, ptr %v38, i64 %v273
  %v275 = load <8 x float>, ptr %v274, align 32
  store <8 x float> %v275, ptr %v47
  %v276 = mul i64 72, 4
  %v277 = getelementptr i8, ptr %v38, i64 %v276
  %v278 = load <8 x float>, ptr %v277, align 32
  store <8 x float> %v278, ptr %v48
  %v279 = mul i64 80, 4
  %v280 = getelementptr i8, ptr %v38, i64 %v279
  %v281 = load <8 x float>, ptr %v280, align 32
  store <8 x float> %v281, ptr %v49
  %v282 = mul i64 88, 4
  %v283 = getelementptr i8, ptr %v38, i64 %v282
  %v284 = load <8 x float>, ptr %v283, align 32
  store <8 x float> %v284, ptr %v50
  %v285 = mul i64 96, 4
  %v286 = getelementptr i8, ptr %v38, i64 %v285
  %v287 = load <8 x float>, ptr %v286, align 32
  store <8 x float> %v287, ptr %v51
  %v288 = mul i64 104, 4
  %v289 = getelementptr i8, ptr %v38, i64 %v288
  %v290 = load <8 x float>, ptr %v289, align 32
  store <8 x float> %v290, ptr %v52
  %v291 = mul i64 112, 4
  %v292 = getelementptr i8, ptr %v38, i64 %v291
  %v293 = load <8 x float>, ptr %v292, align 32
  store <8 x float> %v293, ptr %v53
  %v294 = mul i64 120, 4
  %v295 = getelementptr i8, ptr %v38, i64 %v294
  %v296 = load <8 x float>, ptr %v295, align 32
  store <8 x float> %v296, ptr %v54
  br label %b176
  b176:
  %v297 = add i64 %v61, 1
  store i64 %v297, ptr %v55
  br label %b56
  b58:
  %v298 = load <8 x float>, ptr %v39
  %v299 = load <8 x float>, ptr %v40
  %v300 = load <8 x float>, ptr %v41
  %v301 = load <8 x float>, ptr %v42
  %v302 = load <8 x float>, ptr %v43
  %v303 = load <8 x float>, ptr %v44
  %v304 = load <8 x float>, ptr %v45
  %v305 = load <8 x float>, ptr %v46
  %v306 = load <8 x float>, ptr %v47
  %v307 = load <8 x float>, ptr %v48
  %v308 = load <8 x float>, ptr %v49
  %v309 = load <8 x float>, ptr %v50
  %v310 = load <8 x float>, ptr %v51
  %v311 = load <8 x float>, ptr %v52
  %v312 = load <8 x float>, ptr %v53
  %v313 = load <8 x float>, ptr %v54
  %v314 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v298, <8 x float> %v299)
  %v315 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v300, <8 x float> %v301)
  %v316 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v302, <8 x float> %v303)
  %v317 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v304, <8 x float> %v305)
  %v318 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v306, <8 x float> %v307)
  %v319 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v308, <8 x float> %v309)
  %v320 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v310, <8 x float> %v311)
  %v321 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v312, <8 x float> %v313)
  %v322 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v314, <8 x float> %v315)
  %v323 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v316, <8 x float> %v317)
  %v324 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v318, <8 x float> %v319)
  %v325 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v320, <8 x float> %v321)
  %v326 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v322, <8 x float> %v323)
  %v327 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v324, <8 x float> %v325)
  %v328 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v326, <8 x float> %v327)
  %v329 = shufflevector <8 x float> %v328, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v330 = shufflevector <8 x float> %v328, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v331 = call <4 x float> @llvm.maximum.v4f32(<4 x float> %v329, <4 x float> %v330)
  %v332 = shufflevector <4 x float> %v331, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v333 = shufflevector <4 x float> %v331, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v334 = call <2 x float> @llvm.maximum.v2f32(<2 x float> %v332, <2 x float> %v333)
  %v335 = extractelement <2 x float> %v334, i64 0
  %v336 = extractelement <2 x float> %v334, i64 1
  %v337 = call float @llvm.maximum.f32(float %v335, float %v336)
  store <8 x float> splat (float 0x8000000000000000), ptr %v339
  store <8 x float> splat (float 0x8000000000000000), ptr %v340
  store <8 x float> splat (float 0x8000000000000000), ptr %v341
  store <8 x float> splat (float 0x8000000000000000), ptr %v342
  store <8 x float> splat (float 0x8000000000000000), ptr %v343
  store <8 x float> splat (float 0x8000000000000000), ptr %v344
  store <8 x float> splat (float 0x8000000000000000), ptr %v345
  store <8 x float> splat (float 0x8000000000000000), ptr %v346
  store <8 x float> splat (float 0x8000000000000000), ptr %v347
  store <8 x float> splat (float 0x8000000000000000), ptr %v348
  store <8 x float> splat (float 0x8000000000000000), ptr %v349
  store <8 x float> splat (float 0x8000000000000000), ptr %v350
  store <8 x float> splat (float 0x8000000000000000), ptr %v351
  store <8 x float> splat (float 0x8000000000000000), ptr %v352
  store <8 x float> splat (float 0x8000000000000000), ptr %v353
  store <8 x float> splat (float 0x8000000000000000), ptr %v354
  store i64 0, ptr %v356
  store i64 0, ptr %v357
  store <8 x float> splat (float 0x8000000000000000), ptr %v339
  store <8 x float> splat (float 0x8000000000000000), ptr %v340
  store <8 x float> splat (float 0x8000000000000000), ptr %v341
  store <8 x float> splat (float 0x8000000000000000), ptr %v342
  store <8 x float> splat (float 0x8000000000000000), ptr %v343
  store <8 x float> splat (float 0x8000000000000000), ptr %v344
  store <8 x float> splat (float 0x8000000000000000), ptr %v345
  store <8 x float> splat (float 0x8000000000000000), ptr %v346
  store <8 x float> splat (float 0x8000000000000000), ptr %v347
  store <8 x float> splat (float 0x8000000000000000), ptr %v348
  store <8 x float> splat (float 0x8000000000000000), ptr %v349
  store <8 x float> splat (float 0x8000000000000000), ptr %v350
  store <8 x float> splat (float 0x8000000000000000), ptr %v351
  store <8 x float> splat (float 0x8000000000000000), ptr %v352
  store <8 x float> splat (float 0x8000000000000000), ptr %v353
  store <8 x float> splat (float 0x8000000000000000), ptr %v354
  store i64 0, ptr %v358
  br label %b359
  b359:
  %v362 = load i64, ptr %v358
  %v363 = icmp slt i64 %v362, %v11
  br i1 %v363, label %b360, label %b361
  b360:
  %v364 = load i64, ptr %v358
  %v365 = mul i64 %v364, 1024
  %v366 = add i64 %v364, 1
  %v367 = mul i64 %v366, 1024
  %v368 = icmp slt i64 %v367, %v6
  %v369 = select i1 %v368, i64 %v367, i64 %v6
  %v370 = sub i64 %v369, %v365
  %v371 = mul i64 %v365, 4
  %v372 = getelementptr i8, ptr %v35, i64 %v371
  store <8 x float> splat (float 0x8000000000000000), ptr %v339
  store <8 x float> splat (float 0x8000000000000000), ptr %v340
  store <8 x float> splat (float 0x8000000000000000), ptr %v341
  store <8 x float> splat (float 0x8000000000000000), ptr %v342
  store <8 x float> splat (float 0x8000000000000000), ptr %v343
  store <8 x float> splat (float 0x8000000000000000), ptr %v344
  store <8 x float> splat (float 0x8000000000000000), ptr %v345
  store <8 x float> splat (float 0x8000000000000000), ptr %v346
  store <8 x float> splat (float 0x8000000000000000), ptr %v347
  store <8 x float> splat (float 0x8000000000000000), ptr %v348
  store <8 x float> splat (float 0x8000000000000000), ptr %v349
  store <8 x float> splat (float 0x8000000000000000), ptr %v350
  store <8 x float> splat (float 0x8000000000000000), ptr %v351
  store <8 x float> splat (float 0x8000000000000000), ptr %v352
  store <8 x float> splat (float 0x8000000000000000), ptr %v353
  store <8 x float> splat (float 0x8000000000000000), ptr %v354
  %v373 = and i64 %v370, -128
  store i64 0, ptr %v374
  br label %b375
  b375:
  %v378 = load i64, ptr %v374
  %v379 = icmp slt i64 %v378, %v373
  br i1 %v379, label %b376, label %b377
  b376:
  %v380 = load i64, ptr %v374
  %v381 = insertelement <8 x float> poison, float %v337, i64 0
  %v382 = shufflevector <8 x float> %v381, <8 x float> poison, <8 x i32> zeroinitializer
  %v383 = mul i64 %v380, 4
  %v384 = getelementptr i8, ptr %v372, i64 %v383
  %v385 = load <8 x float>, ptr %v384, align 4
  %v386 = add i64 %v380, 8
  %v387 = mul i64 %v386, 4
  %v388 = getelementptr i8, ptr %v372, i64 %v387
  %v389 = load <8 x float>, ptr %v388, align 4
  %v390 = add i64 %v380, 16
  %v391 = mul i64 %v390, 4
  %v392 = getelementptr i8, ptr %v372, i64 %v391
  %v393 = load <8 x float>, ptr %v392, align 4
  %v394 = add i64 %v380, 24
  %v395 = mul i64 %v394, 4
  %v396 = getelementptr i8, ptr %v372, i64 %v395
  %v397 = load <8 x float>, ptr %v396, align 4
  %v398 = fsub <8 x float> %v385, %v382
  %v399 = fsub <8 x float> %v389, %v382
  %v400 = fsub <8 x float> %v393, %v382
  %v401 = fsub <8 x float> %v397, %v382
  %v402 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v398, <8 x float> splat (float 0xC05A2A9300000000))
  %v403 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v399, <8 x float> splat (float 0xC05A2A9300000000))
  %v404 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v400, <8 x float> splat (float 0xC05A2A9300000000))
  %v405 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v401, <8 x float> splat (float 0xC05A2A9300000000))
  %v406 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v402, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v407 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v403, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v408 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v404, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v409 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v405, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v410 = fsub <8 x float> %v406, splat (float 0x4168000000000000)
  %v411 = fsub <8 x float> %v407, splat (float 0x4168000000000000)
  %v412 = fsub <8 x float> %v408, splat (float 0x4168000000000000)
  %v413 = fsub <8 x float> %v409, splat (float 0x4168000000000000)
  %v414 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v410, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v402)
  %v415 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v411, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v403)
  %v416 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v412, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v404)
  %v417 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v413, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v405)
  %v418 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v410, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v414)
  %v419 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v411, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v415)
  %v420 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v412, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v416)
  %v421 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v413, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v417)
  %v422 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v418, <8 x float> splat (float 0x3F8123BE80000000))
  %v423 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v419, <8 x float> splat (float 0x3F8123BE80000000))
  %v424 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v420, <8 x float> splat (float 0x3F8123BE80000000))
  %v425 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v421, <8 x float> splat (float 0x3F8123BE80000000))
  %v426 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v422, <8 x float> %v418, <8 x float> splat (float 0x3FA5558B00000000))
  %v427 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v423, <8 x float> %v419, <8 x float> splat (float 0x3FA5558B00000000))
  %v428 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v424, <8 x float> %v420, <8 x float> splat (float 0x3FA5558B00000000))
  %v429 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v425, <8 x float> %v421, <8 x float> splat (float 0x3FA5558B00000000))
  %v430 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v426, <8 x float> %v418, <8 x float> splat (float 0x3FC55548E0000000))
  %v431 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v427, <8 x float> %v419, <8 x float> splat (float 0x3FC55548E0000000))
  %v432 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v428, <8 x float> %v420, <8 x float> splat (float 0x3FC55548E0000000))
  %v433 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v429, <8 x float> %v421, <8 x float> splat (float 0x3FC55548E0000000))
  %v434 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v430, <8 x float> %v418, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v435 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v431, <8 x float> %v419, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v436 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v432, <8 x float> %v420, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v437 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v433, <8 x float> %v421, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v438 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v434, <8 x float> %v418, <8 x float> splat (float 0x3FF0000000000000))
  %v439 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v435, <8 x float> %v419, <8 x float> splat (float 0x3FF0000000000000))
  %v440 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v436, <8 x float> %v420, <8 x float> splat (float 0x3FF0000000000000))
  %v441 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v437, <8 x float> %v421, <8 x float> splat (float 0x3FF0000000000000))
  %v442 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v438, <8 x float> %v418, <8 x float> splat (float 0x3FF0000000000000))
  %v443 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v439, <8 x float> %v419, <8 x float> splat (float 0x3FF0000000000000))
  %v444 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v440, <8 x float> %v420, <8 x float> splat (float 0x3FF0000000000000))
  %v445 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v441, <8 x float> %v421, <8 x float> splat (float 0x3FF0000000000000))
  %v446 = bitcast <8 x float> %v406 to <8 x i32>
  %v447 = bitcast <8 x float> %v407 to <8 x i32>
  %v448 = bitcast <8 x float> %v408 to <8 x i32>
  %v449 = bitcast <8 x float> %v409 to <8 x i32>
  %v450 = shl <8 x i32> %v446, splat (i32 23)
  %v451 = shl <8 x i32> %v447, splat (i32 23)
  %v452 = shl <8 x i32> %v448, splat (i32 23)
  %v453 = shl <8 x i32> %v449, splat (i32 23)
  %v454 = add <8 x i32> %v450, splat (i32 1904214016)
  %v455 = add <8 x i32> %v451, splat (i32 1904214016)
  %v456 = add <8 x i32> %v452, splat (i32 1904214016)
  %v457 = add <8 x i32> %v453, splat (i32 1904214016)
  %v458 = bitcast <8 x i32> %v454 to <8 x float>
  %v459 = bitcast <8 x i32> %v455 to <8 x float>
  %v460 = bitcast <8 x i32> %v456 to <8 x float>
  %v461 = bitcast <8 x i32> %v457 to <8 x float>
  %v462 = fmul <8 x float> %v442, %v458
  %v463 = fmul <8 x float> %v443, %v459
  %v464 = fmul <8 x float> %v444, %v460
  %v465 = fmul <8 x float> %v445, %v461
  %v466 = fmul <8 x float> %v462, splat (float 0x39B0000000000000)
  %v467 = fmul <8 x float> %v463, splat (float 0x39B0000000000000)
  %v468 = fmul <8 x float> %v464, splat (float 0x39B0000000000000)
  %v469 = fmul <8 x float> %v465, splat (float 0x39B0000000000000)
  %v470 = load <8 x float>, ptr %v339
  %v471 = fadd <8 x float> %v470, %v466
  store <8 x float> %v471, ptr %v339
  %v472 = load <8 x float>, ptr %v340
  %v473 = fadd <8 x float> %v472, %v467
  store <8 x float> %v473, ptr %v340
  %v474 = load <8 x float>, ptr %v341
  %v475 = fadd <8 x float> %v474, %v468
  store <8 x float> %v475, ptr %v341
  %v476 = load <8 x float>, ptr %v342
  %v477 = fadd <8 x float> %v476, %v469
  store <8 x float> %v477, ptr %v342
  %v478 = add i64 %v365, %v380
  %v479 = mul i64 %v478, 4
  %v480 = getelementptr i8, ptr %v9, i64 %v479
  store <8 x float> %v466, ptr %v480, align 4
  %v481 = add i64 %v365, %v380
  %v482 = add i64 %v481, 8
  %v483 = mul i64 %v482, 4
  %v484 = getelementptr i8, ptr %v9, i64 %v483
  store <8 x float> %v467, ptr %v484, align 4
  %v485 = add i64 %v365, %v380
  %v486 = add i64 %v485, 16
  %v487 = mul i64 %v486, 4
  %v488 = getelementptr i8, ptr %v9, i64 %v487
  store <8 x float> %v468, ptr %v488, align 4
  %v489 = add i64 %v365, %v380
  %v490 = add i64 %v489, 24
  %v491 = mul i64 %v490, 4
  %v492 = getelementptr i8, ptr %v9, i64 %v491
  store <8 x float> %v469, ptr %v492, align 4
  %v493 = add i64 %v380, 32
  %v494 = insertelement <8 x float> poison, float %v337, i64 0
  %v495 = shufflevector <8 x float> %v494, <8 x float> poison, <8 x i32> zeroinitializer
  %v496 = mul i64 %v493, 4
  %v497 = getelementptr i8, ptr %v372, i64 %v496
  %v498 = load <8 x float>, ptr %v497, align 4
  %v499 = add i64 %v493, 8
  %v500 = mul i64 %v499, 4
  %v501 = getelementptr i8, ptr %v372, i64 %v500
  %v502 = load <8 x float>, ptr %v501, align 4
  %v503 = add i64 %v493, 16
  %v504 = mul i64 %v503, 4
  %v505 = getelementptr i8, ptr %v372, i64 %v504
  %v506 = load <8 x float>, ptr %v505, align 4
  %v507 = add i64 %v493, 24
  %v508 = mul i64 %v507, 4
  %v509 = getelementptr i8, ptr %v372, i64 %v508
  %v510 = load <8 x float>, ptr %v509, align 4
  %v511 = fsub <8 x float> %v498, %v495
  %v512 = fsub <8 x float> %v502, %v495
  %v513 = fsub <8 x float> %v506, %v495
  %v514 = fsub <8 x float> %v510, %v495
  %v515 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v511, <8 x float> splat (float 0xC05A2A9300000000))
  %v516 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v512, <8 x float> splat (float 0xC05A2A9300000000))
  %v517 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v513, <8 x float> splat (float 0xC05A2A9300000000))
  %v518 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v514, <8 x float> splat (float 0xC05A2A9300000000))
  %v519 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v515, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v520 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v516, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v521 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v517, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v522 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v518, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v523 = fsub <8 x float> %v519, splat (float 0x4168000000000000)
  %v524 = fsub <8 x float> %v520, splat (float 0x4168000000000000)
  %v525 = fsub <8 x float> %v521, splat (float 0x4168000000000000)
  %v526 = fsub <8 x float> %v522, splat (float 0x4168000000000000)
  %v527 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v523, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v515)
  %v528 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v524, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v516)
  %v529 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v525, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v517)
  %v530 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v526, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v518)
  %v531 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v523, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v527)
  %v532 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v524, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v528)
  %v533 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v525, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v529)
  %v534 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v526, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v530)
  %v535 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v531, <8 x float> splat (float 0x3F8123BE80000000))
  %v536 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v532, <8 x float> splat (float 0x3F8123BE80000000))
  %v537 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v533, <8 x float> splat (float 0x3F8123BE80000000))
  %v538 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v534, <8 x float> splat (float 0x3F8123BE80000000))
  %v539 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v535, <8 x float> %v531, <8 x float> splat (float 0x3FA5558B00000000))
  %v540 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v536, <8 x float> %v532, <8 x float> splat (float 0x3FA5558B00000000))
  %v541 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v537, <8 x float> %v533, <8 x float> splat (float 0x3FA5558B00000000))
  %v542 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v538, <8 x float> %v534, <8 x float> splat (float 0x3FA5558B00000000))
  %v543 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v539, <8 x float> %v531, <8 x float> splat (float 0x3FC55548E0000000))
  %v544 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v540, <8 x float> %v532, <8 x float> splat (float 0x3FC55548E0000000))
  %v545 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v541, <8 x float> %v533, <8 x float> splat (float 0x3FC55548E0000000))
  %v546 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v542, <8 x float> %v534, <8 x float> splat (float 0x3FC55548E0000000))
  %v547 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v543, <8 x float> %v531, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v548 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v544, <8 x float> %v532, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v549 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v545, <8 x float> %v533, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v550 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v546, <8 x float> %v534, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v551 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v547, <8 x float> %v531, <8 x float> splat (float 0x3FF0000000000000))
  %v552 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v548, <8 x float> %v532, <8 x float> splat (float 0x3FF0000000000000))
  %v553 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v549, <8 x float> %v533, <8 x float> splat (float 0x3FF0000000000000))
  %v554 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v550, <8 x float> %v534, <8 x float> splat (float 0x3FF0000000000000))
  %v555 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v551, <8 x float> %v531, <8 x float> splat (float 0x3FF0000000000000))
  %v556 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v552, <8 x float> %v532, <8 x float> splat (float 0x3FF0000000000000))
  %v557 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v553, <8 x float> %v533, <8 x float> splat (float 0x3FF0000000000000))
  %v558 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v554, <8 x float> %v534, <8 x float> splat (float 0x3FF0000000000000))
  %v559 = bitcast <8 x float> %v519 to <8 x i32>
  %v560 = bitcast <8 x float> %v520 to <8 x i32>
  %v561 = bitcast <8 x float> %v521 to <8 x i32>
  %v562 = bitcast <8 x float> %v522 to <8 x i32>
  %v563 = shl <8 x i32> %v559, splat (i32 23)
  %v564 = shl <8 x i32> %v560, splat (i32 23)
  %v565 = shl <8 x i32> %v561, splat (i32 23)
  %v566 = shl <8 x i32> %v562, splat (i32 23)
  %v567 = add <8 x i32> %v563, splat (i32 1904214016)
  %v568 = add <8 x i32> %v564, splat (i32 1904214016)
  %v569 = add <8 x i32> %v565, splat (i32 1904214016)
  %v570 = add <8 x i32> %v566, splat (i32 1904214016)
  %v571 = bitcast <8 x i32> %v567 to <8 x float>
  %v572 = bitcast <8 x i32> %v568 to <8 x float>
  %v573 = bitcast <8 x i32> %v569 to <8 x float>
  %v574 = bitcast <8 x i32> %v570 to <8 x float>
  %v575 = fmul <8 x float> %v555, %v571
  %v576 = fmul <8 x float> %v556, %v572
  %v577 = fmul <8 x float> %v557, %v573
  %v578 = fmul <8 x float> %v558, %v574
  %v579 = fmul <8 x float> %v575, splat (float 0x39B0000000000000)
  %v580 = fmul <8 x float> %v576, splat (float 0x39B0000000000000)
  %v581 = fmul <8 x float> %v577, splat (float 0x39B0000000000000)
  %v582 = fmul <8 x float> %v578, splat (float 0x39B0000000000000)
  %v583 = load <8 x float>, ptr %v343
  %v584 = fadd <8 x float> %v583, %v579
  store <8 x float> %v584, ptr %v343
  %v585 = load <8 x float>, ptr %v344
  %v586 = fadd <8 x float> %v585, %v580
  store <8 x float> %v586, ptr %v344
  %v587 = load <8 x float>, ptr %v345
  %v588 = fadd <8 x float> %v587, %v581
  store <8 x float> %v588, ptr %v345
  %v589 = load <8 x float>, ptr %v346
  %v590 = fadd <8 x float> %v589, %v582
  store <8 x float> %v590, ptr %v346
  %v591 = add i64 %v365, %v493
  %v592 = mul i64 %v591, 4
  %v593 = getelementptr i8, ptr %v9, i64 %v592
  store <8 x float> %v579, ptr %v593, align 4
  %v594 = add i64 %v365, %v493
  %v595 = add i64 %v594, 8
  %v596 = mul i64 %v595, 4
  %v597 = getelementptr i8, ptr %v9, i64 %v596
  store <8 x float> %v580, ptr %v597, align 4
  %v598 = add i64 %v365, %v493
  %v599 = add i64 %v598, 16
  %v600 = mul i64 %v599, 4
  %v601 = getelementptr i8, ptr %v9, i64 %v600
  store <8 x float> %v581, ptr %v601, align 4
  %v602 = add i64 %v365, %v493
  %v603 = add i64 %v602, 24
  %v604 = mul i64 %v603, 4
  %v605 = getelementptr i8, ptr %v9, i64 %v604
  store <8 x float> %v582, ptr %v605, align 4
  %v606 = add i64 %v380, 64
  %v607 = insertelement <8 x float> poison, float %v337, i64 0
  %v608 = shufflevector <8 x float> %v607, <8 x float> poison, <8 x i32> zeroinitializer
  %v609 = mul i64 %v606, 4
  %v610 = getelementptr i8, ptr %v372, i64 %v609
  %v611 = load <8 x float>, ptr %v610, align 4
  %v612 = add i64 %v606, 8
  %v613 = mul i64 %v612, 4
  %v614 = getelementptr i8, ptr %v372, i64 %v613
  %v615 = load <8 x float>, ptr %v614, align 4
  %v616 = add i64 %v606, 16
  %v617 = mul i64 %v616, 4
  %v618 = getelementptr i8, ptr %v372, i64 %v617
  %v619 = load <8 x float>, ptr %v618, align 4
  %v620 = add i64 %v606, 24
  %v621 = mul i64 %v620, 4
  %v622 = getelementptr i8, ptr %v372, i64 %v621
  %v623 = load <8 x float>, ptr %v622, align 4
  %v624 = fsub <8 x float> %v611, %v608
  %v625 = fsub <8 x float> %v615, %v608
  %v626 = fsub <8 x float> %v619, %v608
  %v627 = fsub <8 x float> %v623, %v608
  %v628 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v624, <8 x float> splat (float 0xC05A2A9300000000))
  %v629 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v625, <8 x float> splat (float 0xC05A2A9300000000))
  %v630 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v626, <8 x float> splat (float 0xC05A2A9300000000))
  %v631 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v627, <8 x float> splat (float 0xC05A2A9300000000))
  %v632 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v628, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v633 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v629, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v634 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v630, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v635 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v631, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v636 = fsub <8 x float> %v632, splat (float 0x4168000000000000)
  %v637 = fsub <8 x float> %v633, splat (float 0x4168000000000000)
  %v638 = fsub <8 x float> %v634, splat (float 0x4168000000000000)
  %v639 = fsub <8 x float> %v635, splat (float 0x4168000000000000)
  %v640 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v636, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v628)
  %v641 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v637, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v629)
  %v642 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v638, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v630)
  %v643 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v639, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v631)
  %v644 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v636, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v640)
  %v645 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v637, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v641)
  %v646 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v638, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v642)
  %v647 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v639, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v643)
  %v648 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v644, <8 x float> splat (float 0x3F8123BE80000000))
  %v649 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v645, <8 x float> splat (float 0x3F8123BE80000000))
  %v650 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v646, <8 x float> splat (float 0x3F8123BE80000000))
  %v651 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v647, <8 x float> splat (float 0x3F8123BE80000000))
  %v652 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v648, <8 x float> %v644, <8 x float> splat (float 0x3FA5558B00000000))
  %v653 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v649, <8 x float> %v645, <8 x float> splat (float 0x3FA5558B00000000))
  %v654 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v650, <8 x float> %v646, <8 x float> splat (float 0x3FA5558B00000000))
  %v655 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v651, <8 x float> %v647, <8 x float> splat (float 0x3FA5558B00000000))
  %v656 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v652, <8 x float> %v644, <8 x float> splat (float 0x3FC55548E0000000))
  %v657 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v653, <8 x float> %v645, <8 x float> splat (float 0x3FC55548E0000000))
  %v658 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v654, <8 x float> %v646, <8 x float> splat (float 0x3FC55548E0000000))
  %v659 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v655, <8 x float> %v647, <8 x float> splat (float 0x3FC55548E0000000))
  %v660 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v656, <8 x float> %v644, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v661 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v657, <8 x float> %v645, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v662 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v658, <8 x float> %v646, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v663 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v659, <8 x float> %v647, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v664 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v660, <8 x float> %v644, <8 x float> splat (float 0x3FF0000000000000))
  %v665 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v661, <8 x float> %v645, <8 x float> splat (float 0x3FF0000000000000))
  %v666 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v662, <8 x float> %v646, <8 x float> splat (float 0x3FF0000000000000))
  %v667 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v663, <8 x float> %v647, <8 x float> splat (float 0x3FF0000000000000))
  %v668 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v664, <8 x float> %v644, <8 x float> splat (float 0x3FF0000000000000))
  %v669 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v665, <8 x float> %v645, <8 x float> splat (float 0x3FF0000000000000))
  %v670 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v666, <8 x float> %v646, <8 x float> splat (float 0x3FF0000000000000))
  %v671 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v667, <8 x float> %v647, <8 x float> splat (float 0x3FF0000000000000))
  %v672 = bitcast <8 x float> %v632 to <8 x i32>
  %v673 = bitcast <8 x float> %v633 to <8 x i32>
  %v674 = bitcast <8 x float> %v634 to <8 x i32>
  %v675 = bitcast <8 x float> %v635 to <8 x i32>
  %v676 = shl <8 x i32> %v672, splat (i32 23)
  %v677 = shl <8 x i32> %v673, splat (i32 23)
  %v678 = shl <8 x i32> %v674, splat (i32 23)
  %v679 = shl <8 x i32> %v675, splat (i32 23)
  %v680 = add <8 x i32> %v676, splat (i32 1904214016)
  %v681 = add <8 x i32> %v677, splat (i32 1904214016)
  %v682 = add <8 x i32> %v678, splat (i32 1904214016)
  %v683 = add <8 x i32> %v679, splat (i32 1904214016)
  %v684 = bitcast <8 x i32> %v680 to <8 x float>
  %v685 = bitcast <8 x i32> %v681 to <8 x float>
  %v686 = bitcast <8 x i32> %v682 to <8 x float>
  %v687 = bitcast <8 x i32> %v683 to <8 x float>
  %v688 = fmul <8 x float> %v668, %v684
  %v689 = fmul <8 x float> %v669, %v685
  %v690 = fmul <8 x float> %v670, %v686
  %v691 = fmul <8 x float> %v671, %v687
  %v692 = fmul <8 x float> %v688, splat (float 0x39B0000000000000)
  %v693 = fmul <8 x float> %v689, splat (float 0x39B0000000000000)
  %v694 = fmul <8 x float> %v690, splat (float 0x39B0000000000000)
  %v695 = fmul <8 x float> %v691, splat (float 0x39B0000000000000)
  %v696 = load <8 x float>, ptr %v347
  %v697 = fadd <8 x float> %v696, %v692
  store <8 x float> %v697, ptr %v347
  %v698 = load <8 x float>, ptr %v348
  %v699 = fadd <8 x float> %v698, %v693
  store <8 x float> %v699, ptr %v348
  %v700 = load <8 x float>, ptr %v349
  %v701 = fadd <8 x float> %v700, %v694
  store <8 x float> %v701, ptr %v349
  %v702 = load <8 x float>, ptr %v350
  %v703 = fadd <8 x float> %v702, %v695
  store <8 x float> %v703, ptr %v350
  %v704 = add i64 %v365, %v606
  %v705 = mul i64 %v704, 4
  %v706 = getelementptr i8, ptr %v9, i64 %v705
  store <8 x float> %v692, ptr %v706, align 4
  %v707 = add i64 %v365, %v606
  %v708 = add i64 %v707, 8
  %v709 = mul i64 %v708, 4
  %v710 = getelementptr i8, ptr %v9, i64 %v709
  store <8 x float> %v693, ptr %v710, align 4
  %v711 = add i64 %v365, %v606
  %v712 = add i64 %v711, 16
  %v713 = mul i64 %v712, 4
  %v714 = getelementptr i8, ptr %v9, i64 %v713
  store <8 x float> %v694, ptr %v714, align 4
  %v715 = add i64 %v365, %v606
  %v716 = add i64 %v715, 24
  %v717 = mul i64 %v716, 4
  %v718 = getelementptr i8, ptr %v9, i64 %v717
  store <8 x float> %v695, ptr %v718, align 4
  %v719 = add i64 %v380, 96
  %v720 = insertelement <8 x float> poison, float %v337, i64 0
  %v721 = shufflevector <8 x float> %v720, <8 x float> poison, <8 x i32> zeroinitializer
  %v722 = mul i64 %v719, 4
  %v723 = getelementptr i8, ptr %v372, i64 %v722
  %v724 = load <8 x float>, ptr %v723, align 4
  %v725 = add i64 %v719, 8
  %v726 = mul i64 %v725, 4
  %v727 = getelementptr i8, ptr %v372, i64 %v726
  %v728 = load <8 x float>, ptr %v727, align 4
  %v729 = add i64 %v719, 16
  %v730 = mul i64 %v729, 4
  %v731 = getelementptr i8, ptr %v372, i64 %v730
  %v732 = load <8 x float>, ptr %v731, align 4
  %v733 = add i64 %v719, 24
  %v734 = mul i64 %v733, 4
  %v735 = getelementptr i8, ptr %v372, i64 %v734
  %v736 = load <8 x float>, ptr %v735, align 4
  %v737 = fsub <8 x float> %v724, %v721
  %v738 = fsub <8 x float> %v728, %v721
  %v739 = fsub <8 x float> %v732, %v721
  %v740 = fsub <8 x float> %v736, %v721
  %v741 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v737, <8 x float> splat (float 0xC05A2A9300000000))
  %v742 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v738, <8 x float> splat (float 0xC05A2A9300000000))
  %v743 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v739, <8 x float> splat (float 0xC05A2A9300000000))
  %v744 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v740, <8 x float> splat (float 0xC05A2A9300000000))
  %v745 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v741, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v746 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v742, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v747 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v743, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v748 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v744, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v749 = fsub <8 x float> %v745, splat (float 0x4168000000000000)
  %v750 = fsub <8 x float> %v746, splat (float 0x4168000000000000)
  %v751 = fsub <8 x float> %v747, splat (float 0x4168000000000000)
  %v752 = fsub <8 x float> %v748, splat (float 0x4168000000000000)
  %v753 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v749, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v741)
  %v754 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v750, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v742)
  %v755 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v751, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v743)
  %v756 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v752, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v744)
  %v757 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v749, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v753)
  %v758 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v750, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v754)
  %v759 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v751, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v755)
  %v760 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v752, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v756)
  %v761 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v757, <8 x float> splat (float 0x3F8123BE80000000))
  %v762 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v758, <8 x float> splat (float 0x3F8123BE80000000))
  %v763 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v759, <8 x float> splat (float 0x3F8123BE80000000))
  %v764 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v760, <8 x float> splat (float 0x3F8123BE80000000))
  %v765 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v761, <8 x float> %v757, <8 x float> splat (float 0x3FA5558B00000000))
  %v766 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v762, <8 x float> %v758, <8 x float> splat (float 0x3FA5558B00000000))
  %v767 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v763, <8 x float> %v759, <8 x float> splat (float 0x3FA5558B00000000))
  %v768 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v764, <8 x float> %v760, <8 x float> splat (float 0x3FA5558B00000000))
  %v769 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v765, <8 x float> %v757, <8 x float> splat (float 0x3FC55548E0000000))
  %v770 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v766, <8 x float> %v758, <8 x float> splat (float 0x3FC55548E0000000))
  %v771 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v767, <8 x float> %v759, <8 x float> splat (float 0x3FC55548E0000000))
  %v772 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v768, <8 x float> %v760, <8 x float> splat (float 0x3FC55548E0000000))
  %v773 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v769, <8 x float> %v757, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v774 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v770, <8 x float> %v758, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v775 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v771, <8 x float> %v759, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v776 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v772, <8 x float> %v760, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v777 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v773, <8 x float> %v757, <8 x float> splat (float 0x3FF0000000000000))
  %v778 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v774, <8 x float> %v758, <8 x float> splat (float 0x3FF0000000000000))
  %v779 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v775, <8 x float> %v759, <8 x float> splat (float 0x3FF0000000000000))
  %v780 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v776, <8 x float> %v760, <8 x float> splat (float 0x3FF0000000000000))
  %v781 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v777, <8 x float> %v757, <8 x float> splat (float 0x3FF0000000000000))
  %v782 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v778, <8 x float> %v758, <8 x float> splat (float 0x3FF0000000000000))
  %v783 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v779, <8 x float> %v759, <8 x float> splat (float 0x3FF0000000000000))
  %v784 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v780, <8 x float> %v760, <8 x float> splat (float 0x3FF0000000000000))
  %v785 = bitcast <8 x float> %v745 to <8 x i32>
  %v786 = bitcast <8 x float> %v746 to <8 x i32>
  %v787 = bitcast <8 x float> %v747 to <8 x i32>
  %v788 = bitcast <8 x float> %v748 to <8 x i32>
  %v789 = shl <8 x i32> %v785, splat (i32 23)
  %v790 = shl <8 x i32> %v786, splat (i32 23)
  %v791 = shl <8 x i32> %v787, splat (i32 23)
  %v792 = shl <8 x i32> %v788, splat (i32 23)
  %v793 = add <8 x i32> %v789, splat (i32 1904214016)
  %v794 = add <8 x i32> %v790, splat (i32 1904214016)
  %v795 = add <8 x i32> %v791, splat (i32 1904214016)
  %v796 = add <8 x i32> %v792, splat (i32 1904214016)
  %v797 = bitcast <8 x i32> %v793 to <8 x float>
  %v798 = bitcast <8 x i32> %v794 to <8 x float>
  %v799 = bitcast <8 x i32> %v795 to <8 x float>
  %v800 = bitcast <8 x i32> %v796 to <8 x float>
  %v801 = fmul <8 x float> %v781, %v797
  %v802 = fmul <8 x float> %v782, %v798
  %v803 = fmul <8 x float> %v783, %v799
  %v804 = fmul <8 x float> %v784, %v800
  %v805 = fmul <8 x float> %v801, splat (float 0x39B0000000000000)
  %v806 = fmul <8 x float> %v802, splat (float 0x39B0000000000000)
  %v807 = fmul <8 x float> %v803, splat (float 0x39B0000000000000)
  %v808 = fmul <8 x float> %v804, splat (float 0x39B0000000000000)
  %v809 = load <8 x float>, ptr %v351
  %v810 = fadd <8 x float> %v809, %v805
  store <8 x float> %v810, ptr %v351
  %v811 = load <8 x float>, ptr %v352
  %v812 = fadd <8 x float> %v811, %v806
  store <8 x float> %v812, ptr %v352
  %v813 = load <8 x float>, ptr %v353
  %v814 = fadd <8 x float> %v813, %v807
  store <8 x float> %v814, ptr %v353
  %v815 = load <8 x float>, ptr %v354
  %v816 = fadd <8 x float> %v815, %v808
  store <8 x float> %v816, ptr %v354
  %v817 = add i64 %v365, %v719
  %v818 = mul i64 %v817, 4
  %v819 = getelementptr i8, ptr %v9, i64 %v818
  store <8 x float> %v805, ptr %v819, align 4
  %v820 = add i64 %v365, %v719
  %v821 = add i64 %v820, 8
  %v822 = mul i64 %v821, 4
  %v823 = getelementptr i8, ptr %v9, i64 %v822
  store <8 x float> %v806, ptr %v823, align 4
  %v824 = add i64 %v365, %v719
  %v825 = add i64 %v824, 16
  %v826 = mul i64 %v825, 4
  %v827 = getelementptr i8, ptr %v9, i64 %v826
  store <8 x float> %v807, ptr %v827, align 4
  %v828 = add i64 %v365, %v719
  %v829 = add i64 %v828, 24
  %v830 = mul i64 %v829, 4
  %v831 = getelementptr i8, ptr %v9, i64 %v830
  store <8 x float> %v808, ptr %v831, align 4
  %v832 = add i64 %v380, 128
  store i64 %v832, ptr %v374
  br label %b375
  b377:
  %v833 = icmp slt i64 %v373, %v370
  br i1 %v833, label %b834, label %b835
  b834:
  %v836 = load <8 x float>, ptr %v339
  %v837 = mul i64 0, 4
  %v838 = getelementptr i8, ptr %v338, i64 %v837
  store <8 x float> %v836, ptr %v838, align 32
  %v839 = load <8 x float>, ptr %v340
  %v840 = mul i64 8, 4
  %v841 = getelementptr i8, ptr %v338, i64 %v840
  store <8 x float> %v839, ptr %v841, align 32
  %v842 = load <8 x float>, ptr %v341
  %v843 = mul i64 16, 4
  %v844 = getelementptr i8, ptr %v338, i64 %v843
  store <8 x float> %v842, ptr %v844, align 32
  %v845 = load <8 x float>, ptr %v342
  %v846 = mul i64 24, 4
  %v847 = getelementptr i8, ptr %v338, i64 %v846
  store <8 x float> %v845, ptr %v847, align 32
  %v848 = load <8 x float>, ptr %v343
  %v849 = mul i64 32, 4
  %v850 = getelementptr i8, ptr %v338, i64 %v849
  store <8 x float> %v848, ptr %v850, align 32
  %v851 = load <8 x float>, ptr %v344
  %v852 = mul i64 40, 4
  %v853 = getelementptr i8, ptr %v338, i64 %v852
  store <8 x float> %v851, ptr %v853, align 32
  %v854 = load <8 x float>, ptr %v345
  %v855 = mul i64 48, 4
  %v856 = getelementptr i8, ptr %v338, i64 %v855
  store <8 x float> %v854, ptr %v856, align 32
  %v857 = load <8 x float>, ptr %v346
  %v858 = mul i64 56, 4
  %v859 = getelementptr i8, ptr %v338, i64 %v858
  store <8 x float> %v857, ptr %v859, align 32
  %v860 = load <8 x float>, ptr %v347
  %v861 = mul i64 64, 4
  %v862 = getelementptr i8, ptr %v338, i64 %v861
  store <8 x float> %v860, ptr %v862, align 32
  %v863 = load <8 x float>, ptr %v348
  %v864 = mul i64 72, 4
  %v865 = getelementptr i8, ptr %v338, i64 %v864
  store <8 x float> %v863, ptr %v865, align 32
  %v866 = load <8 x float>, ptr %v349
  %v867 = mul i64 80, 4
  %v868 = getelementptr i8, ptr %v338, i64 %v867
  store <8 x float> %v866, ptr %v868, align 32
  %v869 = load <8 x float>, ptr %v350
  %v870 = mul i64 88, 4
  %v871 = getelementptr i8, ptr %v338, i64 %v870
  store <8 x float> %v869, ptr %v871, align 32
  %v872 = load <8 x float>, ptr %v351
  %v873 = mul i64 96, 4
  %v874 = getelementptr i8, ptr %v338, i64 %v873
  store <8 x float> %v872, ptr %v874, align 32
  %v875 = load <8 x float>, ptr %v352
  %v876 = mul i64 104, 4
  %v877 = getelementptr i8, ptr %v338, i64 %v876
  store <8 x float> %v875, ptr %v877, align 32
  %v878 = load <8 x float>, ptr %v353
  %v879 = mul i64 112, 4
  %v880 = getelementptr i8, ptr %v338, i64 %v879
  store <8 x float> %v878, ptr %v880, align 32
  %v881 = load <8 x float>, ptr %v354
  %v882 = mul i64 120, 4
  %v883 = getelementptr i8, ptr %v338, i64 %v882
  store <8 x float> %v881, ptr %v883, align 32
  store i64 %v373, ptr %v884
  br label %b885
  b885:
  %v888 = load i64, ptr %v884
  %v889 = icmp slt i64 %v888, %v370
  br i1 %v889, label %b886, label %b887
  b886:
  %v890 = load i64, ptr %v884
  %v891 = sub i64 %v370, %v890
  %v892 = trunc i64 %v891 to i32
  %v893 = insertelement <8 x i32> poison, i32 %v892, i64 0
  %v894 = shufflevector <8 x i32> %v893, <8 x i32> poison, <8 x i32> zeroinitializer
  %v895 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v894
  %v896 = insertelement <8 x float> poison, float %v337, i64 0
  %v897 = shufflevector <8 x float> %v896, <8 x float> poison, <8 x i32> zeroinitializer
  %v898 = mul i64 %v890, 4
  %v899 = getelementptr i8, ptr %v372, i64 %v898
  %v900 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v899, i32 4, <8 x i1> %v895, <8 x float> zeroinitializer)
  %v901 = fsub <8 x float> %v900, %v897
  %v902 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v901, <8 x float> splat (float 0xC05A2A9300000000))
  %v903 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v902, <8 x float> splat (float 0x3FF7154760000000), <8 x float> splat (float 0x4168000000000000))
  %v904 = fsub <8 x float> %v903, splat (float 0x4168000000000000)
  %v905 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v904, <8 x float> splat (float 0xBFE62E4300000000), <8 x float> %v902)
  %v906 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v904, <8 x float> splat (float 0x3E205C6100000000), <8 x float> %v905)
  %v907 = call <8 x float> @llvm.fma.v8f32(<8 x float> splat (float 0x3F56A4C4E0000000), <8 x float> %v906, <8 x float> splat (float 0x3F8123BE80000000))
  %v908 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v907, <8 x float> %v906, <8 x float> splat (float 0x3FA5558B00000000))
  %v909 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v908, <8 x float> %v906, <8 x float> splat (float 0x3FC55548E0000000))
  %v910 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v909, <8 x float> %v906, <8 x float> splat (float 0x3FDFFFFFC0000000))
  %v911 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v910, <8 x float> %v906, <8 x float> splat (float 0x3FF0000000000000))
  %v912 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v911, <8 x float> %v906, <8 x float> splat (float 0x3FF0000000000000))
  %v913 = bitcast <8 x float> %v903 to <8 x i32>
  %v914 = shl <8 x i32> %v913, splat (i32 23)
  %v915 = add <8 x i32> %v914, splat (i32 1904214016)
  %v916 = bitcast <8 x i32> %v915 to <8 x float>
  %v917 = fmul <8 x float> %v912, %v916
  %v918 = fmul <8 x float> %v917, splat (float 0x39B0000000000000)
  %v919 = and i64 %v890, 127
  %v920 = select <8 x i1> %v895, <8 x float> %v918, <8 x float> splat (float 0x8000000000000000)
  %v921 = mul i64 %v919, 4
  %v922 = getelementptr i8, ptr %v338, i64 %v921
  %v923 = load <8 x float>, ptr %v922, align 32
  %v924 = fadd <8 x float> %v923, %v920
  %v925 = mul i64 %v919, 4
  %v926 = getelementptr i8, ptr %v338, i64 %v925
  store <8 x float> %v924, ptr %v926, align 32
  %v927 = add i64 %v365, %v890
  %v928 = mul i64 %v927, 4
  %v929 = getelementptr i8, ptr %v9, i64 %v928
  store <8 x float> %v918, ptr %v929, align 4
  %v930 = add i64 %v890, 8
  store i64 %v930, ptr %v884
  br label %b885
  b887:
  %v931 = mul i64 0, 4
  %v932 = getelementptr i8, ptr %v338, i64 %v931
  %v933 = load <8 x float>, ptr %v932, align 32
  store <8 x float> %v933, ptr %v339
  %v934 = mul i64 8, 4
  %v935 = getelementptr i8, ptr %v338, i64 %v934
  %v936 = load <8 x float>, ptr %v935, align 32
  store <8 x float> %v936, ptr %v340
  %v937 = mul i64 16, 4
  %v938 = getelementptr i8, ptr %v338, i64 %v937
  %v939 = load <8 x float>, ptr %v938, align 32
  store <8 x float> %v939, ptr %v341
  %v940 = mul i64 24, 4
  %v941 = getelementptr i8, ptr %v338, i64 %v940
  %v942 = load <8 x float>, ptr %v941, align 32
  store <8 x float> %v942, ptr %v342
  %v943 = mul i64 32, 4
  %v944 = getelementptr i8, ptr %v338, i64 %v943
  %v945 = load <8 x float>, ptr %v944, align 32
  store <8 x float> %v945, ptr %v343
  %v946 = mul i64 40, 4
  %v947 = getelementptr i8, ptr %v338, i64 %v946
  %v948 = load <8 x float>, ptr %v947, align 32
  store <8 x float> %v948, ptr %v344
  %v949 = mul i64 48, 4
  %v950 = getelementptr i8, ptr %v338, i64 %v949
  %v951 = load <8 x float>, ptr %v950, align 32
  store <8 x float> %v951, ptr %v345
  %v952 = mul i64 56, 4
  %v953 = getelementptr i8, ptr %v338, i64 %v952
  %v954 = load <8 x float>, ptr %v953, align 32
  store <8 x float> %v954, ptr %v346
  %v955 = mul i64 64, 4
  %v956 = getelementptr i8, ptr %v338, i64 %v955
  %v957 = load <8 x float>, ptr %v956, align 32
  store <8 x float> %v957, ptr %v347
  %v958 = mul i64 72, 4
  %v959 = getelementptr i8, ptr %v338, i64 %v958
  %v960 = load <8 x float>, ptr %v959, align 32
  store <8 x float> %v960, ptr %v348
  %v961 = mul i64 80, 4
  %v962 = getelementptr i8, ptr %v338, i64 %v961
  %v963 = load <8 x float>, ptr %v962, align 32
  store <8 x float> %v963, ptr %v349
  %v964 = mul i64 88, 4
  %v965 = getelementptr i8, ptr %v338, i64 %v964
  %v966 = load <8 x float>, ptr %v965, align 32
  store <8 x float> %v966, ptr %v350
  %v967 = mul i64 96, 4
  %v968 = getelementptr i8, ptr %v338, i64 %v967
  %v969 = load <8 x float>, ptr %v968, align 32
  store <8 x float> %v969, ptr %v351
  %v970 = mul i64 104, 4
  %v971 = getelementptr i8, ptr %v338, i64 %v970
  %v972 = load <8 x float>, ptr %v971, align 32
  store <8 x float> %v972, ptr %v352
  %v973 = mul i64 112, 4
  %v974 = getelementptr i8, ptr %v338, i64 %v973
  %v975 = load <8 x float>, ptr %v974, align 32
  store <8 x float> %v975, ptr %v353
  %v976 = mul i64 120, 4
  %v977 = getelementptr i8, ptr %v338, i64 %v976
  %v978 = load <8 x float>, ptr %v977, align 32
  store <8 x float> %v978, ptr %v354
  br label %b835
  b835:
  %v979 = load <8 x float>, ptr %v339
  %v980 = load <8 x float>, ptr %v340
  %v981 = load <8 x float>, ptr %v341
  %v982 = load <8 x float>, ptr %v342
  %v983 = load <8 x float>, ptr %v343
  %v984 = load <8 x float>, ptr %v344
  %v985 = load <8 x float>, ptr %v345
  %v986 = load <8 x float>, ptr %v346
  %v987 = load <8 x float>, ptr %v347
  %v988 = load <8 x float>, ptr %v348
  %v989 = load <8 x float>, ptr %v349
  %v990 = load <8 x float>, ptr %v350
  %v991 = load <8 x float>, ptr %v351
  %v992 = load <8 x float>, ptr %v352
  %v993 = load <8 x float>, ptr %v353
  %v994 = load <8 x float>, ptr %v354
  %v995 = shufflevector <8 x float> %v979, <8 x float> %v980, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v996 = shufflevector <8 x float> %v979, <8 x float> %v980, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v997 = fadd <8 x float> %v995, %v996
  %v998 = shufflevector <8 x float> %v981, <8 x float> %v982, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v999 = shufflevector <8 x float> %v981, <8 x float> %v982, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1000 = fadd <8 x float> %v998, %v999
  %v1001 = shufflevector <8 x float> %v983, <8 x float> %v984, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1002 = shufflevector <8 x float> %v983, <8 x float> %v984, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1003 = fadd <8 x float> %v1001, %v1002
  %v1004 = shufflevector <8 x float> %v985, <8 x float> %v986, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1005 = shufflevector <8 x float> %v985, <8 x float> %v986, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1006 = fadd <8 x float> %v1004, %v1005
  %v1007 = shufflevector <8 x float> %v987, <8 x float> %v988, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1008 = shufflevector <8 x float> %v987, <8 x float> %v988, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1009 = fadd <8 x float> %v1007, %v1008
  %v1010 = shufflevector <8 x float> %v989, <8 x float> %v990, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1011 = shufflevector <8 x float> %v989, <8 x float> %v990, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1012 = fadd <8 x float> %v1010, %v1011
  %v1013 = shufflevector <8 x float> %v991, <8 x float> %v992, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1014 = shufflevector <8 x float> %v991, <8 x float> %v992, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1015 = fadd <8 x float> %v1013, %v1014
  %v1016 = shufflevector <8 x float> %v993, <8 x float> %v994, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1017 = shufflevector <8 x float> %v993, <8 x float> %v994, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1018 = fadd <8 x float> %v1016, %v1017
  %v1019 = shufflevector <8 x float> %v997, <8 x float> %v1000, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1020 = shufflevector <8 x float> %v997, <8 x float> %v1000, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1021 = fadd <8 x float> %v1019, %v1020
  %v1022 = shufflevector <8 x float> %v1003, <8 x float> %v1006, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1023 = shufflevector <8 x float> %v1003, <8 x float> %v1006, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1024 = fadd <8 x float> %v1022, %v1023
  %v1025 = shufflevector <8 x float> %v1009, <8 x float> %v1012, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1026 = shufflevector <8 x float> %v1009, <8 x float> %v1012, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1027 = fadd <8 x float> %v1025, %v1026
  %v1028 = shufflevector <8 x float> %v1015, <8 x float> %v1018, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1029 = shufflevector <8 x float> %v1015, <8 x float> %v1018, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1030 = fadd <8 x float> %v1028, %v1029
  %v1031 = shufflevector <8 x float> %v1021, <8 x float> %v1024, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1032 = shufflevector <8 x float> %v1021, <8 x float> %v1024, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1033 = fadd <8 x float> %v1031, %v1032
  %v1034 = shufflevector <8 x float> %v1027, <8 x float> %v1030, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1035 = shufflevector <8 x float> %v1027, <8 x float> %v1030, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1036 = fadd <8 x float> %v1034, %v1035
  %v1037 = shufflevector <8 x float> %v1033, <8 x float> %v1036, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v1038 = shufflevector <8 x float> %v1033, <8 x float> %v1036, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v1039 = fadd <8 x float> %v1037, %v1038
  %v1040 = shufflevector <8 x float> %v1039, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %v1041 = shufflevector <8 x float> %v1039, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %v1042 = fadd <4 x float> %v1040, %v1041
  %v1043 = shufflevector <4 x float> %v1042, <4 x float> poison, <2 x i32> <i32 0, i32 2>
  %v1044 = shufflevector <4 x float> %v1042, <4 x float> poison, <2 x i32> <i32 1, i32 3>
  %v1045 = fadd <2 x float> %v1043, %v1044
  %v1046 = extractelement <2 x float> %v1045, i64 0
  %v1047 = extractelement <2 x float> %v1045, i64 1
  %v1048 = fadd float %v1046, %v1047
  store float %v1048, ptr %v1049
  %v1050 = load i64, ptr %v357
  store i64 %v1050, ptr %v1051
  br label %b1052
  b1052:
  %v1055 = load i64, ptr %v1051
  %v1056 = and i64 %v1055, 1
  %v1057 = icmp ne i64 %v1056, 0
  br i1 %v1057, label %b1053, label %b1054
  b1053:
  %v1058 = load i64, ptr %v356
  %v1059 = sub i64 %v1058, 1
  %v1060 = mul i64 %v1059, 4
  %v1061 = getelementptr i8, ptr %v355, i64 %v1060
  %v1062 = load float, ptr %v1061, align 4
  %v1063 = load float, ptr %v1049
  %v1064 = fadd float %v1062, %v1063
  store float %v1064, ptr %v1049
  store i64 %v1059, ptr %v356
  %v1065 = load i64, ptr %v1051
  %v1066 = lshr i64 %v1065, 1
  store i64 %v1066, ptr %v1051
  br label %b1052
  b1054:
  %v1067 = load float, ptr %v1049
  %v1068 = load i64, ptr %v356
  %v1069 = mul i64 %v1068, 4
  %v1070 = getelementptr i8, ptr %v355, i64 %v1069
  store float %v1067, ptr %v1070, align 4
  %v1071 = load i64, ptr %v356
  %v1072 = add i64 %v1071, 1
  store i64 %v1072, ptr %v356
  %v1073 = load i64, ptr %v357
  %v1074 = add i64 %v1073, 1
  store i64 %v1074, ptr %v357
  %v1075 = add i64 %v364, 1
  store i64 %v1075, ptr %v358
  br label %b359
  b361:
  %v1076 = load i64, ptr %v356
  %v1077 = sub i64 %v1076, 1
  %v1078 = mul i64 %v1077, 4
  %v1079 = getelementptr i8, ptr %v355, i64 %v1078
  %v1080 = load float, ptr %v1079, align 4
  store float %v1080, ptr %v1081
  store i64 %v1077, ptr %v356
  br label %b1082
  b1082:
  %v1085 = load i64, ptr %v356
  %v1086 = icmp ne i64 %v1085, 0
  br i1 %v1086, label %b1083, label %b1084
  b1083:
  %v1087 = load i64, ptr %v356
  %v1088 = sub i64 %v1087, 1
  %v1089 = mul i64 %v1088, 4
  %v1090 = getelementptr i8, ptr %v355, i64 %v1089
  %v1091 = load float, ptr %v1090, align 4
  %v1092 = load float, ptr %v1081
  %v1093 = fadd float %v1091, %v1092
  store float %v1093, ptr %v1081
  store i64 %v1088, ptr %v356
  br label %b1082
  b1084:
  %v1094 = load float, ptr %v1081
  %v1095 = fdiv float 0x3FF0000000000000, %v1094
  %v1096 = sub i64 %v11, 0
  store i64 0, ptr %v1097
  br label %b1098
  b1098:
  %v1101 = load i64, ptr %v1097
  %v1102 = icmp slt i64 %v1101, %v11
  br i1 %v1102, label %b1099, label %b1100
  b1099:
  %v1103 = load i64, ptr %v1097
  %v1104 = mul i64 %v1103, 1024
  %v1105 = mul i64 %v11, 1024
  %v1106 = icmp slt i64 %v1105, %v6
  %v1107 = select i1 %v1106, i64 %v1105, i64 %v6
  %v1108 = sub i64 %v1107, %v1104
  %v1109 = mul i64 %v1104, 4
  %v1110 = getelementptr i8, ptr %v35, i64 %v1109
  %v1111 = mul i64 %v1104, 4
  %v1112 = getelementptr i8, ptr %v36, i64 %v1111
  %v1113 = ptrtoint ptr %v1112 to i64
  %v1114 = sub i64 0, %v1113
  %v1115 = and i64 %v1114, 63
  %v1116 = udiv i64 %v1115, 4
  %v1117 = icmp ne i64 %v2, 0
  %v1118 = mul i64 %v1116, 4
  %v1119 = add i64 %v1113, %v1118
  %v1120 = and i64 %v1119, 63
  %v1121 = icmp eq i64 %v1120, 0
  %v1122 = and i1 %v1117, %v1121
  %v1123 = icmp slt i64 %v1116, %v1108
  %v1124 = select i1 %v1123, i64 %v1116, i64 %v1108
  %v1125 = select i1 %v1122, i64 %v1124, i64 0
  store i64 0, ptr %v1126
  br label %b1127
  b1127:
  %v1130 = load i64, ptr %v1126
  %v1131 = icmp slt i64 %v1130, %v1125
  br i1 %v1131, label %b1128, label %b1129
  b1128:
  %v1132 = load i64, ptr %v1126
  %v1133 = sub i64 %v1125, %v1132
  %v1134 = trunc i64 %v1133 to i32
  %v1135 = insertelement <8 x i32> poison, i32 %v1134, i64 0
  %v1136 = shufflevector <8 x i32> %v1135, <8 x i32> poison, <8 x i32> zeroinitializer
  %v1137 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v1136
  %v1138 = add i64 %v1104, %v1132
  %v1139 = mul i64 %v1138, 4
  %v1140 = getelementptr i8, ptr %v9, i64 %v1139
  %v1141 = load <8 x float>, ptr %v1140, align 4
  %v1142 = insertelement <8 x float> poison, float %v1095, i64 0
  %v1143 = shufflevector <8 x float> %v1142, <8 x float> poison, <8 x i32> zeroinitializer
  %v1144 = fmul <8 x float> %v1141, %v1143
  %v1145 = mul i64 %v1132, 4
  %v1146 = getelementptr i8, ptr %v1112, i64 %v1145
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v1144, ptr %v1146, i32 4, <8 x i1> %v1137)
  %v1147 = add i64 %v1132, 8
  store i64 %v1147, ptr %v1126
  br label %b1127
  b1129:
  %v1148 = sub i64 %v1108, %v1125
  %v1149 = and i64 %v1148, -64
  %v1150 = add i64 %v1125, %v1149
  br i1 %v1122, label %b1151, label %b1152
  b1151:
  store i64 %v1125, ptr %v1153
  br label %b1154
  b1154:
  %v1157 = load i64, ptr %v1153
  %v1158 = icmp slt i64 %v1157, %v1150
  br i1 %v1158, label %b1155, label %b1156
  b1155:
  %v1159 = load i64, ptr %v1153
  %v1160 = add i64 %v1104, %v1159
  %v1161 = mul i64 %v1160, 4
  %v1162 = getelementptr i8, ptr %v9, i64 %v1161
  %v1163 = load <8 x float>, ptr %v1162, align 4
  %v1164 = add i64 %v1104, %v1159
  %v1165 = add i64 %v1164, 8
  %v1166 = mul i64 %v1165, 4
  %v1167 = getelementptr i8, ptr %v9, i64 %v1166
  %v1168 = load <8 x float>, ptr %v1167, align 4
  %v1169 = add i64 %v1104, %v1159
  %v1170 = add i64 %v1169, 16
  %v1171 = mul i64 %v1170, 4
  %v1172 = getelementptr i8, ptr %v9, i64 %v1171
  %v1173 = load <8 x float>, ptr %v1172, align 4
  %v1174 = add i64 %v1104, %v1159
  %v1175 = add i64 %v1174, 24
  %v1176 = mul i64 %v1175, 4
  %v1177 = getelementptr i8, ptr %v9, i64 %v1176
  %v1178 = load <8 x float>, ptr %v1177, align 4
  %v1179 = add i64 %v1104, %v1159
  %v1180 = add i64 %v1179, 32
  %v1181 = mul i64 %v1180, 4
  %v1182 = getelementptr i8, ptr %v9, i64 %v1181
  %v1183 = load <8 x float>, ptr %v1182, align 4
  %v1184 = add i64 %v1104, %v1159
  %v1185 = add i64 %v1184, 40
  %v1186 = mul i64 %v1185, 4
  %v1187 = getelementptr i8, ptr %v9, i64 %v1186
  %v1188 = load <8 x float>, ptr %v1187, align 4
  %v1189 = add i64 %v1104, %v1159
  %v1190 = add i64 %v1189, 48
  %v1191 = mul i64 %v1190, 4
  %v1192 = getelementptr i8, ptr %v9, i64 %v1191
  %v1193 = load <8 x float>, ptr %v1192, align 4
  %v1194 = add i64 %v1104, %v1159
  %v1195 = add i64 %v1194, 56
  %v1196 = mul i64 %v1195, 4
  %v1197 = getelementptr i8, ptr %v9, i64 %v1196
  %v1198 = load <8 x float>, ptr %v1197, align 4
  %v1199 = insertelement <8 x float> poison, float %v1095, i64 0
  %v1200 = shufflevector <8 x float> %v1199, <8 x float> poison, <8 x i32> zeroinitializer
  %v1201 = fmul <8 x float> %v1163, %v1200
  %v1202 = fmul <8 x float> %v1168, %v1200
  %v1203 = fmul <8 x float> %v1173, %v1200
  %v1204 = fmul <8 x float> %v1178, %v1200
  %v1205 = fmul <8 x float> %v1183, %v1200
  %v1206 = fmul <8 x float> %v1188, %v1200
  %v1207 = fmul <8 x float> %v1193, %v1200
  %v1208 = fmul <8 x float> %v1198, %v1200
  %v1209 = mul i64 %v1159, 4
  %v1210 = getelementptr i8, ptr %v1112, i64 %v1209
  store <8 x float> %v1201, ptr %v1210, align 32, !nontemporal !{i32 1}
  %v1211 = getelementptr i8, ptr %v1210, i64 32
  store <8 x float> %v1202, ptr %v1211, align 32, !nontemporal !{i32 1}
  %v1212 = getelementptr i8, ptr %v1210, i64 64
  store <8 x float> %v1203, ptr %v1212, align 32, !nontemporal !{i32 1}
  %v1213 = getelementptr i8, ptr %v1210, i64 96
  store <8 x float> %v1204, ptr %v1213, align 32, !nontemporal !{i32 1}
  %v1214 = getelementptr i8, ptr %v1210, i64 128
  store <8 x float> %v1205, ptr %v1214, align 32, !nontemporal !{i32 1}
  %v1215 = getelementptr i8, ptr %v1210, i64 160
  store <8 x float> %v1206, ptr %v1215, align 32, !nontemporal !{i32 1}
  %v1216 = getelementptr i8, ptr %v1210, i64 192
  store <8 x float> %v1207, ptr %v1216, align 32, !nontemporal !{i32 1}
  %v1217 = getelementptr i8, ptr %v1210, i64 224
  store <8 x float> %v1208, ptr %v1217, align 32, !nontemporal !{i32 1}
  %v1218 = add i64 %v1159, 64
  store i64 %v1218, ptr %v1153
  br label %b1154
  b1156:
  br label %b1152
  b1152:
  %v1219 = select i1 %v1122, i64 %v1150, i64 %v1125
  store i64 %v1219, ptr %v1220
  br label %b1221
  b1221:
  %v1224 = load i64, ptr %v1220
  %v1225 = icmp slt i64 %v1224, %v1150
  br i1 %v1225, label %b1222, label %b1223
  b1222:
  %v1226 = load i64, ptr %v1220
  %v1227 = add i64 %v1104, %v1226
  %v1228 = mul i64 %v1227, 4
  %v1229 = getelementptr i8, ptr %v9, i64 %v1228
  %v1230 = load <8 x float>, ptr %v1229, align 4
  %v1231 = add i64 %v1104, %v1226
  %v1232 = add i64 %v1231, 8
  %v1233 = mul i64 %v1232, 4
  %v1234 = getelementptr i8, ptr %v9, i64 %v1233
  %v1235 = load <8 x float>, ptr %v1234, align 4
  %v1236 = add i64 %v1104, %v1226
  %v1237 = add i64 %v1236, 16
  %v1238 = mul i64 %v1237, 4
  %v1239 = getelementptr i8, ptr %v9, i64 %v1238
  %v1240 = load <8 x float>, ptr %v1239, align 4
  %v1241 = add i64 %v1104, %v1226
  %v1242 = add i64 %v1241, 24
  %v1243 = mul i64 %v1242, 4
  %v1244 = getelementptr i8, ptr %v9, i64 %v1243
  %v1245 = load <8 x float>, ptr %v1244, align 4
  %v1246 = add i64 %v1104, %v1226
  %v1247 = add i64 %v1246, 32
  %v1248 = mul i64 %v1247, 4
  %v1249 = getelementptr i8, ptr %v9, i64 %v1248
  %v1250 = load <8 x float>, ptr %v1249, align 4
  %v1251 = add i64 %v1104, %v1226
  %v1252 = add i64 %v1251, 40
  %v1253 = mul i64 %v1252, 4
  %v1254 = getelementptr i8, ptr %v9, i64 %v1253
  %v1255 = load <8 x float>, ptr %v1254, align 4
  %v1256 = add i64 %v1104, %v1226
  %v1257 = add i64 %v1256, 48
  %v1258 = mul i64 %v1257, 4
  %v1259 = getelementptr i8, ptr %v9, i64 %v1258
  %v1260 = load <8 x float>, ptr %v1259, align 4
  %v1261 = add i64 %v1104, %v1226
  %v1262 = add i64 %v1261, 56
  %v1263 = mul i64 %v1262, 4
  %v1264 = getelementptr i8, ptr %v9, i64 %v1263
  %v1265 = load <8 x float>, ptr %v1264, align 4
  %v1266 = insertelement <8 x float> poison, float %v1095, i64 0
  %v1267 = shufflevector <8 x float> %v1266, <8 x float> poison, <8 x i32> zeroinitializer
  %v1268 = fmul <8 x float> %v1230, %v1267
  %v1269 = fmul <8 x float> %v1235, %v1267
  %v1270 = fmul <8 x float> %v1240, %v1267
  %v1271 = fmul <8 x float> %v1245, %v1267
  %v1272 = fmul <8 x float> %v1250, %v1267
  %v1273 = fmul <8 x float> %v1255, %v1267
  %v1274 = fmul <8 x float> %v1260, %v1267
  %v1275 = fmul <8 x float> %v1265, %v1267
  %v1276 = mul i64 %v1226, 4
  %v1277 = getelementptr i8, ptr %v1112, i64 %v1276
  store <8 x float> %v1268, ptr %v1277, align 4
  %v1278 = getelementptr i8, ptr %v1277, i64 32
  store <8 x float> %v1269, ptr %v1278, align 4
  %v1279 = getelementptr i8, ptr %v1277, i64 64
  store <8 x float> %v1270, ptr %v1279, align 4
  %v1280 = getelementptr i8, ptr %v1277, i64 96
  store <8 x float> %v1271, ptr %v1280, align 4
  %v1281 = getelementptr i8, ptr %v1277, i64 128
  store <8 x float> %v1272, ptr %v1281, align 4
  %v1282 = getelementptr i8, ptr %v1277, i64 160
  store <8 x float> %v1273, ptr %v1282, align 4
  %v1283 = getelementptr i8, ptr %v1277, i64 192
  store <8 x float> %v1274, ptr %v1283, align 4
  %v1284 = getelementptr i8, ptr %v1277, i64 224
  store <8 x float> %v1275, ptr %v1284, align 4
  %v1285 = add i64 %v1226, 64
  store i64 %v1285, ptr %v1220
  br label %b1221
  b1223:
  store i64 %v1150, ptr %v1286
  br label %b1287
  b1287:
  %v1290 = load i64, ptr %v1286
  %v1291 = icmp slt i64 %v1290, %v1108
  br i1 %v1291, label %b1288, label %b1289
  b1288:
  %v1292 = load i64, ptr %v1286
  %v1293 = sub i64 %v1108, %v1292
  %v1294 = trunc i64 %v1293 to i32
  %v1295 = insertelement <8 x i32> poison, i32 %v1294, i64 0
  %v1296 = shufflevector <8 x i32> %v1295, <8 x i32> poison, <8 x i32> zeroinitializer
  %v1297 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v1296
  %v1298 = add i64 %v1104, %v1292
  %v1299 = mul i64 %v1298, 4
  %v1300 = getelementptr i8, ptr %v9, i64 %v1299
  %v1301 = load <8 x float>, ptr %v1300, align 4
  %v1302 = insertelement <8 x float> poison, float %v1095, i64 0
  %v1303 = shufflevector <8 x float> %v1302, <8 x float> poison, <8 x i32> zeroinitializer
  %v1304 = fmul <8 x float> %v1301, %v1303
  %v1305 = mul i64 %v1292, 4
  %v1306 = getelementptr i8, ptr %v1112, i64 %v1305
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v1304, ptr %v1306, i32 4, <8 x i1> %v1297)
  %v1307 = add i64 %v1292, 8
  store i64 %v1307, ptr %v1286
  br label %b1287
  b1289:
  %v1308 = add i64 %v1103, %v1096
  store i64 %v1308, ptr %v1097
  br label %b1098
  b1100:
  %v1309 = load i64, ptr %v21
  %v1310 = add i64 %v1309, 1
  store i64 %v1310, ptr %v21
  %v1311 = load ptr, ptr %v24
  %v1312 = getelementptr i8, ptr %v1311, i64 %v15
  store ptr %v1312, ptr %v24
  %v1313 = load ptr, ptr %v27
  %v1314 = getelementptr i8, ptr %v1313, i64 %v17
  store ptr %v1314, ptr %v27
  %v1315 = add i64 %v34, 1
  store i64 %v1315, ptr %v28
  br label %b29
  b31:
  %v1316 = icmp ne i64 %v2, 0
  br i1 %v1316, label %b1317, label %b1318
  b1317:
  fence seq_cst
  br label %b1318
  b1318:
  ret void
}
declare <8 x float> @llvm.maximum.v8f32(<8 x float>, <8 x float>)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare <4 x float> @llvm.maximum.v4f32(<4 x float>, <4 x float>)
declare <2 x float> @llvm.maximum.v2f32(<2 x float>, <2 x float>)
declare float @llvm.maximum.f32(float, float)
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
