#include "backends/cpu/isa.h"

#include "backends/cpu/amx_permission.h"

#include <algorithm>
#include <atomic>

namespace tunedops::cpu {
namespace {

// __builtin_cpu_supports asks the operating system too (XGETBV), so a level
// that the kernel does not save on a context switch is not reported.
Isa detect() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c")) {
    return Isa::kPortable;
  }
  if (!__builtin_cpu_supports("avx512f") ||
      !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq")) {
    return Isa::kAvx2;
  }
  if (!__builtin_cpu_supports("avx512bf16")) {
    return Isa::kAvx512;
  }
  return amx_is_permitted() ? Isa::kAvx512Amx : Isa::kAvx512Bf16;
#else
  return Isa::kPortable;
#endif
}

std::atomic<Isa> limit_of_isa{Isa::kAvx512Amx};

}  // namespace

Isa detected_isa() {
  static const Isa isa = detect();
  return isa;
}

Isa usable_isa() {
  return std::min(detected_isa(), limit_of_isa.load(std::memory_order_relaxed));
}

void set_isa_limit(std::optional<Isa> limit) {
  limit_of_isa.store(limit.value_or(Isa::kAvx512Amx),
                     std::memory_order_relaxed);
}

std::string_view to_text(Isa isa) {
  switch (isa) {
  case Isa::kPortable:
    return "portable";
  case Isa::kAvx2:
    return "avx2";
  case Isa::kAvx512:
    return "avx512";
  case Isa::kAvx512Bf16:
    return "avx512_bf16";
  case Isa::kAvx512Amx:
    return "avx512_amx";
  }
  return "portable";
}

}  // namespace tunedops::cpu
