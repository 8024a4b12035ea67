#pragma once

// A call as its tensors tell it: sizes, strides, types, flags, copied and not
// interpreted. Two calls of equal words make the same problem, so the plan of
// the first is the plan of the second, and nothing has to be worked out or
// checked again. This is what every call pays for; the rest is paid once.

#include <ATen/core/Tensor.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "ops/call_state.h"
#include "ops/dtype_map.h"
#include "ops/product.h"
#include "tuning/call_cache.h"

namespace tunedops {

/// Where the result goes.
enum class Destination : std::uint8_t { kFresh, kOut, kInPlace };

/// What is asked for, without its operands. The number of a call's words
/// depends on nothing else.
struct CallForm {
  std::uint8_t dims = 2;
  bool vector = false;
  Activation activation = Activation::kNone;
  ScalarClass alpha = ScalarClass::kOne;
  ScalarClass beta = ScalarClass::kZero;
  bool has_bias = false;
  Destination destination = Destination::kFresh;
  std::uint8_t asked_dtype = 0;
};

/// What is read of a call on the way: where its operands begin, and what an
/// output of it has to be.
struct Call {
  void* mat1 = nullptr;
  void* mat2 = nullptr;
  void* bias = nullptr;
  c10::Device device{c10::DeviceType::CPU};
  c10::ScalarType out_dtype = c10::ScalarType::Undefined;
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// A matrix of a call: a tensor, or what it would be in another shape.
struct CallMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  /// All rows of a contiguous tensor of any rank.
  static CallMatrix rows_of(const at::Tensor& contiguous) {
    const std::int64_t columns = contiguous.sizes().back();
    return {contiguous.numel() / columns, columns, columns, 1};
  }
  static CallMatrix of(const std::int64_t* sizes, const std::int64_t* strides) {
    return {sizes[0], sizes[1], strides[0], strides[1]};
  }
  static CallMatrix of(const at::Tensor& tensor) {
    return of(tensor.sizes().data(), tensor.strides().data());
  }
  CallMatrix transposed() const {
    return {columns, rows, column_stride, row_stride};
  }
};

/// The shapes of a call's operands, as far as they have the dimensions.
struct CallShapes {
  bool are_there = false;
  CallMatrix mat1;
  CallMatrix mat2;
  // Of batches:
  std::int64_t batch1 = 1;
  std::int64_t batch2 = 1;
  std::int64_t batch_stride1 = 0;
  std::int64_t batch_stride2 = 0;
};

/// Of operands that are what the product says.
[[gnu::always_inline]] inline CallShapes shapes_of(const Product& product) {
  const at::IntArrayRef sizes1 = product.mat1.sizes();
  const at::IntArrayRef sizes2 = product.mat2.sizes();
  const auto dims = static_cast<std::size_t>(product.dims);
  CallShapes shapes;
  if (sizes1.size() != dims || sizes2.size() != dims) [[unlikely]] {
    return shapes;
  }
  const at::IntArrayRef strides1 = product.mat1.strides();
  const at::IntArrayRef strides2 = product.mat2.strides();
  shapes.are_there = true;
  shapes.mat1 =
      CallMatrix::of(sizes1.data() + (dims - 2), strides1.data() + (dims - 2));
  shapes.mat2 =
      CallMatrix::of(sizes2.data() + (dims - 2), strides2.data() + (dims - 2));
  if (dims == 3) {
    shapes.batch1 = sizes1.data()[0];
    shapes.batch2 = sizes2.data()[0];
    shapes.batch_stride1 = strides1.data()[0];
    shapes.batch_stride2 = strides2.data()[0];
  }
  return shapes;
}

namespace call_words {

// Conjugated and negated are two neighbouring bits of a key set, which go to
// bits 24 and 25 of a tag.
inline constexpr int kViewFlagsBit =
    c10::num_backends + static_cast<int>(c10::DispatchKey::Conjugate) - 1;
static_assert(static_cast<int>(c10::DispatchKey::Negative) ==
              static_cast<int>(c10::DispatchKey::Conjugate) + 1);

/// What of a tensor is no size and no stride, with the last bits of its
/// address.
[[gnu::always_inline]] inline std::uint64_t
tag_of(const c10::TensorImpl& impl, c10::Device device, c10::ScalarType type,
       void*& address, bool& is_there) {
  const auto base =
      reinterpret_cast<std::uintptr_t>(impl.unsafe_storage().data());
  if (base == 0) [[unlikely]] {
    is_there = false;
  }
  const std::uintptr_t begin =
      base +
      static_cast<std::uintptr_t>(impl.storage_offset()) * element_bytes(type);
  address = reinterpret_cast<void*>(begin);
  return static_cast<std::uint64_t>(type) |
         static_cast<std::uint64_t>(std::bit_cast<std::uint16_t>(device)) << 8 |
         (impl.key_set().raw_repr() >> kViewFlagsBit & 3) << 24 |
         (device.is_cpu() ? 0 : (begin & 15) << 28);
}

[[gnu::always_inline]] inline std::uint64_t
tag_of(const at::Tensor& tensor, void*& address, bool& is_there) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return tag_of(impl, impl.device(), c10::typeMetaToScalarType(impl.dtype()),
                address, is_there);
}

/// Two sizes or strides, which have to fit half a word each: the upper half of
/// `all` tells.
[[gnu::always_inline]] inline std::uint64_t
pack(std::int64_t first, std::int64_t second, std::uint64_t& all) {
  const auto low = static_cast<std::uint64_t>(first);
  const auto high = static_cast<std::uint64_t>(second);
  all |= low | high;
  // Now, or the compiler puts all values aside to do it at the end.
  asm("" : "+r"(all));
  return low | high << 32;
}

/// False for scalars that no kernel takes.
inline bool read_scalars(const Product& product, CallForm& form) {
  if (product.alpha == nullptr) {
    return true;
  }
  const auto alpha = class_of(*product.alpha);
  const auto beta =
      product.beta == nullptr ? ScalarClass::kZero : class_of(*product.beta);
  if (!alpha || !beta) {
    return false;
  }
  form.alpha = *alpha;
  form.beta = *beta;
  return true;
}

}  // namespace call_words

/// Writes the words of a call and says how many there are: 0 for a call that
/// has to be looked at each time. `shapes_of` reads the operands' shapes.
///
/// All of it is inlined, at constant places in `key`, and what is known of the
/// product where it is called decides what is left of it.
template <auto shapes_of>
[[gnu::always_inline]] inline std::size_t read_call(const Product& product,
                                                    CallKey& key, Call& call) {
  using call_words::pack;
  using call_words::tag_of;
  std::uint64_t* const words = key.words.data();
  std::size_t count = 3;
  std::uint64_t all = 0;  // of the halves of words
  bool is_there = true;

  const c10::TensorImpl* const mat1 = product.mat1.unsafeGetTensorImpl();
  call.device = mat1->device();
  const c10::ScalarType dtype = c10::typeMetaToScalarType(mat1->dtype());
  call.out_dtype = product.asked_dtype == c10::ScalarType::Undefined
                       ? dtype
                       : product.asked_dtype;
  // First, since what is read before a function call has to be put aside.
  words[0] = std::bit_cast<std::uint64_t>(call_state(call.device, dtype));

  CallForm form{.dims = static_cast<std::uint8_t>(product.dims),
                .vector = product.vector,
                .activation = product.activation,
                .has_bias = product.bias != nullptr,
                .asked_dtype = static_cast<std::uint8_t>(product.asked_dtype)};
  if (!call_words::read_scalars(product, form)) [[unlikely]] {
    return 0;
  }
  if (product.out != nullptr) {
    form.destination =
        product.is_in_place() ? Destination::kInPlace : Destination::kOut;
  }
  words[1] = std::bit_cast<std::uint64_t>(form);

  const CallShapes shapes = shapes_of(product);
  if (!shapes.are_there) [[unlikely]] {
    return 0;
  }
  call.batch = shapes.batch1;
  call.rows = shapes.mat1.rows;
  call.columns = shapes.mat2.columns;
  words[count++] = pack(shapes.mat1.rows, shapes.mat1.columns, all);
  words[count++] = pack(shapes.mat1.row_stride, shapes.mat1.column_stride, all);
  words[count++] = pack(shapes.mat2.rows, shapes.mat2.columns, all);
  words[count++] = pack(shapes.mat2.row_stride, shapes.mat2.column_stride, all);
  if (product.dims == 3) {
    words[count++] = pack(shapes.batch1, shapes.batch_stride1, all);
    words[count++] = pack(shapes.batch2, shapes.batch_stride2, all);
  }
  words[2] = tag_of(*mat1, call.device, dtype, call.mat1, is_there) |
             tag_of(product.mat2, call.mat2, is_there) << 32;

  if (const at::Tensor* const bias = product.bias; bias != nullptr) {
    if (product.dims == 3 || bias->sizes().size() != 1) [[unlikely]] {
      return 0;
    }
    words[count++] = tag_of(*bias, call.bias, is_there);
    words[count++] = pack(bias->sizes()[0], bias->strides()[0], all);
  }
  if (const at::Tensor* const out = product.out; out != nullptr) {
    const auto dims = static_cast<std::size_t>(product.dims);
    const at::IntArrayRef sizes = out->sizes();
    const at::IntArrayRef strides = out->strides();
    if (sizes.size() != dims) {
      return 0;
    }
    void* address = nullptr;  // to read from; whoever writes asks for his own
    words[count++] = tag_of(*out, address, is_there);
    for (std::size_t i = 0; i < dims; ++i) {
      words[count++] = pack(sizes[i], strides[i], all);
    }
  }
  // An addend is copied into the output, so its layout makes no other problem.
  if (product.addend != nullptr && !product.is_sound_term(*product.addend)) {
    return 0;
  }
  // What follows reads the words from memory, where they are, not from copies
  // that the compiler would have to keep beside them.
  asm("" : "+m"(key));
  return is_there && all >> 32 == 0 ? count : 0;
}

}  // namespace tunedops
