#include "ops/aten_plan.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "ops/dtype_map.h"

namespace tunedops {
namespace {

at::Tensor wrap(void* data, const GemmProblem& p, DType dtype,
                std::int64_t rows, std::int64_t columns,
                std::int64_t row_stride, std::int64_t column_stride,
                std::int64_t batch_stride) {
  const auto device =
      p.header.device_type == DeviceType::kCpu
          ? at::Device(at::kCPU)
          : at::Device(at::kCUDA,
                       static_cast<c10::DeviceIndex>(p.header.device_index));
  const auto options = at::TensorOptions(device).dtype(scalar_type_of(dtype));
  if (p.batched) {
    return at::from_blob(data, {p.batch, rows, columns},
                         {batch_stride, row_stride, column_stride}, options);
  }
  return at::from_blob(data, {rows, columns}, {row_stride, column_stride},
                       options);
}

}  // namespace

GemmTensors wrap_operands(const GemmProblem& p, const Arguments& arguments) {
  const auto& data = arguments.operands;
  GemmTensors tensors;
  tensors.x =
      wrap(data[kGemmB], p, p.b_dtype, p.n, p.k, p.transpose_b ? 1 : p.ldb,
           p.transpose_b ? p.ldb : 1, p.stride_b);
  tensors.w =
      wrap(data[kGemmA], p, p.a_dtype, p.k, p.m, p.transpose_a ? 1 : p.lda,
           p.transpose_a ? p.lda : 1, p.stride_a);
  tensors.out =
      wrap(data[kGemmOut], p, p.out_dtype, p.n, p.m, p.ldc, 1, p.stride_c);
  if (p.has_bias()) {
    tensors.bias = at::from_blob(
        data[kGemmBias], {p.m},
        tensors.out.options().dtype(scalar_type_of(p.bias_dtype)));
  }
  if (p.conjugate_b) {
    tensors.x = tensors.x.conj();
  }
  if (p.conjugate_a) {
    tensors.w = tensors.w.conj();
  }
  return tensors;
}

Status run_aten(c10::function_ref<void()> body) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  // A mode of Python's must neither see what we measure nor answer for it.
  const c10::impl::ExcludeDispatchKeyGuard no_python(c10::DispatchKeySet(
      {c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot}));
  try {
    body();
  } catch (const c10::Error& error) {
    return Status::failed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return Status::failed(error.what());  // oneDNN's own
  }
  return Status::ok();
}

Status write_by_aten(c10::function_ref<void()> body) {
  Status written = run_aten(body);
  if (!written.is_ok()) {
    throw StatusError(written);
  }
  return written;
}

}  // namespace tunedops
