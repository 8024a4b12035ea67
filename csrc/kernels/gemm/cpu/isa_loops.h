#pragma once

// Loops of one element type, compiled for each instruction set, and the choice
// among them at run time.

#include "backends/cpu/isa.h"
#include "tuning/dtype.h"

namespace tunedops::cpu {

template <class Loops>
struct IsaLoops {
  const Loops& portable;
  const Loops& avx2;
  const Loops& avx512;
  const Loops& avx512_bf16;

  const Loops& of(Isa isa) const {
    switch (isa) {
    case Isa::kAvx512Amx:  // whose loops compete with these
    case Isa::kAvx512Bf16:
      return avx512_bf16;
    case Isa::kAvx512:
      return avx512;
    case Isa::kAvx2:
      return avx2;
    case Isa::kPortable:
      break;
    }
    return portable;
  }
};

/// Whether there are instructions for whole tiles of the type.
inline bool multiplies_tiles(DType dtype) {
  return dtype == DType::kBFloat16 && usable_isa() >= Isa::kAvx512Amx;
}

// Of loops that are called `name` and an instruction set; the last argument is
// the best of them. Other architectures have the portable ones only.
#if defined(__x86_64__)
#define TUNEDOPS_ISA_LOOPS(name, best)                                         \
  {name##Portable, name##Avx2, name##Avx512, name##best}
#else
#define TUNEDOPS_ISA_LOOPS(name, best)                                         \
  {name##Portable, name##Portable, name##Portable, name##Portable}
#endif

}  // namespace tunedops::cpu
