#pragma once

// What an op does at the dispatch keys above its device's, written once for all
// signatures. Each wrapper knows the op by its name and by aten's op of the
// same meaning, which takes over whatever torch has formulas for. (Declaring
// autograd in Python instead costs microseconds a call, and a C++
// autograd::Function breaks functorch.)

#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tunedops {

/// A string as template argument.
template <std::size_t size>
struct OpName {
  char text[size];
  consteval OpName(const char (&name)[size]) { std::copy_n(name, size, text); }
};

template <class Signature>
c10::TypedOperatorHandle<Signature> find_op(const char* name,
                                            const char* overload) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(name, overload)
      .typed<Signature>();
}

inline bool is_differentiated(const at::Tensor& tensor) {
  return (at::GradMode::is_enabled() && tensor.requires_grad()) ||
         tensor._fw_grad(/*level=*/0).defined();
}
inline bool is_differentiated(const std::optional<at::Tensor>& tensor) {
  return tensor && tensor->defined() && is_differentiated(*tensor);
}
inline bool is_differentiated(const at::Scalar&) { return false; }
inline bool is_differentiated(std::string_view) { return false; }

/// Autograd: aten's op if anything is differentiated, else the op below.
template <OpName name, OpName overload, auto aten>
struct Autograd;

template <OpName name, OpName overload, class Result, class... Args,
          Result (*aten)(Args...)>
struct Autograd<name, overload, aten> {
  static Result call(c10::DispatchKeySet keys, Args... args) {
    if ((is_differentiated(args) || ...)) {
      return aten(args...);
    }
    static const auto op = find_op<Result(Args...)>(name.text, overload.text);
    const at::AutoDispatchBelowADInplaceOrView guard;
    if constexpr (std::is_reference_v<Result>) {
      // Autograd must learn that `out` is no longer what somebody saved.
      Result out =
          op.redispatch(keys & c10::after_ADInplaceOrView_keyset, args...);
      out.unsafeGetTensorImpl()->bump_version();
      return out;
    } else {
      return op.redispatch(keys & c10::after_ADInplaceOrView_keyset, args...);
    }
  }
};

inline at::Tensor autocast(c10::DeviceType device, const at::Tensor& tensor) {
  return at::autocast::cached_cast(at::autocast::get_autocast_dtype(device),
                                   tensor, device);
}
inline std::optional<at::Tensor>
autocast(c10::DeviceType device, const std::optional<at::Tensor>& tensor) {
  return tensor && tensor->defined()
             ? std::make_optional(autocast(device, *tensor))
             : tensor;
}
inline const at::Scalar& autocast(c10::DeviceType, const at::Scalar& value) {
  return value;
}
inline std::string_view autocast(c10::DeviceType, std::string_view value) {
  return value;
}

/// Autocast: the region's lower precision, as for aten's products.
template <OpName name, c10::DeviceType device, auto aten>
struct Autocast;

template <OpName name, c10::DeviceType device, class Result, class... Args,
          Result (*aten)(Args...)>
struct Autocast<name, device, aten> {
  static Result call(Args... args) {
    static const auto op = find_op<Result(Args...)>(name.text, "");
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(
        device == c10::DeviceType::CUDA ? c10::DispatchKey::AutocastCUDA
                                        : c10::DispatchKey::AutocastCPU);
    return op.call(autocast(device, args)...);
  }
};

/// An out form in a functionalized program: the functional op, copied into out.
template <OpName name, auto functional>
struct FunctionalizedOut;

template <OpName name, class... Args, at::Tensor (*functional)(Args...)>
struct FunctionalizedOut<name, functional> {
  static at::Tensor& call(Args... args, at::Tensor& out) {
    static const auto op = find_op<at::Tensor(Args...)>(name.text, "");
    const at::Tensor result = op.call(args...);
    if (out.sym_sizes() != result.sym_sizes()) {
      out.resize__symint(result.sym_sizes());
    }
    out.copy_(result);
    return out;
  }
};

}  // namespace tunedops
