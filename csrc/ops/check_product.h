#pragma once

// What our ops say about arguments that do not fit together: op, argument,
// expectation and what came. Checked before anything else, so that the answer
// is the same whatever is switched on.

#include <ATen/core/Tensor.h>

#include <optional>

namespace tunedops {

void check_mm(const char* op, const at::Tensor& self, const at::Tensor& mat2);
void check_addmm(const char* op, const at::Tensor& self, const at::Tensor& mat1,
                 const at::Tensor& mat2);
void check_bmm(const char* op, const at::Tensor& self, const at::Tensor& mat2);
void check_baddbmm(const char* op, const at::Tensor& self,
                   const at::Tensor& batch1, const at::Tensor& batch2);
void check_linear(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias);

}  // namespace tunedops
