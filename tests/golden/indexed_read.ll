define void @k72bd5ec31f83d4af5b99fe53bcb53083(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 48
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 56
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 64
  %v6 = load i64, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 72
  %v8 = load i64, ptr %v7, align 8
  %v9 = getelementptr i8, ptr %words, i64 80
  %v10 = load i64, ptr %v9, align 8
  %v11 = getelementptr i8, ptr %words, i64 88
  %v12 = load i64, ptr %v11, align 8
  %v13 = getelementptr i8, ptr %words, i64 96
  %v14 = load i64, ptr %v13, align 8
  %v15 = getelementptr i8, ptr %words, i64 104
  %v16 = load i64, ptr %v15, align 8
  %v17 = getelementptr i8, ptr %words, i64 112
  %v18 = load i64, ptr %v17, align 8
  %v19 = getelementptr i8, ptr %words, i64 120
  %v20 = load i64, ptr %v19, align 8
  %v21 = load ptr, ptr %words, align 8
  %v22 = getelementptr i8, ptr %words, i64 8
  %v23 = load ptr, ptr %v22, align 8
  %v24 = getelementptr i8, ptr %words, i64 16
  %v25 = load ptr, ptr %v24, align 8
  %v28 = alloca i64, align 8
  %v29 = alloca i64, align 8
  %v34 = alloca ptr, align 8
  %v39 = alloca ptr, align 8
  %v44 = alloca ptr, align 8
  %v45 = alloca i64, align 8
  %v59 = getelementptr i8, ptr %words, i64 32
  %v60 = load i64, ptr %v59, align 8
  %v62 = getelementptr i8, ptr %words, i64 40
  %v63 = load i64, ptr %v62, align 8
  %v72 = alloca i64, align 8
  %v101 = alloca i64, align 8
  %v124 = alloca i64, align 8
  %v173 = alloca i64, align 8
  %v221 = alloca i64, align 8
  br label %start
  start:
  %v26 = urem i64 %begin, %v14
  %v27 = udiv i64 %begin, %v14
  store i64 %v27, ptr %v28
  store i64 %v26, ptr %v29
  %v30 = mul i64 %v27, %v16
  %v31 = getelementptr i8, ptr %v21, i64 %v30
  %v32 = mul i64 %v26, 0
  %v33 = getelementptr i8, ptr %v31, i64 %v32
  store ptr %v33, ptr %v34
  %v35 = mul i64 %v27, %v18
  %v36 = getelementptr i8, ptr %v23, i64 %v35
  %v37 = mul i64 %v26, 0
  %v38 = getelementptr i8, ptr %v36, i64 %v37
  store ptr %v38, ptr %v39
  %v40 = mul i64 %v27, %v20
  %v41 = getelementptr i8, ptr %v25, i64 %v40
  %v42 = mul i64 %v26, 0
  %v43 = getelementptr i8, ptr %v41, i64 %v42
  store ptr %v43, ptr %v44
  store i64 %begin, ptr %v45
  br label %b46
  b46:
  %v49 = load i64, ptr %v45
  %v50 = icmp slt i64 %v49, %end
  br i1 %v50, label %b47, label %b48
  b47:
  %v51 = load i64, ptr %v45
  %v52 = load i64, ptr %v28
  %v53 = load i64, ptr %v29
  %v54 = load ptr, ptr %v34
  %v55 = load ptr, ptr %v39
  %v56 = load ptr, ptr %v44
  %v57 = load i64, ptr %v54, align 8
  %v58 = call i64 @llvm.smax.i64(i64 %v57, i64 0)
  %v61 = call i64 @llvm.smin.i64(i64 %v58, i64 %v60)
  %v64 = mul i64 %v61, %v63
  %v65 = mul i64 %v64, 4
  %v66 = getelementptr i8, ptr %v55, i64 %v65
  %v67 = mul i64 %v53, 8
  %v68 = add i64 %v67, 8
  %v69 = icmp slt i64 %v68, %v10
  %v70 = select i1 %v69, i64 %v68, i64 %v10
  %v71 = sub i64 %v70, %v67
  store i64 %v67, ptr %v72
  br label %b73
  b73:
  %v76 = load i64, ptr %v72
  %v77 = icmp slt i64 %v76, %v70
  br i1 %v77, label %b74, label %b75
  b74:
  %v78 = load i64, ptr %v72
  %v79 = mul i64 %v78, 1024
  %v80 = mul i64 %v70, 1024
  %v81 = icmp slt i64 %v80, %v6
  %v82 = select i1 %v81, i64 %v80, i64 %v6
  %v83 = sub i64 %v82, %v79
  %v84 = mul i64 %v79, 4
  %v85 = getelementptr i8, ptr %v66, i64 %v84
  %v86 = mul i64 %v79, 4
  %v87 = getelementptr i8, ptr %v56, i64 %v86
  %v88 = ptrtoint ptr %v87 to i64
  %v89 = sub i64 0, %v88
  %v90 = and i64 %v89, 63
  %v91 = udiv i64 %v90, 4
  %v92 = icmp ne i64 %v2, 0
  %v93 = mul i64 %v91, 4
  %v94 = add i64 %v88, %v93
  %v95 = and i64 %v94, 63
  %v96 = icmp eq i64 %v95, 0
  %v97 = and i1 %v92, %v96
  %v98 = icmp slt i64 %v91, %v83
  %v99 = select i1 %v98, i64 %v91, i64 %v83
  %v100 = select i1 %v97, i64 %v99, i64 0
  store i64 0, ptr %v101
  br label %b102
  b102:
  %v105 = load i64, ptr %v101
  %v106 = icmp slt i64 %v105, %v100
  br i1 %v106, label %b103, label %b104
  b103:
  %v107 = load i64, ptr %v101
  %v108 = sub i64 %v100, %v107
  %v109 = trunc i64 %v108 to i32
  %v110 = insertelement <8 x i32> poison, i32 %v109, i64 0
  %v111 = shufflevector <8 x i32> %v110, <8 x i32> poison, <8 x i32> zeroinitializer
  %v112 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v111
  %v113 = mul i64 %v107, 4
  %v114 = getelementptr i8, ptr %v85, i64 %v113
  %v115 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v114, i32 4, <8 x i1> %v112, <8 x float> zeroinitializer)
  %v116 = mul i64 %v107, 4
  %v117 = getelementptr i8, ptr %v87, i64 %v116
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v115, ptr %v117, i32 4, <8 x i1> %v112)
  %v118 = add i64 %v107, 8
  store i64 %v118, ptr %v101
  br label %b102
  b104:
  %v119 = sub i64 %v83, %v100
  %v120 = and i64 %v119, -64
  %v121 = add i64 %v100, %v120
  br i1 %v97, label %b122, label %b123
  b122:
  store i64 %v100, ptr %v124
  br label %b125
  b125:
  %v128 = load i64, ptr %v124
  %v129 = icmp slt i64 %v128, %v121
  br i1 %v129, label %b126, label %b127
  b126:
  %v130 = load i64, ptr %v124
  %v131 = mul i64 %v130, 4
  %v132 = getelementptr i8, ptr %v85, i64 %v131
  %v133 = load <8 x float>, ptr %v132, align 4
  %v134 = add i64 %v130, 8
  %v135 = mul i64 %v134, 4
  %v136 = getelementptr i8, ptr %v85, i64 %v135
  %v137 = load <8 x float>, ptr %v136, align 4
  %v138 = add i64 %v130, 16
  %v139 = mul i64 %v138, 4
  %v140 = getelementptr i8, ptr %v85, i64 %v139
  %v141 = load <8 x float>, ptr %v140, align 4
  %v142 = add i64 %v130, 24
  %v143 = mul i64 %v142, 4
  %v144 = getelementptr i8, ptr %v85, i64 %v143
  %v145 = load <8 x float>, ptr %v144, align 4
  %v146 = add i64 %v130, 32
  %v147 = mul i64 %v146, 4
  %v148 = getelementptr i8, ptr %v85, i64 %v147
  %v149 = load <8 x float>, ptr %v148, align 4
  %v150 = add i64 %v130, 40
  %v151 = mul i64 %v150, 4
  %v152 = getelementptr i8, ptr %v85, i64 %v151
  %v153 = load <8 x float>, ptr %v152, align 4
  %v154 = add i64 %v130, 48
  %v155 = mul i64 %v154, 4
  %v156 = getelementptr i8, ptr %v85, i64 %v155
  %v157 = load <8 x float>, ptr %v156, align 4
  %v158 = add i64 %v130, 56
  %v159 = mul i64 %v158, 4
  %v160 = getelementptr i8, ptr %v85, i64 %v159
  %v161 = load <8 x float>, ptr %v160, align 4
  %v162 = mul i64 %v130, 4
  %v163 = getelementptr i8, ptr %v87, i64 %v162
  store <8 x float> %v133, ptr %v163, align 32, !nontemporal !{i32 1}
  %v164 = getelementptr i8, ptr %v163, i64 32
  store <8 x float> %v137, ptr %v164, align 32, !nontemporal !{i32 1}
  %v165 = getelementptr i8, ptr %v163, i64 64
  store <8 x float> %v141, ptr %v165, align 32, !nontemporal !{i32 1}
  %v166 = getelementptr i8, ptr %v163, i64 96
  store <8 x float> %v145, ptr %v166, align 32, !nontemporal !{i32 1}
  %v167 = getelementptr i8, ptr %v163, i64 128
  store <8 x float> %v149, ptr %v167, align 32, !nontemporal !{i32 1}
  %v168 = getelementptr i8, ptr %v163, i64 160
  store <8 x float> %v153, ptr %v168, align 32, !nontemporal !{i32 1}
  %v169 = getelementptr i8, ptr %v163, i64 192
  store <8 x float> %v157, ptr %v169, align 32, !nontemporal !{i32 1}
  %v170 = getelementptr i8, ptr %v163, i64 224
  store <8 x float> %v161, ptr %v170, align 32, !nontemporal !{i32 1}
  %v171 = add i64 %v130, 64
  store i64 %v171, ptr %v124
  br label %b125
  b127:
  br label %b123
  b123:
  %v172 = select i1 %v97, i64 %v121, i64 %v100
  store i64 %v172, ptr %v173
  br label %b174
  b174:
  %v177 = load i64, ptr %v173
  %v178 = icmp slt i64 %v177, %v121
  br i1 %v178, label %b175, label %b176
  b175:
  %v179 = load i64, ptr %v173
  %v180 = mul i64 %v179, 4
  %v181 = getelementptr i8, ptr %v85, i64 %v180
  %v182 = load <8 x float>, ptr %v181, align 4
  %v183 = add i64 %v179, 8
  %v184 = mul i64 %v183, 4
  %v185 = getelementptr i8, ptr %v85, i64 %v184
  %v186 = load <8 x float>, ptr %v185, align 4
  %v187 = add i64 %v179, 16
  %v188 = mul i64 %v187, 4
  %v189 = getelementptr i8, ptr %v85, i64 %v188
  %v190 = load <8 x float>, ptr %v189, align 4
  %v191 = add i64 %v179, 24
  %v192 = mul i64 %v191, 4
  %v193 = getelementptr i8, ptr %v85, i64 %v192
  %v194 = load <8 x float>, ptr %v193, align 4
  %v195 = add i64 %v179, 32
  %v196 = mul i64 %v195, 4
  %v197 = getelementptr i8, ptr %v85, i64 %v196
  %v198 = load <8 x float>, ptr %v197, align 4
  %v199 = add i64 %v179, 40
  %v200 = mul i64 %v199, 4
  %v201 = getelementptr i8, ptr %v85, i64 %v200
  %v202 = load <8 x float>, ptr %v201, align 4
  %v203 = add i64 %v179, 48
  %v204 = mul i64 %v203, 4
  %v205 = getelementptr i8, ptr %v85, i64 %v204
  %v206 = load <8 x float>, ptr %v205, align 4
  %v207 = add i64 %v179, 56
  %v208 = mul i64 %v207, 4
  %v209 = getelementptr i8, ptr %v85, i64 %v208
  %v210 = load <8 x float>, ptr %v209, align 4
  %v211 = mul i64 %v179, 4
  %v212 = getelementptr i8, ptr %v87, i64 %v211
  store <8 x float> %v182, ptr %v212, align 4
  %v213 = getelementptr i8, ptr %v212, i64 32
  store <8 x float> %v186, ptr %v213, align 4
  %v214 = getelementptr i8, ptr %v212, i64 64
  store <8 x float> %v190, ptr %v214, align 4
  %v215 = getelementptr i8, ptr %v212, i64 96
  store <8 x float> %v194, ptr %v215, align 4
  %v216 = getelementptr i8, ptr %v212, i64 128
  store <8 x float> %v198, ptr %v216, align 4
  %v217 = getelementptr i8, ptr %v212, i64 160
  store <8 x float> %v202, ptr %v217, align 4
  %v218 = getelementptr i8, ptr %v212, i64 192
  store <8 x float> %v206, ptr %v218, align 4
  %v219 = getelementptr i8, ptr %v212, i64 224
  store <8 x float> %v210, ptr %v219, align 4
  %v220 = add i64 %v179, 64
  store i64 %v220, ptr %v173
  br label %b174
  b176:
  store i64 %v121, ptr %v221
  br label %b222
  b222:
  %v225 = load i64, ptr %v221
  %v226 = icmp slt i64 %v225, %v83
  br i1 %v226, label %b223, label %b224
  b223:
  %v227 = load i64, ptr %v221
  %v228 = sub i64 %v83, %v227
  %v229 = trunc i64 %v228 to i32
  %v230 = insertelement <8 x i32> poison, i32 %v229, i64 0
  %v231 = shufflevector <8 x i32> %v230, <8 x i32> poison, <8 x i32> zeroinitializer
  %v232 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v231
  %v233 = mul i64 %v227, 4
  %v234 = getelementptr i8, ptr %v85, i64 %v233
  %v235 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v234, i32 4, <8 x i1> %v232, <8 x float> zeroinitializer)
  %v236 = mul i64 %v227, 4
  %v237 = getelementptr i8, ptr %v87, i64 %v236
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v235, ptr %v237, i32 4, <8 x i1> %v232)
  %v238 = add i64 %v227, 8
  store i64 %v238, ptr %v221
  br label %b222
  b224:
  %v239 = add i64 %v78, %v71
  store i64 %v239, ptr %v72
  br label %b73
  b75:
  %v240 = load i64, ptr %v29
  %v241 = add i64 %v240, 1
  store i64 %v241, ptr %v29
  %v242 = load ptr, ptr %v34
  %v243 = getelementptr i8, ptr %v242, i64 0
  store ptr %v243, ptr %v34
  %v244 = load ptr, ptr %v39
  %v245 = getelementptr i8, ptr %v244, i64 0
  store ptr %v245, ptr %v39
  %v246 = load ptr, ptr %v44
  %v247 = getelementptr i8, ptr %v246, i64 0
  store ptr %v247, ptr %v44
  %v248 = load i64, ptr %v29
  %v249 = icmp eq i64 %v248, %v14
  br i1 %v249, label %b250, label %b251
  b250:
  %v252 = mul i64 0, %v14
  %v253 = load ptr, ptr %v34
  %v254 = sub i64 0, %v252
  %v255 = getelementptr i8, ptr %v253, i64 %v254
  store ptr %v255, ptr %v34
  %v256 = mul i64 0, %v14
  %v257 = load ptr, ptr %v39
  %v258 = sub i64 0, %v256
  %v259 = getelementptr i8, ptr %v257, i64 %v258
  store ptr %v259, ptr %v39
  %v260 = mul i64 0, %v14
  %v261 = load ptr, ptr %v44
  %v262 = sub i64 0, %v260
  %v263 = getelementptr i8, ptr %v261, i64 %v262
  store ptr %v263, ptr %v44
  store i64 0, ptr %v29
  %v264 = load i64, ptr %v28
  %v265 = add i64 %v264, 1
  store i64 %v265, ptr %v28
  %v266 = load ptr, ptr %v34
  %v267 = getelementptr i8, ptr %v266, i64 %v16
  store ptr %v267, ptr %v34
  %v268 = load ptr, ptr %v39
  %v269 = getelementptr i8, ptr %v268, i64 %v18
  store ptr %v269, ptr %v39
  %v270 = load ptr, ptr %v44
  %v271 = getelementptr i8, ptr %v270, i64 %v20
  store ptr %v271, ptr %v44
  br label %b251
  b251:
  %v272 = add i64 %v51, 1
  store i64 %v272, ptr %v45
  br label %b46
  b48:
  %v273 = icmp ne i64 %v2, 0
  br i1 %v273, label %b274, label %b275
  b274:
  fence seq_cst
  br label %b275
  b275:
  ret void
}
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
