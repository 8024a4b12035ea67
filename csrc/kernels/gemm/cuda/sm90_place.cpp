#include "kernels/gemm/cuda/sm90_place.h"

#include "kernels/gemm/cuda/sm90_stage.h"
#include "kernels/gemm/cuda/tensor_map.h"
#include "tuning/divide_up.h"

namespace tunedops::cuda {
namespace {

// No coordinate reaches it. A multiple of 16 bytes, as all have to be.
constexpr int kNowhere = 1 << 30;

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

Status Sm90Place::operator()(const void* data, Sm90Maps& maps) const {
  if (const auto kept = known_.find(data)) {
    maps = *kept;
    return Status::ok();
  }
  Status encoded = encode(data, maps);
  if (encoded.is_ok()) {
    known_.keep(data, maps);
  }
  return encoded;
}

Status Sm90Place::encode(const void* data, Sm90Maps& maps) const {
  const HalfLines& x = access_;
  const int classes = x.is_aligned ? 1 : kClasses;
  for (int c = 0; c < classes; ++c) {
    // A class without a line is copied from another's, from beyond its end.
    const bool is_empty = c >= x.lines;
    const std::int64_t first = is_empty ? 0 : c;
    const auto address = reinterpret_cast<std::uintptr_t>(data) +
                         static_cast<std::uintptr_t>(first * x.line_stride) * 2;
    maps.shift[c] = static_cast<int>(address % 16 / 2);
    maps.beyond[c] = is_empty ? kNowhere : 0;
    const TensorView view{
        .base = reinterpret_cast<const void*>(address - address % 16),
        .dtype = dtype_,
        .length = x.length + maps.shift[c],
        .lines = divide_up(x.lines - first, classes),
        .line_stride = x.line_stride * classes,
        .matrices = matrices_,
        .matrix_stride = x.matrix_stride,
        .box_length = box_length_,
        .box_lines = box_lines_,
        .is_swizzled = x.is_aligned};
    if (Status encoded = encode_tensor_map(view, maps.maps[c]);
        !encoded.is_ok()) {
      return encoded;
    }
  }
  return Status::ok();
}

Sm90OutputPlace::Sm90OutputPlace(const GemmProblem& p) : problem_(p) {}

Status Sm90OutputPlace::operator()(const void* data, CUtensorMap& map) const {
  if (const auto kept = known_.find(data)) {
    map = *kept;
    return Status::ok();
  }
  Status encoded = encode_tensor_map({.base = data,
                                      .dtype = problem_.out_dtype,
                                      .length = problem_.m,
                                      .lines = problem_.n,
                                      .line_stride = problem_.ldc,
                                      .matrices = problem_.batch,
                                      .matrix_stride = problem_.stride_c,
                                      .box_length = kPiece,
                                      .box_lines = kPiece},
                                     map);
  if (encoded.is_ok()) {
    known_.keep(data, map);
  }
  return encoded;
}

}  // namespace tunedops::cuda
