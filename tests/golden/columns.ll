define void @k27a96e52f69535b815b4fde1f86ada3c(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 32
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 40
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 48
  %v6 = load i64, ptr %v5, align 8
  %v7 = mul i64 %v4, 8
  %v8 = mul i64 %v6, 8
  %v9 = getelementptr i8, ptr %words, i64 56
  %v10 = load i64, ptr %v9, align 8
  %v11 = getelementptr i8, ptr %words, i64 64
  %v12 = load i64, ptr %v11, align 8
  %v13 = load ptr, ptr %words, align 8
  %v14 = getelementptr i8, ptr %words, i64 8
  %v15 = load ptr, ptr %v14, align 8
  %v16 = getelementptr i8, ptr %words, i64 72
  %v17 = load i64, ptr %v16, align 8
  %v18 = getelementptr i8, ptr %words, i64 80
  %v19 = load i64, ptr %v18, align 8
  %v20 = getelementptr i8, ptr %words, i64 88
  %v21 = load i64, ptr %v20, align 8
  %v22 = getelementptr i8, ptr %words, i64 96
  %v23 = load i64, ptr %v22, align 8
  %v24 = getelementptr i8, ptr %words, i64 104
  %v25 = load i64, ptr %v24, align 8
  %v26 = getelementptr i8, ptr %words, i64 112
  %v27 = load i64, ptr %v26, align 8
  %v28 = getelementptr i8, ptr %words, i64 120
  %v29 = load i64, ptr %v28, align 8
  %v30 = getelementptr i8, ptr %words, i64 128
  %v31 = load i64, ptr %v30, align 8
  %v32 = getelementptr i8, ptr %words, i64 136
  %v33 = load i64, ptr %v32, align 8
  %v34 = getelementptr i8, ptr %words, i64 144
  %v35 = load i64, ptr %v34, align 8
  %v36 = getelementptr i8, ptr %words, i64 152
  %v37 = load i64, ptr %v36, align 8
  %v38 = getelementptr i8, ptr %words, i64 160
  %v39 = load i64, ptr %v38, align 8
  %v40 = getelementptr i8, ptr %words, i64 168
  %v41 = load i64, ptr %v40, align 8
  %v42 = getelementptr i8, ptr %words, i64 176
  %v43 = load i64, ptr %v42, align 8
  %v44 = getelementptr i8, ptr %words, i64 184
  %v45 = load i64, ptr %v44, align 8
  %v48 = alloca i64, align 8
  %v49 = alloca i64, align 8
  %v54 = alloca ptr, align 8
  %v59 = alloca ptr, align 8
  %v60 = alloca i64, align 8
  %v82 = alloca <8 x float>, align 64
  %v83 = alloca [448 x float], align 64
  %v84 = alloca i64, align 8
  %v85 = alloca i64, align 8
  %v86 = alloca i64, align 8
  %v96 = alloca i64, align 8
  %v106 = alloca i64, align 8
  %v127 = alloca <8 x float>, align 64
  %v129 = alloca i64, align 8
  %v160 = alloca <8 x float>, align 64
  %v175 = getelementptr i8, ptr %words, i64 24
  %v176 = load float, ptr %v175, align 8
  %v192 = alloca i64, align 8
  %v213 = alloca i64, align 8
  %v236 = alloca i64, align 8
  %v256 = alloca <8 x float>, align 64
  %v257 = alloca [448 x float], align 64
  %v258 = alloca i64, align 8
  %v259 = alloca i64, align 8
  %v260 = alloca i64, align 8
  %v270 = alloca i64, align 8
  %v280 = alloca i64, align 8
  %v309 = alloca <8 x float>, align 64
  %v311 = alloca i64, align 8
  %v342 = alloca <8 x float>, align 64
  %v364 = alloca i64, align 8
  br label %start
  start:
  %v46 = urem i64 %begin, %v12
  %v47 = udiv i64 %begin, %v12
  store i64 %v47, ptr %v48
  store i64 %v46, ptr %v49
  %v50 = mul i64 %v47, %v7
  %v51 = getelementptr i8, ptr %v13, i64 %v50
  %v52 = mul i64 %v46, 0
  %v53 = getelementptr i8, ptr %v51, i64 %v52
  store ptr %v53, ptr %v54
  %v55 = mul i64 %v47, %v8
  %v56 = getelementptr i8, ptr %v15, i64 %v55
  %v57 = mul i64 %v46, 0
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
  %v67 = load ptr, ptr %v54
  %v68 = load ptr, ptr %v59
  %v69 = load i64, ptr %v48
  %v70 = load i64, ptr %v49
  %v71 = mul i64 %v69, 8
  %v72 = sub i64 %v17, %v71
  %v73 = mul i64 0, %v17
  %v74 = add i64 %v73, %v71
  %v75 = icmp sge i64 %v72, 8
  br i1 %v75, label %b76, label %b77
  b76:
  %v78 = mul i64 0, 1024
  %v79 = mul i64 %v2, 1024
  %v80 = icmp slt i64 %v79, %v19
  %v81 = select i1 %v80, i64 %v79, i64 %v19
  store <8 x float> splat (float 0x8000000000000000), ptr %v82
  store i64 0, ptr %v84
  store i64 0, ptr %v85
  store i64 %v78, ptr %v86
  br label %b87
  b87:
  %v90 = load i64, ptr %v86
  %v91 = icmp slt i64 %v90, %v81
  br i1 %v91, label %b88, label %b89
  b88:
  %v92 = load i64, ptr %v86
  %v93 = add i64 %v92, 128
  %v94 = icmp slt i64 %v93, %v81
  %v95 = select i1 %v94, i64 %v93, i64 %v81
  store i64 %v92, ptr %v96
  br label %b97
  b97:
  %v100 = load i64, ptr %v96
  %v101 = icmp slt i64 %v100, %v95
  br i1 %v101, label %b98, label %b99
  b98:
  %v102 = load i64, ptr %v96
  store <8 x float> splat (float 0x8000000000000000), ptr %v82
  %v103 = add i64 %v92, 1024
  %v104 = icmp slt i64 %v103, %v81
  %v105 = select i1 %v104, i64 %v103, i64 %v81
  store i64 %v102, ptr %v106
  br label %b107
  b107:
  %v110 = load i64, ptr %v106
  %v111 = icmp slt i64 %v110, %v105
  br i1 %v111, label %b108, label %b109
  b108:
  %v112 = load i64, ptr %v106
  %v113 = add i64 %v112, 2
  %v114 = sub i64 %v19, 1
  %v115 = icmp slt i64 %v113, %v114
  %v116 = select i1 %v115, i64 %v113, i64 %v114
  %v117 = mul i64 %v116, %v23
  %v118 = getelementptr i8, ptr %v67, i64 %v117
  call void @llvm.prefetch.p0(ptr %v118, i32 0, i32 3, i32 1)
  %v119 = mul i64 %v112, %v23
  %v120 = getelementptr i8, ptr %v67, i64 %v119
  %v121 = load <8 x float>, ptr %v120, align 4
  %v122 = fmul <8 x float> %v121, %v121
  %v123 = load <8 x float>, ptr %v82
  %v124 = fadd <8 x float> %v123, %v122
  store <8 x float> %v124, ptr %v82
  %v125 = add i64 %v112, 128
  store i64 %v125, ptr %v106
  br label %b107
  b109:
  %v126 = load <8 x float>, ptr %v82
  store <8 x float> %v126, ptr %v127
  %v128 = load i64, ptr %v85
  store i64 %v128, ptr %v129
  br label %b130
  b130:
  %v133 = load i64, ptr %v129
  %v134 = and i64 %v133, 1
  %v135 = icmp ne i64 %v134, 0
  br i1 %v135, label %b131, label %b132
  b131:
  %v136 = load i64, ptr %v84
  %v137 = sub i64 %v136, 1
  %v138 = mul i64 %v137, 32
  %v139 = getelementptr i8, ptr %v83, i64 %v138
  %v140 = load <8 x float>, ptr %v139, align 32
  %v141 = load <8 x float>, ptr %v127
  %v142 = fadd <8 x float> %v140, %v141
  store <8 x float> %v142, ptr %v127
  store i64 %v137, ptr %v84
  %v143 = load i64, ptr %v129
  %v144 = lshr i64 %v143, 1
  store i64 %v144, ptr %v129
  br label %b130
  b132:
  %v145 = load <8 x float>, ptr %v127
  %v146 = load i64, ptr %v84
  %v147 = mul i64 %v146, 32
  %v148 = getelementptr i8, ptr %v83, i64 %v147
  store <8 x float> %v145, ptr %v148, align 32
  %v149 = load i64, ptr %v84
  %v150 = add i64 %v149, 1
  store i64 %v150, ptr %v84
  %v151 = load i64, ptr %v85
  %v152 = add i64 %v151, 1
  store i64 %v152, ptr %v85
  %v153 = add i64 %v102, 1
  store i64 %v153, ptr %v96
  br label %b97
  b99:
  %v154 = add i64 %v92, 1024
  store i64 %v154, ptr %v86
  br label %b87
  b89:
  %v155 = load i64, ptr %v84
  %v156 = sub i64 %v155, 1
  %v157 = mul i64 %v156, 32
  %v158 = getelementptr i8, ptr %v83, i64 %v157
  %v159 = load <8 x float>, ptr %v158, align 32
  store <8 x float> %v159, ptr %v160
  store i64 %v156, ptr %v84
  br label %b161
  b161:
  %v164 = load i64, ptr %v84
  %v165 = icmp ne i64 %v164, 0
  br i1 %v165, label %b162, label %b163
  b162:
  %v166 = load i64, ptr %v84
  %v167 = sub i64 %v166, 1
  %v168 = mul i64 %v167, 32
  %v169 = getelementptr i8, ptr %v83, i64 %v168
  %v170 = load <8 x float>, ptr %v169, align 32
  %v171 = load <8 x float>, ptr %v160
  %v172 = fadd <8 x float> %v170, %v171
  store <8 x float> %v172, ptr %v160
  store i64 %v167, ptr %v84
  br label %b161
  b163:
  %v173 = load <8 x float>, ptr %v160
  %v174 = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %v173)
  %v177 = insertelement <8 x float> poison, float %v176, i64 0
  %v178 = shufflevector <8 x float> %v177, <8 x float> poison, <8 x i32> zeroinitializer
  %v179 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v174, <8 x float> %v178)
  %v180 = mul i64 0, 1024
  %v181 = mul i64 %v2, 1024
  %v182 = icmp slt i64 %v181, %v19
  %v183 = select i1 %v182, i64 %v181, i64 %v19
  %v184 = icmp ne i64 %v31, 0
  %v185 = ptrtoint ptr %v68 to i64
  %v186 = or i64 %v185, %v25
  %v187 = and i64 %v186, 31
  %v188 = icmp eq i64 %v187, 0
  %v189 = and i1 %v184, %v188
  br i1 %v189, label %b190, label %b191
  b190:
  store i64 %v180, ptr %v192
  br label %b193
  b193:
  %v196 = load i64, ptr %v192
  %v197 = icmp slt i64 %v196, %v183
  br i1 %v197, label %b194, label %b195
  b194:
  %v198 = load i64, ptr %v192
  %v199 = add i64 %v198, 2
  %v200 = sub i64 %v19, 1
  %v201 = icmp slt i64 %v199, %v200
  %v202 = select i1 %v201, i64 %v199, i64 %v200
  %v203 = mul i64 %v202, %v23
  %v204 = getelementptr i8, ptr %v67, i64 %v203
  call void @llvm.prefetch.p0(ptr %v204, i32 0, i32 3, i32 1)
  %v205 = mul i64 %v198, %v23
  %v206 = getelementptr i8, ptr %v67, i64 %v205
  %v207 = load <8 x float>, ptr %v206, align 4
  %v208 = fdiv <8 x float> %v207, %v179
  %v209 = mul i64 %v198, %v25
  %v210 = getelementptr i8, ptr %v68, i64 %v209
  store <8 x float> %v208, ptr %v210, align 32, !nontemporal !{i32 1}
  %v211 = add i64 %v198, 1
  store i64 %v211, ptr %v192
  br label %b193
  b195:
  fence seq_cst
  br label %b191
  b191:
  %v212 = select i1 %v189, i64 %v183, i64 %v180
  store i64 %v212, ptr %v213
  br label %b214
  b214:
  %v217 = load i64, ptr %v213
  %v218 = icmp slt i64 %v217, %v183
  br i1 %v218, label %b215, label %b216
  b215:
  %v219 = load i64, ptr %v213
  %v220 = add i64 %v219, 2
  %v221 = sub i64 %v19, 1
  %v222 = icmp slt i64 %v220, %v221
  %v223 = select i1 %v222, i64 %v220, i64 %v221
  %v224 = mul i64 %v223, %v23
  %v225 = getelementptr i8, ptr %v67, i64 %v224
  call void @llvm.prefetch.p0(ptr %v225, i32 0, i32 3, i32 1)
  %v226 = mul i64 %v219, %v23
  %v227 = getelementptr i8, ptr %v67, i64 %v226
  %v228 = load <8 x float>, ptr %v227, align 4
  %v229 = fdiv <8 x float> %v228, %v179
  %v230 = mul i64 %v219, %v25
  %v231 = getelementptr i8, ptr %v68, i64 %v230
  store <8 x float> %v229, ptr %v231, align 4
  %v232 = add i64 %v219, 1
  store i64 %v232, ptr %v213
  br label %b214
  b216:
  br label %b77
  b77:
  %v233 = xor i1 %v75, true
  br i1 %v233, label %b234, label %b235
  b234:
  store i64 0, ptr %v236
  br label %b237
  b237:
  %v240 = load i64, ptr %v236
  %v241 = icmp slt i64 %v240, %v72
  br i1 %v241, label %b238, label %b239
  b238:
  %v242 = load i64, ptr %v236
  %v243 = mul i64 %v242, %v4
  %v244 = getelementptr i8, ptr %v67, i64 %v243
  %v245 = mul i64 %v242, %v6
  %v246 = getelementptr i8, ptr %v68, i64 %v245
  %v247 = add i64 %v71, %v242
  %v248 = sub i64 %v72, %v242
  %v249 = icmp slt i64 8, %v248
  %v250 = select i1 %v249, i64 8, i64 %v248
  %v251 = add i64 %v74, %v242
  %v252 = mul i64 0, 1024
  %v253 = mul i64 %v2, 1024
  %v254 = icmp slt i64 %v253, %v33
  %v255 = select i1 %v254, i64 %v253, i64 %v33
  store <8 x float> splat (float 0x8000000000000000), ptr %v256
  store i64 0, ptr %v258
  store i64 0, ptr %v259
  store i64 %v252, ptr %v260
  br label %b261
  b261:
  %v264 = load i64, ptr %v260
  %v265 = icmp slt i64 %v264, %v255
  br i1 %v265, label %b262, label %b263
  b262:
  %v266 = load i64, ptr %v260
  %v267 = add i64 %v266, 128
  %v268 = icmp slt i64 %v267, %v255
  %v269 = select i1 %v268, i64 %v267, i64 %v255
  store i64 %v266, ptr %v270
  br label %b271
  b271:
  %v274 = load i64, ptr %v270
  %v275 = icmp slt i64 %v274, %v269
  br i1 %v275, label %b272, label %b273
  b272:
  %v276 = load i64, ptr %v270
  store <8 x float> splat (float 0x8000000000000000), ptr %v256
  %v277 = add i64 %v266, 1024
  %v278 = icmp slt i64 %v277, %v255
  %v279 = select i1 %v278, i64 %v277, i64 %v255
  store i64 %v276, ptr %v280
  br label %b281
  b281:
  %v284 = load i64, ptr %v280
  %v285 = icmp slt i64 %v284, %v279
  br i1 %v285, label %b282, label %b283
  b282:
  %v286 = load i64, ptr %v280
  %v287 = add i64 %v286, 2
  %v288 = sub i64 %v33, 1
  %v289 = icmp slt i64 %v287, %v288
  %v290 = select i1 %v289, i64 %v287, i64 %v288
  %v291 = mul i64 %v290, %v37
  %v292 = getelementptr i8, ptr %v244, i64 %v291
  call void @llvm.prefetch.p0(ptr %v292, i32 0, i32 3, i32 1)
  %v293 = mul i64 %v286, %v37
  %v294 = getelementptr i8, ptr %v244, i64 %v293
  %v295 = trunc i64 %v250 to i32
  %v296 = insertelement <8 x i32> poison, i32 %v295, i64 0
  %v297 = shufflevector <8 x i32> %v296, <8 x i32> poison, <8 x i32> zeroinitializer
  %v298 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v297
  %v299 = trunc i64 %v250 to i32
  %v300 = insertelement <8 x i32> poison, i32 %v299, i64 0
  %v301 = shufflevector <8 x i32> %v300, <8 x i32> poison, <8 x i32> zeroinitializer
  %v302 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v301
  %v303 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v294, i32 4, <8 x i1> %v302, <8 x float> zeroinitializer)
  %v304 = fmul <8 x float> %v303, %v303
  %v305 = load <8 x float>, ptr %v256
  %v306 = fadd <8 x float> %v305, %v304
  store <8 x float> %v306, ptr %v256
  %v307 = add i64 %v286, 128
  store i64 %v307, ptr %v280
  br label %b281
  b283:
  %v308 = load <8 x float>, ptr %v256
  store <8 x float> %v308, ptr %v309
  %v310 = load i64, ptr %v259
  store i64 %v310, ptr %v311
  br label %b312
  b312:
  %v315 = load i64, ptr %v311
  %v316 = and i64 %v315, 1
  %v317 = icmp ne i64 %v316, 0
  br i1 %v317, label %b313, label %b314
  b313:
  %v318 = load i64, ptr %v258
  %v319 = sub i64 %v318, 1
  %v320 = mul i64 %v319, 32
  %v321 = getelementptr i8, ptr %v257, i64 %v320
  %v322 = load <8 x float>, ptr %v321, align 32
  %v323 = load <8 x float>, ptr %v309
  %v324 = fadd <8 x float> %v322, %v323
  store <8 x float> %v324, ptr %v309
  store i64 %v319, ptr %v258
  %v325 = load i64, ptr %v311
  %v326 = lshr i64 %v325, 1
  store i64 %v326, ptr %v311
  br label %b312
  b314:
  %v327 = load <8 x float>, ptr %v309
  %v328 = load i64, ptr %v258
  %v329 = mul i64 %v328, 32
  %v330 = getelementptr i8, ptr %v257, i64 %v329
  store <8 x float> %v327, ptr %v330, align 32
  %v331 = load i64, ptr %v258
  %v332 = add i64 %v331, 1
  store i64 %v332, ptr %v258
  %v333 = load i64, ptr %v259
  %v334 = add i64 %v333, 1
  store i64 %v334, ptr %v259
  %v335 = add i64 %v276, 1
  store i64 %v335, ptr %v270
  br label %b271
  b273:
  %v336 = add i64 %v266, 1024
  store i64 %v336, ptr %v260
  br label %b261
  b263:
  %v337 = load i64, ptr %v258
  %v338 = sub i64 %v337, 1
  %v339 = mul i64 %v338, 32
  %v340 = getelementptr i8, ptr %v257, i64 %v339
  %v341 = load <8 x float>, ptr %v340, align 32
  store <8 x float> %v341, ptr %v342
  store i64 %v338, ptr %v258
  br label %b343
  b343:
  %v346 = load i64, ptr %v258
  %v347 = icmp ne i64 %v346, 0
  br i1 %v347, label %b344, label %b345
  b344:
  %v348 = load i64, ptr %v258
  %v349 = sub i64 %v348, 1
  %v350 = mul i64 %v349, 32
  %v351 = getelementptr i8, ptr %v257, i64 %v350
  %v352 = load <8 x float>, ptr %v351, align 32
  %v353 = load <8 x float>, ptr %v342
  %v354 = fadd <8 x float> %v352, %v353
  store <8 x float> %v354, ptr %v342
  store i64 %v349, ptr %v258
  br label %b343
  b345:
  %v355 = load <8 x float>, ptr %v342
  %v356 = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %v355)
  %v357 = insertelement <8 x float> poison, float %v176, i64 0
  %v358 = shufflevector <8 x float> %v357, <8 x float> poison, <8 x i32> zeroinitializer
  %v359 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %v356, <8 x float> %v358)
  %v360 = mul i64 0, 1024
  %v361 = mul i64 %v2, 1024
  %v362 = icmp slt i64 %v361, %v33
  %v363 = select i1 %v362, i64 %v361, i64 %v33
  store i64 %v360, ptr %v364
  br label %b365
  b365:
  %v368 = load i64, ptr %v364
  %v369 = icmp slt i64 %v368, %v363
  br i1 %v369, label %b366, label %b367
  b366:
  %v370 = load i64, ptr %v364
  %v371 = add i64 %v370, 2
  %v372 = sub i64 %v33, 1
  %v373 = icmp slt i64 %v371, %v372
  %v374 = select i1 %v373, i64 %v371, i64 %v372
  %v375 = mul i64 %v374, %v37
  %v376 = getelementptr i8, ptr %v244, i64 %v375
  call void @llvm.prefetch.p0(ptr %v376, i32 0, i32 3, i32 1)
  %v377 = mul i64 %v370, %v37
  %v378 = getelementptr i8, ptr %v244, i64 %v377
  %v379 = trunc i64 %v250 to i32
  %v380 = insertelement <8 x i32> poison, i32 %v379, i64 0
  %v381 = shufflevector <8 x i32> %v380, <8 x i32> poison, <8 x i32> zeroinitializer
  %v382 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v381
  %v383 = trunc i64 %v250 to i32
  %v384 = insertelement <8 x i32> poison, i32 %v383, i64 0
  %v385 = shufflevector <8 x i32> %v384, <8 x i32> poison, <8 x i32> zeroinitializer
  %v386 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v385
  %v387 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v378, i32 4, <8 x i1> %v386, <8 x float> zeroinitializer)
  %v388 = fdiv <8 x float> %v387, %v359
  %v389 = mul i64 %v370, %v39
  %v390 = getelementptr i8, ptr %v246, i64 %v389
  %v391 = trunc i64 %v250 to i32
  %v392 = insertelement <8 x i32> poison, i32 %v391, i64 0
  %v393 = shufflevector <8 x i32> %v392, <8 x i32> poison, <8 x i32> zeroinitializer
  %v394 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v393
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v388, ptr %v390, i32 4, <8 x i1> %v394)
  %v395 = add i64 %v370, 1
  store i64 %v395, ptr %v364
  br label %b365
  b367:
  %v396 = add i64 %v242, 8
  store i64 %v396, ptr %v236
  br label %b237
  b239:
  br label %b235
  b235:
  %v397 = load i64, ptr %v49
  %v398 = add i64 %v397, 1
  store i64 %v398, ptr %v49
  %v399 = load ptr, ptr %v54
  %v400 = getelementptr i8, ptr %v399, i64 0
  store ptr %v400, ptr %v54
  %v401 = load ptr, ptr %v59
  %v402 = getelementptr i8, ptr %v401, i64 0
  store ptr %v402, ptr %v59
  %v403 = load i64, ptr %v49
  %v404 = icmp eq i64 %v403, %v12
  br i1 %v404, label %b405, label %b406
  b405:
  %v407 = mul i64 0, %v12
  %v408 = load ptr, ptr %v54
  %v409 = sub i64 0, %v407
  %v410 = getelementptr i8, ptr %v408, i64 %v409
  store ptr %v410, ptr %v54
  %v411 = mul i64 0, %v12
  %v412 = load ptr, ptr %v59
  %v413 = sub i64 0, %v411
  %v414 = getelementptr i8, ptr %v412, i64 %v413
  store ptr %v414, ptr %v59
  store i64 0, ptr %v49
  %v415 = load i64, ptr %v48
  %v416 = add i64 %v415, 1
  store i64 %v416, ptr %v48
  %v417 = load ptr, ptr %v54
  %v418 = getelementptr i8, ptr %v417, i64 %v7
  store ptr %v418, ptr %v54
  %v419 = load ptr, ptr %v59
  %v420 = getelementptr i8, ptr %v419, i64 %v8
  store ptr %v420, ptr %v59
  br label %b406
  b406:
  %v421 = add i64 %v66, 1
  store i64 %v421, ptr %v60
  br label %b61
  b63:
  ret void
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)
declare <8 x float> @llvm.maximum.v8f32(<8 x float>, <8 x float>)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
