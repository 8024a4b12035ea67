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

// How often the tolerance fits into the error; more than `allowed_` is wrong.
double NumericCheck::excess(std::complex<double> value,
                            std::complex<double> expected) const {
  const double limit =
      tolerance_.absolute + tolerance_.relative * std::abs(expected);
  const double error = std::abs(value - expected);
  if (error == 0) {
    return 0;  // also where the tolerance is nothing
  }
  return std::isfinite(error) ? error / limit : INFINITY;
}

Status NumericCheck::set_baseline() {
  std::vector<std::complex<double>> values;
  if (Status status = gather_samples(values); !status.is_ok()) {
    return status;
  }
  double worst = 0;
  double error = 0;
  double length = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    worst = std::max(worst, excess(values[i], references_[i]));
    error += std::norm(values[i] - references_[i]);
    length += std::norm(references_[i]);
  }
  if (std::isfinite(worst) && error <= kUnrelated * kUnrelated * length) {
    allowed_ = std::max(1.0, 1.5 * worst);
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
    if (!(excess(values[i], references_[i]) <= allowed_)) {
      return Status::unsupported(
          describe(indices_[i], values[i], "the reference", references_[i]));
    }
  }
  return has_baseline_ ? compare_with_baseline() : Status::ok();
}

// Two right answers may each be off by what is allowed, to either side.
Status NumericCheck::compare_with_baseline() {
  std::optional<TuningBuffers::Difference> wrong;
  Status status = buffers_.compare_with_kept(
      {.absolute = 2 * allowed_ * tolerance_.absolute,
       .relative = 2 * allowed_ * tolerance_.relative},
      wrong);
  if (status.is_ok() && wrong) {
    return Status::unsupported(
        describe(wrong->index, wrong->value, "Default's", wrong->kept));
  }
  return status;
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
