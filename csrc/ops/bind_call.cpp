#include "ops/bind_call.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "ops/alias.h"
#include "ops/check_product.h"
#include "ops/gemm.h"
#include "ops/run_product.h"
#include "ops/sum_product.h"
#include "ops/vector_product.h"

namespace tunedops {
namespace {

void check(const CallToBind& call) {
  if (call.op == "mm") {
    check_mm("mm", call.mat1, call.mat2);
  } else if (call.op == "bmm") {
    check_bmm("bmm", call.mat1, call.mat2);
  } else if (call.op == "addmm") {
    check_addmm("addmm", call.self, call.mat1, call.mat2);
  } else if (call.op == "baddbmm") {
    check_baddbmm("baddbmm", call.self, call.mat1, call.mat2);
  } else if (call.op == "linear") {
    check_linear(call.mat1, call.mat2, call.self);
  }
}

// As the op asks for it, but for its destination.
Product product_of(const CallToBind& call) {
  const int dims = call.op == "bmm" || call.op == "baddbmm" ? 3 : 2;
  if (call.op == "mm" || call.op == "bmm") {
    return {.mat1 = call.mat1, .mat2 = call.mat2, .dims = dims};
  }
  const Product sum =
      sum_product(dims, call.self, call.mat1, call.mat2, call.beta, call.alpha);
  if (call.op == "_addmm_activation") {
    return activated(sum, call.use_gelu);
  }
  if (call.op == "addmm" || call.op == "baddbmm") {
    return sum;
  }
  throw std::invalid_argument("'" + call.op + "' is no op with a product");
}

const char* bind_layer(const CallToBind& call, GemmProblem& problem) {
  const Activation activation = parse_activation(call.activation);
  const at::Tensor& input = call.mat1;
  if (input.numel() == 0) {
    return "an operand is empty";
  }
  if (input.dim() == 0 || call.mat2.dim() != 2) {
    return "the operands make no product of matrices";
  }
  std::optional<at::Tensor> rows = rows_of(input);
  if (!rows) {
    const std::int64_t columns = input.sizes().back();
    rows = described_tensor({input.numel() / columns, columns}, {columns, 1},
                            input.scalar_type(), input.device(),
                            /*alignment=*/16, /*is_conjugated=*/false);
  }
  const at::Tensor weight_t = transposed(call.mat2);
  const std::optional<at::Tensor> bias = call.self;
  return problem_of(layer_product(*rows, weight_t, bias, activation), problem);
}

const char* bind_vectors(const CallToBind& call, GemmProblem& problem) {
  const bool has_out = call.out.defined() && !call.in_place;
  if (!VectorProduct::is_possible(call.self, call.mat1, call.mat2) ||
      (has_out && call.out.dim() != 1) ||
      (call.in_place && call.self.dim() != 1)) {
    return "the operands make no product of a matrix and a vector";
  }
  const VectorProduct vectors(call.self, call.mat1, call.mat2, call.beta,
                              call.alpha);
  if (call.in_place) {
    return problem_of(vectors.product(&vectors.addend()), problem);
  }
  if (has_out) {
    const at::Tensor column = as_column(call.out);
    return problem_of(vectors.product(&column), problem);
  }
  return problem_of(vectors.product(), problem);
}

}  // namespace

const char* bind_call(const CallToBind& call, GemmProblem& problem) {
  if (call.is_checked) {
    check(call);
  }
  if (call.op == "linear") {
    return bind_layer(call, problem);
  }
  if (call.op == "addmv") {
    return bind_vectors(call, problem);
  }
  Product product = with_dtype(product_of(call), call.out_dtype);
  if (call.in_place || call.out.defined()) {
    product.out = call.in_place ? &call.self : &call.out;
  }
  return problem_of(product, problem);
}

at::Tensor described_tensor(at::IntArrayRef sizes, at::IntArrayRef strides,
                            at::ScalarType dtype, at::Device device,
                            int alignment, bool is_conjugated) {
  // An address that nobody reads from: its last bits are the alignment.
  constexpr std::uintptr_t kPage = 4096;
  auto* const address = reinterpret_cast<void*>(
      kPage + (alignment < 16 ? static_cast<std::uintptr_t>(alignment) : 0));
  c10::Storage storage(c10::Storage::use_byte_size_t(), /*size_bytes=*/0,
                       c10::DataPtr(address, device), /*allocator=*/nullptr,
                       /*resizable=*/false);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage),
      c10::DispatchKeySet(device.is_cpu() ? c10::DispatchKey::CPU
                                          : c10::DispatchKey::CUDA),
      c10::scalarTypeToTypeMeta(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  if (is_conjugated) {
    tensor.unsafeGetTensorImpl()->_set_conj(true);
  }
  return tensor;
}

}  // namespace tunedops
