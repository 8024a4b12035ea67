#include "kernels/gemm/cuda/sm90_place.h"

#include "kernels/gemm/cuda/sm90_stage.h"
#include "kernels/gemm/cuda/tensor_map.h"
#include "tuning/divide_up.h"

namespace tunedops::cuda {
namespace {

// No coordinate reaches it. A multiple of 16 bytes, as all have to be.
constexpr int kNowhere = 1 << 30;

// Addresses, of a kilobyte each: more than layers that share a plan. When there
// are more, all are forgotten; where they never come again, little is lost.
constexpr std::size_t kMostKnown = 64;

}  // namespace

Sm90Place::Sm90Place(const GemmProblem& p, const HalfLines& access, int side,
                     int sharers)
    : access_(access), dtype_(p.a_dtype),
      matrices_(access.matrix_stride != 0 ? p.batch : 1), box_length_(kPiece),
      box_lines_(kPiece) {
  if (access.is_aligned) {
    if (access.k_is_contiguous) {
      box_lines_ = side / sharers;
    }
    return;
  }
  box_length_ = sm90_raw_length(
      sm90_pieces_across(side / kPiece, access.k_is_contiguous));
  box_lines_ = (access.k_is_contiguous ? side : kPiece) / kClasses;
}

Status Sm90Place::operator()(const void* data, Sm90Operand& operand) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(data); found != known_.end()) {
      operand = found->second;
      return Status::ok();
    }
  }
  if (Status encoded = encode(data, operand); !encoded.is_ok()) {
    return encoded;
  }
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) {
    known_.clear();
  }
  known_.emplace(data, operand);
  return Status::ok();
}

Status Sm90Place::encode(const void* data, Sm90Operand& operand) const {
  const HalfLines& x = access_;
  operand.is_aligned = x.is_aligned ? 1 : 0;
  operand.is_batched = x.matrix_stride != 0 ? 1 : 0;
  const int classes = x.is_aligned ? 1 : kClasses;
  for (int c = 0; c < classes; ++c) {
    // A class without a line is copied from another's, from beyond its end.
    const bool is_empty = c >= x.lines;
    const std::int64_t first = is_empty ? 0 : c;
    const auto address = reinterpret_cast<std::uintptr_t>(data) +
                         static_cast<std::uintptr_t>(first * x.line_stride) * 2;
    operand.shift[c] = static_cast<int>(address % 16 / 2);
    operand.beyond[c] = is_empty ? kNowhere : 0;
    const TensorView view{
        .base = reinterpret_cast<const void*>(address - address % 16),
        .dtype = dtype_,
        .length = x.length + operand.shift[c],
        .lines = divide_up(x.lines - first, classes),
        .line_stride = x.line_stride * classes,
        .matrices = matrices_,
        .matrix_stride = x.matrix_stride,
        .box_length = box_length_,
        .box_lines = box_lines_,
        .is_swizzled = x.is_aligned};
    if (Status encoded = encode_tensor_map(view, operand.maps[c]);
        !encoded.is_ok()) {
      return encoded;
    }
  }
  return Status::ok();
}

}  // namespace tunedops::cuda
