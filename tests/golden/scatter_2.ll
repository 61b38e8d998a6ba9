define void @k22f0a1e02cd7448da2f583f741b190f6(ptr %words, i64 %begin, i64 %end) "prefer-vector-width"="256" "min-legal-vector-width"="256" nounwind {
  entry:
  %v1 = getelementptr i8, ptr %words, i64 48
  %v2 = load ptr, ptr %v1, align 8
  %v3 = getelementptr i8, ptr %words, i64 136
  %v4 = load i64, ptr %v3, align 8
  %v5 = getelementptr i8, ptr %v2, i64 %v4
  %v6 = getelementptr i8, ptr %words, i64 144
  %v7 = load i64, ptr %v6, align 8
  %v8 = getelementptr i8, ptr %words, i64 152
  %v9 = load i64, ptr %v8, align 8
  %v10 = alloca i64, align 8
  %v11 = alloca i64, align 8
  %v18 = alloca i64, align 8
  br label %start
  start:
  store i64 0, ptr %v10
  store i64 0, ptr %v11
  br label %b12
  b12:
  %v15 = load i64, ptr %v11
  %v16 = icmp slt i64 %v15, %v7
  br i1 %v16, label %b13, label %b14
  b13:
  %v17 = load i64, ptr %v11
  store i64 0, ptr %v18
  br label %b19
  b19:
  %v22 = load i64, ptr %v18
  %v23 = icmp slt i64 %v22, %v9
  br i1 %v23, label %b20, label %b21
  b20:
  %v24 = load i64, ptr %v18
  %v25 = mul i64 %v24, %v7
  %v26 = add i64 %v25, %v17
  %v27 = mul i64 %v26, 4
  %v28 = getelementptr i8, ptr %v5, i64 %v27
  %v29 = load i32, ptr %v28, align 4
  %v30 = zext i32 %v29 to i64
  %v31 = load i64, ptr %v10
  %v32 = trunc i64 %v31 to i32
  %v33 = mul i64 %v26, 4
  %v34 = getelementptr i8, ptr %v5, i64 %v33
  store i32 %v32, ptr %v34, align 4
  %v35 = load i64, ptr %v10
  %v36 = add i64 %v35, %v30
  store i64 %v36, ptr %v10
  %v37 = add i64 %v24, 1
  store i64 %v37, ptr %v18
  br label %b19
  b21:
  %v38 = add i64 %v17, 1
  store i64 %v38, ptr %v11
  br label %b12
  b14:
  ret void
}
