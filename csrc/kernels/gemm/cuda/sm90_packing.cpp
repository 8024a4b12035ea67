#include "kernels/gemm/cuda/sm90_packing.h"

#include "backends/cuda/check.h"

namespace tunedops::cuda {

Sm90Packing::Sm90Packing(const GemmProblem& p, const Sm90Parameters& x) {
  const Sm90Packed packed = sm90_packed(p, x);
  const HalfLayout layout = half_layout(p);
  std::size_t offset = sm90_splits_bytes(p, x);
  const auto add = [&](int operand, const HalfLines& lines, std::size_t bytes) {
    if (bytes == 0) {
      return;
    }
    copies_[static_cast<std::size_t>(count_++)] = {
        .operand = operand,
        .offset = offset,
        .lines = sm90_lines_to_pack(p, lines)};
    offset += bytes;
  };
  add(kGemmA, layout.a, packed.a_bytes);
  add(kGemmB, layout.b, packed.b_bytes);
  if (count_ > 0) {
    bytes_ = offset - sm90_splits(p, x).workspace_bytes();
  }
}

Status Sm90Packing::run(std::array<void*, kMaxOperands>& operands,
                        void* workspace, cudaStream_t stream) const {
  if (count_ == 0) {
    return Status::ok();
  }
  std::array<PackedLines, 2> lines;
  for (int i = 0; i < count_; ++i) {
    const auto& copy = copies_[static_cast<std::size_t>(i)];
    void*& operand = operands[static_cast<std::size_t>(copy.operand)];
    PackedLines& packed = lines[static_cast<std::size_t>(i)];
    packed = copy.lines;
    packed.from = operand;
    packed.to = static_cast<char*>(workspace) + copy.offset;
    operand = packed.to;
  }
  return to_status(pack_lines(lines.data(), count_, stream),
                   "packing operands for Gemm_Sm90");
}

}  // namespace tunedops::cuda
