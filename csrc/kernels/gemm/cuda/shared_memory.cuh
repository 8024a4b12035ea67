#pragma once

// Shared memory by its own addresses, and what Ampere does there: copies from
// memory that pass no registers, and reads of whole matrices. PTX under the
// names that it has.

#include <cstdint>

namespace tunedops::cuda {

/// Begins to copy 16 bytes, to which both addresses are aligned.
__device__ inline void begin_copy(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)
               : "memory");
}

/// The same of the first `bytes` only; the rest becomes zeros. What is not
/// copied is not read either.
__device__ inline void begin_copy(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
               "l"(from), "r"(bytes)
               : "memory");
}

__device__ inline unsigned load_word(unsigned from) {
  unsigned word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}

/// 16 bytes, to which the address is aligned.
__device__ inline uint4 load_words(unsigned from) {
  uint4 words;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "r"(from)
               : "memory");
  return words;
}

__device__ inline unsigned short load_element(unsigned from) {
  unsigned short element;
  asm volatile("ld.shared.u16 %0, [%1];"
               : "=h"(element)
               : "r"(from)
               : "memory");
  return element;
}

__device__ inline void store_word(unsigned to, unsigned word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
}

/// Ends a group of this thread's copies.
__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int kPending>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Until at most so many of this thread's groups, six at most, are not done.
__device__ inline void wait_copies_but(int pending) {
  if (pending == 2) {
    wait_copies<2>();
  } else if (pending == 1) {
    wait_copies<1>();
  } else if (pending == 0) {
    wait_copies<0>();
  } else if (pending == 3) {
    wait_copies<3>();
  } else if (pending == 4) {
    wait_copies<4>();
  } else if (pending == 5) {
    wait_copies<5>();
  } else {
    wait_copies<6>();
  }
}

/// Four matrices of 8 x 8 elements of 2 bytes. Lane i gives the address of row
/// i % 8 of matrix i / 8, and gets two neighbours of row i / 4 of each; of
/// column i / 4, one below the other, if `kTransposes`.
template <bool kTransposes>
__device__ inline void read_matrices(unsigned (&matrices)[4], unsigned from) {
  if constexpr (kTransposes) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]),
                   "=r"(matrices[3])
                 : "r"(from)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]),
                   "=r"(matrices[3])
                 : "r"(from)
                 : "memory");
  }
}

/// The other way, on Hopper.
template <bool kTransposes>
__device__ inline void store_matrices(unsigned to,
                                      const unsigned (&matrices)[4]) {
  if constexpr (kTransposes) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], "
                 "{%1, %2, %3, %4};" ::"r"(to),
                 "r"(matrices[0]), "r"(matrices[1]), "r"(matrices[2]),
                 "r"(matrices[3])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], "
                 "{%1, %2, %3, %4};" ::"r"(to),
                 "r"(matrices[0]), "r"(matrices[1]), "r"(matrices[2]),
                 "r"(matrices[3])
                 : "memory");
  }
}

}  // namespace tunedops::cuda
