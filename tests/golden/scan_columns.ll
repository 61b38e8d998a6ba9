define void @kf234c4f9917db88ba0557e72783c7d64(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 24
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 32
  %v4 = load i64, ptr %v3, align 8
  %v5 = mul i64 %v2, 32
  %v6 = mul i64 %v4, 32
  %v7 = getelementptr i8, ptr %words, i64 40
  %v8 = load i64, ptr %v7, align 8
  %v9 = getelementptr i8, ptr %words, i64 48
  %v10 = load i64, ptr %v9, align 8
  %v11 = load ptr, ptr %words, align 8
  %v12 = getelementptr i8, ptr %words, i64 8
  %v13 = load ptr, ptr %v12, align 8
  %v14 = getelementptr i8, ptr %words, i64 56
  %v15 = load i64, ptr %v14, align 8
  %v16 = getelementptr i8, ptr %words, i64 64
  %v17 = load i64, ptr %v16, align 8
  %v18 = getelementptr i8, ptr %words, i64 72
  %v19 = load i64, ptr %v18, align 8
  %v20 = getelementptr i8, ptr %words, i64 80
  %v21 = load i64, ptr %v20, align 8
  %v22 = getelementptr i8, ptr %words, i64 88
  %v23 = load i64, ptr %v22, align 8
  %v24 = getelementptr i8, ptr %words, i64 96
  %v25 = load i64, ptr %v24, align 8
  %v26 = getelementptr i8, ptr %words, i64 104
  %v27 = load i64, ptr %v26, align 8
  %v28 = getelementptr i8, ptr %words, i64 112
  %v29 = load i64, ptr %v28, align 8
  %v30 = alloca <8 x float>, align 64
  %v31 = alloca <8 x float>, align 64
  %v32 = alloca <8 x float>, align 64
  %v33 = alloca <8 x float>, align 64
  %v34 = alloca <8 x float>, align 64
  %v35 = alloca <8 x float>, align 64
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
  %v46 = alloca [65536 x i8], align 64
  %v47 = alloca [8192 x i8], align 64
  %v48 = alloca <8 x float>, align 64
  %v49 = alloca <8 x float>, align 64
  %v50 = alloca <8 x float>, align 64
  %v51 = alloca <8 x float>, align 64
  %v52 = getelementptr i8, ptr %words, i64 120
  %v53 = load i64, ptr %v52, align 8
  %v54 = getelementptr i8, ptr %words, i64 128
  %v55 = load i64, ptr %v54, align 8
  %v56 = getelementptr i8, ptr %words, i64 136
  %v57 = load i64, ptr %v56, align 8
  %v58 = getelementptr i8, ptr %words, i64 144
  %v59 = load i64, ptr %v58, align 8
  %v60 = getelementptr i8, ptr %words, i64 152
  %v61 = load i64, ptr %v60, align 8
  %v62 = getelementptr i8, ptr %words, i64 160
  %v63 = load i64, ptr %v62, align 8
  %v64 = getelementptr i8, ptr %words, i64 168
  %v65 = load i64, ptr %v64, align 8
  %v66 = alloca <8 x float>, align 64
  %v67 = alloca <8 x float>, align 64
  %v68 = alloca <8 x float>, align 64
  %v69 = alloca <8 x float>, align 64
  %v70 = alloca [16384 x i8], align 64
  %v71 = alloca [2048 x i8], align 64
  %v72 = alloca <8 x float>, align 64
  %v75 = alloca i64, align 8
  %v76 = alloca i64, align 8
  %v81 = alloca ptr, align 8
  %v86 = alloca ptr, align 8
  %v87 = alloca i64, align 8
  %v105 = alloca i64, align 8
  %v116 = alloca i64, align 8
  %v152 = alloca i64, align 8
  %v223 = alloca i64, align 8
  %v230 = alloca i64, align 8
  %v300 = alloca i64, align 8
  %v374 = alloca i64, align 8
  %v524 = alloca i64, align 8
  %v540 = alloca i64, align 8
  %v551 = alloca i64, align 8
  %v576 = alloca i64, align 8
  %v613 = alloca i64, align 8
  %v620 = alloca i64, align 8
  %v642 = alloca i64, align 8
  %v673 = alloca i64, align 8
  br label %start
  start:
  store <8 x float> zeroinitializer, ptr %v30
  store <8 x float> zeroinitializer, ptr %v31
  store <8 x float> zeroinitializer, ptr %v32
  store <8 x float> zeroinitializer, ptr %v33
  store <8 x float> zeroinitializer, ptr %v34
  store <8 x float> zeroinitializer, ptr %v35
  store <8 x float> zeroinitializer, ptr %v36
  store <8 x float> zeroinitializer, ptr %v37
  store <8 x float> zeroinitializer, ptr %v38
  store <8 x float> zeroinitializer, ptr %v39
  store <8 x float> zeroinitializer, ptr %v40
  store <8 x float> zeroinitializer, ptr %v41
  store <8 x float> zeroinitializer, ptr %v42
  store <8 x float> zeroinitializer, ptr %v43
  store <8 x float> zeroinitializer, ptr %v44
  store <8 x float> zeroinitializer, ptr %v45
  store <8 x float> zeroinitializer, ptr %v48
  store <8 x float> zeroinitializer, ptr %v49
  store <8 x float> zeroinitializer, ptr %v50
  store <8 x float> zeroinitializer, ptr %v51
  store <8 x float> zeroinitializer, ptr %v66
  store <8 x float> zeroinitializer, ptr %v67
  store <8 x float> zeroinitializer, ptr %v68
  store <8 x float> zeroinitializer, ptr %v69
  store <8 x float> zeroinitializer, ptr %v72
  %v73 = urem i64 %begin, %v10
  %v74 = udiv i64 %begin, %v10
  store i64 %v74, ptr %v75
  store i64 %v73, ptr %v76
  %v77 = mul i64 %v74, %v5
  %v78 = getelementptr i8, ptr %v11, i64 %v77
  %v79 = mul i64 %v73, 0
  %v80 = getelementptr i8, ptr %v78, i64 %v79
  store ptr %v80, ptr %v81
  %v82 = mul i64 %v74, %v6
  %v83 = getelementptr i8, ptr %v13, i64 %v82
  %v84 = mul i64 %v73, 0
  %v85 = getelementptr i8, ptr %v83, i64 %v84
  store ptr %v85, ptr %v86
  store i64 %begin, ptr %v87
  br label %b88
  b88:
  %v91 = load i64, ptr %v87
  %v92 = icmp slt i64 %v91, %end
  br i1 %v92, label %b89, label %b90
  b89:
  %v93 = load i64, ptr %v87
  %v94 = load ptr, ptr %v81
  %v95 = load ptr, ptr %v86
  %v96 = load i64, ptr %v75
  %v97 = load i64, ptr %v76
  %v98 = mul i64 %v96, 32
  %v99 = sub i64 %v15, %v98
  %v100 = mul i64 0, %v15
  %v101 = add i64 %v100, %v98
  %v102 = icmp sge i64 %v99, 32
  br i1 %v102, label %b103, label %b104
  b103:
  store i64 0, ptr %v105
  br label %b106
  b106:
  %v109 = load i64, ptr %v105
  %v110 = icmp slt i64 %v109, %v17
  br i1 %v110, label %b107, label %b108
  b107:
  %v111 = load i64, ptr %v105
  %v112 = udiv i64 %v111, 256
  %v113 = sub i64 %v17, %v111
  %v114 = icmp slt i64 %v113, 256
  %v115 = select i1 %v114, i64 %v113, i64 256
  store i64 0, ptr %v116
  br label %b117
  b117:
  %v120 = load i64, ptr %v116
  %v121 = icmp slt i64 %v120, %v115
  br i1 %v121, label %b118, label %b119
  b118:
  %v122 = load i64, ptr %v116
  %v123 = add i64 %v111, %v122
  %v124 = mul i64 %v123, %v21
  %v125 = getelementptr i8, ptr %v94, i64 %v124
  %v126 = load <8 x float>, ptr %v125, align 4
  %v127 = getelementptr i8, ptr %v125, i64 32
  %v128 = load <8 x float>, ptr %v127, align 4
  %v129 = getelementptr i8, ptr %v125, i64 64
  %v130 = load <8 x float>, ptr %v129, align 4
  %v131 = getelementptr i8, ptr %v125, i64 96
  %v132 = load <8 x float>, ptr %v131, align 4
  store <8 x float> %v126, ptr %v48
  store <8 x float> %v128, ptr %v49
  store <8 x float> %v130, ptr %v50
  store <8 x float> %v132, ptr %v51
  %v133 = mul i64 %v122, 4
  %v134 = mul i64 %v133, 64
  %v135 = getelementptr i8, ptr %v46, i64 %v134
  store <8 x float> %v126, ptr %v135, align 64
  %v136 = mul i64 %v122, 4
  %v137 = add i64 %v136, 1
  %v138 = mul i64 %v137, 64
  %v139 = getelementptr i8, ptr %v46, i64 %v138
  store <8 x float> %v128, ptr %v139, align 64
  %v140 = mul i64 %v122, 4
  %v141 = add i64 %v140, 2
  %v142 = mul i64 %v141, 64
  %v143 = getelementptr i8, ptr %v46, i64 %v142
  store <8 x float> %v130, ptr %v143, align 64
  %v144 = mul i64 %v122, 4
  %v145 = add i64 %v144, 3
  %v146 = mul i64 %v145, 64
  %v147 = getelementptr i8, ptr %v46, i64 %v146
  store <8 x float> %v132, ptr %v147, align 64
  %v148 = add i64 %v122, 1
  %v149 = add i64 %v122, 8
  %v150 = icmp slt i64 %v149, %v115
  %v151 = select i1 %v150, i64 %v149, i64 %v115
  store i64 %v148, ptr %v152
  br label %b153
  b153:
  %v156 = load i64, ptr %v152
  %v157 = icmp slt i64 %v156, %v151
  br i1 %v157, label %b154, label %b155
  b154:
  %v158 = load i64, ptr %v152
  %v159 = add i64 %v111, %v158
  %v160 = add i64 %v159, 2
  %v161 = sub i64 %v17, 1
  %v162 = icmp slt i64 %v160, %v161
  %v163 = select i1 %v162, i64 %v160, i64 %v161
  %v164 = mul i64 %v163, %v21
  %v165 = getelementptr i8, ptr %v94, i64 %v164
  call void @llvm.prefetch.p0(ptr %v165, i32 0, i32 3, i32 1)
  %v166 = getelementptr i8, ptr %v165, i64 64
  call void @llvm.prefetch.p0(ptr %v166, i32 0, i32 3, i32 1)
  %v167 = mul i64 %v159, %v21
  %v168 = getelementptr i8, ptr %v94, i64 %v167
  %v169 = load <8 x float>, ptr %v168, align 4
  %v170 = getelementptr i8, ptr %v168, i64 32
  %v171 = load <8 x float>, ptr %v170, align 4
  %v172 = getelementptr i8, ptr %v168, i64 64
  %v173 = load <8 x float>, ptr %v172, align 4
  %v174 = getelementptr i8, ptr %v168, i64 96
  %v175 = load <8 x float>, ptr %v174, align 4
  %v176 = load <8 x float>, ptr %v48
  %v177 = load <8 x float>, ptr %v49
  %v178 = load <8 x float>, ptr %v50
  %v179 = load <8 x float>, ptr %v51
  %v180 = fadd <8 x float> %v176, %v169
  %v181 = fadd <8 x float> %v177, %v171
  %v182 = fadd <8 x float> %v178, %v173
  %v183 = fadd <8 x float> %v179, %v175
  store <8 x float> %v180, ptr %v48
  store <8 x float> %v181, ptr %v49
  store <8 x float> %v182, ptr %v50
  store <8 x float> %v183, ptr %v51
  %v184 = mul i64 %v158, 4
  %v185 = mul i64 %v184, 64
  %v186 = getelementptr i8, ptr %v46, i64 %v185
  store <8 x float> %v180, ptr %v186, align 64
  %v187 = mul i64 %v158, 4
  %v188 = add i64 %v187, 1
  %v189 = mul i64 %v188, 64
  %v190 = getelementptr i8, ptr %v46, i64 %v189
  store <8 x float> %v181, ptr %v190, align 64
  %v191 = mul i64 %v158, 4
  %v192 = add i64 %v191, 2
  %v193 = mul i64 %v192, 64
  %v194 = getelementptr i8, ptr %v46, i64 %v193
  store <8 x float> %v182, ptr %v194, align 64
  %v195 = mul i64 %v158, 4
  %v196 = add i64 %v195, 3
  %v197 = mul i64 %v196, 64
  %v198 = getelementptr i8, ptr %v46, i64 %v197
  store <8 x float> %v183, ptr %v198, align 64
  %v199 = add i64 %v158, 1
  store i64 %v199, ptr %v152
  br label %b153
  b155:
  %v200 = udiv i64 %v122, 8
  %v201 = load <8 x float>, ptr %v48
  %v202 = load <8 x float>, ptr %v49
  %v203 = load <8 x float>, ptr %v50
  %v204 = load <8 x float>, ptr %v51
  %v205 = mul i64 %v200, 4
  %v206 = mul i64 %v205, 64
  %v207 = getelementptr i8, ptr %v47, i64 %v206
  store <8 x float> %v201, ptr %v207, align 64
  %v208 = mul i64 %v200, 4
  %v209 = add i64 %v208, 1
  %v210 = mul i64 %v209, 64
  %v211 = getelementptr i8, ptr %v47, i64 %v210
  store <8 x float> %v202, ptr %v211, align 64
  %v212 = mul i64 %v200, 4
  %v213 = add i64 %v212, 2
  %v214 = mul i64 %v213, 64
  %v215 = getelementptr i8, ptr %v47, i64 %v214
  store <8 x float> %v203, ptr %v215, align 64
  %v216 = mul i64 %v200, 4
  %v217 = add i64 %v216, 3
  %v218 = mul i64 %v217, 64
  %v219 = getelementptr i8, ptr %v47, i64 %v218
  store <8 x float> %v204, ptr %v219, align 64
  %v220 = add i64 %v122, 8
  store i64 %v220, ptr %v116
  br label %b117
  b119:
  %v221 = add i64 %v115, 7
  %v222 = udiv i64 %v221, 8
  store i64 1, ptr %v223
  br label %b224
  b224:
  %v227 = load i64, ptr %v223
  %v228 = icmp slt i64 %v227, %v222
  br i1 %v228, label %b225, label %b226
  b225:
  %v229 = load i64, ptr %v223
  store i64 %v229, ptr %v230
  br label %b231
  b231:
  %v234 = load i64, ptr %v230
  %v235 = icmp slt i64 %v234, %v222
  br i1 %v235, label %b232, label %b233
  b232:
  %v236 = load i64, ptr %v230
  %v237 = sub i64 %v222, 1
  %v238 = add i64 %v229, %v237
  %v239 = sub i64 %v238, %v236
  %v240 = sub i64 %v239, %v229
  %v241 = mul i64 %v240, 4
  %v242 = mul i64 %v241, 64
  %v243 = getelementptr i8, ptr %v47, i64 %v242
  %v244 = load <8 x float>, ptr %v243, align 64
  %v245 = mul i64 %v240, 4
  %v246 = add i64 %v245, 1
  %v247 = mul i64 %v246, 64
  %v248 = getelementptr i8, ptr %v47, i64 %v247
  %v249 = load <8 x float>, ptr %v248, align 64
  %v250 = mul i64 %v240, 4
  %v251 = add i64 %v250, 2
  %v252 = mul i64 %v251, 64
  %v253 = getelementptr i8, ptr %v47, i64 %v252
  %v254 = load <8 x float>, ptr %v253, align 64
  %v255 = mul i64 %v240, 4
  %v256 = add i64 %v255, 3
  %v257 = mul i64 %v256, 64
  %v258 = getelementptr i8, ptr %v47, i64 %v257
  %v259 = load <8 x float>, ptr %v258, align 64
  %v260 = mul i64 %v239, 4
  %v261 = mul i64 %v260, 64
  %v262 = getelementptr i8, ptr %v47, i64 %v261
  %v263 = load <8 x float>, ptr %v262, align 64
  %v264 = mul i64 %v239, 4
  %v265 = add i64 %v264, 1
  %v266 = mul i64 %v265, 64
  %v267 = getelementptr i8, ptr %v47, i64 %v266
  %v268 = load <8 x float>, ptr %v267, align 64
  %v269 = mul i64 %v239, 4
  %v270 = add i64 %v269, 2
  %v271 = mul i64 %v270, 64
  %v272 = getelementptr i8, ptr %v47, i64 %v271
  %v273 = load <8 x float>, ptr %v272, align 64
  %v274 = mul i64 %v239, 4
  %v275 = add i64 %v274, 3
  %v276 = mul i64 %v275, 64
  %v277 = getelementptr i8, ptr %v47, i64 %v276
  %v278 = load <8 x float>, ptr %v277, align 64
  %v279 = fadd <8 x float> %v244, %v263
  %v280 = fadd <8 x float> %v249, %v268
  %v281 = fadd <8 x float> %v254, %v273
  %v282 = fadd <8 x float> %v259, %v278
  %v283 = mul i64 %v239, 4
  %v284 = mul i64 %v283, 64
  %v285 = getelementptr i8, ptr %v47, i64 %v284
  store <8 x float> %v279, ptr %v285, align 64
  %v286 = mul i64 %v239, 4
  %v287 = add i64 %v286, 1
  %v288 = mul i64 %v287, 64
  %v289 = getelementptr i8, ptr %v47, i64 %v288
  store <8 x float> %v280, ptr %v289, align 64
  %v290 = mul i64 %v239, 4
  %v291 = add i64 %v290, 2
  %v292 = mul i64 %v291, 64
  %v293 = getelementptr i8, ptr %v47, i64 %v292
  store <8 x float> %v281, ptr %v293, align 64
  %v294 = mul i64 %v239, 4
  %v295 = add i64 %v294, 3
  %v296 = mul i64 %v295, 64
  %v297 = getelementptr i8, ptr %v47, i64 %v296
  store <8 x float> %v282, ptr %v297, align 64
  %v298 = add i64 %v236, 1
  store i64 %v298, ptr %v230
  br label %b231
  b233:
  %v299 = mul i64 %v229, 2
  store i64 %v299, ptr %v223
  br label %b224
  b226:
  store i64 0, ptr %v300
  br label %b301
  b301:
  %v304 = load i64, ptr %v300
  %v305 = icmp slt i64 %v304, %v115
  br i1 %v305, label %b302, label %b303
  b302:
  %v306 = load i64, ptr %v300
  %v307 = load <8 x float>, ptr %v42
  %v308 = load <8 x float>, ptr %v43
  %v309 = load <8 x float>, ptr %v44
  %v310 = load <8 x float>, ptr %v45
  %v311 = load <8 x float>, ptr %v30
  %v312 = load <8 x float>, ptr %v31
  %v313 = load <8 x float>, ptr %v32
  %v314 = load <8 x float>, ptr %v33
  %v315 = fadd <8 x float> %v307, %v311
  %v316 = fadd <8 x float> %v308, %v312
  %v317 = fadd <8 x float> %v309, %v313
  %v318 = fadd <8 x float> %v310, %v314
  %v319 = and i64 %v112, 15
  %v320 = icmp ne i64 %v319, 0
  %v321 = icmp sge i64 %v112, 16
  %v322 = select i1 %v321, <8 x float> %v315, <8 x float> %v311
  %v323 = select i1 %v321, <8 x float> %v316, <8 x float> %v312
  %v324 = select i1 %v321, <8 x float> %v317, <8 x float> %v313
  %v325 = select i1 %v321, <8 x float> %v318, <8 x float> %v314
  %v326 = select i1 %v320, <8 x float> %v322, <8 x float> %v307
  %v327 = select i1 %v320, <8 x float> %v323, <8 x float> %v308
  %v328 = select i1 %v320, <8 x float> %v324, <8 x float> %v309
  %v329 = select i1 %v320, <8 x float> %v325, <8 x float> %v310
  %v330 = icmp sgt i64 %v112, 0
  %v331 = udiv i64 %v306, 8
  %v332 = icmp sgt i64 %v331, 0
  %v333 = sub i64 %v331, 1
  %v334 = select i1 %v332, i64 %v333, i64 0
  %v335 = mul i64 %v334, 4
  %v336 = mul i64 %v335, 64
  %v337 = getelementptr i8, ptr %v47, i64 %v336
  %v338 = load <8 x float>, ptr %v337, align 64
  %v339 = mul i64 %v334, 4
  %v340 = add i64 %v339, 1
  %v341 = mul i64 %v340, 64
  %v342 = getelementptr i8, ptr %v47, i64 %v341
  %v343 = load <8 x float>, ptr %v342, align 64
  %v344 = mul i64 %v334, 4
  %v345 = add i64 %v344, 2
  %v346 = mul i64 %v345, 64
  %v347 = getelementptr i8, ptr %v47, i64 %v346
  %v348 = load <8 x float>, ptr %v347, align 64
  %v349 = mul i64 %v334, 4
  %v350 = add i64 %v349, 3
  %v351 = mul i64 %v350, 64
  %v352 = getelementptr i8, ptr %v47, i64 %v351
  %v353 = load <8 x float>, ptr %v352, align 64
  %v354 = fadd <8 x float> %v326, %v338
  %v355 = fadd <8 x float> %v327, %v343
  %v356 = fadd <8 x float> %v328, %v348
  %v357 = fadd <8 x float> %v329, %v353
  %v358 = select i1 %v330, <8 x float> %v354, <8 x float> %v338
  %v359 = select i1 %v330, <8 x float> %v355, <8 x float> %v343
  %v360 = select i1 %v330, <8 x float> %v356, <8 x float> %v348
  %v361 = select i1 %v330, <8 x float> %v357, <8 x float> %v353
  %v362 = select i1 %v332, <8 x float> %v358, <8 x float> %v326
  %v363 = select i1 %v332, <8 x float> %v359, <8 x float> %v327
  %v364 = select i1 %v332, <8 x float> %v360, <8 x float> %v328
  %v365 = select i1 %v332, <8 x float> %v361, <8 x float> %v329
  %v366 = or i1 %v332, %v330
  %v367 = select i1 %v366, <8 x float> %v362, <8 x float> splat (float 0x0000000000000000)
  %v368 = select i1 %v366, <8 x float> %v363, <8 x float> splat (float 0x0000000000000000)
  %v369 = select i1 %v366, <8 x float> %v364, <8 x float> splat (float 0x0000000000000000)
  %v370 = select i1 %v366, <8 x float> %v365, <8 x float> splat (float 0x0000000000000000)
  store <8 x float> %v367, ptr %v48
  store <8 x float> %v368, ptr %v49
  store <8 x float> %v369, ptr %v50
  store <8 x float> %v370, ptr %v51
  %v371 = add i64 %v306, 8
  %v372 = icmp slt i64 %v371, %v115
  %v373 = select i1 %v372, i64 %v371, i64 %v115
  store i64 %v306, ptr %v374
  br label %b375
  b375:
  %v378 = load i64, ptr %v374
  %v379 = icmp slt i64 %v378, %v373
  br i1 %v379, label %b376, label %b377
  b376:
  %v380 = load i64, ptr %v374
  %v381 = add i64 %v111, %v380
  %v382 = mul i64 %v381, %v21
  %v383 = getelementptr i8, ptr %v94, i64 %v382
  %v384 = mul i64 %v380, 4
  %v385 = mul i64 %v384, 64
  %v386 = getelementptr i8, ptr %v46, i64 %v385
  %v387 = load <8 x float>, ptr %v386, align 64
  %v388 = mul i64 %v380, 4
  %v389 = add i64 %v388, 1
  %v390 = mul i64 %v389, 64
  %v391 = getelementptr i8, ptr %v46, i64 %v390
  %v392 = load <8 x float>, ptr %v391, align 64
  %v393 = mul i64 %v380, 4
  %v394 = add i64 %v393, 2
  %v395 = mul i64 %v394, 64
  %v396 = getelementptr i8, ptr %v46, i64 %v395
  %v397 = load <8 x float>, ptr %v396, align 64
  %v398 = mul i64 %v380, 4
  %v399 = add i64 %v398, 3
  %v400 = mul i64 %v399, 64
  %v401 = getelementptr i8, ptr %v46, i64 %v400
  %v402 = load <8 x float>, ptr %v401, align 64
  %v403 = fadd <8 x float> %v362, %v387
  %v404 = fadd <8 x float> %v363, %v392
  %v405 = fadd <8 x float> %v364, %v397
  %v406 = fadd <8 x float> %v365, %v402
  %v407 = select i1 %v366, <8 x float> %v403, <8 x float> %v387
  %v408 = select i1 %v366, <8 x float> %v404, <8 x float> %v392
  %v409 = select i1 %v366, <8 x float> %v405, <8 x float> %v397
  %v410 = select i1 %v366, <8 x float> %v406, <8 x float> %v402
  %v411 = load <8 x float>, ptr %v48
  %v412 = load <8 x float>, ptr %v49
  %v413 = load <8 x float>, ptr %v50
  %v414 = load <8 x float>, ptr %v51
  store <8 x float> %v407, ptr %v48
  store <8 x float> %v408, ptr %v49
  store <8 x float> %v409, ptr %v50
  store <8 x float> %v410, ptr %v51
  %v415 = mul i64 %v381, %v23
  %v416 = getelementptr i8, ptr %v95, i64 %v415
  store <8 x float> %v407, ptr %v416, align 4
  %v417 = getelementptr i8, ptr %v416, i64 32
  store <8 x float> %v408, ptr %v417, align 4
  %v418 = getelementptr i8, ptr %v416, i64 64
  store <8 x float> %v409, ptr %v418, align 4
  %v419 = getelementptr i8, ptr %v416, i64 96
  store <8 x float> %v410, ptr %v419, align 4
  %v420 = add i64 %v380, 1
  store i64 %v420, ptr %v374
  br label %b375
  b377:
  %v421 = add i64 %v306, 8
  store i64 %v421, ptr %v300
  br label %b301
  b303:
  %v422 = sub i64 %v222, 1
  %v423 = mul i64 %v422, 4
  %v424 = mul i64 %v423, 64
  %v425 = getelementptr i8, ptr %v47, i64 %v424
  %v426 = load <8 x float>, ptr %v425, align 64
  %v427 = mul i64 %v422, 4
  %v428 = add i64 %v427, 1
  %v429 = mul i64 %v428, 64
  %v430 = getelementptr i8, ptr %v47, i64 %v429
  %v431 = load <8 x float>, ptr %v430, align 64
  %v432 = mul i64 %v422, 4
  %v433 = add i64 %v432, 2
  %v434 = mul i64 %v433, 64
  %v435 = getelementptr i8, ptr %v47, i64 %v434
  %v436 = load <8 x float>, ptr %v435, align 64
  %v437 = mul i64 %v422, 4
  %v438 = add i64 %v437, 3
  %v439 = mul i64 %v438, 64
  %v440 = getelementptr i8, ptr %v47, i64 %v439
  %v441 = load <8 x float>, ptr %v440, align 64
  %v442 = and i64 %v112, 15
  %v443 = icmp ne i64 %v442, 0
  %v444 = load <8 x float>, ptr %v30
  %v445 = load <8 x float>, ptr %v31
  %v446 = load <8 x float>, ptr %v32
  %v447 = load <8 x float>, ptr %v33
  %v448 = fadd <8 x float> %v444, %v426
  %v449 = fadd <8 x float> %v445, %v431
  %v450 = fadd <8 x float> %v446, %v436
  %v451 = fadd <8 x float> %v447, %v441
  %v452 = select i1 %v443, <8 x float> %v448, <8 x float> %v426
  %v453 = select i1 %v443, <8 x float> %v449, <8 x float> %v431
  %v454 = select i1 %v443, <8 x float> %v450, <8 x float> %v436
  %v455 = select i1 %v443, <8 x float> %v451, <8 x float> %v441
  store <8 x float> %v452, ptr %v30
  store <8 x float> %v453, ptr %v31
  store <8 x float> %v454, ptr %v32
  store <8 x float> %v455, ptr %v33
  %v456 = and i64 %v112, 15
  %v457 = icmp eq i64 %v456, 15
  br i1 %v457, label %b458, label %b459
  b458:
  %v460 = lshr i64 %v112, 4
  %v461 = load <8 x float>, ptr %v30
  %v462 = load <8 x float>, ptr %v31
  %v463 = load <8 x float>, ptr %v32
  %v464 = load <8 x float>, ptr %v33
  %v465 = and i64 %v460, 63
  %v466 = icmp ne i64 %v465, 0
  %v467 = load <8 x float>, ptr %v34
  %v468 = load <8 x float>, ptr %v35
  %v469 = load <8 x float>, ptr %v36
  %v470 = load <8 x float>, ptr %v37
  %v471 = fadd <8 x float> %v467, %v461
  %v472 = fadd <8 x float> %v468, %v462
  %v473 = fadd <8 x float> %v469, %v463
  %v474 = fadd <8 x float> %v470, %v464
  %v475 = select i1 %v466, <8 x float> %v471, <8 x float> %v461
  %v476 = select i1 %v466, <8 x float> %v472, <8 x float> %v462
  %v477 = select i1 %v466, <8 x float> %v473, <8 x float> %v463
  %v478 = select i1 %v466, <8 x float> %v474, <8 x float> %v464
  store <8 x float> %v475, ptr %v34
  store <8 x float> %v476, ptr %v35
  store <8 x float> %v477, ptr %v36
  store <8 x float> %v478, ptr %v37
  %v479 = load <8 x float>, ptr %v34
  %v480 = load <8 x float>, ptr %v35
  %v481 = load <8 x float>, ptr %v36
  %v482 = load <8 x float>, ptr %v37
  %v483 = and i64 %v460, 63
  %v484 = icmp eq i64 %v483, 63
  br i1 %v484, label %b485, label %b486
  b485:
  %v487 = icmp eq i64 %v460, 63
  %v488 = load <8 x float>, ptr %v38
  %v489 = load <8 x float>, ptr %v39
  %v490 = load <8 x float>, ptr %v40
  %v491 = load <8 x float>, ptr %v41
  %v492 = fadd <8 x float> %v488, %v479
  %v493 = fadd <8 x float> %v489, %v480
  %v494 = fadd <8 x float> %v490, %v481
  %v495 = fadd <8 x float> %v491, %v482
  %v496 = select i1 %v487, <8 x float> %v479, <8 x float> %v492
  %v497 = select i1 %v487, <8 x float> %v480, <8 x float> %v493
  %v498 = select i1 %v487, <8 x float> %v481, <8 x float> %v494
  %v499 = select i1 %v487, <8 x float> %v482, <8 x float> %v495
  store <8 x float> %v496, ptr %v38
  store <8 x float> %v497, ptr %v39
  store <8 x float> %v498, ptr %v40
  store <8 x float> %v499, ptr %v41
  br label %b486
  b486:
  %v500 = load <8 x float>, ptr %v38
  %v501 = load <8 x float>, ptr %v39
  %v502 = load <8 x float>, ptr %v40
  %v503 = load <8 x float>, ptr %v41
  %v504 = fadd <8 x float> %v500, %v479
  %v505 = fadd <8 x float> %v501, %v480
  %v506 = fadd <8 x float> %v502, %v481
  %v507 = fadd <8 x float> %v503, %v482
  %v508 = icmp sge i64 %v460, 63
  %v509 = add i64 %v460, 1
  %v510 = and i64 %v509, 63
  %v511 = icmp ne i64 %v510, 0
  %v512 = select i1 %v508, <8 x float> %v504, <8 x float> %v479
  %v513 = select i1 %v508, <8 x float> %v505, <8 x float> %v480
  %v514 = select i1 %v508, <8 x float> %v506, <8 x float> %v481
  %v515 = select i1 %v508, <8 x float> %v507, <8 x float> %v482
  %v516 = select i1 %v511, <8 x float> %v512, <8 x float> %v500
  %v517 = select i1 %v511, <8 x float> %v513, <8 x float> %v501
  %v518 = select i1 %v511, <8 x float> %v514, <8 x float> %v502
  %v519 = select i1 %v511, <8 x float> %v515, <8 x float> %v503
  store <8 x float> %v516, ptr %v42
  store <8 x float> %v517, ptr %v43
  store <8 x float> %v518, ptr %v44
  store <8 x float> %v519, ptr %v45
  br label %b459
  b459:
  %v520 = add i64 %v111, 256
  store i64 %v520, ptr %v105
  br label %b106
  b108:
  br label %b104
  b104:
  %v521 = xor i1 %v102, true
  br i1 %v521, label %b522, label %b523
  b522:
  store i64 0, ptr %v524
  br label %b525
  b525:
  %v528 = load i64, ptr %v524
  %v529 = icmp slt i64 %v528, %v99
  br i1 %v529, label %b526, label %b527
  b526:
  %v530 = load i64, ptr %v524
  %v531 = mul i64 %v530, %v2
  %v532 = getelementptr i8, ptr %v94, i64 %v531
  %v533 = mul i64 %v530, %v4
  %v534 = getelementptr i8, ptr %v95, i64 %v533
  %v535 = add i64 %v98, %v530
  %v536 = sub i64 %v99, %v530
  %v537 = icmp slt i64 8, %v536
  %v538 = select i1 %v537, i64 8, i64 %v536
  %v539 = add i64 %v101, %v530
  store i64 0, ptr %v540
  br label %b541
  b541:
  %v544 = load i64, ptr %v540
  %v545 = icmp slt i64 %v544, %v53
  br i1 %v545, label %b542, label %b543
  b542:
  %v546 = load i64, ptr %v540
  %v547 = udiv i64 %v546, 256
  %v548 = sub i64 %v53, %v546
  %v549 = icmp slt i64 %v548, 256
  %v550 = select i1 %v549, i64 %v548, i64 256
  store i64 0, ptr %v551
  br label %b552
  b552:
  %v555 = load i64, ptr %v551
  %v556 = icmp slt i64 %v555, %v550
  br i1 %v556, label %b553, label %b554
  b553:
  %v557 = load i64, ptr %v551
  %v558 = add i64 %v546, %v557
  %v559 = mul i64 %v558, %v57
  %v560 = getelementptr i8, ptr %v532, i64 %v559
  %v561 = trunc i64 %v538 to i32
  %v562 = insertelement <8 x i32> poison, i32 %v561, i64 0
  %v563 = shufflevector <8 x i32> %v562, <8 x i32> poison, <8 x i32> zeroinitializer
  %v564 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v563
  %v565 = trunc i64 %v538 to i32
  %v566 = insertelement <8 x i32> poison, i32 %v565, i64 0
  %v567 = shufflevector <8 x i32> %v566, <8 x i32> poison, <8 x i32> zeroinitializer
  %v568 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v567
  %v569 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v560, i32 4, <8 x i1> %v568, <8 x float> zeroinitializer)
  store <8 x float> %v569, ptr %v72
  %v570 = mul i64 %v557, 64
  %v571 = getelementptr i8, ptr %v70, i64 %v570
  store <8 x float> %v569, ptr %v571, align 64
  %v572 = add i64 %v557, 1
  %v573 = add i64 %v557, 8
  %v574 = icmp slt i64 %v573, %v550
  %v575 = select i1 %v574, i64 %v573, i64 %v550
  store i64 %v572, ptr %v576
  br label %b577
  b577:
  %v580 = load i64, ptr %v576
  %v581 = icmp slt i64 %v580, %v575
  br i1 %v581, label %b578, label %b579
  b578:
  %v582 = load i64, ptr %v576
  %v583 = add i64 %v546, %v582
  %v584 = add i64 %v583, 2
  %v585 = sub i64 %v53, 1
  %v586 = icmp slt i64 %v584, %v585
  %v587 = select i1 %v586, i64 %v584, i64 %v585
  %v588 = mul i64 %v587, %v57
  %v589 = getelementptr i8, ptr %v532, i64 %v588
  call void @llvm.prefetch.p0(ptr %v589, i32 0, i32 3, i32 1)
  %v590 = mul i64 %v583, %v57
  %v591 = getelementptr i8, ptr %v532, i64 %v590
  %v592 = trunc i64 %v538 to i32
  %v593 = insertelement <8 x i32> poison, i32 %v592, i64 0
  %v594 = shufflevector <8 x i32> %v593, <8 x i32> poison, <8 x i32> zeroinitializer
  %v595 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v594
  %v596 = trunc i64 %v538 to i32
  %v597 = insertelement <8 x i32> poison, i32 %v596, i64 0
  %v598 = shufflevector <8 x i32> %v597, <8 x i32> poison, <8 x i32> zeroinitializer
  %v599 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v598
  %v600 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v591, i32 4, <8 x i1> %v599, <8 x float> zeroinitializer)
  %v601 = load <8 x float>, ptr %v72
  %v602 = fadd <8 x float> %v601, %v600
  store <8 x float> %v602, ptr %v72
  %v603 = mul i64 %v582, 64
  %v604 = getelementptr i8, ptr %v70, i64 %v603
  store <8 x float> %v602, ptr %v604, align 64
  %v605 = add i64 %v582, 1
  store i64 %v605, ptr %v576
  br label %b577
  b579:
  %v606 = udiv i64 %v557, 8
  %v607 = load <8 x float>, ptr %v72
  %v608 = mul i64 %v606, 64
  %v609 = getelementptr i8, ptr %v71, i64 %v608
  store <8 x float> %v607, ptr %v609, align 64
  %v610 = add i64 %v557, 8
  store i64 %v610, ptr %v551
  br label %b552
  b554:
  %v611 = add i64 %v550, 7
  %v612 = udiv i64 %v611, 8
  store i64 1, ptr %v613
  br label %b614
  b614:
  %v617 = load i64, ptr %v613
  %v618 = icmp slt i64 %v617, %v612
  br i1 %v618, label %b615, label %b616
  b615:
  %v619 = load i64, ptr %v613
  store i64 %v619, ptr %v620
  br label %b621
  b621:
  %v624 = load i64, ptr %v620
  %v625 = icmp slt i64 %v624, %v612
  br i1 %v625, label %b622, label %b623
  b622:
  %v626 = load i64, ptr %v620
  %v627 = sub i64 %v612, 1
  %v628 = add i64 %v619, %v627
  %v629 = sub i64 %v628, %v626
  %v630 = sub i64 %v629, %v619
  %v631 = mul i64 %v630, 64
  %v632 = getelementptr i8, ptr %v71, i64 %v631
  %v633 = load <8 x float>, ptr %v632, align 64
  %v634 = mul i64 %v629, 64
  %v635 = getelementptr i8, ptr %v71, i64 %v634
  %v636 = load <8 x float>, ptr %v635, align 64
  %v637 = fadd <8 x float> %v633, %v636
  %v638 = mul i64 %v629, 64
  %v639 = getelementptr i8, ptr %v71, i64 %v638
  store <8 x float> %v637, ptr %v639, align 64
  %v640 = add i64 %v626, 1
  store i64 %v640, ptr %v620
  br label %b621
  b623:
  %v641 = mul i64 %v619, 2
  store i64 %v641, ptr %v613
  br label %b614
  b616:
  store i64 0, ptr %v642
  br label %b643
  b643:
  %v646 = load i64, ptr %v642
  %v647 = icmp slt i64 %v646, %v550
  br i1 %v647, label %b644, label %b645
  b644:
  %v648 = load i64, ptr %v642
  %v649 = load <8 x float>, ptr %v69
  %v650 = load <8 x float>, ptr %v66
  %v651 = fadd <8 x float> %v649, %v650
  %v652 = and i64 %v547, 15
  %v653 = icmp ne i64 %v652, 0
  %v654 = icmp sge i64 %v547, 16
  %v655 = select i1 %v654, <8 x float> %v651, <8 x float> %v650
  %v656 = select i1 %v653, <8 x float> %v655, <8 x float> %v649
  %v657 = icmp sgt i64 %v547, 0
  %v658 = udiv i64 %v648, 8
  %v659 = icmp sgt i64 %v658, 0
  %v660 = sub i64 %v658, 1
  %v661 = select i1 %v659, i64 %v660, i64 0
  %v662 = mul i64 %v661, 64
  %v663 = getelementptr i8, ptr %v71, i64 %v662
  %v664 = load <8 x float>, ptr %v663, align 64
  %v665 = fadd <8 x float> %v656, %v664
  %v666 = select i1 %v657, <8 x float> %v665, <8 x float> %v664
  %v667 = select i1 %v659, <8 x float> %v666, <8 x float> %v656
  %v668 = or i1 %v659, %v657
  %v669 = select i1 %v668, <8 x float> %v667, <8 x float> splat (float 0x0000000000000000)
  store <8 x float> %v669, ptr %v72
  %v670 = add i64 %v648, 8
  %v671 = icmp slt i64 %v670, %v550
  %v672 = select i1 %v671, i64 %v670, i64 %v550
  store i64 %v648, ptr %v673
  br label %b674
  b674:
  %v677 = load i64, ptr %v673
  %v678 = icmp slt i64 %v677, %v672
  br i1 %v678, label %b675, label %b676
  b675:
  %v679 = load i64, ptr %v673
  %v680 = add i64 %v546, %v679
  %v681 = mul i64 %v680, %v57
  %v682 = getelementptr i8, ptr %v532, i64 %v681
  %v683 = trunc i64 %v538 to i32
  %v684 = insertelement <8 x i32> poison, i32 %v683, i64 0
  %v685 = shufflevector <8 x i32> %v684, <8 x i32> poison, <8 x i32> zeroinitializer
  %v686 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v685
  %v687 = mul i64 %v679, 64
  %v688 = getelementptr i8, ptr %v70, i64 %v687
  %v689 = load <8 x float>, ptr %v688, align 64
  %v690 = fadd <8 x float> %v667, %v689
  %v691 = select i1 %v668, <8 x float> %v690, <8 x float> %v689
  %v692 = load <8 x float>, ptr %v72
  store <8 x float> %v691, ptr %v72
  %v693 = mul i64 %v680, %v59
  %v694 = getelementptr i8, ptr %v534, i64 %v693
  %v695 = trunc i64 %v538 to i32
  %v696 = insertelement <8 x i32> poison, i32 %v695, i64 0
  %v697 = shufflevector <8 x i32> %v696, <8 x i32> poison, <8 x i32> zeroinitializer
  %v698 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v697
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v691, ptr %v694, i32 4, <8 x i1> %v698)
  %v699 = add i64 %v679, 1
  store i64 %v699, ptr %v673
  br label %b674
  b676:
  %v700 = add i64 %v648, 8
  store i64 %v700, ptr %v642
  br label %b643
  b645:
  %v701 = sub i64 %v612, 1
  %v702 = mul i64 %v701, 64
  %v703 = getelementptr i8, ptr %v71, i64 %v702
  %v704 = load <8 x float>, ptr %v703, align 64
  %v705 = and i64 %v547, 15
  %v706 = icmp ne i64 %v705, 0
  %v707 = load <8 x float>, ptr %v66
  %v708 = fadd <8 x float> %v707, %v704
  %v709 = select i1 %v706, <8 x float> %v708, <8 x float> %v704
  store <8 x float> %v709, ptr %v66
  %v710 = and i64 %v547, 15
  %v711 = icmp eq i64 %v710, 15
  br i1 %v711, label %b712, label %b713
  b712:
  %v714 = lshr i64 %v547, 4
  %v715 = load <8 x float>, ptr %v66
  %v716 = and i64 %v714, 63
  %v717 = icmp ne i64 %v716, 0
  %v718 = load <8 x float>, ptr %v67
  %v719 = fadd <8 x float> %v718, %v715
  %v720 = select i1 %v717, <8 x float> %v719, <8 x float> %v715
  store <8 x float> %v720, ptr %v67
  %v721 = load <8 x float>, ptr %v67
  %v722 = and i64 %v714, 63
  %v723 = icmp eq i64 %v722, 63
  br i1 %v723, label %b724, label %b725
  b724:
  %v726 = icmp eq i64 %v714, 63
  %v727 = load <8 x float>, ptr %v68
  %v728 = fadd <8 x float> %v727, %v721
  %v729 = select i1 %v726, <8 x float> %v721, <8 x float> %v728
  store <8 x float> %v729, ptr %v68
  br label %b725
  b725:
  %v730 = load <8 x float>, ptr %v68
  %v731 = fadd <8 x float> %v730, %v721
  %v732 = icmp sge i64 %v714, 63
  %v733 = add i64 %v714, 1
  %v734 = and i64 %v733, 63
  %v735 = icmp ne i64 %v734, 0
  %v736 = select i1 %v732, <8 x float> %v731, <8 x float> %v721
  %v737 = select i1 %v735, <8 x float> %v736, <8 x float> %v730
  store <8 x float> %v737, ptr %v69
  br label %b713
  b713:
  %v738 = add i64 %v546, 256
  store i64 %v738, ptr %v540
  br label %b541
  b543:
  %v739 = add i64 %v530, 8
  store i64 %v739, ptr %v524
  br label %b525
  b527:
  br label %b523
  b523:
  %v740 = load i64, ptr %v76
  %v741 = add i64 %v740, 1
  store i64 %v741, ptr %v76
  %v742 = load ptr, ptr %v81
  %v743 = getelementptr i8, ptr %v742, i64 0
  store ptr %v743, ptr %v81
  %v744 = load ptr, ptr %v86
  %v745 = getelementptr i8, ptr %v744, i64 0
  store ptr %v745, ptr %v86
  %v746 = load i64, ptr %v76
  %v747 = icmp eq i64 %v746, %v10
  br i1 %v747, label %b748, label %b749
  b748:
  %v750 = mul i64 0, %v10
  %v751 = load ptr, ptr %v81
  %v752 = sub i64 0, %v750
  %v753 = getelementptr i8, ptr %v751, i64 %v752
  store ptr %v753, ptr %v81
  %v754 = mul i64 0, %v10
  %v755 = load ptr, ptr %v86
  %v756 = sub i64 0, %v754
  %v757 = getelementptr i8, ptr %v755, i64 %v756
  store ptr %v757, ptr %v86
  store i64 0, ptr %v76
  %v758 = load i64, ptr %v75
  %v759 = add i64 %v758, 1
  store i64 %v759, ptr %v75
  %v760 = load ptr, ptr %v81
  %v761 = getelementptr i8, ptr %v760, i64 %v5
  store ptr %v761, ptr %v81
  %v762 = load ptr, ptr %v86
  %v763 = getelementptr i8, ptr %v762, i64 %v6
  store ptr %v763, ptr %v86
  br label %b749
  b749:
  %v764 = add i64 %v93, 1
  store i64 %v764, ptr %v87
  br label %b88
  b90:
  ret void
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
