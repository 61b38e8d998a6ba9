define void @k38d1c8b3d094925959eade1a77206757(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
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
  %v11 = load ptr, ptr %words, align 8
  %v12 = getelementptr i8, ptr %words, i64 24
  %v13 = load ptr, ptr %v12, align 8
  %v14 = ptrtoint ptr %v13 to i64
  %v15 = sub i64 0, %v14
  %v16 = and i64 %v15, 63
  %v17 = getelementptr i8, ptr %v13, i64 %v16
  %v18 = getelementptr i8, ptr %words, i64 72
  %v19 = load i64, ptr %v18, align 8
  %v20 = getelementptr i8, ptr %words, i64 80
  %v21 = load i64, ptr %v20, align 8
  %v22 = alloca i64, align 8
  %v25 = alloca ptr, align 8
  %v28 = alloca ptr, align 8
  %v29 = alloca i64, align 8
  %v38 = alloca i64, align 8
  br label %start
  start:
  store i64 %begin, ptr %v22
  %v23 = mul i64 %begin, %v8
  %v24 = getelementptr i8, ptr %v11, i64 %v23
  store ptr %v24, ptr %v25
  %v26 = mul i64 %begin, %v10
  %v27 = getelementptr i8, ptr %v17, i64 %v26
  store ptr %v27, ptr %v28
  store i64 %begin, ptr %v29
  br label %b30
  b30:
  %v33 = load i64, ptr %v29
  %v34 = icmp slt i64 %v33, %end
  br i1 %v34, label %b31, label %b32
  b31:
  %v35 = load i64, ptr %v29
  %v36 = load ptr, ptr %v25
  %v37 = load ptr, ptr %v28
  store i64 0, ptr %v38
  br label %b39
  b39:
  %v42 = load i64, ptr %v38
  %v43 = icmp slt i64 %v42, %v19
  br i1 %v43, label %b40, label %b41
  b40:
  %v44 = load i64, ptr %v38
  %v45 = sub i64 %v19, %v44
  %v46 = icmp sge i64 %v45, 8
  %v47 = mul i64 %v2, %v44
  %v48 = getelementptr i8, ptr %v36, i64 %v47
  %v49 = mul i64 %v4, 0
  %v50 = getelementptr i8, ptr %v48, i64 %v49
  %v51 = mul i64 %v21, 0
  %v52 = getelementptr i8, ptr %v37, i64 %v51
  %v53 = mul i64 %v44, 4
  %v54 = getelementptr i8, ptr %v52, i64 %v53
  br i1 %v46, label %b55, label %b56
  b55:
  %v57 = load <8 x float>, ptr %v50, align 4
  store <8 x float> %v57, ptr %v54, align 4
  br label %b56
  b56:
  %v58 = xor i1 %v46, true
  br i1 %v58, label %b59, label %b60
  b59:
  %v61 = trunc i64 %v45 to i32
  %v62 = insertelement <8 x i32> poison, i32 %v61, i64 0
  %v63 = shufflevector <8 x i32> %v62, <8 x i32> poison, <8 x i32> zeroinitializer
  %v64 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v63
  %v65 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v50, i32 4, <8 x i1> %v64, <8 x float> zeroinitializer)
  store <8 x float> %v65, ptr %v54, align 4
  br label %b60
  b60:
  %v66 = add i64 %v44, 8
  store i64 %v66, ptr %v38
  br label %b39
  b41:
  %v67 = load i64, ptr %v22
  %v68 = add i64 %v67, 1
  store i64 %v68, ptr %v22
  %v69 = load ptr, ptr %v25
  %v70 = getelementptr i8, ptr %v69, i64 %v8
  store ptr %v70, ptr %v25
  %v71 = load ptr, ptr %v28
  %v72 = getelementptr i8, ptr %v71, i64 %v10
  store ptr %v72, ptr %v28
  %v73 = add i64 %v35, 1
  store i64 %v73, ptr %v29
  br label %b30
  b32:
  ret void
}
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
