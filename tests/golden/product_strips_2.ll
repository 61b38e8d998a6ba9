define void @k29ee6f2851fe28b231b9040ebd20ba27(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 88
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 96
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 104
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 112
  %v8 = load i64, ptr %v7, align 8
  %v9 = getelementptr i8, ptr %words, i64 120
  %v10 = load i64, ptr %v9, align 8
  %v11 = mul i64 %v2, %v10
  %v12 = mul i64 %v8, %v10
  %v13 = getelementptr i8, ptr %words, i64 8
  %v14 = load ptr, ptr %v13, align 8
  %v15 = getelementptr i8, ptr %words, i64 16
  %v16 = load ptr, ptr %v15, align 8
  %v17 = getelementptr i8, ptr %words, i64 24
  %v18 = load ptr, ptr %v17, align 8
  %v19 = ptrtoint ptr %v18 to i64
  %v20 = sub i64 0, %v19
  %v21 = and i64 %v20, 63
  %v22 = getelementptr i8, ptr %v18, i64 %v21
  %v23 = getelementptr i8, ptr %words, i64 128
  %v24 = load i64, ptr %v23, align 8
  %v25 = getelementptr i8, ptr %words, i64 136
  %v26 = load i64, ptr %v25, align 8
  %v27 = getelementptr i8, ptr %words, i64 144
  %v28 = load i64, ptr %v27, align 8
  %v29 = getelementptr i8, ptr %words, i64 152
  %v30 = load i64, ptr %v29, align 8
  %v31 = alloca [4096 x float], align 64
  %v32 = mul i64 %v10, 4
  %v33 = mul i64 %v32, %v26
  %v34 = getelementptr i8, ptr %words, i64 160
  %v35 = load i64, ptr %v34, align 8
  %v36 = getelementptr i8, ptr %words, i64 168
  %v37 = load i64, ptr %v36, align 8
  %v38 = alloca i64, align 8
  %v41 = alloca ptr, align 8
  %v44 = alloca ptr, align 8
  %v47 = alloca ptr, align 8
  %v48 = alloca i64, align 8
  %v65 = alloca i64, align 8
  %v75 = alloca i64, align 8
  %v82 = alloca i64, align 8
  %v132 = alloca i64, align 8
  %v208 = alloca i64, align 8
  %v215 = alloca i64, align 8
  %v227 = alloca i64, align 8
  %v254 = alloca i64, align 8
  %v261 = alloca i64, align 8
  %v278 = alloca i64, align 8
  %v307 = alloca i64, align 8
  %v320 = alloca i64, align 8
  %v342 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v38
  %v39 = mul i64 %begin, %v11
  %v40 = getelementptr i8, ptr %v14, i64 %v39
  store ptr %v40, ptr %v41
  %v42 = mul i64 %begin, %v12
  %v43 = getelementptr i8, ptr %v16, i64 %v42
  store ptr %v43, ptr %v44
  %v45 = mul i64 %begin, 0
  %v46 = getelementptr i8, ptr %v22, i64 %v45
  store ptr %v46, ptr %v47
  store i64 %begin, ptr %v48
  br label %b49
  b49:
  %v52 = load i64, ptr %v48
  %v53 = icmp slt i64 %v52, %end
  br i1 %v53, label %b50, label %b51
  b50:
  %v54 = load i64, ptr %v48
  %v55 = load ptr, ptr %v41
  %v56 = load ptr, ptr %v44
  %v57 = load ptr, ptr %v47
  %v58 = load i64, ptr %v38
  %v59 = mul i64 %v58, %v10
  %v60 = sub i64 %v28, %v59
  %v61 = icmp slt i64 %v10, %v60
  %v62 = select i1 %v61, i64 %v10, i64 %v60
  %v63 = udiv i64 %v30, 8
  %v64 = mul i64 %v63, 8
  store i64 0, ptr %v65
  br label %b66
  b66:
  %v69 = load i64, ptr %v65
  %v70 = icmp slt i64 %v69, %v33
  br i1 %v70, label %b67, label %b68
  b67:
  %v71 = load i64, ptr %v65
  %v72 = getelementptr i8, ptr %v31, i64 %v71
  store <8 x float> zeroinitializer, ptr %v72, align 32
  %v73 = add i64 %v71, 32
  store i64 %v73, ptr %v65
  br label %b66
  b68:
  %v74 = and i64 %v62, -8
  store i64 0, ptr %v75
  br label %b76
  b76:
  %v79 = load i64, ptr %v75
  %v80 = icmp slt i64 %v79, %v64
  br i1 %v80, label %b77, label %b78
  b77:
  %v81 = load i64, ptr %v75
  store i64 0, ptr %v82
  br label %b83
  b83:
  %v86 = load i64, ptr %v82
  %v87 = icmp slt i64 %v86, %v74
  br i1 %v87, label %b84, label %b85
  b84:
  %v88 = load i64, ptr %v82
  %v89 = mul i64 %v2, %v88
  %v90 = getelementptr i8, ptr %v55, i64 %v89
  %v91 = mul i64 %v4, %v81
  %v92 = getelementptr i8, ptr %v90, i64 %v91
  %v93 = mul i64 %v2, 0
  %v94 = getelementptr i8, ptr %v92, i64 %v93
  %v95 = mul i64 %v4, 0
  %v96 = getelementptr i8, ptr %v94, i64 %v95
  %v97 = load <8 x float>, ptr %v96, align 4
  %v98 = mul i64 %v2, 0
  %v99 = getelementptr i8, ptr %v92, i64 %v98
  %v100 = getelementptr i8, ptr %v99, i64 %v4
  %v101 = load <8 x float>, ptr %v100, align 4
  %v102 = mul i64 %v2, 0
  %v103 = getelementptr i8, ptr %v92, i64 %v102
  %v104 = mul i64 %v4, 2
  %v105 = getelementptr i8, ptr %v103, i64 %v104
  %v106 = load <8 x float>, ptr %v105, align 4
  %v107 = mul i64 %v2, 0
  %v108 = getelementptr i8, ptr %v92, i64 %v107
  %v109 = mul i64 %v4, 3
  %v110 = getelementptr i8, ptr %v108, i64 %v109
  %v111 = load <8 x float>, ptr %v110, align 4
  %v112 = mul i64 %v2, 0
  %v113 = getelementptr i8, ptr %v92, i64 %v112
  %v114 = mul i64 %v4, 4
  %v115 = getelementptr i8, ptr %v113, i64 %v114
  %v116 = load <8 x float>, ptr %v115, align 4
  %v117 = mul i64 %v2, 0
  %v118 = getelementptr i8, ptr %v92, i64 %v117
  %v119 = mul i64 %v4, 5
  %v120 = getelementptr i8, ptr %v118, i64 %v119
  %v121 = load <8 x float>, ptr %v120, align 4
  %v122 = mul i64 %v2, 0
  %v123 = getelementptr i8, ptr %v92, i64 %v122
  %v124 = mul i64 %v4, 6
  %v125 = getelementptr i8, ptr %v123, i64 %v124
  %v126 = load <8 x float>, ptr %v125, align 4
  %v127 = mul i64 %v2, 0
  %v128 = getelementptr i8, ptr %v92, i64 %v127
  %v129 = mul i64 %v4, 7
  %v130 = getelementptr i8, ptr %v128, i64 %v129
  %v131 = load <8 x float>, ptr %v130, align 4
  store i64 0, ptr %v132
  br label %b133
  b133:
  %v136 = load i64, ptr %v132
  %v137 = icmp slt i64 %v136, %v26
  br i1 %v137, label %b134, label %b135
  b134:
  %v138 = load i64, ptr %v132
  %v139 = mul i64 %v138, %v35
  %v140 = getelementptr i8, ptr %v57, i64 %v139
  %v141 = mul i64 %v81, 4
  %v142 = getelementptr i8, ptr %v140, i64 %v141
  %v143 = mul i64 %v138, %v32
  %v144 = getelementptr i8, ptr %v31, i64 %v143
  %v145 = mul i64 %v88, 4
  %v146 = getelementptr i8, ptr %v144, i64 %v145
  %v147 = mul i64 %v33, 0
  %v148 = getelementptr i8, ptr %v146, i64 %v147
  %v149 = load <8 x float>, ptr %v148, align 32
  %v150 = mul i64 %v37, 0
  %v151 = getelementptr i8, ptr %v142, i64 %v150
  %v152 = load float, ptr %v151, align 4
  %v153 = insertelement <8 x float> poison, float %v152, i64 0
  %v154 = shufflevector <8 x float> %v153, <8 x float> poison, <8 x i32> zeroinitializer
  %v155 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v154, <8 x float> %v97, <8 x float> %v149)
  %v156 = mul i64 %v37, 0
  %v157 = getelementptr i8, ptr %v142, i64 %v156
  %v158 = getelementptr i8, ptr %v157, i64 4
  %v159 = load float, ptr %v158, align 4
  %v160 = insertelement <8 x float> poison, float %v159, i64 0
  %v161 = shufflevector <8 x float> %v160, <8 x float> poison, <8 x i32> zeroinitializer
  %v162 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v161, <8 x float> %v101, <8 x float> %v155)
  %v163 = mul i64 %v37, 0
  %v164 = getelementptr i8, ptr %v142, i64 %v163
  %v165 = getelementptr i8, ptr %v164, i64 8
  %v166 = load float, ptr %v165, align 4
  %v167 = insertelement <8 x float> poison, float %v166, i64 0
  %v168 = shufflevector <8 x float> %v167, <8 x float> poison, <8 x i32> zeroinitializer
  %v169 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v168, <8 x float> %v106, <8 x float> %v162)
  %v170 = mul i64 %v37, 0
  %v171 = getelementptr i8, ptr %v142, i64 %v170
  %v172 = getelementptr i8, ptr %v171, i64 12
  %v173 = load float, ptr %v172, align 4
  %v174 = insertelement <8 x float> poison, float %v173, i64 0
  %v175 = shufflevector <8 x float> %v174, <8 x float> poison, <8 x i32> zeroinitializer
  %v176 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v175, <8 x float> %v111, <8 x float> %v169)
  %v177 = mul i64 %v37, 0
  %v178 = getelementptr i8, ptr %v142, i64 %v177
  %v179 = getelementptr i8, ptr %v178, i64 16
  %v180 = load float, ptr %v179, align 4
  %v181 = insertelement <8 x float> poison, float %v180, i64 0
  %v182 = shufflevector <8 x float> %v181, <8 x float> poison, <8 x i32> zeroinitializer
  %v183 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v182, <8 x float> %v116, <8 x float> %v176)
  %v184 = mul i64 %v37, 0
  %v185 = getelementptr i8, ptr %v142, i64 %v184
  %v186 = getelementptr i8, ptr %v185, i64 20
  %v187 = load float, ptr %v186, align 4
  %v188 = insertelement <8 x float> poison, float %v187, i64 0
  %v189 = shufflevector <8 x float> %v188, <8 x float> poison, <8 x i32> zeroinitializer
  %v190 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v189, <8 x float> %v121, <8 x float> %v183)
  %v191 = mul i64 %v37, 0
  %v192 = getelementptr i8, ptr %v142, i64 %v191
  %v193 = getelementptr i8, ptr %v192, i64 24
  %v194 = load float, ptr %v193, align 4
  %v195 = insertelement <8 x float> poison, float %v194, i64 0
  %v196 = shufflevector <8 x float> %v195, <8 x float> poison, <8 x i32> zeroinitializer
  %v197 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v196, <8 x float> %v126, <8 x float> %v190)
  %v198 = mul i64 %v37, 0
  %v199 = getelementptr i8, ptr %v142, i64 %v198
  %v200 = getelementptr i8, ptr %v199, i64 28
  %v201 = load float, ptr %v200, align 4
  %v202 = insertelement <8 x float> poison, float %v201, i64 0
  %v203 = shufflevector <8 x float> %v202, <8 x float> poison, <8 x i32> zeroinitializer
  %v204 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v203, <8 x float> %v131, <8 x float> %v197)
  store <8 x float> %v204, ptr %v148, align 32
  %v205 = add i64 %v138, 1
  store i64 %v205, ptr %v132
  br label %b133
  b135:
  %v206 = add i64 %v88, 8
  store i64 %v206, ptr %v82
  br label %b83
  b85:
  %v207 = add i64 %v81, 8
  store i64 %v207, ptr %v75
  br label %b76
  b78:
  store i64 %v64, ptr %v208
  br label %b209
  b209:
  %v212 = load i64, ptr %v208
  %v213 = icmp slt i64 %v212, %v30
  br i1 %v213, label %b210, label %b211
  b210:
  %v214 = load i64, ptr %v208
  store i64 0, ptr %v215
  br label %b216
  b216:
  %v219 = load i64, ptr %v215
  %v220 = icmp slt i64 %v219, %v74
  br i1 %v220, label %b217, label %b218
  b217:
  %v221 = load i64, ptr %v215
  %v222 = mul i64 %v2, %v221
  %v223 = getelementptr i8, ptr %v55, i64 %v222
  %v224 = mul i64 %v4, %v214
  %v225 = getelementptr i8, ptr %v223, i64 %v224
  %v226 = load <8 x float>, ptr %v225, align 4
  store i64 0, ptr %v227
  br label %b228
  b228:
  %v231 = load i64, ptr %v227
  %v232 = icmp slt i64 %v231, %v26
  br i1 %v232, label %b229, label %b230
  b229:
  %v233 = load i64, ptr %v227
  %v234 = mul i64 %v233, %v35
  %v235 = getelementptr i8, ptr %v57, i64 %v234
  %v236 = mul i64 %v214, 4
  %v237 = getelementptr i8, ptr %v235, i64 %v236
  %v238 = mul i64 %v233, %v32
  %v239 = getelementptr i8, ptr %v31, i64 %v238
  %v240 = mul i64 %v221, 4
  %v241 = getelementptr i8, ptr %v239, i64 %v240
  %v242 = mul i64 %v33, 0
  %v243 = getelementptr i8, ptr %v241, i64 %v242
  %v244 = load <8 x float>, ptr %v243, align 32
  %v245 = mul i64 %v37, 0
  %v246 = getelementptr i8, ptr %v237, i64 %v245
  %v247 = load float, ptr %v246, align 4
  %v248 = insertelement <8 x float> poison, float %v247, i64 0
  %v249 = shufflevector <8 x float> %v248, <8 x float> poison, <8 x i32> zeroinitializer
  %v250 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v249, <8 x float> %v226, <8 x float> %v244)
  store <8 x float> %v250, ptr %v243, align 32
  %v251 = add i64 %v233, 1
  store i64 %v251, ptr %v227
  br label %b228
  b230:
  %v252 = add i64 %v221, 8
  store i64 %v252, ptr %v215
  br label %b216
  b218:
  %v253 = add i64 %v214, 1
  store i64 %v253, ptr %v208
  br label %b209
  b211:
  store i64 0, ptr %v254
  br label %b255
  b255:
  %v258 = load i64, ptr %v254
  %v259 = icmp slt i64 %v258, %v30
  br i1 %v259, label %b256, label %b257
  b256:
  %v260 = load i64, ptr %v254
  store i64 %v74, ptr %v261
  br label %b262
  b262:
  %v265 = load i64, ptr %v261
  %v266 = icmp slt i64 %v265, %v62
  br i1 %v266, label %b263, label %b264
  b263:
  %v267 = load i64, ptr %v261
  %v268 = sub i64 %v62, %v267
  %v269 = mul i64 %v2, %v267
  %v270 = getelementptr i8, ptr %v55, i64 %v269
  %v271 = mul i64 %v4, %v260
  %v272 = getelementptr i8, ptr %v270, i64 %v271
  %v273 = trunc i64 %v268 to i32
  %v274 = insertelement <8 x i32> poison, i32 %v273, i64 0
  %v275 = shufflevector <8 x i32> %v274, <8 x i32> poison, <8 x i32> zeroinitializer
  %v276 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v275
  %v277 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v272, i32 4, <8 x i1> %v276, <8 x float> zeroinitializer)
  store i64 0, ptr %v278
  br label %b279
  b279:
  %v282 = load i64, ptr %v278
  %v283 = icmp slt i64 %v282, %v26
  br i1 %v283, label %b280, label %b281
  b280:
  %v284 = load i64, ptr %v278
  %v285 = mul i64 %v284, %v35
  %v286 = getelementptr i8, ptr %v57, i64 %v285
  %v287 = mul i64 %v260, 4
  %v288 = getelementptr i8, ptr %v286, i64 %v287
  %v289 = mul i64 %v284, %v32
  %v290 = getelementptr i8, ptr %v31, i64 %v289
  %v291 = mul i64 %v267, 4
  %v292 = getelementptr i8, ptr %v290, i64 %v291
  %v293 = mul i64 %v33, 0
  %v294 = getelementptr i8, ptr %v292, i64 %v293
  %v295 = load <8 x float>, ptr %v294, align 32
  %v296 = mul i64 %v37, 0
  %v297 = getelementptr i8, ptr %v288, i64 %v296
  %v298 = load float, ptr %v297, align 4
  %v299 = insertelement <8 x float> poison, float %v298, i64 0
  %v300 = shufflevector <8 x float> %v299, <8 x float> poison, <8 x i32> zeroinitializer
  %v301 = call <8 x float> @llvm.fma.v8f32(<8 x float> %v300, <8 x float> %v277, <8 x float> %v295)
  store <8 x float> %v301, ptr %v294, align 32
  %v302 = add i64 %v284, 1
  store i64 %v302, ptr %v278
  br label %b279
  b281:
  %v303 = add i64 %v267, 8
  store i64 %v303, ptr %v261
  br label %b262
  b264:
  %v304 = add i64 %v260, 1
  store i64 %v304, ptr %v254
  br label %b255
  b257:
  %v305 = mul i64 %v33, 0
  %v306 = getelementptr i8, ptr %v31, i64 %v305
  store i64 0, ptr %v307
  br label %b308
  b308:
  %v311 = load i64, ptr %v307
  %v312 = icmp slt i64 %v311, %v26
  br i1 %v312, label %b309, label %b310
  b309:
  %v313 = load i64, ptr %v307
  %v314 = mul i64 %v313, %v6
  %v315 = getelementptr i8, ptr %v56, i64 %v314
  %v316 = mul i64 %v313, %v32
  %v317 = getelementptr i8, ptr %v306, i64 %v316
  %v318 = udiv i64 %v62, 32
  %v319 = mul i64 %v318, 32
  store i64 0, ptr %v320
  br label %b321
  b321:
  %v324 = load i64, ptr %v320
  %v325 = icmp slt i64 %v324, %v319
  br i1 %v325, label %b322, label %b323
  b322:
  %v326 = load i64, ptr %v320
  %v327 = mul i64 %v326, %v8
  %v328 = getelementptr i8, ptr %v315, i64 %v327
  %v329 = mul i64 %v326, 4
  %v330 = getelementptr i8, ptr %v317, i64 %v329
  %v331 = load <8 x float>, ptr %v330, align 4
  %v332 = getelementptr i8, ptr %v330, i64 32
  %v333 = load <8 x float>, ptr %v332, align 4
  %v334 = getelementptr i8, ptr %v330, i64 64
  %v335 = load <8 x float>, ptr %v334, align 4
  %v336 = getelementptr i8, ptr %v330, i64 96
  %v337 = load <8 x float>, ptr %v336, align 4
  store <8 x float> %v331, ptr %v328, align 4
  %v338 = getelementptr i8, ptr %v328, i64 32
  store <8 x float> %v333, ptr %v338, align 4
  %v339 = getelementptr i8, ptr %v328, i64 64
  store <8 x float> %v335, ptr %v339, align 4
  %v340 = getelementptr i8, ptr %v328, i64 96
  store <8 x float> %v337, ptr %v340, align 4
  %v341 = add i64 %v326, 32
  store i64 %v341, ptr %v320
  br label %b321
  b323:
  store i64 %v319, ptr %v342
  br label %b343
  b343:
  %v346 = load i64, ptr %v342
  %v347 = icmp slt i64 %v346, %v62
  br i1 %v347, label %b344, label %b345
  b344:
  %v348 = load i64, ptr %v342
  %v349 = sub i64 %v62, %v348
  %v350 = mul i64 %v348, %v8
  %v351 = getelementptr i8, ptr %v315, i64 %v350
  %v352 = trunc i64 %v349 to i32
  %v353 = insertelement <8 x i32> poison, i32 %v352, i64 0
  %v354 = shufflevector <8 x i32> %v353, <8 x i32> poison, <8 x i32> zeroinitializer
  %v355 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v354
  %v356 = mul i64 %v348, 4
  %v357 = getelementptr i8, ptr %v317, i64 %v356
  %v358 = load <8 x float>, ptr %v357, align 4
  %v359 = trunc i64 %v349 to i32
  %v360 = insertelement <8 x i32> poison, i32 %v359, i64 0
  %v361 = shufflevector <8 x i32> %v360, <8 x i32> poison, <8 x i32> zeroinitializer
  %v362 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v361
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v358, ptr %v351, i32 4, <8 x i1> %v362)
  %v363 = add i64 %v348, 8
  store i64 %v363, ptr %v342
  br label %b343
  b345:
  %v364 = add i64 %v313, 1
  store i64 %v364, ptr %v307
  br label %b308
  b310:
  %v365 = load i64, ptr %v38
  %v366 = add i64 %v365, 1
  store i64 %v366, ptr %v38
  %v367 = load ptr, ptr %v41
  %v368 = getelementptr i8, ptr %v367, i64 %v11
  store ptr %v368, ptr %v41
  %v369 = load ptr, ptr %v44
  %v370 = getelementptr i8, ptr %v369, i64 %v12
  store ptr %v370, ptr %v44
  %v371 = load ptr, ptr %v47
  %v372 = getelementptr i8, ptr %v371, i64 0
  store ptr %v372, ptr %v47
  %v373 = add i64 %v54, 1
  store i64 %v373, ptr %v48
  br label %b49
  b51:
  ret void
}
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
