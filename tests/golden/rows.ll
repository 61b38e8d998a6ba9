define void @kfb74ea3b4956a7663751124396b6561e(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
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
  %v15 = load ptr, ptr %words, align 8
  %v16 = getelementptr i8, ptr %words, i64 8
  %v17 = load ptr, ptr %v16, align 8
  %v18 = alloca i64, align 8
  %v21 = alloca ptr, align 8
  %v24 = alloca ptr, align 8
  %v25 = alloca i64, align 8
  %v35 = alloca [128 x float], align 64
  %v36 = alloca <8 x float>, align 64
  %v37 = alloca <8 x float>, align 64
  %v38 = alloca <8 x float>, align 64
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
  %v52 = alloca [56 x float], align 64
  %v53 = alloca i64, align 8
  %v54 = alloca i64, align 8
  %v55 = alloca i64, align 8
  %v71 = alloca i64, align 8
  %v225 = alloca i64, align 8
  %v367 = alloca float, align 8
  %v369 = alloca i64, align 8
  %v399 = alloca float, align 8
  br label %start
  start:
  store i64 %begin, ptr %v18
  %v19 = mul i64 %begin, %v12
  %v20 = getelementptr i8, ptr %v15, i64 %v19
  store ptr %v20, ptr %v21
  %v22 = mul i64 %begin, %v14
  %v23 = getelementptr i8, ptr %v17, i64 %v22
  store ptr %v23, ptr %v24
  store i64 %begin, ptr %v25
  br label %b26
  b26:
  %v29 = load i64, ptr %v25
  %v30 = icmp slt i64 %v29, %end
  br i1 %v30, label %b27, label %b28
  b27:
  %v31 = load i64, ptr %v25
  %v32 = load ptr, ptr %v21
  %v33 = load ptr, ptr %v24
  %v34 = load i64, ptr %v18
  store <8 x float> splat (float 0x8000000000000000), ptr %v36
  store <8 x float> splat (float 0x8000000000000000), ptr %v37
  store <8 x float> splat (float 0x8000000000000000), ptr %v38
  store <8 x float> splat (float 0x8000000000000000), ptr %v39
  store <8 x float> splat (float 0x8000000000000000), ptr %v40
  store <8 x float> splat (float 0x8000000000000000), ptr %v41
  store <8 x float> splat (float 0x8000000000000000), ptr %v42
  store <8 x float> splat (float 0x8000000000000000), ptr %v43
  store <8 x float> splat (float 0x8000000000000000), ptr %v44
  store <8 x float> splat (float 0x8000000000000000), ptr %v45
  store <8 x float> splat (float 0x8000000000000000), ptr %v46
  store <8 x float> splat (float 0x8000000000000000), ptr %v47
  store <8 x float> splat (float 0x8000000000000000), ptr %v48
  store <8 x float> splat (float 0x8000000000000000), ptr %v49
  store <8 x float> splat (float 0x8000000000000000), ptr %v50
  store <8 x float> splat (float 0x8000000000000000), ptr %v51
  store i64 0, ptr %v53
  store i64 0, ptr %v54
  store <8 x float> splat (float 0x8000000000000000), ptr %v36
  store <8 x float> splat (float 0x8000000000000000), ptr %v37
  store <8 x float> splat (float 0x8000000000000000), ptr %v38
  store <8 x float> splat (float 0x8000000000000000), ptr %v39
  store <8 x float> splat (float 0x8000000000000000), ptr %v40
  store <8 x float> splat (float 0x8000000000000000), ptr %v41
  store <8 x float> splat (float 0x8000000000000000), ptr %v42
  store <8 x float> splat (float 0x8000000000000000), ptr %v43
  store <8 x float> splat (float 0x8000000000000000), ptr %v44
  store <8 x float> splat (float 0x8000000000000000), ptr %v45
  store <8 x float> splat (float 0x8000000000000000), ptr %v46
  store <8 x float> splat (float 0x8000000000000000), ptr %v47
  store <8 x float> splat (float 0x8000000000000000), ptr %v48
  store <8 x float> splat (float 0x8000000000000000), ptr %v49
  store <8 x float> splat (float 0x8000000000000000), ptr %v50
  store <8 x float> splat (float 0x8000000000000000), ptr %v51
  store i64 0, ptr %v55
  br label %b56
  b56:
  %v59 = load i64, ptr %v55
  %v60 = icmp slt i64 %v59, %v8
  br i1 %v60, label %b57, label %b58
  b57:
  %v61 = load i64, ptr %v55
  %v62 = mul i64 %v61, 1024
  %v63 = add i64 %v61, 1
  %v64 = mul i64 %v63, 1024
  %v65 = icmp slt i64 %v64, %v4
  %v66 = select i1 %v65, i64 %v64, i64 %v4
  %v67 = sub i64 %v66, %v62
  %v68 = mul i64 %v62, 4
  %v69 = getelementptr i8, ptr %v32, i64 %v68
  store <8 x float> splat (float 0x8000000000000000), ptr %v36
  store <8 x float> splat (float 0x8000000000000000), ptr %v37
  store <8 x float> splat (float 0x8000000000000000), ptr %v38
  store <8 x float> splat (float 0x8000000000000000), ptr %v39
  store <8 x float> splat (float 0x8000000000000000), ptr %v40
  store <8 x float> splat (float 0x8000000000000000), ptr %v41
  store <8 x float> splat (float 0x8000000000000000), ptr %v42
  store <8 x float> splat (float 0x8000000000000000), ptr %v43
  store <8 x float> splat (float 0x8000000000000000), ptr %v44
  store <8 x float> splat (float 0x8000000000000000), ptr %v45
  store <8 x float> splat (float 0x8000000000000000), ptr %v46
  store <8 x float> splat (float 0x8000000000000000), ptr %v47
  store <8 x float> splat (float 0x8000000000000000), ptr %v48
  store <8 x float> splat (float 0x8000000000000000), ptr %v49
  store <8 x float> splat (float 0x8000000000000000), ptr %v50
  store <8 x float> splat (float 0x8000000000000000), ptr %v51
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
  %v109 = load <8 x float>, ptr %v36
  %v110 = fadd <8 x float> %v109, %v80
  store <8 x float> %v110, ptr %v36
  %v111 = load <8 x float>, ptr %v37
  %v112 = fadd <8 x float> %v111, %v84
  store <8 x float> %v112, ptr %v37
  %v113 = load <8 x float>, ptr %v38
  %v114 = fadd <8 x float> %v113, %v88
  store <8 x float> %v114, ptr %v38
  %v115 = load <8 x float>, ptr %v39
  %v116 = fadd <8 x float> %v115, %v92
  store <8 x float> %v116, ptr %v39
  %v117 = load <8 x float>, ptr %v40
  %v118 = fadd <8 x float> %v117, %v96
  store <8 x float> %v118, ptr %v40
  %v119 = load <8 x float>, ptr %v41
  %v120 = fadd <8 x float> %v119, %v100
  store <8 x float> %v120, ptr %v41
  %v121 = load <8 x float>, ptr %v42
  %v122 = fadd <8 x float> %v121, %v104
  store <8 x float> %v122, ptr %v42
  %v123 = load <8 x float>, ptr %v43
  %v124 = fadd <8 x float> %v123, %v108
  store <8 x float> %v124, ptr %v43
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
  %v157 = load <8 x float>, ptr %v44
  %v158 = fadd <8 x float> %v157, %v128
  store <8 x float> %v158, ptr %v44
  %v159 = load <8 x float>, ptr %v45
  %v160 = fadd <8 x float> %v159, %v132
  store <8 x float> %v160, ptr %v45
  %v161 = load <8 x float>, ptr %v46
  %v162 = fadd <8 x float> %v161, %v136
  store <8 x float> %v162, ptr %v46
  %v163 = load <8 x float>, ptr %v47
  %v164 = fadd <8 x float> %v163, %v140
  store <8 x float> %v164, ptr %v47
  %v165 = load <8 x float>, ptr %v48
  %v166 = fadd <8 x float> %v165, %v144
  store <8 x float> %v166, ptr %v48
  %v167 = load <8 x float>, ptr %v49
  %v168 = fadd <8 x float> %v167, %v148
  store <8 x float> %v168, ptr %v49
  %v169 = load <8 x float>, ptr %v50
  %v170 = fadd <8 x float> %v169, %v152
  store <8 x float> %v170, ptr %v50
  %v171 = load <8 x float>, ptr %v51
  %v172 = fadd <8 x float> %v171, %v156
  store <8 x float> %v172, ptr %v51
  %v173 = add i64 %v77, 128
  store i64 %v173, ptr %v71
  br label %b72
  b74:
  %v174 = icmp slt i64 %v70, %v67
  br i1 %v174, label %b175, label %b176
  b175:
  %v177 = load <8 x float>, ptr %v36
  %v178 = mul i64 0, 4
  %v179 = getelementptr i8, ptr %v35, i64 %v178
  store <8 x float> %v177, ptr %v179, align 32
  %v180 = load <8 x float>, ptr %v37
  %v181 = mul i64 8, 4
  %v182 = getelementptr i8, ptr %v35, i64 %v181
  store <8 x float> %v180, ptr %v182, align 32
  %v183 = load <8 x float>, ptr %v38
  %v184 = mul i64 16, 4
  %v185 = getelementptr i8, ptr %v35, i64 %v184
  store <8 x float> %v183, ptr %v185, align 32
  %v186 = load <8 x float>, ptr %v39
  %v187 = mul i64 24, 4
  %v188 = getelementptr i8, ptr %v35, i64 %v187
  store <8 x float> %v186, ptr %v188, align 32
  %v189 = load <8 x float>, ptr %v40
  %v190 = mul i64 32, 4
  %v191 = getelementptr i8, ptr %v35, i64 %v190
  store <8 x float> %v189, ptr %v191, align 32
  %v192 = load <8 x float>, ptr %v41
  %v193 = mul i64 40, 4
  %v194 = getelementptr i8, ptr %v35, i64 %v193
  store <8 x float> %v192, ptr %v194, align 32
  %v195 = load <8 x float>, ptr %v42
  %v196 = mul i64 48, 4
  %v197 = getelementptr i8, ptr %v35, i64 %v196
  store <8 x float> %v195, ptr %v197, align 32
  %v198 = load <8 x float>, ptr %v43
  %v199 = mul i64 56, 4
  %v200 = getelementptr i8, ptr %v35, i64 %v199
  store <8 x float> %v198, ptr %v200, align 32
  %v201 = load <8 x float>, ptr %v44
  %v202 = mul i64 64, 4
  %v203 = getelementptr i8, ptr %v35, i64 %v202
  store <8 x float> %v201, ptr %v203, align 32
  %v204 = load <8 x float>, ptr %v45
  %v205 = mul i64 72, 4
  %v206 = getelementptr i8, ptr %v35, i64 %v205
  store <8 x float> %v204, ptr %v206, align 32
  %v207 = load <8 x float>, ptr %v46
  %v208 = mul i64 80, 4
  %v209 = getelementptr i8, ptr %v35, i64 %v208
  store <8 x float> %v207, ptr %v209, align 32
  %v210 = load <8 x float>, ptr %v47
  %v211 = mul i64 88, 4
  %v212 = getelementptr i8, ptr %v35, i64 %v211
  store <8 x float> %v210, ptr %v212, align 32
  %v213 = load <8 x float>, ptr %v48
  %v214 = mul i64 96, 4
  %v215 = getelementptr i8, ptr %v35, i64 %v214
  store <8 x float> %v213, ptr %v215, align 32
  %v216 = load <8 x float>, ptr %v49
  %v217 = mul i64 104, 4
  %v218 = getelementptr i8, ptr %v35, i64 %v217
  store <8 x float> %v216, ptr %v218, align 32
  %v219 = load <8 x float>, ptr %v50
  %v220 = mul i64 112, 4
  %v221 = getelementptr i8, ptr %v35, i64 %v220
  store <8 x float> %v219, ptr %v221, align 32
  %v222 = load <8 x float>, ptr %v51
  %v223 = mul i64 120, 4
  %v224 = getelementptr i8, ptr %v35, i64 %v223
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
  %v241 = select <8 x i1> %v236, <8 x float> %v239, <8 x float> splat (float 0x8000000000000000)
  %v242 = mul i64 %v240, 4
  %v243 = getelementptr i8, ptr %v35, i64 %v242
  %v244 = load <8 x float>, ptr %v243, align 32
  %v245 = fadd <8 x float> %v244, %v241
  %v246 = mul i64 %v240, 4
  %v247 = getelementptr i8, ptr %v35, i64 %v246
  store <8 x float> %v245, ptr %v247, align 32
  %v248 = add i64 %v231, 8
  store i64 %v248, ptr %v225
  br label %b226
  b228:
  %v249 = mul i64 0, 4
  %v250 = getelementptr i8, ptr %v35, i64 %v249
  %v251 = load <8 x float>, ptr %v250, align 32
  store <8 x float> %v251, ptr %v36
  %v252 = mul i64 8, 4
  %v253 = getelementptr i8, ptr %v35, i64 %v252
  %v254 = load <8 x float>, ptr %v253, align 32
  store <8 x float> %v254, ptr %v37
  %v255 = mul i64 16, 4
  %v256 = getelementptr i8, ptr %v35, i64 %v255
  %v257 = load <8 x float>, ptr %v256, align 32
  store <8 x float> %v257, ptr %v38
  %v258 = mul i64 24, 4
  %v259 = getelementptr i8, ptr %v35, i64 %v258
  %v260 = load <8 x float>, ptr %v259, align 32
  store <8 x float> %v260, ptr %v39
  %v261 = mul i64 32, 4
  %v262 = getelementptr i8, ptr %v35, i64 %v261
  %v263 = load <8 x float>, ptr %v262, align 32
  store <8 x float> %v263, ptr %v40
  %v264 = mul i64 40, 4
  %v265 = getelementptr i8, ptr %v35, i64 %v264
  %v266 = load <8 x float>, ptr %v265, align 32
  store <8 x float> %v266, ptr %v41
  %v267 = mul i64 48, 4
  %v268 = getelementptr i8, ptr %v35, i64 %v267
  %v269 = load <8 x float>, ptr %v268, align 32
  store <8 x float> %v269, ptr %v42
  %v270 = mul i64 56, 4
  %v271 = getelementptr i8, ptr %v35, i64 %v270
  %v272 = load <8 x float>, ptr %v271, align 32
  store <8 x float> %v272, ptr %v43
  %v273 = mul i64 64, 4
  %v274 = getelementptr i8, ptr %v35, i64 %v273
  %v275 = load <8 x float>, ptr %v274, align 32
  store <8 x float> %v275, ptr %v44
  %v276 = mul i64 72, 4
  %v277 = getelementptr i8, ptr %v35, i64 %v276
  %v278 = load <8 x float>, ptr %v277, align 32
  store <8 x float> %v278, ptr %v45
  %v279 = mul i64 80, 4
  %v280 = getelementptr i8, ptr %v35, i64 %v279
  %v281 = load <8 x float>, ptr %v280, align 32
  store <8 x float> %v281, ptr %v46
  %v282 = mul i64 88, 4
  %v283 = getelementptr i8, ptr %v35, i64 %v282
  %v284 = load <8 x float>, ptr %v283, align 32
  store <8 x float> %v284, ptr %v47
  %v285 = mul i64 96, 4
  %v286 = getelementptr i8, ptr %v35, i64 %v285
  %v287 = load <8 x float>, ptr %v286, align 32
  store <8 x float> %v287, ptr %v48
  %v288 = mul i64 104, 4
  %v289 = getelementptr i8, ptr %v35, i64 %v288
  %v290 = load <8 x float>, ptr %v289, align 32
  store <8 x float> %v290, ptr %v49
  %v291 = mul i64 112, 4
  %v292 = getelementptr i8, ptr %v35, i64 %v291
  %v293 = load <8 x float>, ptr %v292, align 32
  store <8 x float> %v293, ptr %v50
  %v294 = mul i64 120, 4
  %v295 = getelementptr i8, ptr %v35, i64 %v294
  %v296 = load <8 x float>, ptr %v295, align 32
  store <8 x float> %v296, ptr %v51
  br label %b176
  b176:
  %v297 = load <8 x float>, ptr %v36
  %v298 = load <8 x float>, ptr %v37
  %v299 = load <8 x float>, ptr %v38
  %v300 = load <8 x float>, ptr %v39
  %v301 = load <8 x float>, ptr %v40
  %v302 = load <8 x float>, ptr %v41
  %v303 = load <8 x float>, ptr %v42
  %v304 = load <8 x float>, ptr %v43
  %v305 = load <8 x float>, ptr %v44
  %v306 = load <8 x float>, ptr %v45
  %v307 = load <8 x float>, ptr %v46
  %v308 = load <8 x float>, ptr %v47
  %v309 = load <8 x float>, ptr %v48
  %v310 = load <8 x float>, ptr %v49
  %v311 = load <8 x float>, ptr %v50
  %v312 = load <8 x float>, ptr %v51
  %v313 = shufflevector <8 x float> %v297, <8 x float> %v298, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v314 = shufflevector <8 x float> %v297, <8 x float> %v298, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v315 = fadd <8 x float> %v313, %v314
  %v316 = shufflevector <8 x float> %v299, <8 x float> %v300, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v317 = shufflevector <8 x float> %v299, <8 x float> %v300, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v318 = fadd <8 x float> %v316, %v317
  %v319 = shufflevector <8 x float> %v301, <8 x float> %v302, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v320 = shufflevector <8 x float> %v301, <8 x float> %v302, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v321 = fadd <8 x float> %v319, %v320
  %v322 = shufflevector <8 x float> %v303, <8 x float> %v304, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v323 = shufflevector <8 x float> %v303, <8 x float> %v304, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v324 = fadd <8 x float> %v322, %v323
  %v325 = shufflevector <8 x float> %v305, <8 x float> %v306, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v326 = shufflevector <8 x float> %v305, <8 x float> %v306, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v327 = fadd <8 x float> %v325, %v326
  %v328 = shufflevector <8 x float> %v307, <8 x float> %v308, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v329 = shufflevector <8 x float> %v307, <8 x float> %v308, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v330 = fadd <8 x float> %v328, %v329
  %v331 = shufflevector <8 x float> %v309, <8 x float> %v310, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v332 = shufflevector <8 x float> %v309, <8 x float> %v310, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v333 = fadd <8 x float> %v331, %v332
  %v334 = shufflevector <8 x float> %v311, <8 x float> %v312, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v335 = shufflevector <8 x float> %v311, <8 x float> %v312, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v336 = fadd <8 x float> %v334, %v335
  %v337 = shufflevector <8 x float> %v315, <8 x float> %v318, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v338 = shufflevector <8 x float> %v315, <8 x float> %v318, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v339 = fadd <8 x float> %v337, %v338
  %v340 = shufflevector <8 x float> %v321, <8 x float> %v324, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v341 = shufflevector <8 x float> %v321, <8 x float> %v324, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v342 = fadd <8 x float> %v340, %v341
  %v343 = shufflevector <8 x float> %v327, <8 x float> %v330, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v344 = shufflevector <8 x float> %v327, <8 x float> %v330, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v345 = fadd <8 x float> %v343, %v344
  %v346 = shufflevector <8 x float> %v333, <8 x float> %v336, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v347 = shufflevector <8 x float> %v333, <8 x float> %v336, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v348 = fadd <8 x float> %v346, %v347
  %v349 = shufflevector <8 x float> %v339, <8 x float> %v342, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v350 = shufflevector <8 x float> %v339, <8 x float> %v342, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v351 = fadd <8 x float> %v349, %v350
  %v352 = shufflevector <8 x float> %v345, <8 x float> %v348, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v353 = shufflevector <8 x float> %v345, <8 x float> %v348, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v354 = fadd <8 x float> %v352, %v353
  %v355 = shufflevector <8 x float> %v351, <8 x float> %v354, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v356 = shufflevector <8 x float> %v351, <8 x float> %v354, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v357 = fadd <8 x float> %v355, %v356
  %v358 = shufflevector <8 x float> %v357, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %v359 = shufflevector <8 x float> %v357, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %v360 = fadd <4 x float> %v358, %v359
  %v361 = shufflevector <4 x float> %v360, <4 x float> poison, <2 x i32> <i32 0, i32 2>
  %v362 = shufflevector <4 x float> %v360, <4 x float> poison, <2 x i32> <i32 1, i32 3>
  %v363 = fadd <2 x float> %v361, %v362
  %v364 = extractelement <2 x float> %v363, i64 0
  %v365 = extractelement <2 x float> %v363, i64 1
  %v366 = fadd float %v364, %v365
  store float %v366, ptr %v367
  %v368 = load i64, ptr %v54
  store i64 %v368, ptr %v369
  br label %b370
  b370:
  %v373 = load i64, ptr %v369
  %v374 = and i64 %v373, 1
  %v375 = icmp ne i64 %v374, 0
  br i1 %v375, label %b371, label %b372
  b371:
  %v376 = load i64, ptr %v53
  %v377 = sub i64 %v376, 1
  %v378 = mul i64 %v377, 4
  %v379 = getelementptr i8, ptr %v52, i64 %v378
  %v380 = load float, ptr %v379, align 4
  %v381 = load float, ptr %v367
  %v382 = fadd float %v380, %v381
  store float %v382, ptr %v367
  store i64 %v377, ptr %v53
  %v383 = load i64, ptr %v369
  %v384 = lshr i64 %v383, 1
  store i64 %v384, ptr %v369
  br label %b370
  b372:
  %v385 = load float, ptr %v367
  %v386 = load i64, ptr %v53
  %v387 = mul i64 %v386, 4
  %v388 = getelementptr i8, ptr %v52, i64 %v387
  store float %v385, ptr %v388, align 4
  %v389 = load i64, ptr %v53
  %v390 = add i64 %v389, 1
  store i64 %v390, ptr %v53
  %v391 = load i64, ptr %v54
  %v392 = add i64 %v391, 1
  store i64 %v392, ptr %v54
  %v393 = add i64 %v61, 1
  store i64 %v393, ptr %v55
  br label %b56
  b58:
  %v394 = load i64, ptr %v53
  %v395 = sub i64 %v394, 1
  %v396 = mul i64 %v395, 4
  %v397 = getelementptr i8, ptr %v52, i64 %v396
  %v398 = load float, ptr %v397, align 4
  store float %v398, ptr %v399
  store i64 %v395, ptr %v53
  br label %b400
  b400:
  %v403 = load i64, ptr %v53
  %v404 = icmp ne i64 %v403, 0
  br i1 %v404, label %b401, label %b402
  b401:
  %v405 = load i64, ptr %v53
  %v406 = sub i64 %v405, 1
  %v407 = mul i64 %v406, 4
  %v408 = getelementptr i8, ptr %v52, i64 %v407
  %v409 = load float, ptr %v408, align 4
  %v410 = load float, ptr %v399
  %v411 = fadd float %v409, %v410
  store float %v411, ptr %v399
  store i64 %v406, ptr %v53
  br label %b400
  b402:
  %v412 = load float, ptr %v399
  store float %v412, ptr %v33, align 4
  %v413 = load i64, ptr %v18
  %v414 = add i64 %v413, 1
  store i64 %v414, ptr %v18
  %v415 = load ptr, ptr %v21
  %v416 = getelementptr i8, ptr %v415, i64 %v12
  store ptr %v416, ptr %v21
  %v417 = load ptr, ptr %v24
  %v418 = getelementptr i8, ptr %v417, i64 %v14
  store ptr %v418, ptr %v24
  %v419 = add i64 %v31, 1
  store i64 %v419, ptr %v25
  br label %b26
  b28:
  ret void
}
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
