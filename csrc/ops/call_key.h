#pragma once

// A call as its tensors tell it: sizes, strides, types, flags, copied and not
// interpreted. Two calls with equal keys make the same problem, so the plan of
// the first is the plan of the second, and nothing has to be worked out or
// checked again. This is what every call pays for; the rest is paid once.

#include <ATen/core/Tensor.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "ops/call_state.h"
#include "ops/product.h"
#include "tuning/problem_key.h"

namespace tunedops {

/// Keys of calls lie in the cache beside keys of problems; no problem has this
/// op.
inline constexpr OpId kCallOp{255};

struct Call {
  ProblemKey key{ProblemKey::Uninitialized{}};
  // Where the operands begin, read on the way.
  void* mat1 = nullptr;
  void* mat2 = nullptr;
  void* bias = nullptr;
};

namespace call_key {

/// What of a tensor is no size and no stride, with the address' last bits. The
/// address is null for memory that is not there.
inline std::uint64_t tag_of(const at::Tensor& tensor, void*& address) {
  const c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  const c10::Device device = impl->device();
  address = const_cast<void*>(tensor.const_data_ptr());
  const auto low_bits = reinterpret_cast<std::uintptr_t>(address) & 15;
  return static_cast<std::uint64_t>(tensor.scalar_type()) |
         static_cast<std::uint64_t>(device.type()) << 8 |
         static_cast<std::uint64_t>(static_cast<std::uint8_t>(device.index()))
             << 16 |
         static_cast<std::uint64_t>(impl->is_conj()) << 24 |
         static_cast<std::uint64_t>(impl->is_neg()) << 25 |
         (device.is_cpu() ? 0 : low_bits << 28);
}

template <int kDims>
std::uint64_t* write_shape(std::uint64_t* words, const at::Tensor& tensor) {
  constexpr std::size_t kBytes = kDims * sizeof(std::int64_t);
  std::memcpy(words, tensor.sizes().data(), kBytes);
  std::memcpy(words + kDims, tensor.strides().data(), kBytes);
  return words + 2 * kDims;
}

}  // namespace call_key

/// Of a product that has its dimensions. False for a call that has to be looked
/// at each time: with an addend, scalars or operands that are not there.
inline bool read_call(const Product& product, Call& call) {
  const auto dims = static_cast<std::size_t>(product.dims);
  if (product.addend != nullptr || product.alpha != nullptr) {
    return false;
  }
  std::uint64_t* const words = call.key.words.data();
  words[1] = call_key::tag_of(product.mat1, call.mat1);
  words[2] = call_key::tag_of(product.mat2, call.mat2);
  words[3] = dims | static_cast<std::uint64_t>(product.vector) << 8 |
             static_cast<std::uint64_t>(product.activation) << 16 |
             static_cast<std::uint64_t>(product.out_dtype) << 24;
  if (call.mat1 == nullptr || call.mat2 == nullptr) {
    return false;
  }
  const ProblemHeader header = call_state(product.mat1, kCallOp);
  words[0] = std::bit_cast<std::uint64_t>(header);
  if (dims == 3) {
    call_key::write_shape<3>(call_key::write_shape<3>(words + 4, product.mat1),
                             product.mat2);
    return product.bias == nullptr;
  }
  std::uint64_t* rest = call_key::write_shape<2>(
      call_key::write_shape<2>(words + 4, product.mat1), product.mat2);
  rest[3] = 0;
  if (product.bias == nullptr) {
    rest[0] = rest[1] = rest[2] = 0;
    return true;
  }
  if (product.bias->sizes().size() != 1) {
    return false;
  }
  rest[0] = call_key::tag_of(*product.bias, call.bias) | std::uint64_t{1} << 63;
  call_key::write_shape<1>(rest + 1, *product.bias);
  return call.bias != nullptr;
}

}  // namespace tunedops
