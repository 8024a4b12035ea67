#pragma once

// Torch's own kernels, reached without the dispatcher: this is what `Default`
// means. Calling at::mm here instead would come back to us through routing.

#include <ATen/core/Tensor.h>
#include <ATen/ops/_addmm_activation_cpu_dispatch.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/addmv_cpu_dispatch.h>
#include <ATen/ops/baddbmm_cpu_dispatch.h>
#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>

namespace tunedops::originals {

using at::cpu::_addmm_activation;
using at::cpu::_addmm_activation_outf;
using at::cpu::addmm;
using at::cpu::addmm_;
using at::cpu::addmm_outf;
using at::cpu::addmv;
using at::cpu::addmv_;
using at::cpu::addmv_outf;
using at::cpu::baddbmm;
using at::cpu::baddbmm_;
using at::cpu::baddbmm_outf;
using at::cpu::bmm;
using at::cpu::bmm_outf;
using at::cpu::mm;
using at::cpu::mm_outf;

}  // namespace tunedops::originals
