#include "backends/cpu/amx_permission.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tunedops::cpu {

#if defined(__x86_64__) && defined(__linux__)

bool amx_is_permitted() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kBfloat16 = 1U << 22;
  constexpr unsigned kTile = 1U << 24;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 ||
      (edx & kBfloat16) == 0 || (edx & kTile) == 0) {
    return false;
  }
  // As in Linux's asm/prctl.h, which older systems have without these. A
  // kernel that does not know the request, or does not save tiles, refuses it.
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

#else

bool amx_is_permitted() { return false; }

#endif

}  // namespace tunedops::cpu
