#include "kernels/gemm/cuda/tensor_map.h"

#include <cuda_runtime_api.h>

namespace tunedops::cuda {
namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t,
                            void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*,
                            CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

Encode find_encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  constexpr unsigned kSince = 12000;  // CUDA 12.0
#if CUDART_VERSION >= 12050
  const cudaError_t asked = cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &function, kSince, cudaEnableDefault, &found);
#else
  (void)kSince;
  const cudaError_t asked = cudaGetDriverEntryPoint(
      "cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
  if (asked != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<Encode>(function);
}

// Of a single line or matrix it means nothing, but has to be valid: a multiple
// of 16 that what it strides over fits.
cuuint64_t stride_bytes(std::int64_t count, std::int64_t elements,
                        cuuint64_t inside) {
  return count == 1 ? (inside + 15) / 16 * 16
                    : 2 * static_cast<cuuint64_t>(elements);
}

}  // namespace

Status encode_tensor_map(const TensorView& view, CUtensorMap& map) {
  static const Encode encode = find_encode();
  if (encode == nullptr) {
    return Status::unsupported("the driver has no cuTensorMapEncodeTiled");
  }
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(view.length),
                              static_cast<cuuint64_t>(view.lines),
                              static_cast<cuuint64_t>(view.matrices)};
  const cuuint64_t line =
      stride_bytes(view.lines, view.line_stride, 2 * sizes[0]);
  const cuuint64_t strides[] = {
      line, stride_bytes(view.matrices, view.matrix_stride, line)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(view.box_length),
                            static_cast<cuuint32_t>(view.box_lines), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  const CUresult encoded = encode(
      &map,
      view.dtype == DType::kFloat16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                    : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
      3, const_cast<void*>(view.base), sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE,
      view.is_swizzled ? CU_TENSOR_MAP_SWIZZLE_128B
                       : CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (encoded == CUDA_SUCCESS) {
    return Status::ok();
  }
  std::string what = "cuTensorMapEncodeTiled: error " +
                     std::to_string(static_cast<int>(encoded)) + " for";
  for (const std::int64_t number :
       {view.length, view.lines, view.matrices, view.line_stride,
        view.matrix_stride, std::int64_t{view.box_length},
        std::int64_t{view.box_lines}}) {
    what += " " + std::to_string(number);
  }
  return Status::failed(what);
}

}  // namespace tunedops::cuda
