define void @kab3aa9ddf033ff78141fa17fb4d62225(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
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
  %v11 = load ptr, ptr %words, align 8
  %v12 = getelementptr i8, ptr %words, i64 8
  %v13 = load ptr, ptr %v12, align 8
  %v14 = getelementptr i8, ptr %words, i64 64
  %v15 = load i64, ptr %v14, align 8
  %v16 = getelementptr i8, ptr %words, i64 72
  %v17 = load i64, ptr %v16, align 8
  %v18 = alloca [49920 x float], align 64
  %v19 = getelementptr i8, ptr %words, i64 80
  %v20 = load i64, ptr %v19, align 8
  %v21 = getelementptr i8, ptr %words, i64 88
  %v22 = load i64, ptr %v21, align 8
  %v23 = getelementptr i8, ptr %words, i64 96
  %v24 = load i64, ptr %v23, align 8
  %v25 = getelementptr i8, ptr %words, i64 104
  %v26 = load i64, ptr %v25, align 8
  %v27 = getelementptr i8, ptr %words, i64 112
  %v28 = load i64, ptr %v27, align 8
  %v29 = getelementptr i8, ptr %words, i64 120
  %v30 = load i64, ptr %v29, align 8
  %v31 = getelementptr i8, ptr %words, i64 128
  %v32 = load i64, ptr %v31, align 8
  %v33 = getelementptr i8, ptr %words, i64 136
  %v34 = load i64, ptr %v33, align 8
  %v35 = getelementptr i8, ptr %words, i64 144
  %v36 = load i64, ptr %v35, align 8
  %v37 = getelementptr i8, ptr %words, i64 152
  %v38 = load i64, ptr %v37, align 8
  %v39 = getelementptr i8, ptr %words, i64 160
  %v40 = load i64, ptr %v39, align 8
  %v41 = getelementptr i8, ptr %words, i64 168
  %v42 = load i64, ptr %v41, align 8
  %v43 = getelementptr i8, ptr %words, i64 176
  %v44 = load i64, ptr %v43, align 8
  %v45 = getelementptr i8, ptr %words, i64 184
  %v46 = load i64, ptr %v45, align 8
  %v47 = getelementptr i8, ptr %words, i64 192
  %v48 = load i64, ptr %v47, align 8
  %v51 = alloca i64, align 8
  %v52 = alloca i64, align 8
  %v57 = alloca ptr, align 8
  %v62 = alloca ptr, align 8
  %v63 = alloca i64, align 8
  %v80 = alloca i64, align 8
  %v81 = alloca i64, align 8
  %v94 = alloca i64, align 8
  %v112 = alloca i64, align 8
  %v129 = alloca <8 x float>, align 64
  %v130 = alloca <8 x float>, align 64
  %v203 = alloca <8 x float>, align 64
  %v204 = alloca <8 x float>, align 64
  %v205 = alloca i64, align 8
  %v233 = alloca i64, align 8
  %v259 = alloca <8 x float>, align 64
  %v359 = alloca <8 x float>, align 64
  %v360 = alloca i64, align 8
  %v401 = alloca i64, align 8
  %v418 = alloca <8 x float>, align 64
  %v419 = alloca <8 x float>, align 64
  %v421 = alloca i64, align 8
  %v440 = alloca <8 x float>, align 64
  %v441 = alloca <8 x float>, align 64
  %v442 = alloca i64, align 8
  %v470 = alloca i64, align 8
  %v496 = alloca <8 x float>, align 64
  %v498 = alloca i64, align 8
  %v520 = alloca <8 x float>, align 64
  %v521 = alloca i64, align 8
  %v552 = alloca i64, align 8
  %v564 = alloca <8 x float>, align 64
  %v565 = alloca i64, align 8
  %v588 = alloca i64, align 8
  %v609 = alloca i64, align 8
  br label %start
  start:
  %v49 = urem i64 %begin, %v6
  %v50 = udiv i64 %begin, %v6
  store i64 %v50, ptr %v51
  store i64 %v49, ptr %v52
  %v53 = mul i64 %v50, %v8
  %v54 = getelementptr i8, ptr %v11, i64 %v53
  %v55 = mul i64 %v49, 0
  %v56 = getelementptr i8, ptr %v54, i64 %v55
  store ptr %v56, ptr %v57
  %v58 = mul i64 %v50, %v10
  %v59 = getelementptr i8, ptr %v13, i64 %v58
  %v60 = mul i64 %v49, 0
  %v61 = getelementptr i8, ptr %v59, i64 %v60
  store ptr %v61, ptr %v62
  store i64 %begin, ptr %v63
  br label %b64
  b64:
  %v67 = load i64, ptr %v63
  %v68 = icmp slt i64 %v67, %end
  br i1 %v68, label %b65, label %b66
  b65:
  %v69 = load i64, ptr %v63
  %v70 = load i64, ptr %v51
  %v71 = load i64, ptr %v52
  %v72 = mul i64 %v70, %v17
  %v73 = mul i64 0, %v15
  %v74 = add i64 %v73, %v72
  %v75 = load ptr, ptr %v57
  %v76 = load ptr, ptr %v62
  %v77 = sub i64 %v15, %v72
  %v78 = icmp slt i64 %v17, %v77
  %v79 = select i1 %v78, i64 %v17, i64 %v77
  store i64 0, ptr %v80
  store i64 0, ptr %v81
  br label %b82
  b82:
  %v85 = load i64, ptr %v81
  %v86 = icmp slt i64 %v85, %v2
  br i1 %v86, label %b83, label %b84
  b83:
  %v87 = load i64, ptr %v81
  %v88 = mul i64 %v87, 1024
  %v89 = sub i64 %v48, %v88
  %v90 = icmp slt i64 1024, %v89
  %v91 = select i1 %v90, i64 1024, i64 %v89
  %v92 = icmp slt i64 128, %v91
  %v93 = select i1 %v92, i64 128, i64 %v91
  store i64 0, ptr %v94
  %v95 = sub i64 %v91, 896
  br label %b96
  b96:
  %v99 = load i64, ptr %v94
  %v100 = icmp slt i64 %v99, %v95
  br i1 %v100, label %b97, label %b98
  b97:
  %v101 = load i64, ptr %v94
  %v102 = add i64 %v88, %v101
  %v103 = load i64, ptr %v80
  %v104 = add i64 %v103, 1
  store i64 %v104, ptr %v80
  %v105 = icmp ne i64 %v103, 0
  %v106 = zext i1 %v105 to i64
  %v107 = call i64 @llvm.ctpop.i64(i64 %v103)
  %v108 = sub i64 -1, %v103
  %v109 = call i64 @llvm.cttz.i64(i64 %v108, i1 false)
  %v110 = sub i64 %v107, %v109
  %v111 = and i64 %v79, -16
  store i64 0, ptr %v112
  br label %b113
  b113:
  %v116 = load i64, ptr %v112
  %v117 = icmp slt i64 %v116, %v111
  br i1 %v117, label %b114, label %b115
  b114:
  %v118 = load i64, ptr %v112
  %v119 = mul i64 %v118, %v28
  %v120 = getelementptr i8, ptr %v75, i64 %v119
  %v121 = mul i64 %v118, %v30
  %v122 = getelementptr i8, ptr %v76, i64 %v121
  %v123 = add i64 %v72, %v118
  %v124 = mul i64 %v102, %v24
  %v125 = getelementptr i8, ptr %v120, i64 %v124
  %v126 = load <8 x float>, ptr %v125, align 4
  %v127 = getelementptr i8, ptr %v125, i64 32
  %v128 = load <8 x float>, ptr %v127, align 4
  store <8 x float> %v126, ptr %v129
  store <8 x float> %v128, ptr %v130
  %v131 = add i64 %v102, 128
  %v132 = mul i64 %v131, %v24
  %v133 = getelementptr i8, ptr %v120, i64 %v132
  %v134 = load <8 x float>, ptr %v133, align 4
  %v135 = getelementptr i8, ptr %v133, i64 32
  %v136 = load <8 x float>, ptr %v135, align 4
  %v137 = load <8 x float>, ptr %v129
  %v138 = fadd <8 x float> %v137, %v134
  store <8 x float> %v138, ptr %v129
  %v139 = load <8 x float>, ptr %v130
  %v140 = fadd <8 x float> %v139, %v136
  store <8 x float> %v140, ptr %v130
  %v141 = add i64 %v102, 256
  %v142 = mul i64 %v141, %v24
  %v143 = getelementptr i8, ptr %v120, i64 %v142
  %v144 = load <8 x float>, ptr %v143, align 4
  %v145 = getelementptr i8, ptr %v143, i64 32
  %v146 = load <8 x float>, ptr %v145, align 4
  %v147 = load <8 x float>, ptr %v129
  %v148 = fadd <8 x float> %v147, %v144
  store <8 x float> %v148, ptr %v129
  %v149 = load <8 x float>, ptr %v130
  %v150 = fadd <8 x float> %v149, %v146
  store <8 x float> %v150, ptr %v130
  %v151 = add i64 %v102, 384
  %v152 = mul i64 %v151, %v24
  %v153 = getelementptr i8, ptr %v120, i64 %v152
  %v154 = load <8 x float>, ptr %v153, align 4
  %v155 = getelementptr i8, ptr %v153, i64 32
  %v156 = load <8 x float>, ptr %v155, align 4
  %v157 = load <8 x float>, ptr %v129
  %v158 = fadd <8 x float> %v157, %v154
  store <8 x float> %v158, ptr %v129
  %v159 = load <8 x float>, ptr %v130
  %v160 = fadd <8 x float> %v159, %v156
  store <8 x float> %v160, ptr %v130
  %v161 = add i64 %v102, 512
  %v162 = mul i64 %v161, %v24
  %v163 = getelementptr i8, ptr %v120, i64 %v162
  %v164 = load <8 x float>, ptr %v163, align 4
  %v165 = getelementptr i8, ptr %v163, i64 32
  %v166 = load <8 x float>, ptr %v165, align 4
  %v167 = load <8 x float>, ptr %v129
  %v168 = fadd <8 x float> %v167, %v164
  store <8 x float> %v168, ptr %v129
  %v169 = load <8 x float>, ptr %v130
  %v170 = fadd <8 x float> %v169, %v166
  store <8 x float> %v170, ptr %v130
  %v171 = add i64 %v102, 640
  %v172 = mul i64 %v171, %v24
  %v173 = getelementptr i8, ptr %v120, i64 %v172
  %v174 = load <8 x float>, ptr %v173, align 4
  %v175 = getelementptr i8, ptr %v173, i64 32
  %v176 = load <8 x float>, ptr %v175, align 4
  %v177 = load <8 x float>, ptr %v129
  %v178 = fadd <8 x float> %v177, %v174
  store <8 x float> %v178, ptr %v129
  %v179 = load <8 x float>, ptr %v130
  %v180 = fadd <8 x float> %v179, %v176
  store <8 x float> %v180, ptr %v130
  %v181 = add i64 %v102, 768
  %v182 = mul i64 %v181, %v24
  %v183 = getelementptr i8, ptr %v120, i64 %v182
  %v184 = load <8 x float>, ptr %v183, align 4
  %v185 = getelementptr i8, ptr %v183, i64 32
  %v186 = load <8 x float>, ptr %v185, align 4
  %v187 = load <8 x float>, ptr %v129
  %v188 = fadd <8 x float> %v187, %v184
  store <8 x float> %v188, ptr %v129
  %v189 = load <8 x float>, ptr %v130
  %v190 = fadd <8 x float> %v189, %v186
  store <8 x float> %v190, ptr %v130
  %v191 = add i64 %v102, 896
  %v192 = mul i64 %v191, %v24
  %v193 = getelementptr i8, ptr %v120, i64 %v192
  %v194 = load <8 x float>, ptr %v193, align 4
  %v195 = getelementptr i8, ptr %v193, i64 32
  %v196 = load <8 x float>, ptr %v195, align 4
  %v197 = load <8 x float>, ptr %v129
  %v198 = fadd <8 x float> %v197, %v194
  store <8 x float> %v198, ptr %v129
  %v199 = load <8 x float>, ptr %v130
  %v200 = fadd <8 x float> %v199, %v196
  store <8 x float> %v200, ptr %v130
  %v201 = load <8 x float>, ptr %v129
  %v202 = load <8 x float>, ptr %v130
  store <8 x float> %v201, ptr %v203
  store <8 x float> %v202, ptr %v204
  store i64 %v107, ptr %v205
  br label %b206
  b206:
  %v209 = load i64, ptr %v205
  %v210 = icmp slt i64 %v110, %v209
  br i1 %v210, label %b207, label %b208
  b207:
  %v211 = load i64, ptr %v205
  %v212 = sub i64 %v211, 1
  store i64 %v212, ptr %v205
  %v213 = load i64, ptr %v205
  %v214 = mul i64 %v213, 2080
  %v215 = add i64 %v214, %v118
  %v216 = mul i64 %v215, 4
  %v217 = getelementptr i8, ptr %v18, i64 %v216
  %v218 = load <8 x float>, ptr %v217, align 4
  %v219 = load <8 x float>, ptr %v203
  %v220 = fadd <8 x float> %v218, %v219
  store <8 x float> %v220, ptr %v203
  %v221 = getelementptr i8, ptr %v217, i64 32
  %v222 = load <8 x float>, ptr %v221, align 4
  %v223 = load <8 x float>, ptr %v204
  %v224 = fadd <8 x float> %v222, %v223
  store <8 x float> %v224, ptr %v204
  br label %b206
  b208:
  %v225 = mul i64 %v110, 2080
  %v226 = add i64 %v225, %v118
  %v227 = mul i64 %v226, 4
  %v228 = getelementptr i8, ptr %v18, i64 %v227
  %v229 = load <8 x float>, ptr %v203
  store <8 x float> %v229, ptr %v228, align 4
  %v230 = load <8 x float>, ptr %v204
  %v231 = getelementptr i8, ptr %v228, i64 32
  store <8 x float> %v230, ptr %v231, align 4
  %v232 = add i64 %v118, 16
  store i64 %v232, ptr %v112
  br label %b113
  b115:
  store i64 %v111, ptr %v233
  br label %b234
  b234:
  %v237 = load i64, ptr %v233
  %v238 = icmp slt i64 %v237, %v79
  br i1 %v238, label %b235, label %b236
  b235:
  %v239 = load i64, ptr %v233
  %v240 = sub i64 %v79, %v239
  %v241 = icmp slt i64 8, %v240
  %v242 = select i1 %v241, i64 8, i64 %v240
  %v243 = mul i64 %v239, %v42
  %v244 = getelementptr i8, ptr %v75, i64 %v243
  %v245 = mul i64 %v239, %v44
  %v246 = getelementptr i8, ptr %v76, i64 %v245
  %v247 = add i64 %v72, %v239
  %v248 = mul i64 %v102, %v38
  %v249 = getelementptr i8, ptr %v244, i64 %v248
  %v250 = trunc i64 %v242 to i32
  %v251 = insertelement <8 x i32> poison, i32 %v250, i64 0
  %v252 = shufflevector <8 x i32> %v251, <8 x i32> poison, <8 x i32> zeroinitializer
  %v253 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v252
  %v254 = trunc i64 %v242 to i32
  %v255 = insertelement <8 x i32> poison, i32 %v254, i64 0
  %v256 = shufflevector <8 x i32> %v255, <8 x i32> poison, <8 x i32> zeroinitializer
  %v257 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v256
  %v258 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v249, i32 4, <8 x i1> %v257, <8 x float> zeroinitializer)
  store <8 x float> %v258, ptr %v259
  %v260 = add i64 %v102, 128
  %v261 = mul i64 %v260, %v38
  %v262 = getelementptr i8, ptr %v244, i64 %v261
  %v263 = trunc i64 %v242 to i32
  %v264 = insertelement <8 x i32> poison, i32 %v263, i64 0
  %v265 = shufflevector <8 x i32> %v264, <8 x i32> poison, <8 x i32> zeroinitializer
  %v266 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v265
  %v267 = trunc i64 %v242 to i32
  %v268 = insertelement <8 x i32> poison, i32 %v267, i64 0
  %v269 = shufflevector <8 x i32> %v268, <8 x i32> poison, <8 x i32> zeroinitializer
  %v270 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v269
  %v271 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v262, i32 4, <8 x i1> %v270, <8 x float> zeroinitializer)
  %v272 = load <8 x float>, ptr %v259
  %v273 = fadd <8 x float> %v272, %v271
  store <8 x float> %v273, ptr %v259
  %v274 = add i64 %v102, 256
  %v275 = mul i64 %v274, %v38
  %v276 = getelementptr i8, ptr %v244, i64 %v275
  %v277 = trunc i64 %v242 to i32
  %v278 = insertelement <8 x i32> poison, i32 %v277, i64 0
  %v279 = shufflevector <8 x i32> %v278, <8 x i32> poison, <8 x i32> zeroinitializer
  %v280 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v279
  %v281 = trunc i64 %v242 to i32
  %v282 = insertelement <8 x i32> poison, i32 %v281, i64 0
  %v283 = shufflevector <8 x i32> %v282, <8 x i32> poison, <8 x i32> zeroinitializer
  %v284 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v283
  %v285 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v276, i32 4, <8 x i1> %v284, <8 x float> zeroinitializer)
  %v286 = load <8 x float>, ptr %v259
  %v287 = fadd <8 x float> %v286, %v285
  store <8 x float> %v287, ptr %v259
  %v288 = add i64 %v102, 384
  %v289 = mul i64 %v288, %v38
  %v290 = getelementptr i8, ptr %v244, i64 %v289
  %v291 = trunc i64 %v242 to i32
  %v292 = insertelement <8 x i32> poison, i32 %v291, i64 0
  %v293 = shufflevector <8 x i32> %v292, <8 x i32> poison, <8 x i32> zeroinitializer
  %v294 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v293
  %v295 = trunc i64 %v242 to i32
  %v296 = insertelement <8 x i32> poison, i32 %v295, i64 0
  %v297 = shufflevector <8 x i32> %v296, <8 x i32> poison, <8 x i32> zeroinitializer
  %v298 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v297
  %v299 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v290, i32 4, <8 x i1> %v298, <8 x float> zeroinitializer)
  %v300 = load <8 x float>, ptr %v259
  %v301 = fadd <8 x float> %v300, %v299
  store <8 x float> %v301, ptr %v259
  %v302 = add i64 %v102, 512
  %v303 = mul i64 %v302, %v38
  %v304 = getelementptr i8, ptr %v244, i64 %v303
  %v305 = trunc i64 %v242 to i32
  %v306 = insertelement <8 x i32> poison, i32 %v305, i64 0
  %v307 = shufflevector <8 x i32> %v306, <8 x i32> poison, <8 x i32> zeroinitializer
  %v308 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v307
  %v309 = trunc i64 %v242 to i32
  %v310 = insertelement <8 x i32> poison, i32 %v309, i64 0
  %v311 = shufflevector <8 x i32> %v310, <8 x i32> poison, <8 x i32> zeroinitializer
  %v312 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v311
  %v313 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v304, i32 4, <8 x i1> %v312, <8 x float> zeroinitializer)
  %v314 = load <8 x float>, ptr %v259
  %v315 = fadd <8 x float> %v314, %v313
  store <8 x float> %v315, ptr %v259
  %v316 = add i64 %v102, 640
  %v317 = mul i64 %v316, %v38
  %v318 = getelementptr i8, ptr %v244, i64 %v317
  %v319 = trunc i64 %v242 to i32
  %v320 = insertelement <8 x i32> poison, i32 %v319, i64 0
  %v321 = shufflevector <8 x i32> %v320, <8 x i32> poison, <8 x i32> zeroinitializer
  %v322 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v321
  %v323 = trunc i64 %v242 to i32
  %v324 = insertelement <8 x i32> poison, i32 %v323, i64 0
  %v325 = shufflevector <8 x i32> %v324, <8 x i32> poison, <8 x i32> zeroinitializer
  %v326 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v325
  %v327 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v318, i32 4, <8 x i1> %v326, <8 x float> zeroinitializer)
  %v328 = load <8 x float>, ptr %v259
  %v329 = fadd <8 x float> %v328, %v327
  store <8 x float> %v329, ptr %v259
  %v330 = add i64 %v102, 768
  %v331 = mul i64 %v330, %v38
  %v332 = getelementptr i8, ptr %v244, i64 %v331
  %v333 = trunc i64 %v242 to i32
  %v334 = insertelement <8 x i32> poison, i32 %v333, i64 0
  %v335 = shufflevector <8 x i32> %v334, <8 x i32> poison, <8 x i32> zeroinitializer
  %v336 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v335
  %v337 = trunc i64 %v242 to i32
  %v338 = insertelement <8 x i32> poison, i32 %v337, i64 0
  %v339 = shufflevector <8 x i32> %v338, <8 x i32> poison, <8 x i32> zeroinitializer
  %v340 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v339
  %v341 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v332, i32 4, <8 x i1> %v340, <8 x float> zeroinitializer)
  %v342 = load <8 x float>, ptr %v259
  %v343 = fadd <8 x float> %v342, %v341
  store <8 x float> %v343, ptr %v259
  %v344 = add i64 %v102, 896
  %v345 = mul i64 %v344, %v38
  %v346 = getelementptr i8, ptr %v244, i64 %v345
  %v347 = trunc i64 %v242 to i32
  %v348 = insertelement <8 x i32> poison, i32 %v347, i64 0
  %v349 = shufflevector <8 x i32> %v348, <8 x i32> poison, <8 x i32> zeroinitializer
  %v350 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v349
  %v351 = trunc i64 %v242 to i32
  %v352 = insertelement <8 x i32> poison, i32 %v351, i64 0
  %v353 = shufflevector <8 x i32> %v352, <8 x i32> poison, <8 x i32> zeroinitializer
  %v354 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v353
  %v355 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v346, i32 4, <8 x i1> %v354, <8 x float> zeroinitializer)
  %v356 = load <8 x float>, ptr %v259
  %v357 = fadd <8 x float> %v356, %v355
  store <8 x float> %v357, ptr %v259
  %v358 = load <8 x float>, ptr %v259
  store <8 x float> %v358, ptr %v359
  store i64 %v107, ptr %v360
  br label %b361
  b361:
  %v364 = load i64, ptr %v360
  %v365 = icmp slt i64 %v110, %v364
  br i1 %v365, label %b362, label %b363
  b362:
  %v366 = load i64, ptr %v360
  %v367 = sub i64 %v366, 1
  store i64 %v367, ptr %v360
  %v368 = load i64, ptr %v360
  %v369 = mul i64 %v368, 2080
  %v370 = add i64 %v369, %v239
  %v371 = mul i64 %v370, 4
  %v372 = getelementptr i8, ptr %v18, i64 %v371
  %v373 = load <8 x float>, ptr %v372, align 4
  %v374 = load <8 x float>, ptr %v359
  %v375 = fadd <8 x float> %v373, %v374
  store <8 x float> %v375, ptr %v359
  br label %b361
  b363:
  %v376 = mul i64 %v110, 2080
  %v377 = add i64 %v376, %v239
  %v378 = mul i64 %v377, 4
  %v379 = getelementptr i8, ptr %v18, i64 %v378
  %v380 = load <8 x float>, ptr %v359
  store <8 x float> %v380, ptr %v379, align 4
  %v381 = add i64 %v239, 8
  store i64 %v381, ptr %v233
  br label %b234
  b236:
  %v382 = load i64, ptr %v94
  %v383 = add i64 %v382, 1
  store i64 %v383, ptr %v94
  br label %b96
  b98:
  br label %b384
  b384:
  %v387 = load i64, ptr %v94
  %v388 = icmp slt i64 %v387, %v93
  br i1 %v388, label %b385, label %b386
  b385:
  %v389 = load i64, ptr %v94
  %v390 = add i64 %v88, %v389
  %v391 = add i64 %v88, %v91
  %v392 = load i64, ptr %v80
  %v393 = add i64 %v392, 1
  store i64 %v393, ptr %v80
  %v394 = icmp ne i64 %v392, 0
  %v395 = zext i1 %v394 to i64
  %v396 = call i64 @llvm.ctpop.i64(i64 %v392)
  %v397 = sub i64 -1, %v392
  %v398 = call i64 @llvm.cttz.i64(i64 %v397, i1 false)
  %v399 = sub i64 %v396, %v398
  %v400 = and i64 %v79, -16
  store i64 0, ptr %v401
  br label %b402
  b402:
  %v405 = load i64, ptr %v401
  %v406 = icmp slt i64 %v405, %v400
  br i1 %v406, label %b403, label %b404
  b403:
  %v407 = load i64, ptr %v401
  %v408 = mul i64 %v407, %v28
  %v409 = getelementptr i8, ptr %v75, i64 %v408
  %v410 = mul i64 %v407, %v30
  %v411 = getelementptr i8, ptr %v76, i64 %v410
  %v412 = add i64 %v72, %v407
  %v413 = mul i64 %v390, %v24
  %v414 = getelementptr i8, ptr %v409, i64 %v413
  %v415 = load <8 x float>, ptr %v414, align 4
  %v416 = getelementptr i8, ptr %v414, i64 32
  %v417 = load <8 x float>, ptr %v416, align 4
  store <8 x float> %v415, ptr %v418
  store <8 x float> %v417, ptr %v419
  %v420 = add i64 %v390, 128
  store i64 %v420, ptr %v421
  br label %b422
  b422:
  %v425 = load i64, ptr %v421
  %v426 = icmp slt i64 %v425, %v391
  br i1 %v426, label %b423, label %b424
  b423:
  %v427 = load i64, ptr %v421
  %v428 = mul i64 %v427, %v24
  %v429 = getelementptr i8, ptr %v409, i64 %v428
  %v430 = load <8 x float>, ptr %v429, align 4
  %v431 = getelementptr i8, ptr %v429, i64 32
  %v432 = load <8 x float>, ptr %v431, align 4
  %v433 = load <8 x float>, ptr %v418
  %v434 = fadd <8 x float> %v433, %v430
  store <8 x float> %v434, ptr %v418
  %v435 = load <8 x float>, ptr %v419
  %v436 = fadd <8 x float> %v435, %v432
  store <8 x float> %v436, ptr %v419
  %v437 = add i64 %v427, 128
  store i64 %v437, ptr %v421
  br label %b422
  b424:
  %v438 = load <8 x float>, ptr %v418
  %v439 = load <8 x float>, ptr %v419
  store <8 x float> %v438, ptr %v440
  store <8 x float> %v439, ptr %v441
  store i64 %v396, ptr %v442
  br label %b443
  b443:
  %v446 = load i64, ptr %v442
  %v447 = icmp slt i64 %v399, %v446
  br i1 %v447, label %b444, label %b445
  b444:
  %v448 = load i64, ptr %v442
  %v449 = sub i64 %v448, 1
  store i64 %v449, ptr %v442
  %v450 = load i64, ptr %v442
  %v451 = mul i64 %v450, 2080
  %v452 = add i64 %v451, %v407
  %v453 = mul i64 %v452, 4
  %v454 = getelementptr i8, ptr %v18, i64 %v453
  %v455 = load <8 x float>, ptr %v454, align 4
  %v456 = load <8 x float>, ptr %v440
  %v457 = fadd <8 x float> %v455, %v456
  store <8 x float> %v457, ptr %v440
  %v458 = getelementptr i8, ptr %v454, i64 32
  %v459 = load <8 x float>, ptr %v458, align 4
  %v460 = load <8 x float>, ptr %v441
  %v461 = fadd <8 x float> %v459, %v460
  store <8 x float> %v461, ptr %v441
  br label %b443
  b445:
  %v462 = mul i64 %v399, 2080
  %v463 = add i64 %v462, %v407
  %v464 = mul i64 %v463, 4
  %v465 = getelementptr i8, ptr %v18, i64 %v464
  %v466 = load <8 x float>, ptr %v440
  store <8 x float> %v466, ptr %v465, align 4
  %v467 = load <8 x float>, ptr %v441
  %v468 = getelementptr i8, ptr %v465, i64 32
  store <8 x float> %v467, ptr %v468, align 4
  %v469 = add i64 %v407, 16
  store i64 %v469, ptr %v401
  br label %b402
  b404:
  store i64 %v400, ptr %v470
  br label %b471
  b471:
  %v474 = load i64, ptr %v470
  %v475 = icmp slt i64 %v474, %v79
  br i1 %v475, label %b472, label %b473
  b472:
  %v476 = load i64, ptr %v470
  %v477 = sub i64 %v79, %v476
  %v478 = icmp slt i64 8, %v477
  %v479 = select i1 %v478, i64 8, i64 %v477
  %v480 = mul i64 %v476, %v42
  %v481 = getelementptr i8, ptr %v75, i64 %v480
  %v482 = mul i64 %v476, %v44
  %v483 = getelementptr i8, ptr %v76, i64 %v482
  %v484 = add i64 %v72, %v476
  %v485 = mul i64 %v390, %v38
  %v486 = getelementptr i8, ptr %v481, i64 %v485
  %v487 = trunc i64 %v479 to i32
  %v488 = insertelement <8 x i32> poison, i32 %v487, i64 0
  %v489 = shufflevector <8 x i32> %v488, <8 x i32> poison, <8 x i32> zeroinitializer
  %v490 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v489
  %v491 = trunc i64 %v479 to i32
  %v492 = insertelement <8 x i32> poison, i32 %v491, i64 0
  %v493 = shufflevector <8 x i32> %v492, <8 x i32> poison, <8 x i32> zeroinitializer
  %v494 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v493
  %v495 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v486, i32 4, <8 x i1> %v494, <8 x float> zeroinitializer)
  store <8 x float> %v495, ptr %v496
  %v497 = add i64 %v390, 128
  store i64 %v497, ptr %v498
  br label %b499
  b499:
  %v502 = load i64, ptr %v498
  %v503 = icmp slt i64 %v502, %v391
  br i1 %v503, label %b500, label %b501
  b500:
  %v504 = load i64, ptr %v498
  %v505 = mul i64 %v504, %v38
  %v506 = getelementptr i8, ptr %v481, i64 %v505
  %v507 = trunc i64 %v479 to i32
  %v508 = insertelement <8 x i32> poison, i32 %v507, i64 0
  %v509 = shufflevector <8 x i32> %v508, <8 x i32> poison, <8 x i32> zeroinitializer
  %v510 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v509
  %v511 = trunc i64 %v479 to i32
  %v512 = insertelement <8 x i32> poison, i32 %v511, i64 0
  %v513 = shufflevector <8 x i32> %v512, <8 x i32> poison, <8 x i32> zeroinitializer
  %v514 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v513
  %v515 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v506, i32 4, <8 x i1> %v514, <8 x float> zeroinitializer)
  %v516 = load <8 x float>, ptr %v496
  %v517 = fadd <8 x float> %v516, %v515
  store <8 x float> %v517, ptr %v496
  %v518 = add i64 %v504, 128
  store i64 %v518, ptr %v498
  br label %b499
  b501:
  %v519 = load <8 x float>, ptr %v496
  store <8 x float> %v519, ptr %v520
  store i64 %v396, ptr %v521
  br label %b522
  b522:
  %v525 = load i64, ptr %v521
  %v526 = icmp slt i64 %v399, %v525
  br i1 %v526, label %b523, label %b524
  b523:
  %v527 = load i64, ptr %v521
  %v528 = sub i64 %v527, 1
  store i64 %v528, ptr %v521
  %v529 = load i64, ptr %v521
  %v530 = mul i64 %v529, 2080
  %v531 = add i64 %v530, %v476
  %v532 = mul i64 %v531, 4
  %v533 = getelementptr i8, ptr %v18, i64 %v532
  %v534 = load <8 x float>, ptr %v533, align 4
  %v535 = load <8 x float>, ptr %v520
  %v536 = fadd <8 x float> %v534, %v535
  store <8 x float> %v536, ptr %v520
  br label %b522
  b524:
  %v537 = mul i64 %v399, 2080
  %v538 = add i64 %v537, %v476
  %v539 = mul i64 %v538, 4
  %v540 = getelementptr i8, ptr %v18, i64 %v539
  %v541 = load <8 x float>, ptr %v520
  store <8 x float> %v541, ptr %v540, align 4
  %v542 = add i64 %v476, 8
  store i64 %v542, ptr %v470
  br label %b471
  b473:
  %v543 = load i64, ptr %v94
  %v544 = add i64 %v543, 1
  store i64 %v544, ptr %v94
  br label %b384
  b386:
  %v545 = add i64 %v87, 1
  store i64 %v545, ptr %v81
  br label %b82
  b84:
  %v546 = load i64, ptr %v80
  %v547 = call i64 @llvm.ctpop.i64(i64 %v546)
  %v548 = sub i64 %v547, 1
  %v549 = icmp sgt i64 %v548, 0
  br i1 %v549, label %b550, label %b551
  b550:
  store i64 0, ptr %v552
  br label %b553
  b553:
  %v556 = load i64, ptr %v552
  %v557 = icmp slt i64 %v556, %v79
  br i1 %v557, label %b554, label %b555
  b554:
  %v558 = load i64, ptr %v552
  %v559 = mul i64 %v548, 2080
  %v560 = add i64 %v559, %v558
  %v561 = mul i64 %v560, 4
  %v562 = getelementptr i8, ptr %v18, i64 %v561
  %v563 = load <8 x float>, ptr %v562, align 4
  store <8 x float> %v563, ptr %v564
  store i64 %v548, ptr %v565
  br label %b566
  b566:
  %v569 = load i64, ptr %v565
  %v570 = icmp slt i64 0, %v569
  br i1 %v570, label %b567, label %b568
  b567:
  %v571 = load i64, ptr %v565
  %v572 = sub i64 %v571, 1
  store i64 %v572, ptr %v565
  %v573 = load i64, ptr %v565
  %v574 = mul i64 %v573, 2080
  %v575 = add i64 %v574, %v558
  %v576 = mul i64 %v575, 4
  %v577 = getelementptr i8, ptr %v18, i64 %v576
  %v578 = load <8 x float>, ptr %v577, align 4
  %v579 = load <8 x float>, ptr %v564
  %v580 = fadd <8 x float> %v578, %v579
  store <8 x float> %v580, ptr %v564
  br label %b566
  b568:
  %v581 = mul i64 0, 2080
  %v582 = add i64 %v581, %v558
  %v583 = mul i64 %v582, 4
  %v584 = getelementptr i8, ptr %v18, i64 %v583
  %v585 = load <8 x float>, ptr %v564
  store <8 x float> %v585, ptr %v584, align 4
  %v586 = add i64 %v558, 8
  store i64 %v586, ptr %v552
  br label %b553
  b555:
  br label %b551
  b551:
  %v587 = and i64 %v79, -16
  store i64 0, ptr %v588
  br label %b589
  b589:
  %v592 = load i64, ptr %v588
  %v593 = icmp slt i64 %v592, %v587
  br i1 %v593, label %b590, label %b591
  b590:
  %v594 = load i64, ptr %v588
  %v595 = mul i64 %v594, %v28
  %v596 = getelementptr i8, ptr %v75, i64 %v595
  %v597 = mul i64 %v594, %v30
  %v598 = getelementptr i8, ptr %v76, i64 %v597
  %v599 = add i64 %v72, %v594
  %v600 = mul i64 0, 2080
  %v601 = add i64 %v600, %v594
  %v602 = mul i64 %v601, 4
  %v603 = getelementptr i8, ptr %v18, i64 %v602
  %v604 = load <8 x float>, ptr %v603, align 4
  %v605 = getelementptr i8, ptr %v603, i64 32
  %v606 = load <8 x float>, ptr %v605, align 4
  store <8 x float> %v604, ptr %v598, align 4
  %v607 = getelementptr i8, ptr %v598, i64 32
  store <8 x float> %v606, ptr %v607, align 4
  %v608 = add i64 %v594, 16
  store i64 %v608, ptr %v588
  br label %b589
  b591:
  store i64 %v587, ptr %v609
  br label %b610
  b610:
  %v613 = load i64, ptr %v609
  %v614 = icmp slt i64 %v613, %v79
  br i1 %v614, label %b611, label %b612
  b611:
  %v615 = load i64, ptr %v609
  %v616 = sub i64 %v79, %v615
  %v617 = icmp slt i64 8, %v616
  %v618 = select i1 %v617, i64 8, i64 %v616
  %v619 = mul i64 %v615, %v42
  %v620 = getelementptr i8, ptr %v75, i64 %v619
  %v621 = mul i64 %v615, %v44
  %v622 = getelementptr i8, ptr %v76, i64 %v621
  %v623 = add i64 %v72, %v615
  %v624 = mul i64 0, 2080
  %v625 = add i64 %v624, %v615
  %v626 = mul i64 %v625, 4
  %v627 = getelementptr i8, ptr %v18, i64 %v626
  %v628 = load <8 x float>, ptr %v627, align 4
  %v629 = trunc i64 %v618 to i32
  %v630 = insertelement <8 x i32> poison, i32 %v629, i64 0
  %v631 = shufflevector <8 x i32> %v630, <8 x i32> poison, <8 x i32> zeroinitializer
  %v632 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v631
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v628, ptr %v622, i32 4, <8 x i1> %v632)
  %v633 = add i64 %v615, 8
  store i64 %v633, ptr %v609
  br label %b610
  b612:
  %v634 = load i64, ptr %v52
  %v635 = add i64 %v634, 1
  store i64 %v635, ptr %v52
  %v636 = load ptr, ptr %v57
  %v637 = getelementptr i8, ptr %v636, i64 0
  store ptr %v637, ptr %v57
  %v638 = load ptr, ptr %v62
  %v639 = getelementptr i8, ptr %v638, i64 0
  store ptr %v639, ptr %v62
  %v640 = load i64, ptr %v52
  %v641 = icmp eq i64 %v640, %v6
  br i1 %v641, label %b642, label %b643
  b642:
  %v644 = mul i64 0, %v6
  %v645 = load ptr, ptr %v57
  %v646 = sub i64 0, %v644
  %v647 = getelementptr i8, ptr %v645, i64 %v646
  store ptr %v647, ptr %v57
  %v648 = mul i64 0, %v6
  %v649 = load ptr, ptr %v62
  %v650 = sub i64 0, %v648
  %v651 = getelementptr i8, ptr %v649, i64 %v650
  store ptr %v651, ptr %v62
  store i64 0, ptr %v52
  %v652 = load i64, ptr %v51
  %v653 = add i64 %v652, 1
  store i64 %v653, ptr %v51
  %v654 = load ptr, ptr %v57
  %v655 = getelementptr i8, ptr %v654, i64 %v8
  store ptr %v655, ptr %v57
  %v656 = load ptr, ptr %v62
  %v657 = getelementptr i8, ptr %v656, i64 %v10
  store ptr %v657, ptr %v62
  br label %b643
  b643:
  %v658 = add i64 %v69, 1
  store i64 %v658, ptr %v63
  br label %b64
  b66:
  ret void
}
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.cttz.i64(i64, i1)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
