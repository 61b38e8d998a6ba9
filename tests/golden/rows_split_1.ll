define void @k6a240120bbfb6d7b939b4a4fdf965cce(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 16
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 24
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 32
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 40
  %v8 = load i64, ptr %v7, align 8
  %v9 = getelementptr i8, ptr %words, i64 48
  %v10 = load i64, ptr %v9, align 8
  %v11 = getelementptr i8, ptr %words, i64 56
  %v12 = load i64, ptr %v11, align 8
  %v13 = getelementptr i8, ptr %words, i64 64
  %v14 = load i64, ptr %v13, align 8
  %v15 = getelementptr i8, ptr %words, i64 72
  %v16 = load i64, ptr %v15, align 8
  %v17 = getelementptr i8, ptr %words, i64 80
  %v18 = load i64, ptr %v17, align 8
  %v19 = getelementptr i8, ptr %words, i64 88
  %v20 = load i64, ptr %v19, align 8
  %v21 = getelementptr i8, ptr %words, i64 96
  %v22 = load i64, ptr %v21, align 8
  %v23 = getelementptr i8, ptr %words, i64 104
  %v24 = load i64, ptr %v23, align 8
  %v25 = load ptr, ptr %words, align 8
  %v26 = getelementptr i8, ptr %words, i64 8
  %v27 = load ptr, ptr %v26, align 8
  %v28 = getelementptr i8, ptr %words, i64 112
  %v29 = load i64, ptr %v28, align 8
  %v32 = alloca i64, align 8
  %v33 = alloca i64, align 8
  %v38 = alloca ptr, align 8
  %v43 = alloca ptr, align 8
  %v44 = alloca i64, align 8
  %v60 = alloca [128 x float], align 64
  %v61 = alloca <8 x float>, align 64
  %v62 = alloca <8 x float>, align 64
  %v63 = alloca <8 x float>, align 64
  %v64 = alloca <8 x float>, align 64
  %v65 = alloca <8 x float>, align 64
  %v66 = alloca <8 x float>, align 64
  %v67 = alloca <8 x float>, align 64
  %v68 = alloca <8 x float>, align 64
  %v69 = alloca <8 x float>, align 64
  %v70 = alloca <8 x float>, align 64
  %v71 = alloca <8 x float>, align 64
  %v72 = alloca <8 x float>, align 64
  %v73 = alloca <8 x float>, align 64
  %v74 = alloca <8 x float>, align 64
  %v75 = alloca <8 x float>, align 64
  %v76 = alloca <8 x float>, align 64
  %v77 = alloca [56 x float], align 64
  %v78 = alloca i64, align 8
  %v79 = alloca i64, align 8
  %v80 = alloca i64, align 8
  %v96 = alloca i64, align 8
  %v250 = alloca i64, align 8
  %v392 = alloca float, align 8
  %v394 = alloca i64, align 8
  %v424 = alloca float, align 8
  br label %start
  start:
  %v30 = urem i64 %begin, %v20
  %v31 = udiv i64 %begin, %v20
  store i64 %v31, ptr %v32
  store i64 %v30, ptr %v33
  %v34 = mul i64 %v31, %v22
  %v35 = getelementptr i8, ptr %v25, i64 %v34
  %v36 = mul i64 %v30, 0
  %v37 = getelementptr i8, ptr %v35, i64 %v36
  store ptr %v37, ptr %v38
  %v39 = mul i64 %v31, %v24
  %v40 = getelementptr i8, ptr %v27, i64 %v39
  %v41 = mul i64 %v30, 0
  %v42 = getelementptr i8, ptr %v40, i64 %v41
  store ptr %v42, ptr %v43
  store i64 %begin, ptr %v44
  br label %b45
  b45:
  %v48 = load i64, ptr %v44
  %v49 = icmp slt i64 %v48, %end
  br i1 %v49, label %b46, label %b47
  b46:
  %v50 = load i64, ptr %v44
  %v51 = load i64, ptr %v32
  %v52 = load i64, ptr %v33
  %v53 = load ptr, ptr %v38
  %v54 = load ptr, ptr %v43
  %v55 = udiv i64 %v50, %v29
  %v56 = mul i64 %v52, %v4
  %v57 = add i64 %v56, %v4
  %v58 = icmp slt i64 %v57, %v6
  %v59 = select i1 %v58, i64 %v57, i64 %v6
  store <8 x float> splat (float 0x8000000000000000), ptr %v61
  store <8 x float> splat (float 0x8000000000000000), ptr %v62
  store <8 x float> splat (float 0x8000000000000000), ptr %v63
  store <8 x float> splat (float 0x8000000000000000), ptr %v64
  store <8 x float> splat (float 0x8000000000000000), ptr %v65
  store <8 x float> splat (float 0x8000000000000000), ptr %v66
  store <8 x float> splat (float 0x8000000000000000), ptr %v67
  store <8 x float> splat (float 0x8000000000000000), ptr %v68
  store <8 x float> splat (float 0x8000000000000000), ptr %v69
  store <8 x float> splat (float 0x8000000000000000), ptr %v70
  store <8 x float> splat (float 0x8000000000000000), ptr %v71
  store <8 x float> splat (float 0x8000000000000000), ptr %v72
  store <8 x float> splat (float 0x8000000000000000), ptr %v73
  store <8 x float> splat (float 0x8000000000000000), ptr %v74
  store <8 x float> splat (float 0x8000000000000000), ptr %v75
  store <8 x float> splat (float 0x8000000000000000), ptr %v76
  store i64 0, ptr %v78
  store i64 0, ptr %v79
  store <8 x float> splat (float 0x8000000000000000), ptr %v61
  store <8 x float> splat (float 0x8000000000000000), ptr %v62
  store <8 x float> splat (float 0x8000000000000000), ptr %v63
  store <8 x float> splat (float 0x8000000000000000), ptr %v64
  store <8 x float> splat (float 0x8000000000000000), ptr %v65
  store <8 x float> splat (float 0x8000000000000000), ptr %v66
  store <8 x float> splat (float 0x8000000000000000), ptr %v67
  store <8 x float> splat (float 0x8000000000000000), ptr %v68
  store <8 x float> splat (float 0x8000000000000000), ptr %v69
  store <8 x float> splat (float 0x8000000000000000), ptr %v70
  store <8 x float> splat (float 0x8000000000000000), ptr %v71
  store <8 x float> splat (float 0x8000000000000000), ptr %v72
  store <8 x float> splat (float 0x8000000000000000), ptr %v73
  store <8 x float> splat (float 0x8000000000000000), ptr %v74
  store <8 x float> splat (float 0x8000000000000000), ptr %v75
  store <8 x float> splat (float 0x8000000000000000), ptr %v76
  store i64 %v56, ptr %v80
  br label %b81
  b81:
  %v84 = load i64, ptr %v80
  %v85 = icmp slt i64 %v84, %v59
  br i1 %v85, label %b82, label %b83
  b82:
  %v86 = load i64, ptr %v80
  %v87 = mul i64 %v86, 1024
  %v88 = add i64 %v86, 1
  %v89 = mul i64 %v88, 1024
  %v90 = icmp slt i64 %v89, %v14
  %v91 = select i1 %v90, i64 %v89, i64 %v14
  %v92 = sub i64 %v91, %v87
  %v93 = mul i64 %v87, 4
  %v94 = getelementptr i8, ptr %v53, i64 %v93
  store <8 x float> splat (float 0x8000000000000000), ptr %v61
  store <8 x float> splat (float 0x8000000000000000), ptr %v62
  store <8 x float> splat (float 0x8000000000000000), ptr %v63
  store <8 x float> splat (float 0x8000000000000000), ptr %v64
  store <8 x float> splat (float 0x8000000000000000), ptr %v65
  store <8 x float> splat (float 0x8000000000000000), ptr %v66
  store <8 x float> splat (float 0x8000000000000000), ptr %v67
  store <8 x float> splat (float 0x8000000000000000), ptr %v68
  store <8 x float> splat (float 0x8000000000000000), ptr %v69
  store <8 x float> splat (float 0x8000000000000000), ptr %v70
  store <8 x float> splat (float 0x8000000000000000), ptr %v71
  store <8 x float> splat (float 0x8000000000000000), ptr %v72
  store <8 x float> splat (float 0x8000000000000000), ptr %v73
  store <8 x float> splat (float 0x8000000000000000), ptr %v74
  store <8 x float> splat (float 0x8000000000000000), ptr %v75
  store <8 x float> splat (float 0x8000000000000000), ptr %v76
  %v95 = and i64 %v92, -128
  store i64 0, ptr %v96
  br label %b97
  b97:
  %v100 = load i64, ptr %v96
  %v101 = icmp slt i64 %v100, %v95
  br i1 %v101, label %b98, label %b99
  b98:
  %v102 = load i64, ptr %v96
  %v103 = mul i64 %v102, 4
  %v104 = getelementptr i8, ptr %v94, i64 %v103
  %v105 = load <8 x float>, ptr %v104, align 4
  %v106 = add i64 %v102, 8
  %v107 = mul i64 %v106, 4
  %v108 = getelementptr i8, ptr %v94, i64 %v107
  %v109 = load <8 x float>, ptr %v108, align 4
  %v110 = add i64 %v102, 16
  %v111 = mul i64 %v110, 4
  %v112 = getelementptr i8, ptr %v94, i64 %v111
  %v113 = load <8 x float>, ptr %v112, align 4
  %v114 = add i64 %v102, 24
  %v115 = mul i64 %v114, 4
  %v116 = getelementptr i8, ptr %v94, i64 %v115
  %v117 = load <8 x float>, ptr %v116, align 4
  %v118 = add i64 %v102, 32
  %v119 = mul i64 %v118, 4
  %v120 = getelementptr i8, ptr %v94, i64 %v119
  %v121 = load <8 x float>, ptr %v120, align 4
  %v122 = add i64 %v102, 40
  %v123 = mul i64 %v122, 4
  %v124 = getelementptr i8, ptr %v94, i64 %v123
  %v125 = load <8 x float>, ptr %v124, align 4
  %v126 = add i64 %v102, 48
  %v127 = mul i64 %v126, 4
  %v128 = getelementptr i8, ptr %v94, i64 %v127
  %v129 = load <8 x float>, ptr %v128, align 4
  %v130 = add i64 %v102, 56
  %v131 = mul i64 %v130, 4
  %v132 = getelementptr i8, ptr %v94, i64 %v131
  %v133 = load <8 x float>, ptr %v132, align 4
  %v134 = load <8 x float>, ptr %v61
  %v135 = fadd <8 x float> %v134, %v105
  store <8 x float> %v135, ptr %v61
  %v136 = load <8 x float>, ptr %v62
  %v137 = fadd <8 x float> %v136, %v109
  store <8 x float> %v137, ptr %v62
  %v138 = load <8 x float>, ptr %v63
  %v139 = fadd <8 x float> %v138, %v113
  store <8 x float> %v139, ptr %v63
  %v140 = load <8 x float>, ptr %v64
  %v141 = fadd <8 x float> %v140, %v117
  store <8 x float> %v141, ptr %v64
  %v142 = load <8 x float>, ptr %v65
  %v143 = fadd <8 x float> %v142, %v121
  store <8 x float> %v143, ptr %v65
  %v144 = load <8 x float>, ptr %v66
  %v145 = fadd <8 x float> %v144, %v125
  store <8 x float> %v145, ptr %v66
  %v146 = load <8 x float>, ptr %v67
  %v147 = fadd <8 x float> %v146, %v129
  store <8 x float> %v147, ptr %v67
  %v148 = load <8 x float>, ptr %v68
  %v149 = fadd <8 x float> %v148, %v133
  store <8 x float> %v149, ptr %v68
  %v150 = add i64 %v102, 64
  %v151 = mul i64 %v150, 4
  %v152 = getelementptr i8, ptr %v94, i64 %v151
  %v153 = load <8 x float>, ptr %v152, align 4
  %v154 = add i64 %v150, 8
  %v155 = mul i64 %v154, 4
  %v156 = getelementptr i8, ptr %v94, i64 %v155
  %v157 = load <8 x float>, ptr %v156, align 4
  %v158 = add i64 %v150, 16
  %v159 = mul i64 %v158, 4
  %v160 = getelementptr i8, ptr %v94, i64 %v159
  %v161 = load <8 x float>, ptr %v160, align 4
  %v162 = add i64 %v150, 24
  %v163 = mul i64 %v162, 4
  %v164 = getelementptr i8, ptr %v94, i64 %v163
  %v165 = load <8 x float>, ptr %v164, align 4
  %v166 = add i64 %v150, 32
  %v167 = mul i64 %v166, 4
  %v168 = getelementptr i8, ptr %v94, i64 %v167
  %v169 = load <8 x float>, ptr %v168, align 4
  %v170 = add i64 %v150, 40
  %v171 = mul i64 %v170, 4
  %v172 = getelementptr i8, ptr %v94, i64 %v171
  %v173 = load <8 x float>, ptr %v172, align 4
  %v174 = add i64 %v150, 48
  %v175 = mul i64 %v174, 4
  %v176 = getelementptr i8, ptr %v94, i64 %v175
  %v177 = load <8 x float>, ptr %v176, align 4
  %v178 = add i64 %v150, 56
  %v179 = mul i64 %v178, 4
  %v180 = getelementptr i8, ptr %v94, i64 %v179
  %v181 = load <8 x float>, ptr %v180, align 4
  %v182 = load <8 x float>, ptr %v69
  %v183 = fadd <8 x float> %v182, %v153
  store <8 x float> %v183, ptr %v69
  %v184 = load <8 x float>, ptr %v70
  %v185 = fadd <8 x float> %v184, %v157
  store <8 x float> %v185, ptr %v70
  %v186 = load <8 x float>, ptr %v71
  %v187 = fadd <8 x float> %v186, %v161
  store <8 x float> %v187, ptr %v71
  %v188 = load <8 x float>, ptr %v72
  %v189 = fadd <8 x float> %v188, %v165
  store <8 x float> %v189, ptr %v72
  %v190 = load <8 x float>, ptr %v73
  %v191 = fadd <8 x float> %v190, %v169
  store <8 x float> %v191, ptr %v73
  %v192 = load <8 x float>, ptr %v74
  %v193 = fadd <8 x float> %v192, %v173
  store <8 x float> %v193, ptr %v74
  %v194 = load <8 x float>, ptr %v75
  %v195 = fadd <8 x float> %v194, %v177
  store <8 x float> %v195, ptr %v75
  %v196 = load <8 x float>, ptr %v76
  %v197 = fadd <8 x float> %v196, %v181
  store <8 x float> %v197, ptr %v76
  %v198 = add i64 %v102, 128
  store i64 %v198, ptr %v96
  br label %b97
  b99:
  %v199 = icmp slt i64 %v95, %v92
  br i1 %v199, label %b200, label %b201
  b200:
  %v202 = load <8 x float>, ptr %v61
  %v203 = mul i64 0, 4
  %v204 = getelementptr i8, ptr %v60, i64 %v203
  store <8 x float> %v202, ptr %v204, align 32
  %v205 = load <8 x float>, ptr %v62
  %v206 = mul i64 8, 4
  %v207 = getelementptr i8, ptr %v60, i64 %v206
  store <8 x float> %v205, ptr %v207, align 32
  %v208 = load <8 x float>, ptr %v63
  %v209 = mul i64 16, 4
  %v210 = getelementptr i8, ptr %v60, i64 %v209
  store <8 x float> %v208, ptr %v210, align 32
  %v211 = load <8 x float>, ptr %v64
  %v212 = mul i64 24, 4
  %v213 = getelementptr i8, ptr %v60, i64 %v212
  store <8 x float> %v211, ptr %v213, align 32
  %v214 = load <8 x float>, ptr %v65
  %v215 = mul i64 32, 4
  %v216 = getelementptr i8, ptr %v60, i64 %v215
  store <8 x float> %v214, ptr %v216, align 32
  %v217 = load <8 x float>, ptr %v66
  %v218 = mul i64 40, 4
  %v219 = getelementptr i8, ptr %v60, i64 %v218
  store <8 x float> %v217, ptr %v219, align 32
  %v220 = load <8 x float>, ptr %v67
  %v221 = mul i64 48, 4
  %v222 = getelementptr i8, ptr %v60, i64 %v221
  store <8 x float> %v220, ptr %v222, align 32
  %v223 = load <8 x float>, ptr %v68
  %v224 = mul i64 56, 4
  %v225 = getelementptr i8, ptr %v60, i64 %v224
  store <8 x float> %v223, ptr %v225, align 32
  %v226 = load <8 x float>, ptr %v69
  %v227 = mul i64 64, 4
  %v228 = getelementptr i8, ptr %v60, i64 %v227
  store <8 x float> %v226, ptr %v228, align 32
  %v229 = load <8 x float>, ptr %v70
  %v230 = mul i64 72, 4
  %v231 = getelementptr i8, ptr %v60, i64 %v230
  store <8 x float> %v229, ptr %v231, align 32
  %v232 = load <8 x float>, ptr %v71
  %v233 = mul i64 80, 4
  %v234 = getelementptr i8, ptr %v60, i64 %v233
  store <8 x float> %v232, ptr %v234, align 32
  %v235 = load <8 x float>, ptr %v72
  %v236 = mul i64 88, 4
  %v237 = getelementptr i8, ptr %v60, i64 %v236
  store <8 x float> %v235, ptr %v237, align 32
  %v238 = load <8 x float>, ptr %v73
  %v239 = mul i64 96, 4
  %v240 = getelementptr i8, ptr %v60, i64 %v239
  store <8 x float> %v238, ptr %v240, align 32
  %v241 = load <8 x float>, ptr %v74
  %v242 = mul i64 104, 4
  %v243 = getelementptr i8, ptr %v60, i64 %v242
  store <8 x float> %v241, ptr %v243, align 32
  %v244 = load <8 x float>, ptr %v75
  %v245 = mul i64 112, 4
  %v246 = getelementptr i8, ptr %v60, i64 %v245
  store <8 x float> %v244, ptr %v246, align 32
  %v247 = load <8 x float>, ptr %v76
  %v248 = mul i64 120, 4
  %v249 = getelementptr i8, ptr %v60, i64 %v248
  store <8 x float> %v247, ptr %v249, align 32
  store i64 %v95, ptr %v250
  br label %b251
  b251:
  %v254 = load i64, ptr %v250
  %v255 = icmp slt i64 %v254, %v92
  br i1 %v255, label %b252, label %b253
  b252:
  %v256 = load i64, ptr %v250
  %v257 = sub i64 %v92, %v256
  %v258 = trunc i64 %v257 to i32
  %v259 = insertelement <8 x i32> poison, i32 %v258, i64 0
  %v260 = shufflevector <8 x i32> %v259, <8 x i32> poison, <8 x i32> zeroinitializer
  %v261 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v260
  %v262 = mul i64 %v256, 4
  %v263 = getelementptr i8, ptr %v94, i64 %v262
  %v264 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v263, i32 4, <8 x i1> %v261, <8 x float> zeroinitializer)
  %v265 = and i64 %v256, 127
  %v266 = select <8 x i1> %v261, <8 x float> %v264, <8 x float> splat (float 0x8000000000000000)
  %v267 = mul i64 %v265, 4
  %v268 = getelementptr i8, ptr %v60, i64 %v267
  %v269 = load <8 x float>, ptr %v268, align 32
  %v270 = fadd <8 x float> %v269, %v266
  %v271 = mul i64 %v265, 4
  %v272 = getelementptr i8, ptr %v60, i64 %v271
  store <8 x float> %v270, ptr %v272, align 32
  %v273 = add i64 %v256, 8
  store i64 %v273, ptr %v250
  br label %b251
  b253:
  %v274 = mul i64 0, 4
  %v275 = getelementptr i8, ptr %v60, i64 %v274
  %v276 = load <8 x float>, ptr %v275, align 32
  store <8 x float> %v276, ptr %v61
  %v277 = mul i64 8, 4
  %v278 = getelementptr i8, ptr %v60, i64 %v277
  %v279 = load <8 x float>, ptr %v278, align 32
  store <8 x float> %v279, ptr %v62
  %v280 = mul i64 16, 4
  %v281 = getelementptr i8, ptr %v60, i64 %v280
  %v282 = load <8 x float>, ptr %v281, align 32
  store <8 x float> %v282, ptr %v63
  %v283 = mul i64 24, 4
  %v284 = getelementptr i8, ptr %v60, i64 %v283
  %v285 = load <8 x float>, ptr %v284, align 32
  store <8 x float> %v285, ptr %v64
  %v286 = mul i64 32, 4
  %v287 = getelementptr i8, ptr %v60, i64 %v286
  %v288 = load <8 x float>, ptr %v287, align 32
  store <8 x float> %v288, ptr %v65
  %v289 = mul i64 40, 4
  %v290 = getelementptr i8, ptr %v60, i64 %v289
  %v291 = load <8 x float>, ptr %v290, align 32
  store <8 x float> %v291, ptr %v66
  %v292 = mul i64 48, 4
  %v293 = getelementptr i8, ptr %v60, i64 %v292
  %v294 = load <8 x float>, ptr %v293, align 32
  store <8 x float> %v294, ptr %v67
  %v295 = mul i64 56, 4
  %v296 = getelementptr i8, ptr %v60, i64 %v295
  %v297 = load <8 x float>, ptr %v296, align 32
  store <8 x float> %v297, ptr %v68
  %v298 = mul i64 64, 4
  %v299 = getelementptr i8, ptr %v60, i64 %v298
  %v300 = load <8 x float>, ptr %v299, align 32
  store <8 x float> %v300, ptr %v69
  %v301 = mul i64 72, 4
  %v302 = getelementptr i8, ptr %v60, i64 %v301
  %v303 = load <8 x float>, ptr %v302, align 32
  store <8 x float> %v303, ptr %v70
  %v304 = mul i64 80, 4
  %v305 = getelementptr i8, ptr %v60, i64 %v304
  %v306 = load <8 x float>, ptr %v305, align 32
  store <8 x float> %v306, ptr %v71
  %v307 = mul i64 88, 4
  %v308 = getelementptr i8, ptr %v60, i64 %v307
  %v309 = load <8 x float>, ptr %v308, align 32
  store <8 x float> %v309, ptr %v72
  %v310 = mul i64 96, 4
  %v311 = getelementptr i8, ptr %v60, i64 %v310
  %v312 = load <8 x float>, ptr %v311, align 32
  store <8 x float> %v312, ptr %v73
  %v313 = mul i64 104, 4
  %v314 = getelementptr i8, ptr %v60, i64 %v313
  %v315 = load <8 x float>, ptr %v314, align 32
  store <8 x float> %v315, ptr %v74
  %v316 = mul i64 112, 4
  %v317 = getelementptr i8, ptr %v60, i64 %v316
  %v318 = load <8 x float>, ptr %v317, align 32
  store <8 x float> %v318, ptr %v75
  %v319 = mul i64 120, 4
  %v320 = getelementptr i8, ptr %v60, i64 %v319
  %v321 = load <8 x float>, ptr %v320, align 32
  store <8 x float> %v321, ptr %v76
  br label %b201
  b201:
  %v322 = load <8 x float>, ptr %v61
  %v323 = load <8 x float>, ptr %v62
  %v324 = load <8 x float>, ptr %v63
  %v325 = load <8 x float>, ptr %v64
  %v326 = load <8 x float>, ptr %v65
  %v327 = load <8 x float>, ptr %v66
  %v328 = load <8 x float>, ptr %v67
  %v329 = load <8 x float>, ptr %v68
  %v330 = load <8 x float>, ptr %v69
  %v331 = load <8 x float>, ptr %v70
  %v332 = load <8 x float>, ptr %v71
  %v333 = load <8 x float>, ptr %v72
  %v334 = load <8 x float>, ptr %v73
  %v335 = load <8 x float>, ptr %v74
  %v336 = load <8 x float>, ptr %v75
  %v337 = load <8 x float>, ptr %v76
  %v338 = shufflevector <8 x float> %v322, <8 x float> %v323, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v339 = shufflevector <8 x float> %v322, <8 x float> %v323, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v340 = fadd <8 x float> %v338, %v339
  %v341 = shufflevector <8 x float> %v324, <8 x float> %v325, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v342 = shufflevector <8 x float> %v324, <8 x float> %v325, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v343 = fadd <8 x float> %v341, %v342
  %v344 = shufflevector <8 x float> %v326, <8 x float> %v327, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v345 = shufflevector <8 x float> %v326, <8 x float> %v327, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v346 = fadd <8 x float> %v344, %v345
  %v347 = shufflevector <8 x float> %v328, <8 x float> %v329, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v348 = shufflevector <8 x float> %v328, <8 x float> %v329, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v349 = fadd <8 x float> %v347, %v348
  %v350 = shufflevector <8 x float> %v330, <8 x float> %v331, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v351 = shufflevector <8 x float> %v330, <8 x float> %v331, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v352 = fadd <8 x float> %v350, %v351
  %v353 = shufflevector <8 x float> %v332, <8 x float> %v333, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v354 = shufflevector <8 x float> %v332, <8 x float> %v333, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v355 = fadd <8 x float> %v353, %v354
  %v356 = shufflevector <8 x float> %v334, <8 x float> %v335, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v357 = shufflevector <8 x float> %v334, <8 x float> %v335, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v358 = fadd <8 x float> %v356, %v357
  %v359 = shufflevector <8 x float> %v336, <8 x float> %v337, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v360 = shufflevector <8 x float> %v336, <8 x float> %v337, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v361 = fadd <8 x float> %v359, %v360
  %v362 = shufflevector <8 x float> %v340, <8 x float> %v343, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v363 = shufflevector <8 x float> %v340, <8 x float> %v343, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v364 = fadd <8 x float> %v362, %v363
  %v365 = shufflevector <8 x float> %v346, <8 x float> %v349, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v366 = shufflevector <8 x float> %v346, <8 x float> %v349, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v367 = fadd <8 x float> %v365, %v366
  %v368 = shufflevector <8 x float> %v352, <8 x float> %v355, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v369 = shufflevector <8 x float> %v352, <8 x float> %v355, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v370 = fadd <8 x float> %v368, %v369
  %v371 = shufflevector <8 x float> %v358, <8 x float> %v361, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v372 = shufflevector <8 x float> %v358, <8 x float> %v361, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v373 = fadd <8 x float> %v371, %v372
  %v374 = shufflevector <8 x float> %v364, <8 x float> %v367, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v375 = shufflevector <8 x float> %v364, <8 x float> %v367, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v376 = fadd <8 x float> %v374, %v375
  %v377 = shufflevector <8 x float> %v370, <8 x float> %v373, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v378 = shufflevector <8 x float> %v370, <8 x float> %v373, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v379 = fadd <8 x float> %v377, %v378
  %v380 = shufflevector <8 x float> %v376, <8 x float> %v379, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %v381 = shufflevector <8 x float> %v376, <8 x float> %v379, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %v382 = fadd <8 x float> %v380, %v381
  %v383 = shufflevector <8 x float> %v382, <8 x float> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %v384 = shufflevector <8 x float> %v382, <8 x float> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %v385 = fadd <4 x float> %v383, %v384
  %v386 = shufflevector <4 x float> %v385, <4 x float> poison, <2 x i32> <i32 0, i32 2>
  %v387 = shufflevector <4 x float> %v385, <4 x float> poison, <2 x i32> <i32 1, i32 3>
  %v388 = fadd <2 x float> %v386, %v387
  %v389 = extractelement <2 x float> %v388, i64 0
  %v390 = extractelement <2 x float> %v388, i64 1
  %v391 = fadd float %v389, %v390
  store float %v391, ptr %v392
  %v393 = load i64, ptr %v79
  store i64 %v393, ptr %v394
  br label %b395
  b395:
  %v398 = load i64, ptr %v394
  %v399 = and i64 %v398, 1
  %v400 = icmp ne i64 %v399, 0
  br i1 %v400, label %b396, label %b397
  b396:
  %v401 = load i64, ptr %v78
  %v402 = sub i64 %v401, 1
  %v403 = mul i64 %v402, 4
  %v404 = getelementptr i8, ptr %v77, i64 %v403
  %v405 = load float, ptr %v404, align 4
  %v406 = load float, ptr %v392
  %v407 = fadd float %v405, %v406
  store float %v407, ptr %v392
  store i64 %v402, ptr %v78
  %v408 = load i64, ptr %v394
  %v409 = lshr i64 %v408, 1
  store i64 %v409, ptr %v394
  br label %b395
  b397:
  %v410 = load float, ptr %v392
  %v411 = load i64, ptr %v78
  %v412 = mul i64 %v411, 4
  %v413 = getelementptr i8, ptr %v77, i64 %v412
  store float %v410, ptr %v413, align 4
  %v414 = load i64, ptr %v78
  %v415 = add i64 %v414, 1
  store i64 %v415, ptr %v78
  %v416 = load i64, ptr %v79
  %v417 = add i64 %v416, 1
  store i64 %v417, ptr %v79
  %v418 = add i64 %v86, 1
  store i64 %v418, ptr %v80
  br label %b81
  b83:
  %v419 = load i64, ptr %v78
  %v420 = sub i64 %v419, 1
  %v421 = mul i64 %v420, 4
  %v422 = getelementptr i8, ptr %v77, i64 %v421
  %v423 = load float, ptr %v422, align 4
  store float %v423, ptr %v424
  store i64 %v420, ptr %v78
  br label %b425
  b425:
  %v428 = load i64, ptr %v78
  %v429 = icmp ne i64 %v428, 0
  br i1 %v429, label %b426, label %b427
  b426:
  %v430 = load i64, ptr %v78
  %v431 = sub i64 %v430, 1
  %v432 = mul i64 %v431, 4
  %v433 = getelementptr i8, ptr %v77, i64 %v432
  %v434 = load float, ptr %v433, align 4
  %v435 = load float, ptr %v424
  %v436 = fadd float %v434, %v435
  store float %v436, ptr %v424
  store i64 %v431, ptr %v78
  br label %b425
  b427:
  %v437 = load float, ptr %v424
  %v438 = getelementptr i8, ptr %v2, i64 %v8
  %v439 = mul i64 %v52, %v10
  %v440 = getelementptr i8, ptr %v438, i64 %v439
  %v441 = mul i64 %v55, 4
  %v442 = getelementptr i8, ptr %v440, i64 %v441
  store float %v437, ptr %v442, align 4
  %v443 = load i64, ptr %v33
  %v444 = add i64 %v443, 1
  store i64 %v444, ptr %v33
  %v445 = load ptr, ptr %v38
  %v446 = getelementptr i8, ptr %v445, i64 0
  store ptr %v446, ptr %v38
  %v447 = load ptr, ptr %v43
  %v448 = getelementptr i8, ptr %v447, i64 0
  store ptr %v448, ptr %v43
  %v449 = load i64, ptr %v33
  %v450 = icmp eq i64 %v449, %v20
  br i1 %v450, label %b451, label %b452
  b451:
  %v453 = mul i64 0, %v20
  %v454 = load ptr, ptr %v38
  %v455 = sub i64 0, %v453
  %v456 = getelementptr i8, ptr %v454, i64 %v455
  store ptr %v456, ptr %v38
  %v457 = mul i64 0, %v20
  %v458 = load ptr, ptr %v43
  %v459 = sub i64 0, %v457
  %v460 = getelementptr i8, ptr %v458, i64 %v459
  store ptr %v460, ptr %v43
  store i64 0, ptr %v33
  %v461 = load i64, ptr %v32
  %v462 = add i64 %v461, 1
  store i64 %v462, ptr %v32
  %v463 = load ptr, ptr %v38
  %v464 = getelementptr i8, ptr %v463, i64 %v22
  store ptr %v464, ptr %v38
  %v465 = load ptr, ptr %v43
  %v466 = getelementptr i8, ptr %v465, i64 %v24
  store ptr %v466, ptr %v43
  br label %b452
  b452:
  %v467 = add i64 %v50, 1
  store i64 %v467, ptr %v44
  br label %b45
  b47:
  ret void
}
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
