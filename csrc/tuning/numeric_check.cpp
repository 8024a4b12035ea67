#include "tuning/numeric_check.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace tunedops {
namespace {

// Bounds of the work, so that checking stays a small part of tuning.
constexpr std::int64_t kReferenceCost = 1 << 20;  // multiply-adds in all
constexpr std::int64_t kMinSamples = 16;
constexpr std::int64_t kMaxSamples = 1024;
constexpr std::int64_t kMaxCompared = 1 << 20;  // elements, then every n-th

std::string describe(const char* what, Position p, std::complex<double> got,
                     std::complex<double> expected) {
  std::ostringstream text;
  text << "wrong result at [" << p.batch << ", " << p.outer << ", " << p.inner
       << "]: got " << got.real() << ", " << what << " is " << expected.real();
  return text.str();
}

std::int64_t count_of(const Operand& output) {
  return output.batch * output.outer * output.inner;
}

Position position_of(const Operand& output, std::int64_t flat) {
  return {.batch = flat / (output.outer * output.inner),
          .outer = flat / output.inner % output.outer,
          .inner = flat % output.inner};
}

std::size_t index_of(const Operand& output, Position p) {
  return static_cast<std::size_t>(output.offset(p.batch, p.outer, p.inner));
}

// The corners, where partial tiles end, and random places.
std::vector<Position> choose_positions(const Operand& output,
                                       std::int64_t count) {
  std::vector<Position> positions;
  if (count >= count_of(output)) {
    for (std::int64_t flat = 0; flat < count_of(output); ++flat) {
      positions.push_back(position_of(output, flat));
    }
    return positions;
  }
  for (const std::int64_t b : {std::int64_t{0}, output.batch - 1}) {
    for (const std::int64_t o : {std::int64_t{0}, output.outer - 1}) {
      for (const std::int64_t i : {std::int64_t{0}, output.inner - 1}) {
        positions.push_back({b, o, i});
      }
    }
  }
  std::mt19937_64 engine(7);
  std::uniform_int_distribution<std::int64_t> any(0, count_of(output) - 1);
  while (static_cast<std::int64_t>(positions.size()) < count) {
    positions.push_back(position_of(output, any(engine)));
  }
  return positions;
}

}  // namespace

NumericCheck::NumericCheck(const OpDefinition& op, const ProblemKey& problem,
                           std::span<const void* const> operands,
                           const Operand& output, const NumericalCheck& setting)
    : output_(output), tolerance_(op.tolerance(problem)) {
  tolerance_.absolute = setting.absolute.value_or(tolerance_.absolute);
  tolerance_.relative = setting.relative.value_or(tolerance_.relative);
  const std::int64_t cost =
      std::max<std::int64_t>(1, op.reference_cost(problem));
  const std::int64_t count =
      std::clamp(kReferenceCost / cost, kMinSamples, kMaxSamples);
  const double alpha = op.alpha_for_tuning(problem);
  const double beta = op.beta_for_tuning(problem);
  for (const Position position : choose_positions(output, count)) {
    samples_.push_back(
        {index_of(output, position), position,
         op.reference(problem, operands, alpha, beta, position)});
  }
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

void NumericCheck::set_baseline(std::vector<std::byte> output) {
  double worst = 0;
  for (const Sample& sample : samples_) {
    worst = std::max(
        worst, excess(load_element(output_.dtype, output.data(), sample.index),
                      sample.reference));
  }
  if (std::isfinite(worst)) {
    allowed_ = std::max(1.0, 1.5 * worst);
  }
  baseline_ = std::move(output);
}

Status NumericCheck::check(const std::vector<std::byte>& output) const {
  for (const Sample& sample : samples_) {
    const auto value = load_element(output_.dtype, output.data(), sample.index);
    if (!(excess(value, sample.reference) <= allowed_)) {
      return Status::unsupported(
          describe("the reference", sample.position, value, sample.reference));
    }
  }
  return baseline_.empty() ? Status::ok() : compare_with_baseline(output);
}

// Two right answers may each be off by what is allowed, to either side.
Status NumericCheck::compare_with_baseline(
    const std::vector<std::byte>& output) const {
  const std::int64_t count = count_of(output_);
  const std::int64_t step = (count + kMaxCompared - 1) / kMaxCompared;
  for (std::int64_t flat = 0; flat < count; flat += step) {
    const Position position = position_of(output_, flat);
    const std::size_t index = index_of(output_, position);
    const auto value = load_element(output_.dtype, output.data(), index);
    const auto expected = load_element(output_.dtype, baseline_.data(), index);
    if (!(excess(value, expected) <= 2 * allowed_)) {
      return Status::unsupported(
          describe("Default's", position, value, expected));
    }
  }
  return Status::ok();
}

}  // namespace tunedops
