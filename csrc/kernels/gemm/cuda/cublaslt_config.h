#pragma once

// An algorithm of cuBLASLt as nine numbers, and those as a config: what a
// results file says, before the library is asked whether it has that.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/gemm/gemm_problem.h"
#include "tuning/config.h"
#include "tuning/status.h"

namespace tunedops::cuda {

/// In the order of TunableOp's names; the id comes before them.
enum class CublasltAttribute : std::uint8_t {
  kTile,
  kStages,
  kSplitK,
  kReduction,
  kSwizzle,
  kCustom,
  kInner,
  kCluster,
};
inline constexpr std::size_t kCublasltAttributes = 8;

/// Bits of the reduction scheme, as cublasLt.h numbers them.
inline constexpr std::uint32_t kReduceInPlace = 1;
inline constexpr std::uint32_t kReduceInOutputType = 4;

struct CublasltConfig {
  std::int32_t id = 0;
  std::array<std::uint32_t, kCublasltAttributes> values{};

  std::uint32_t& operator[](CublasltAttribute attribute) {
    return values[static_cast<std::size_t>(attribute)];
  }
  std::uint32_t operator[](CublasltAttribute attribute) const {
    return values[static_cast<std::size_t>(attribute)];
  }
};

/// Bytes of an attribute in the library: the last two are 16-bit numbers.
constexpr std::size_t size_of(CublasltAttribute attribute) {
  return attribute >= CublasltAttribute::kInner ? 2 : 4;
}

/// `_id_66_tile_312_stages_35_splitk_2_red_2_swizzle_0_custom_1_inner_0_cluster_3`
Config to_config(const CublasltConfig& config);

/// Nothing if the config has another form or a number is out of range.
std::optional<CublasltConfig> cublaslt_from_config(const Config& config);

/// Whether the problem's precision flags allow the reduction: partial sums in
/// an output's type of 16 bits lose precision, and sums in place are added in
/// the order in which blocks finish.
Status cublaslt_allowed(const GemmProblem& problem,
                        const CublasltConfig& config);

}  // namespace tunedops::cuda
