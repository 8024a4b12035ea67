#pragma once

// Which instruction sets the CPU kernels may use. The package is compiled once
// for every CPU of an architecture, so kernels carry several versions of their
// inner loops and choose one at run time with this. The levels are ordered:
// each includes the ones before it.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tunedops::cpu {

enum class Isa : std::uint8_t {
  kPortable,  // what the compiler assumes of any CPU of the architecture
  kAvx2,      // with FMA and F16C
  kAvx512,    // F, BW, VL, DQ
  kAvx512Bf16,
  kAvx512Amx,  // tiles of bfloat16, too
};

/// The highest level that this CPU and its operating system support.
Isa detected_isa();

/// The level that kernels should use: the detected one, or the limit if one
/// was set and is lower. Plans keep the level they were prepared with.
Isa usable_isa();
void set_isa_limit(std::optional<Isa> limit);

/// `portable`, `avx2`, `avx512`, `avx512_bf16`, `avx512_amx`.
std::string_view to_text(Isa isa);

}  // namespace tunedops::cpu
