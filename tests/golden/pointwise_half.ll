define void @k6bb5d382473a4cf95b80f8a854d48ff9(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 32
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 40
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 48
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 56
  %v8 = load i64, ptr %v7, align 8
  %v9 = getelementptr i8, ptr %words, i64 64
  %v10 = load i64, ptr %v9, align 8
  %v11 = getelementptr i8, ptr %words, i64 72
  %v12 = load i64, ptr %v11, align 8
  %v13 = load ptr, ptr %words, align 8
  %v14 = getelementptr i8, ptr %words, i64 8
  %v15 = load ptr, ptr %v14, align 8
  %v16 = getelementptr i8, ptr %words, i64 16
  %v17 = load ptr, ptr %v16, align 8
  %v18 = alloca i64, align 8
  %v21 = alloca ptr, align 8
  %v24 = alloca ptr, align 8
  %v27 = alloca ptr, align 8
  %v28 = alloca i64, align 8
  %v44 = alloca i64, align 8
  %v75 = alloca i64, align 8
  %v118 = alloca i64, align 8
  %v326 = alloca i64, align 8
  %v533 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v18
  %v19 = mul i64 %begin, 0
  %v20 = getelementptr i8, ptr %v13, i64 %v19
  store ptr %v20, ptr %v21
  %v22 = mul i64 %begin, 0
  %v23 = getelementptr i8, ptr %v15, i64 %v22
  store ptr %v23, ptr %v24
  %v25 = mul i64 %begin, 0
  %v26 = getelementptr i8, ptr %v17, i64 %v25
  store ptr %v26, ptr %v27
  store i64 %begin, ptr %v28
  br label %b29
  b29:
  %v32 = load i64, ptr %v28
  %v33 = icmp slt i64 %v32, %end
  br i1 %v33, label %b30, label %b31
  b30:
  %v34 = load i64, ptr %v28
  %v35 = load i64, ptr %v18
  %v36 = load ptr, ptr %v21
  %v37 = load ptr, ptr %v24
  %v38 = load ptr, ptr %v27
  %v39 = mul i64 %v35, 8
  %v40 = add i64 %v39, 8
  %v41 = icmp slt i64 %v40, %v10
  %v42 = select i1 %v41, i64 %v40, i64 %v10
  %v43 = sub i64 %v42, %v39
  store i64 %v39, ptr %v44
  br label %b45
  b45:
  %v48 = load i64, ptr %v44
  %v49 = icmp slt i64 %v48, %v42
  br i1 %v49, label %b46, label %b47
  b46:
  %v50 = load i64, ptr %v44
  %v51 = mul i64 %v50, 1024
  %v52 = mul i64 %v42, 1024
  %v53 = icmp slt i64 %v52, %v6
  %v54 = select i1 %v53, i64 %v52, i64 %v6
  %v55 = sub i64 %v54, %v51
  %v56 = mul i64 %v51, 2
  %v57 = getelementptr i8, ptr %v36, i64 %v56
  %v58 = mul i64 %v51, 2
  %v59 = getelementptr i8, ptr %v37, i64 %v58
  %v60 = mul i64 %v51, 2
  %v61 = getelementptr i8, ptr %v38, i64 %v60
  %v62 = ptrtoint ptr %v61 to i64
  %v63 = sub i64 0, %v62
  %v64 = and i64 %v63, 63
  %v65 = udiv i64 %v64, 2
  %v66 = icmp ne i64 %v2, 0
  %v67 = mul i64 %v65, 2
  %v68 = add i64 %v62, %v67
  %v69 = and i64 %v68, 63
  %v70 = icmp eq i64 %v69, 0
  %v71 = and i1 %v66, %v70
  %v72 = icmp slt i64 %v65, %v55
  %v73 = select i1 %v72, i64 %v65, i64 %v55
  %v74 = select i1 %v71, i64 %v73, i64 0
  store i64 0, ptr %v75
  br label %b76
  b76:
  %v79 = load i64, ptr %v75
  %v80 = icmp slt i64 %v79, %v74
  br i1 %v80, label %b77, label %b78
  b77:
  %v81 = load i64, ptr %v75
  %v82 = sub i64 %v74, %v81
  %v83 = trunc i64 %v82 to i32
  %v84 = insertelement <8 x i32> poison, i32 %v83, i64 0
  %v85 = shufflevector <8 x i32> %v84, <8 x i32> poison, <8 x i32> zeroinitializer
  %v86 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v85
  %v87 = mul i64 %v81, 2
  %v88 = getelementptr i8, ptr %v57, i64 %v87
  %v89 = call <8 x i16> @llvm.masked.load.v8i16.p0(ptr %v88, i32 2, <8 x i1> %v86, <8 x i16> zeroinitializer)
  %v90 = zext <8 x i16> %v89 to <8 x i32>
  %v91 = shl <8 x i32> %v90, splat (i32 16)
  %v92 = bitcast <8 x i32> %v91 to <8 x float>
  %v93 = mul i64 %v81, 2
  %v94 = getelementptr i8, ptr %v59, i64 %v93
  %v95 = call <8 x i16> @llvm.masked.load.v8i16.p0(ptr %v94, i32 2, <8 x i1> %v86, <8 x i16> zeroinitializer)
  %v96 = zext <8 x i16> %v95 to <8 x i32>
  %v97 = shl <8 x i32> %v96, splat (i32 16)
  %v98 = bitcast <8 x i32> %v97 to <8 x float>
  %v99 = fadd <8 x float> %v92, %v98
  %v100 = mul i64 %v81, 2
  %v101 = getelementptr i8, ptr %v61, i64 %v100
  %v102 = bitcast <8 x float> %v99 to <8 x i32>
  %v103 = lshr <8 x i32> %v102, splat (i32 16)
  %v104 = and <8 x i32> %v103, splat (i32 1)
  %v105 = add <8 x i32> %v104, splat (i32 32767)
  %v106 = add <8 x i32> %v102, %v105
  %v107 = fcmp uno <8 x float> %v99, %v99
  %v108 = or <8 x i32> %v102, splat (i32 4194304)
  %v109 = select <8 x i1> %v107, <8 x i32> %v108, <8 x i32> %v106
  %v110 = lshr <8 x i32> %v109, splat (i32 16)
  %v111 = trunc <8 x i32> %v110 to <8 x i16>
  call void @llvm.masked.store.v8i16.p0(<8 x i16> %v111, ptr %v101, i32 2, <8 x i1> %v86)
  %v112 = add i64 %v81, 8
  store i64 %v112, ptr %v75
  br label %b76
  b78:
  %v113 = sub i64 %v55, %v74
  %v114 = and i64 %v113, -64
  %v115 = add i64 %v74, %v114
  br i1 %v71, label %b116, label %b117
  b116:
  store i64 %v74, ptr %v118
  br label %b119
  b119:
  %v122 = load i64, ptr %v118
  %v123 = icmp slt i64 %v122, %v115
  br i1 %v123, label %b120, label %b121
  b120:
  %v124 = load i64, ptr %v118
  %v125 = mul i64 %v124, 2
  %v126 = getelementptr i8, ptr %v57, i64 %v125
  %v127 = load <8 x i16>, ptr %v126, align 2
  %v128 = zext <8 x i16> %v127 to <8 x i32>
  %v129 = shl <8 x i32> %v128, splat (i32 16)
  %v130 = bitcast <8 x i32> %v129 to <8 x float>
  %v131 = add i64 %v124, 8
  %v132 = mul i64 %v131, 2
  %v133 = getelementptr i8, ptr %v57, i64 %v132
  %v134 = load <8 x i16>, ptr %v133, align 2
  %v135 = zext <8 x i16> %v134 to <8 x i32>
  %v136 = shl <8 x i32> %v135, splat (i32 16)
  %v137 = bitcast <8 x i32> %v136 to <8 x float>
  %v138 = add i64 %v124, 16
  %v139 = mul i64 %v138, 2
  %v140 = getelementptr i8, ptr %v57, i64 %v139
  %v141 = load <8 x i16>, ptr %v140, align 2
  %v142 = zext <8 x i16> %v141 to <8 x i32>
  %v143 = shl <8 x i32> %v142, splat (i32 16)
  %v144 = bitcast <8 x i32> %v143 to <8 x float>
  %v145 = add i64 %v124, 24
  %v146 = mul i64 %v145, 2
  %v147 = getelementptr i8, ptr %v57, i64 %v146
  %v148 = load <8 x i16>, ptr %v147, align 2
  %v149 = zext <8 x i16> %v148 to <8 x i32>
  %v150 = shl <8 x i32> %v149, splat (i32 16)
  %v151 = bitcast <8 x i32> %v150 to <8 x float>
  %v152 = add i64 %v124, 32
  %v153 = mul i64 %v152, 2
  %v154 = getelementptr i8, ptr %v57, i64 %v153
  %v155 = load <8 x i16>, ptr %v154, align 2
  %v156 = zext <8 x i16> %v155 to <8 x i32>
  %v157 = shl <8 x i32> %v156, splat (i32 16)
  %v158 = bitcast <8 x i32> %v157 to <8 x float>
  %v159 = add i64 %v124, 40
  %v160 = mul i64 %v159, 2
  %v161 = getelementptr i8, ptr %v57, i64 %v160
  %v162 = load <8 x i16>, ptr %v161, align 2
  %v163 = zext <8 x i16> %v162 to <8 x i32>
  %v164 = shl <8 x i32> %v163, splat (i32 16)
  %v165 = bitcast <8 x i32> %v164 to <8 x float>
  %v166 = add i64 %v124, 48
  %v167 = mul i64 %v166, 2
  %v168 = getelementptr i8, ptr %v57, i64 %v167
  %v169 = load <8 x i16>, ptr %v168, align 2
  %v170 = zext <8 x i16> %v169 to <8 x i32>
  %v171 = shl <8 x i32> %v170, splat (i32 16)
  %v172 = bitcast <8 x i32> %v171 to <8 x float>
  %v173 = add i64 %v124, 56
  %v174 = mul i64 %v173, 2
  %v175 = getelementptr i8, ptr %v57, i64 %v174
  %v176 = load <8 x i16>, ptr %v175, align 2
  %v177 = zext <8 x i16> %v176 to <8 x i32>
  %v178 = shl <8 x i32> %v177, splat (i32 16)
  %v179 = bitcast <8 x i32> %v178 to <8 x float>
  %v180 = mul i64 %v124, 2
  %v181 = getelementptr i8, ptr %v59, i64 %v180
  %v182 = load <8 x i16>, ptr %v181, align 2
  %v183 = zext <8 x i16> %v182 to <8 x i32>
  %v184 = shl <8 x i32> %v183, splat (i32 16)
  %v185 = bitcast <8 x i32> %v184 to <8 x float>
  %v186 = add i64 %v124, 8
  %v187 = mul i64 %v186, 2
  %v188 = getelementptr i8, ptr %v59, i64 %v187
  %v189 = load <8 x i16>, ptr %v188, align 2
  %v190 = zext <8 x i16> %v189 to <8 x i32>
  %v191 = shl <8 x i32> %v190, splat (i32 16)
  %v192 = bitcast <8 x i32> %v191 to <8 x float>
  %v193 = add i64 %v124, 16
  %v194 = mul i64 %v193, 2
  %v195 = getelementptr i8, ptr %v59, i64 %v194
  %v196 = load <8 x i16>, ptr %v195, align 2
  %v197 = zext <8 x i16> %v196 to <8 x i32>
  %v198 = shl <8 x i32> %v197, splat (i32 16)
  %v199 = bitcast <8 x i32> %v198 to <8 x float>
  %v200 = add i64 %v124, 24
  %v201 = mul i64 %v200, 2
  %v202 = getelementptr i8, ptr %v59, i64 %v201
  %v203 = load <8 x i16>, ptr %v202, align 2
  %v204 = zext <8 x i16> %v203 to <8 x i32>
  %v205 = shl <8 x i32> %v204, splat (i32 16)
  %v206 = bitcast <8 x i32> %v205 to <8 x float>
  %v207 = add i64 %v124, 32
  %v208 = mul i64 %v207, 2
  %v209 = getelementptr i8, ptr %v59, i64 %v208
  %v210 = load <8 x i16>, ptr %v209, align 2
  %v211 = zext <8 x i16> %v210 to <8 x i32>
  %v212 = shl <8 x i32> %v211, splat (i32 16)
  %v213 = bitcast <8 x i32> %v212 to <8 x float>
  %v214 = add i64 %v124, 40
  %v215 = mul i64 %v214, 2
  %v216 = getelementptr i8, ptr %v59, i64 %v215
  %v217 = load <8 x i16>, ptr %v216, align 2
  %v218 = zext <8 x i16> %v217 to <8 x i32>
  %v219 = shl <8 x i32> %v218, splat (i32 16)
  %v220 = bitcast <8 x i32> %v219 to <8 x float>
  %v221 = add i64 %v124, 48
  %v222 = mul i64 %v221, 2
  %v223 = getelementptr i8, ptr %v59, i64 %v222
  %v224 = load <8 x i16>, ptr %v223, align 2
  %v225 = zext <8 x i16> %v224 to <8 x i32>
  %v226 = shl <8 x i32> %v225, splat (i32 16)
  %v227 = bitcast <8 x i32> %v226 to <8 x float>
  %v228 = add i64 %v124, 56
  %v229 = mul i64 %v228, 2
  %v230 = getelementptr i8, ptr %v59, i64 %v229
  %v231 = load <8 x i16>, ptr %v230, align 2
  %v232 = zext <8 x i16> %v231 to <8 x i32>
  %v233 = shl <8 x i32> %v232, splat (i32 16)
  %v234 = bitcast <8 x i32> %v233 to <8 x float>
  %v235 = fadd <8 x float> %v130, %v185
  %v236 = fadd <8 x float> %v137, %v192
  %v237 = fadd <8 x float> %v144, %v199
  %v238 = fadd <8 x float> %v151, %v206
  %v239 = fadd <8 x float> %v158, %v213
  %v240 = fadd <8 x float> %v165, %v220
  %v241 = fadd <8 x float> %v172, %v227
  %v242 = fadd <8 x float> %v179, %v234
  %v243 = mul i64 %v124, 2
  %v244 = getelementptr i8, ptr %v61, i64 %v243
  %v245 = bitcast <8 x float> %v235 to <8 x i32>
  %v246 = lshr <8 x i32> %v245, splat (i32 16)
  %v247 = and <8 x i32> %v246, splat (i32 1)
  %v248 = add <8 x i32> %v247, splat (i32 32767)
  %v249 = add <8 x i32> %v245, %v248
  %v250 = fcmp uno <8 x float> %v235, %v235
  %v251 = or <8 x i32> %v245, splat (i32 4194304)
  %v252 = select <8 x i1> %v250, <8 x i32> %v251, <8 x i32> %v249
  %v253 = bitcast <8 x i32> %v252 to <16 x i16>
  %v254 = bitcast <8 x float> %v236 to <8 x i32>
  %v255 = lshr <8 x i32> %v254, splat (i32 16)
  %v256 = and <8 x i32> %v255, splat (i32 1)
  %v257 = add <8 x i32> %v256, splat (i32 32767)
  %v258 = add <8 x i32> %v254, %v257
  %v259 = fcmp uno <8 x float> %v236, %v236
  %v260 = or <8 x i32> %v254, splat (i32 4194304)
  %v261 = select <8 x i1> %v259, <8 x i32> %v260, <8 x i32> %v258
  %v262 = bitcast <8 x i32> %v261 to <16 x i16>
  %v263 = bitcast <8 x float> %v237 to <8 x i32>
  %v264 = lshr <8 x i32> %v263, splat (i32 16)
  %v265 = and <8 x i32> %v264, splat (i32 1)
  %v266 = add <8 x i32> %v265, splat (i32 32767)
  %v267 = add <8 x i32> %v263, %v266
  %v268 = fcmp uno <8 x float> %v237, %v237
  %v269 = or <8 x i32> %v263, splat (i32 4194304)
  %v270 = select <8 x i1> %v268, <8 x i32> %v269, <8 x i32> %v267
  %v271 = bitcast <8 x i32> %v270 to <16 x i16>
  %v272 = bitcast <8 x float> %v238 to <8 x i32>
  %v273 = lshr <8 x i32> %v272, splat (i32 16)
  %v274 = and <8 x i32> %v273, splat (i32 1)
  %v275 = add <8 x i32> %v274, splat (i32 32767)
  %v276 = add <8 x i32> %v272, %v275
  %v277 = fcmp uno <8 x float> %v238, %v238
  %v278 = or <8 x i32> %v272, splat (i32 4194304)
  %v279 = select <8 x i1> %v277, <8 x i32> %v278, <8 x i32> %v276
  %v280 = bitcast <8 x i32> %v279 to <16 x i16>
  %v281 = bitcast <8 x float> %v239 to <8 x i32>
  %v282 = lshr <8 x i32> %v281, splat (i32 16)
  %v283 = and <8 x i32> %v282, splat (i32 1)
  %v284 = add <8 x i32> %v283, splat (i32 32767)
  %v285 = add <8 x i32> %v281, %v284
  %v286 = fcmp uno <8 x float> %v239, %v239
  %v287 = or <8 x i32> %v281, splat (i32 4194304)
  %v288 = select <8 x i1> %v286, <8 x i32> %v287, <8 x i32> %v285
  %v289 = bitcast <8 x i32> %v288 to <16 x i16>
  %v290 = bitcast <8 x float> %v240 to <8 x i32>
  %v291 = lshr <8 x i32> %v290, splat (i32 16)
  %v292 = and <8 x i32> %v291, splat (i32 1)
  %v293 = add <8 x i32> %v292, splat (i32 32767)
  %v294 = add <8 x i32> %v290, %v293
  %v295 = fcmp uno <8 x float> %v240, %v240
  %v296 = or <8 x i32> %v290, splat (i32 4194304)
  %v297 = select <8 x i1> %v295, <8 x i32> %v296, <8 x i32> %v294
  %v298 = bitcast <8 x i32> %v297 to <16 x i16>
  %v299 = bitcast <8 x float> %v241 to <8 x i32>
  %v300 = lshr <8 x i32> %v299, splat (i32 16)
  %v301 = and <8 x i32> %v300, splat (i32 1)
  %v302 = add <8 x i32> %v301, splat (i32 32767)
  %v303 = add <8 x i32> %v299, %v302
  %v304 = fcmp uno <8 x float> %v241, %v241
  %v305 = or <8 x i32> %v299, splat (i32 4194304)
  %v306 = select <8 x i1> %v304, <8 x i32> %v305, <8 x i32> %v303
  %v307 = bitcast <8 x i32> %v306 to <16 x i16>
  %v308 = bitcast <8 x float> %v242 to <8 x i32>
  %v309 = lshr <8 x i32> %v308, splat (i32 16)
  %v310 = and <8 x i32> %v309, splat (i32 1)
  %v311 = add <8 x i32> %v310, splat (i32 32767)
  %v312 = add <8 x i32> %v308, %v311
  %v313 = fcmp uno <8 x float> %v242, %v242
  %v314 = or <8 x i32> %v308, splat (i32 4194304)
  %v315 = select <8 x i1> %v313, <8 x i32> %v314, <8 x i32> %v312
  %v316 = bitcast <8 x i32> %v315 to <16 x i16>
  %v317 = shufflevector <16 x i16> %v253, <16 x i16> %v262, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %v318 = shufflevector <16 x i16> %v271, <16 x i16> %v280, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %v319 = shufflevector <16 x i16> %v289, <16 x i16> %v298, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %v320 = shufflevector <16 x i16> %v307, <16 x i16> %v316, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  store <16 x i16> %v317, ptr %v244, align 32, !nontemporal !{i32 1}
  %v321 = getelementptr i8, ptr %v244, i64 32
  store <16 x i16> %v318, ptr %v321, align 32, !nontemporal !{i32 1}
  %v322 = getelementptr i8, ptr %v244, i64 64
  store <16 x i16> %v319, ptr %v322, align 32, !nontemporal !{i32 1}
  %v323 = getelementptr i8, ptr %v244, i64 96
  store <16 x i16> %v320, ptr %v323, align 32, !nontemporal !{i32 1}
  %v324 = add i64 %v124, 64
  store i64 %v324, ptr %v118
  br label %b119
  b121:
  br label %b117
  b117:
  %v325 = select i1 %v71, i64 %v115, i64 %v74
  store i64 %v325, ptr %v326
  br label %b327
  b327:
  %v330 = load i64, ptr %v326
  %v331 = icmp slt i64 %v330, %v115
  br i1 %v331, label %b328, label %b329
  b328:
  %v332 = load i64, ptr %v326
  %v333 = mul i64 %v332, 2
  %v334 = getelementptr i8, ptr %v57, i64 %v333
  %v335 = load <8 x i16>, ptr %v334, align 2
  %v336 = zext <8 x i16> %v335 to <8 x i32>
  %v337 = shl <8 x i32> %v336, splat (i32 16)
  %v338 = bitcast <8 x i32> %v337 to <8 x float>
  %v339 = add i64 %v332, 8
  %v340 = mul i64 %v339, 2
  %v341 = getelementptr i8, ptr %v57, i64 %v340
  %v342 = load <8 x i16>, ptr %v341, align 2
  %v343 = zext <8 x i16> %v342 to <8 x i32>
  %v344 = shl <8 x i32> %v343, splat (i32 16)
  %v345 = bitcast <8 x i32> %v344 to <8 x float>
  %v346 = add i64 %v332, 16
  %v347 = mul i64 %v346, 2
  %v348 = getelementptr i8, ptr %v57, i64 %v347
  %v349 = load <8 x i16>, ptr %v348, align 2
  %v350 = zext <8 x i16> %v349 to <8 x i32>
  %v351 = shl <8 x i32> %v350, splat (i32 16)
  %v352 = bitcast <8 x i32> %v351 to <8 x float>
  %v353 = add i64 %v332, 24
  %v354 = mul i64 %v353, 2
  %v355 = getelementptr i8, ptr %v57, i64 %v354
  %v356 = load <8 x i16>, ptr %v355, align 2
  %v357 = zext <8 x i16> %v356 to <8 x i32>
  %v358 = shl <8 x i32> %v357, splat (i32 16)
  %v359 = bitcast <8 x i32> %v358 to <8 x float>
  %v360 = add i64 %v332, 32
  %v361 = mul i64 %v360, 2
  %v362 = getelementptr i8, ptr %v57, i64 %v361
  %v363 = load <8 x i16>, ptr %v362, align 2
  %v364 = zext <8 x i16> %v363 to <8 x i32>
  %v365 = shl <8 x i32> %v364, splat (i32 16)
  %v366 = bitcast <8 x i32> %v365 to <8 x float>
  %v367 = add i64 %v332, 40
  %v368 = mul i64 %v367, 2
  %v369 = getelementptr i8, ptr %v57, i64 %v368
  %v370 = load <8 x i16>, ptr %v369, align 2
  %v371 = zext <8 x i16> %v370 to <8 x i32>
  %v372 = shl <8 x i32> %v371, splat (i32 16)
  %v373 = bitcast <8 x i32> %v372 to <8 x float>
  %v374 = add i64 %v332, 48
  %v375 = mul i64 %v374, 2
  %v376 = getelementptr i8, ptr %v57, i64 %v375
  %v377 = load <8 x i16>, ptr %v376, align 2
  %v378 = zext <8 x i16> %v377 to <8 x i32>
  %v379 = shl <8 x i32> %v378, splat (i32 16)
  %v380 = bitcast <8 x i32> %v379 to <8 x float>
  %v381 = add i64 %v332, 56
  %v382 = mul i64 %v381, 2
  %v383 = getelementptr i8, ptr %v57, i64 %v382
  %v384 = load <8 x i16>, ptr %v383, align 2
  %v385 = zext <8 x i16> %v384 to <8 x i32>
  %v386 = shl <8 x i32> %v385, splat (i32 16)
  %v387 = bitcast <8 x i32> %v386 to <8 x float>
  %v388 = mul i64 %v332, 2
  %v389 = getelementptr i8, ptr %v59, i64 %v388
  %v390 = load <8 x i16>, ptr %v389, align 2
  %v391 = zext <8 x i16> %v390 to <8 x i32>
  %v392 = shl <8 x i32> %v391, splat (i32 16)
  %v393 = bitcast <8 x i32> %v392 to <8 x float>
  %v394 = add i64 %v332, 8
  %v395 = mul i64 %v394, 2
  %v396 = getelementptr i8, ptr %v59, i64 %v395
  %v397 = load <8 x i16>, ptr %v396, align 2
  %v398 = zext <8 x i16> %v397 to <8 x i32>
  %v399 = shl <8 x i32> %v398, splat (i32 16)
  %v400 = bitcast <8 x i32> %v399 to <8 x float>
  %v401 = add i64 %v332, 16
  %v402 = mul i64 %v401, 2
  %v403 = getelementptr i8, ptr %v59, i64 %v402
  %v404 = load <8 x i16>, ptr %v403, align 2
  %v405 = zext <8 x i16> %v404 to <8 x i32>
  %v406 = shl <8 x i32> %v405, splat (i32 16)
  %v407 = bitcast <8 x i32> %v406 to <8 x float>
  %v408 = add i64 %v332, 24
  %v409 = mul i64 %v408, 2
  %v410 = getelementptr i8, ptr %v59, i64 %v409
  %v411 = load <8 x i16>, ptr %v410, align 2
  %v412 = zext <8 x i16> %v411 to <8 x i32>
  %v413 = shl <8 x i32> %v412, splat (i32 16)
  %v414 = bitcast <8 x i32> %v413 to <8 x float>
  %v415 = add i64 %v332, 32
  %v416 = mul i64 %v415, 2
  %v417 = getelementptr i8, ptr %v59, i64 %v416
  %v418 = load <8 x i16>, ptr %v417, align 2
  %v419 = zext <8 x i16> %v418 to <8 x i32>
  %v420 = shl <8 x i32> %v419, splat (i32 16)
  %v421 = bitcast <8 x i32> %v420 to <8 x float>
  %v422 = add i64 %v332, 40
  %v423 = mul i64 %v422, 2
  %v424 = getelementptr i8, ptr %v59, i64 %v423
  %v425 = load <8 x i16>, ptr %v424, align 2
  %v426 = zext <8 x i16> %v425 to <8 x i32>
  %v427 = shl <8 x i32> %v426, splat (i32 16)
  %v428 = bitcast <8 x i32> %v427 to <8 x float>
  %v429 = add i64 %v332, 48
  %v430 = mul i64 %v429, 2
  %v431 = getelementptr i8, ptr %v59, i64 %v430
  %v432 = load <8 x i16>, ptr %v431, align 2
  %v433 = zext <8 x i16> %v432 to <8 x i32>
  %v434 = shl <8 x i32> %v433, splat (i32 16)
  %v435 = bitcast <8 x i32> %v434 to <8 x float>
  %v436 = add i64 %v332, 56
  %v437 = mul i64 %v436, 2
  %v438 = getelementptr i8, ptr %v59, i64 %v437
  %v439 = load <8 x i16>, ptr %v438, align 2
  %v440 = zext <8 x i16> %v439 to <8 x i32>
  %v441 = shl <8 x i32> %v440, splat (i32 16)
  %v442 = bitcast <8 x i32> %v441 to <8 x float>
  %v443 = fadd <8 x float> %v338, %v393
  %v444 = fadd <8 x float> %v345, %v400
  %v445 = fadd <8 x float> %v352, %v407
  %v446 = fadd <8 x float> %v359, %v414
  %v447 = fadd <8 x float> %v366, %v421
  %v448 = fadd <8 x float> %v373, %v428
  %v449 = fadd <8 x float> %v380, %v435
  %v450 = fadd <8 x float> %v387, %v442
  %v451 = mul i64 %v332, 2
  %v452 = getelementptr i8, ptr %v61, i64 %v451
  %v453 = bitcast <8 x float> %v443 to <8 x i32>
  %v454 = lshr <8 x i32> %v453, splat (i32 16)
  %v455 = and <8 x i32> %v454, splat (i32 1)
  %v456 = add <8 x i32> %v455, splat (i32 32767)
  %v457 = add <8 x i32> %v453, %v456
  %v458 = fcmp uno <8 x float> %v443, %v443
  %v459 = or <8 x i32> %v453, splat (i32 4194304)
  %v460 = select <8 x i1> %v458, <8 x i32> %v459, <8 x i32> %v457
  %v461 = bitcast <8 x i32> %v460 to <16 x i16>
  %v462 = bitcast <8 x float> %v444 to <8 x i32>
  %v463 = lshr <8 x i32> %v462, splat (i32 16)
  %v464 = and <8 x i32> %v463, splat (i32 1)
  %v465 = add <8 x i32> %v464, splat (i32 32767)
  %v466 = add <8 x i32> %v462, %v465
  %v467 = fcmp uno <8 x float> %v444, %v444
  %v468 = or <8 x i32> %v462, splat (i32 4194304)
  %v469 = select <8 x i1> %v467, <8 x i32> %v468, <8 x i32> %v466
  %v470 = bitcast <8 x i32> %v469 to <16 x i16>
  %v471 = bitcast <8 x float> %v445 to <8 x i32>
  %v472 = lshr <8 x i32> %v471, splat (i32 16)
  %v473 = and <8 x i32> %v472, splat (i32 1)
  %v474 = add <8 x i32> %v473, splat (i32 32767)
  %v475 = add <8 x i32> %v471, %v474
  %v476 = fcmp uno <8 x float> %v445, %v445
  %v477 = or <8 x i32> %v471, splat (i32 4194304)
  %v478 = select <8 x i1> %v476, <8 x i32> %v477, <8 x i32> %v475
  %v479 = bitcast <8 x i32> %v478 to <16 x i16>
  %v480 = bitcast <8 x float> %v446 to <8 x i32>
  %v481 = lshr <8 x i32> %v480, splat (i32 16)
  %v482 = and <8 x i32> %v481, splat (i32 1)
  %v483 = add <8 x i32> %v482, splat (i32 32767)
  %v484 = add <8 x i32> %v480, %v483
  %v485 = fcmp uno <8 x float> %v446, %v446
  %v486 = or <8 x i32> %v480, splat (i32 4194304)
  %v487 = select <8 x i1> %v485, <8 x i32> %v486, <8 x i32> %v484
  %v488 = bitcast <8 x i32> %v487 to <16 x i16>
  %v489 = bitcast <8 x float> %v447 to <8 x i32>
  %v490 = lshr <8 x i32> %v489, splat (i32 16)
  %v491 = and <8 x i32> %v490, splat (i32 1)
  %v492 = add <8 x i32> %v491, splat (i32 32767)
  %v493 = add <8 x i32> %v489, %v492
  %v494 = fcmp uno <8 x float> %v447, %v447
  %v495 = or <8 x i32> %v489, splat (i32 4194304)
  %v496 = select <8 x i1> %v494, <8 x i32> %v495, <8 x i32> %v493
  %v497 = bitcast <8 x i32> %v496 to <16 x i16>
  %v498 = bitcast <8 x float> %v448 to <8 x i32>
  %v499 = lshr <8 x i32> %v498, splat (i32 16)
  %v500 = and <8 x i32> %v499, splat (i32 1)
  %v501 = add <8 x i32> %v500, splat (i32 32767)
  %v502 = add <8 x i32> %v498, %v501
  %v503 = fcmp uno <8 x float> %v448, %v448
  %v504 = or <8 x i32> %v498, splat (i32 4194304)
  %v505 = select <8 x i1> %v503, <8 x i32> %v504, <8 x i32> %v502
  %v506 = bitcast <8 x i32> %v505 to <16 x i16>
  %v507 = bitcast <8 x float> %v449 to <8 x i32>
  %v508 = lshr <8 x i32> %v507, splat (i32 16)
  %v509 = and <8 x i32> %v508, splat (i32 1)
  %v510 = add <8 x i32> %v509, splat (i32 32767)
  %v511 = add <8 x i32> %v507, %v510
  %v512 = fcmp uno <8 x float> %v449, %v449
  %v513 = or <8 x i32> %v507, splat (i32 4194304)
  %v514 = select <8 x i1> %v512, <8 x i32> %v513, <8 x i32> %v511
  %v515 = bitcast <8 x i32> %v514 to <16 x i16>
  %v516 = bitcast <8 x float> %v450 to <8 x i32>
  %v517 = lshr <8 x i32> %v516, splat (i32 16)
  %v518 = and <8 x i32> %v517, splat (i32 1)
  %v519 = add <8 x i32> %v518, splat (i32 32767)
  %v520 = add <8 x i32> %v516, %v519
  %v521 = fcmp uno <8 x float> %v450, %v450
  %v522 = or <8 x i32> %v516, splat (i32 4194304)
  %v523 = select <8 x i1> %v521, <8 x i32> %v522, <8 x i32> %v520
  %v524 = bitcast <8 x i32> %v523 to <16 x i16>
  %v525 = shufflevector <16 x i16> %v461, <16 x i16> %v470, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %v526 = shufflevector <16 x i16> %v479, <16 x i16> %v488, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %v527 = shufflevector <16 x i16> %v497, <16 x i16> %v506, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %v528 = shufflevector <16 x i16> %v515, <16 x i16> %v524, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  store <16 x i16> %v525, ptr %v452, align 2
  %v529 = getelementptr i8, ptr %v452, i64 32
  store <16 x i16> %v526, ptr %v529, align 2
  %v530 = getelementptr i8, ptr %v452, i64 64
  store <16 x i16> %v527, ptr %v530, align 2
  %v531 = getelementptr i8, ptr %v452, i64 96
  store <16 x i16> %v528, ptr %v531, align 2
  %v532 = add i64 %v332, 64
  store i64 %v532, ptr %v326
  br label %b327
  b329:
  store i64 %v115, ptr %v533
  br label %b534
  b534:
  %v537 = load i64, ptr %v533
  %v538 = icmp slt i64 %v537, %v55
  br i1 %v538, label %b535, label %b536
  b535:
  %v539 = load i64, ptr %v533
  %v540 = sub i64 %v55, %v539
  %v541 = trunc i64 %v540 to i32
  %v542 = insertelement <8 x i32> poison, i32 %v541, i64 0
  %v543 = shufflevector <8 x i32> %v542, <8 x i32> poison, <8 x i32> zeroinitializer
  %v544 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v543
  %v545 = mul i64 %v539, 2
  %v546 = getelementptr i8, ptr %v57, i64 %v545
  %v547 = call <8 x i16> @llvm.masked.load.v8i16.p0(ptr %v546, i32 2, <8 x i1> %v544, <8 x i16> zeroinitializer)
  %v548 = zext <8 x i16> %v547 to <8 x i32>
  %v549 = shl <8 x i32> %v548, splat (i32 16)
  %v550 = bitcast <8 x i32> %v549 to <8 x float>
  %v551 = mul i64 %v539, 2
  %v552 = getelementptr i8, ptr %v59, i64 %v551
  %v553 = call <8 x i16> @llvm.masked.load.v8i16.p0(ptr %v552, i32 2, <8 x i1> %v544, <8 x i16> zeroinitializer)
  %v554 = zext <8 x i16> %v553 to <8 x i32>
  %v555 = shl <8 x i32> %v554, splat (i32 16)
  %v556 = bitcast <8 x i32> %v555 to <8 x float>
  %v557 = fadd <8 x float> %v550, %v556
  %v558 = mul i64 %v539, 2
  %v559 = getelementptr i8, ptr %v61, i64 %v558
  %v560 = bitcast <8 x float> %v557 to <8 x i32>
  %v561 = lshr <8 x i32> %v560, splat (i32 16)
  %v562 = and <8 x i32> %v561, splat (i32 1)
  %v563 = add <8 x i32> %v562, splat (i32 32767)
  %v564 = add <8 x i32> %v560, %v563
  %v565 = fcmp uno <8 x float> %v557, %v557
  %v566 = or <8 x i32> %v560, splat (i32 4194304)
  %v567 = select <8 x i1> %v565, <8 x i32> %v566, <8 x i32> %v564
  %v568 = lshr <8 x i32> %v567, splat (i32 16)
  %v569 = trunc <8 x i32> %v568 to <8 x i16>
  call void @llvm.masked.store.v8i16.p0(<8 x i16> %v569, ptr %v559, i32 2, <8 x i1> %v544)
  %v570 = add i64 %v539, 8
  store i64 %v570, ptr %v533
  br label %b534
  b536:
  %v571 = add i64 %v50, %v43
  store i64 %v571, ptr %v44
  br label %b45
  b47:
  %v572 = load i64, ptr %v18
  %v573 = add i64 %v572, 1
  store i64 %v573, ptr %v18
  %v574 = load ptr, ptr %v21
  %v575 = getelementptr i8, ptr %v574, i64 0
  store ptr %v575, ptr %v21
  %v576 = load ptr, ptr %v24
  %v577 = getelementptr i8, ptr %v576, i64 0
  store ptr %v577, ptr %v24
  %v578 = load ptr, ptr %v27
  %v579 = getelementptr i8, ptr %v578, i64 0
  store ptr %v579, ptr %v27
  %v580 = add i64 %v34, 1
  store i64 %v580, ptr %v28
  br label %b29
  b31:
  %v581 = icmp ne i64 %v2, 0
  br i1 %v581, label %b582, label %b583
  b582:
  fence seq_cst
  br label %b583
  b583:
  ret void
}
declare <8 x i16> @llvm.masked.load.v8i16.p0(ptr, i32, <8 x i1>, <8 x i16>)
declare void @llvm.masked.store.v8i16.p0(<8 x i16>, ptr, i32, <8 x i1>)
