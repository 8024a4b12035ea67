#pragma once

// How the skinny kernels read memory: 16 bytes at once where alignment allows,
// element by element where it does not, and zeros behind the end of k.

#include <cstdint>
#include <cstring>

namespace tunedops::cuda {

/// Elements of 16 bytes.
template <class T>
inline constexpr int kVector = 16 / sizeof(T);

/// Weights are used once: they need not stay in the L1 cache.
__device__ inline uint4 load_once(const void* address) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address));
  return v;
}

/// The narrow operand is used by all: it stays. Volatile, so that the compiler
/// does not gather many loads, which would need more registers than there are.
__device__ inline uint4 load_shared(const void* address) {
  uint4 v;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address));
  return v;
}
__device__ inline uint2 load_shared_half(const void* address) {
  uint2 v;
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];"
               : "=r"(v.x), "=r"(v.y)
               : "l"(address));
  return v;
}

/// Hides from the compiler where an address comes from, so that it does not
/// keep the addresses of all columns in registers.
template <class T>
__device__ void keep_in_order(const T*& address) {
  asm volatile("" : "+l"(address));
}

/// `count` elements, `stride` apart, as 16 bytes; zeros take the place of those
/// that are not there.
template <class T>
__device__ uint4 gather(const T* address, std::int64_t stride,
                        std::int64_t count) {
  uint4 v = make_uint4(0, 0, 0, 0);
  T elements[kVector<T>];
#pragma unroll
  for (int i = 0; i < kVector<T>; ++i) {
    elements[i] = i < count ? __ldg(address + i * stride) : T(0.0F);
  }
  memcpy(&v, elements, sizeof(v));
  return v;
}

}  // namespace tunedops::cuda
