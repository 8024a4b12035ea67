#include "tuning/numeric_check.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <sstream>

#include "tuning/operand_layout.h"

namespace tunedops {
namespace {

// Bounds of the work, so that checking stays a small part of tuning.
constexpr std::int64_t kReferenceCost = 1 << 21;  // multiply-adds in all
constexpr std::int64_t kMaxSamples = 1024;

// How much more than Default a finalist may err.
constexpr double kRoom = 1.5;

// The part of the reference's length that Default may be off and still be a
// measure. No rounding comes near; what was computed from other numbers is off
// by more than all of it.
constexpr double kUnrelated = 0.25;

// The corners, where partial tiles end, whatever they cost, and random places.
std::vector<Position> choose_positions(const Operand& output,
                                       std::int64_t count) {
  const std::int64_t all = output.batch * output.outer * output.inner;
  const auto position_of = [&output](std::int64_t flat) {
    return Position{.batch = flat / (output.outer * output.inner),
                    .outer = flat / output.inner % output.outer,
                    .inner = flat % output.inner};
  };
  std::vector<Position> positions;
  if (count >= all) {
    for (std::int64_t flat = 0; flat < all; ++flat) {
      positions.push_back(position_of(flat));
    }
    return positions;
  }
  std::set<std::int64_t> seen;
  const auto take = [&](Position p) {
    if (seen.insert(output.offset(p.batch, p.outer, p.inner)).second) {
      positions.push_back(p);
    }
  };
  for (const std::int64_t b : {std::int64_t{0}, output.batch - 1}) {
    for (const std::int64_t o : {std::int64_t{0}, output.outer - 1}) {
      for (const std::int64_t i : {std::int64_t{0}, output.inner - 1}) {
        take({b, o, i});
      }
    }
  }
  std::mt19937_64 engine(7);
  std::uniform_int_distribution<std::int64_t> any(0, all - 1);
  for (auto left = count - static_cast<std::int64_t>(positions.size());
       left > 0; --left) {
    take(position_of(any(engine)));
  }
  return positions;
}

}  // namespace

NumericCheck::NumericCheck(const OpDefinition& op, const ProblemKey& problem,
                           TuningBuffers& buffers,
                           const NumericalCheck& setting)
    : op_(op), problem_(problem), buffers_(buffers),
      tolerance_(op.tolerance(problem)) {
  tolerance_.absolute = setting.absolute.value_or(tolerance_.absolute);
  tolerance_.relative = setting.relative.value_or(tolerance_.relative);
}

void NumericCheck::compute_references() {
  if (!indices_.empty()) {
    return;
  }
  const Operand& output = buffers_.output();
  const std::int64_t cost =
      std::max<std::int64_t>(1, op_.reference_cost(problem_));
  const std::vector<Elements> elements = buffers_.elements();
  const Arguments arguments = buffers_.arguments(0);
  for (const Position position :
       choose_positions(output, std::min(kReferenceCost / cost, kMaxSamples))) {
    indices_.push_back(
        output.offset(position.batch, position.outer, position.inner));
    references_.push_back(op_.reference(problem_, elements, arguments.alpha,
                                        arguments.beta, position));
  }
}

Status NumericCheck::gather_samples(std::vector<std::complex<double>>& values) {
  compute_references();
  values.resize(indices_.size());
  return buffers_.gather_output(indices_, values);
}

std::complex<double> NumericCheck::reference_at(std::int64_t index) const {
  const Arguments arguments = buffers_.arguments(0);
  return op_.reference(problem_, buffers_.elements(), arguments.alpha,
                       arguments.beta, position_at(buffers_.output(), index));
}

// The absolute tolerance with which this value would be right.
double NumericCheck::needed_for(std::complex<double> value,
                                std::complex<double> reference) const {
  const double error = std::abs(value - reference);
  if (error == 0) {
    return 0;
  }
  return std::isfinite(error)
             ? std::max(0.0, error - tolerance_.relative * std::abs(reference))
             : INFINITY;
}

bool NumericCheck::is_right(std::complex<double> value,
                            std::complex<double> reference) const {
  return needed_for(value, reference) <= tolerance_.absolute;
}

Status NumericCheck::set_baseline() {
  std::vector<std::complex<double>> values;
  if (Status status = gather_samples(values); !status.is_ok()) {
    return status;
  }
  double needed = 0;
  double error = 0;
  double length = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    needed = std::max(needed, needed_for(values[i], references_[i]));
    error += std::norm(values[i] - references_[i]);
    length += std::norm(references_[i]);
  }
  if (std::isfinite(needed) && error <= kUnrelated * kUnrelated * length) {
    most_absolute_ =
        kUnrelated * std::sqrt(length / static_cast<double>(values.size()));
    // One absurd element of Default's must not make everything right.
    tolerance_.absolute =
        std::max(tolerance_.absolute, std::min(kRoom * needed, most_absolute_));
  }
  has_baseline_ = true;
  return buffers_.keep_output();
}

Status NumericCheck::check() {
  std::vector<std::complex<double>> values;
  if (Status status = gather_samples(values); !status.is_ok()) {
    return status;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_right(values[i], references_[i])) {
      return Status::unsupported(
          describe(indices_[i], values[i], "the reference", references_[i]));
    }
  }
  return has_baseline_ ? compare_with_baseline() : Status::ok();
}

// Two right answers may each be off by what is allowed, to either side. If they
// differ by more and it is Default that is off there, it errs more than its
// samples showed: then more is allowed, and the comparison goes on.
Status NumericCheck::compare_with_baseline() {
  for (;;) {
    std::optional<TuningBuffers::Difference> found;
    Status status =
        buffers_.compare_with_kept({.absolute = 2 * tolerance_.absolute,
                                    .relative = 2 * tolerance_.relative},
                                   found);
    if (!status.is_ok() || !found) {
      return status;
    }
    const std::complex<double> reference = reference_at(found->index);
    if (!is_right(found->value, reference)) {
      return Status::unsupported(
          describe(found->index, found->value, "the reference", reference));
    }
    // At least half as much again as before, since the two differ by more than
    // twice what was allowed: so this ends.
    const double room = kRoom * needed_for(found->kept, reference);
    if (!(room > tolerance_.absolute && room <= most_absolute_)) {
      return Status::unsupported(
          describe(found->index, found->value, "Default's", found->kept));
    }
    tolerance_.absolute = room;
  }
}

std::string NumericCheck::describe(std::int64_t index, std::complex<double> got,
                                   const char* what,
                                   std::complex<double> expected) const {
  const Position p = position_at(buffers_.output(), index);
  std::ostringstream text;
  text << "wrong result at [" << p.batch << ", " << p.outer << ", " << p.inner
       << "]: got " << got.real() << ", " << what << " is " << expected.real();
  return text.str();
}

}  // namespace tunedops
