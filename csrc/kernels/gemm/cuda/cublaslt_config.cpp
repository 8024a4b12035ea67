#include "kernels/gemm/cuda/cublaslt_config.h"

#include <limits>
#include <stdexcept>

namespace tunedops::cuda {
namespace {

constexpr std::array<std::string_view, kCublasltAttributes> kNames{
    "tile", "stages", "splitk", "red", "swizzle", "custom", "inner", "cluster"};

}  // namespace

Config to_config(const CublasltConfig& config) {
  Config text = Config().with("id", config.id);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    text = text.with(kNames[i], config.values[i]);
  }
  return text;
}

std::optional<CublasltConfig> cublaslt_from_config(const Config& config) {
  constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMostShort = std::numeric_limits<std::uint16_t>::max();
  CublasltConfig read;
  try {
    const std::int64_t id = config.at("id");
    if (id < 0 || id > kMostInt) {
      return std::nullopt;
    }
    read.id = static_cast<std::int32_t>(id);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const std::int64_t value = config.at(kNames[i]);
      const auto attribute = static_cast<CublasltAttribute>(i);
      if (value < 0 ||
          value > (size_of(attribute) == 2 ? kMostShort : kMostInt)) {
        return std::nullopt;
      }
      read[attribute] = static_cast<std::uint32_t>(value);
    }
  } catch (const std::out_of_range&) {  // one is missing
    return std::nullopt;
  }
  return to_config(read) == config ? std::make_optional(read) : std::nullopt;
}

Status cublaslt_allowed(const GemmProblem& p, const CublasltConfig& config) {
  const std::uint32_t reduction = config[CublasltAttribute::kReduction];
  if ((p.header.precision & kDeterministic) != 0 &&
      (reduction & kReduceInPlace) != 0) {
    return Status::unsupported("its reduction is not deterministic");
  }
  if ((p.header.precision & kNoSplitK) != 0 &&
      config[CublasltAttribute::kSplitK] > 1) {
    return Status::unsupported("it splits k, which is not allowed");
  }
  // An output of 32 bits loses nothing: sums are computed in those.
  if ((p.header.precision & kFullPrecisionReduction) != 0 &&
      (reduction & kReduceInOutputType) != 0 && size_of(p.out_dtype) == 2) {
    return Status::unsupported("its reduction is of lower precision");
  }
  return Status::ok();
}

}  // namespace tunedops::cuda
