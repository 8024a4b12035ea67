// Where the operating system does not let a process use AMX, the level below is
// what kernels get.

#include "backends/cpu/amx_permission.h"
#include "backends/cpu/isa.h"

#include <gtest/gtest.h>

#if defined(__x86_64__) && defined(__linux__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace tunedops::cpu {
namespace {

TEST(AmxPermission, IsPartOfTheLevel) {
  EXPECT_EQ(detected_isa() == Isa::kAvx512Amx,
            detected_isa() >= Isa::kAvx512Bf16 && amx_is_permitted());
}

#if defined(__x86_64__) && defined(__linux__)

enum Outcome { kFellBack, kDidNot, kCouldNotForbid };

/// Lets the system refuse every arch_prctl from now on. There is no way back.
bool forbid_requests() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

[[noreturn]] void detect_without_permission() {
  if (!forbid_requests()) {
    std::_Exit(kCouldNotForbid);
  }
  std::_Exit(amx_is_permitted() || detected_isa() > Isa::kAvx512Bf16
                 ? kDidNot
                 : kFellBack);
}

// A fresh process, since this one may have asked already.
TEST(AmxPermissionDeathTest, WithoutItTheLevelBelowIsUsed) {
  if (!amx_is_permitted()) {
    GTEST_SKIP() << "this processor or its system has no AMX";
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static bool could_forbid = true;
  EXPECT_EXIT(
      detect_without_permission(),
      [](int status) {
        could_forbid = WEXITSTATUS(status) != kCouldNotForbid;
        return WIFEXITED(status) && WEXITSTATUS(status) != kDidNot;
      },
      "");
  if (!could_forbid) {
    GTEST_SKIP() << "this system lets no process forbid itself calls";
  }
}

#endif

}  // namespace
}  // namespace tunedops::cpu
