; Arrays that are made and forgotten within one call, so of one thread: a count, two fields of the compiler's, the address of the data.
define weak_odr ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %aligned = zext i32 %alignment to i64
  %before = add i64 %aligned, 48
  %all = add i64 %size, %before
  %block = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %made
made:
  %start = ptrtoint ptr %block to i64
  %past = add i64 %start, %before
  %mask = sub i64 0, %aligned
  %place = and i64 %past, %mask
  %data = inttoptr i64 %place to ptr
  store i64 1, ptr %block
  %field = getelementptr i64, ptr %block, i64 3
  store ptr %data, ptr %field
  br label %end
end:
  ret ptr %block
}
define weak_odr ptr @NRT_MemInfo_data_fast(ptr %block) alwaysinline {
  %field = getelementptr i64, ptr %block, i64 3
  %data = load ptr, ptr %field
  ret ptr %data
}
define weak_odr void @NRT_incref(ptr %block) alwaysinline {
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %counted
counted:
  %count = load i64, ptr %block
  %more = add i64 %count, 1
  store i64 %more, ptr %block
  br label %end
end:
  ret void
}
define weak_odr void @NRT_decref(ptr %block) alwaysinline {
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %counted
counted:
  %count = load i64, ptr %block
  %fewer = sub i64 %count, 1
  store i64 %fewer, ptr %block
  %last = icmp eq i64 %fewer, 0
  br i1 %last, label %unused, label %end
unused:
  call void @free(ptr %block)
  br label %end
end:
  ret void
}
