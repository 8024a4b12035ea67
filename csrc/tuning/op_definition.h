#pragma once

// What the core must know about an op to tune it without understanding it: the
// text of its keys, where its operands lie in memory, and what the right
// answer is. With that, buffers, rotation, poisoning, guard zones, numeric
// checks and files are written once for all ops.

#include <compare>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/dtype.h"
#include "tuning/elements.h"
#include "tuning/problem_key.h"

namespace tunedops {

/// A problem as the first two fields of a row.
struct KeyText {
  std::string op;
  std::string params;
  auto operator<=>(const KeyText&) const = default;
};

/// Where an operand lies: `batch` matrices of `outer` runs of `inner`
/// consecutive elements. Gaps between runs belong to somebody else.
struct Operand {
  enum class Role { kInput, kOutput, kInOut };

  std::string_view name;
  DType dtype = DType::kNone;  // kNone: absent in this problem
  Role role = Role::kInput;
  std::int64_t inner = 0;
  std::int64_t outer = 1;
  std::int64_t outer_stride = 0;
  std::int64_t batch = 1;
  std::int64_t batch_stride = 0;
  std::size_t alignment = 16;  // of the base address, in bytes

  bool is_output() const { return role != Role::kInput; }
  std::int64_t offset(std::int64_t b, std::int64_t o, std::int64_t i) const {
    return b * batch_stride + o * outer_stride + i;
  }
  /// Elements from the first to the last one, gaps included.
  std::int64_t extent() const {
    return offset(batch - 1, outer - 1, inner - 1) + 1;
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>(extent()) * size_of(dtype);
  }
};

/// A position in an output operand.
struct Position {
  std::int64_t batch = 0;
  std::int64_t outer = 0;
  std::int64_t inner = 0;
};

/// `|error| <= absolute + relative * |reference|`.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

class OpDefinition {
 public:
  OpDefinition() = default;
  OpDefinition(const OpDefinition&) = delete;
  OpDefinition& operator=(const OpDefinition&) = delete;
  virtual ~OpDefinition() = default;

  virtual OpId id() const = 0;
  virtual std::string_view name() const = 0;

  /// Injective: different problems of one device have different texts, and
  /// `from_text` gives back the same problem. `from_text` returns nothing for
  /// text of another op or text that is not exactly what `to_text` writes.
  virtual KeyText to_text(const ProblemKey& problem) const = 0;
  virtual std::optional<ProblemKey> from_text(const KeyText& text,
                                              Device device) const = 0;

  /// In the order of Arguments::operands; exactly one is an output.
  virtual std::vector<Operand> operands(const ProblemKey& problem) const = 0;

  /// One element of the output in double precision, from the operands as they
  /// are before the run, the output among them.
  virtual std::complex<double> reference(const ProblemKey& problem,
                                         std::span<const Elements> before,
                                         double alpha, double beta,
                                         Position position) const = 0;

  /// The error that a correct kernel may make on standard-normal data.
  virtual Tolerance tolerance(const ProblemKey& problem) const = 0;

  /// Multiply-adds of one reference element, to bound the cost of checking.
  virtual std::int64_t reference_cost(const ProblemKey& problem) const = 0;

  /// Representative scalars of the problem's classes, for tuning.
  virtual double alpha_for_tuning(const ProblemKey&) const { return 1.0; }
  virtual double beta_for_tuning(const ProblemKey&) const { return 0.0; }

  /// The problem with one free length blanked, once per length, and with it all
  /// that follows from it. Problems that share a family differ in that length
  /// only (a growing sequence).
  virtual std::vector<ProblemKey> families(const ProblemKey& problem) const = 0;
};

}  // namespace tunedops
