; What Numba's run-time library would provide: memory for a while, as where an array is assigned to a part of another.
declare ptr @malloc(i64)
declare void @free(ptr)
define weak_odr ptr @NRT_Allocate(i64 %size) alwaysinline {
  %block = call ptr @malloc(i64 %size)
  ret ptr %block
}
define weak_odr void @NRT_Free(ptr %block) alwaysinline {
  call void @free(ptr %block)
  ret void
}
