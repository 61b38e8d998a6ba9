define void @k2babf746041a54d27e0527d6ac612a9d(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 120
  %v2 = load i64, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 128
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %words, i64 16
  %v6 = load ptr, ptr %v5, align 8
  %v7 = getelementptr i8, ptr %words, i64 136
  %v8 = load i64, ptr %v7, align 8
  %v10 = getelementptr i8, ptr %words, i64 144
  %v11 = load i64, ptr %v10, align 8
  %v12 = alloca i64, align 8
  %v23 = alloca i64, align 8
  %v33 = alloca i64, align 8
  %v40 = alloca i64, align 8
  br label %start
  start:
  %v9 = getelementptr i8, ptr %v6, i64 %v8
  store i64 %begin, ptr %v12
  br label %b13
  b13:
  %v16 = load i64, ptr %v12
  %v17 = icmp slt i64 %v16, %end
  br i1 %v17, label %b14, label %b15
  b14:
  %v18 = load i64, ptr %v12
  %v19 = mul i64 %v18, 1024
  %v20 = add i64 %v19, 1024
  %v21 = icmp slt i64 %v20, %v4
  %v22 = select i1 %v21, i64 %v20, i64 %v4
  store i64 1, ptr %v23
  br label %b24
  b24:
  %v27 = load i64, ptr %v23
  %v28 = icmp slt i64 %v27, %v2
  br i1 %v28, label %b25, label %b26
  b25:
  %v29 = load i64, ptr %v23
  %v30 = mul i64 %v29, 2
  %v31 = load i64, ptr %v23
  %v32 = sub i64 %v2, %v31
  store i64 0, ptr %v33
  br label %b34
  b34:
  %v37 = load i64, ptr %v33
  %v38 = icmp slt i64 %v37, %v32
  br i1 %v38, label %b35, label %b36
  b35:
  %v39 = load i64, ptr %v33
  store i64 %v19, ptr %v40
  br label %b41
  b41:
  %v44 = load i64, ptr %v40
  %v45 = icmp slt i64 %v44, %v22
  br i1 %v45, label %b42, label %b43
  b42:
  %v46 = load i64, ptr %v40
  %v47 = mul i64 %v39, %v11
  %v48 = getelementptr i8, ptr %v9, i64 %v47
  %v49 = mul i64 %v46, 4
  %v50 = getelementptr i8, ptr %v48, i64 %v49
  %v51 = load i64, ptr %v23
  %v52 = mul i64 %v51, %v11
  %v53 = getelementptr i8, ptr %v50, i64 %v52
  %v54 = load <8 x float>, ptr %v50, align 4
  %v55 = load <8 x float>, ptr %v53, align 4
  %v56 = fadd <8 x float> %v54, %v55
  store <8 x float> %v56, ptr %v50, align 4
  %v57 = add i64 %v46, 8
  store i64 %v57, ptr %v40
  br label %b41
  b43:
  %v58 = add i64 %v39, %v30
  store i64 %v58, ptr %v33
  br label %b34
  b36:
  store i64 %v30, ptr %v23
  br label %b24
  b26:
  %v59 = add i64 %v18, 1
  store i64 %v59, ptr %v12
  br label %b13
  b15:
  ret void
}
