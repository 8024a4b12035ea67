#include "tuning/tuning_buffers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

namespace tunedops {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::size_t kGrain = 256;  // of allocations and guard zones
constexpr std::byte kPoison{0xff};   // NaN in every floating type
// A tiny problem is warm in a real program too, and thousands of copies would
// measure the tuner's own page faults.
constexpr std::size_t kMaxCopies = 128;

constexpr std::size_t kNormals = 1 << 14;

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Standard-normal numbers by Box and Muller's method; always the same ones, so
// that two runs tune on the same data.
const std::vector<double>& normals() {
  static const std::vector<double> values = [] {
    std::mt19937_64 engine(20240229);
    std::uniform_real_distribution<double> uniform(0x1p-40, 1.0);
    std::vector<double> drawn(kNormals);
    for (double& value : drawn) {
      const double radius = std::sqrt(-2.0 * std::log(uniform(engine)));
      value = radius * std::cos(2.0 * std::numbers::pi * uniform(engine));
    }
    return drawn;
  }();
  return values;
}

// A block of normal numbers in the operand's type, from which long runs are
// copied starting at a different place each time: drawing every element of a
// large weight would take longer than tuning on it. Each operand has an order
// of its own; else a row of one would now and then equal a row of another, and
// their product be far larger than tolerances assume.
std::vector<std::byte> normal_block(DType dtype, unsigned seed) {
  const std::size_t step = 2 * std::size_t{seed} * 7919 + 1;  // odd: visits all
  std::vector<std::byte> block(kNormals * size_of(dtype));
  for (std::size_t i = 0; i < kNormals; ++i) {
    store_element(dtype, block.data(), i, normals()[i * step % kNormals]);
  }
  return block;
}

}  // namespace

TuningBuffers::TuningBuffers(const Backend& backend, const OpDefinition& op,
                             const ProblemKey& problem, Stream stream,
                             std::size_t rotating_bytes,
                             std::size_t memory_bytes,
                             std::size_t workspace_bytes)
    : backend_(backend), stream_(stream), alpha_(op.alpha_for_tuning(problem)),
      beta_(op.beta_for_tuning(problem)) {
  lay_out(op.operands(problem));
  if (copy_bytes_ + workspace_bytes > memory_bytes) {
    status_ = Status::unsupported("not enough free memory to tune on");
    return;
  }
  const std::size_t wanted = rotating_bytes / copy_bytes_ + 1;
  const std::size_t affordable = (memory_bytes - workspace_bytes) / copy_bytes_;
  copies_ =
      std::clamp<std::size_t>(wanted, 1, std::min(affordable, kMaxCopies));
  const Device device = problem.header().device();
  memory_ = backend.allocate(device, copies_ * copy_bytes_);
  if (workspace_bytes > 0) {
    workspace_ = backend.allocate(device, workspace_bytes);
  }
  if (memory_ == nullptr || (workspace_bytes > 0 && workspace_ == nullptr)) {
    status_ = Status::unsupported("not enough free memory to tune on");
    return;
  }
  unsigned seed = 1;
  for (Slot& slot : slots_) {
    if (slot.operand.dtype == DType::kNone) {
      continue;
    }
    fill(slot, slot.operand.role != Operand::Role::kOutput, seed++);
    for (std::size_t copy = 0; copy < copies_ && status_.is_ok(); ++copy) {
      status_ =
          backend.copy_from_host(address(copy) + slot.begin, slot.image.data(),
                                 slot.image.size(), stream);
    }
  }
}

void TuningBuffers::lay_out(std::vector<Operand> operands) {
  std::size_t cursor = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Slot slot;
    slot.operand = operands[i];
    if (slot.operand.dtype != DType::kNone) {
      // An odd multiple of the alignment, so that a kernel that relies on more
      // than the key promises is found out.
      const std::size_t misalignment =
          slot.operand.alignment >= 16 ? 0 : slot.operand.alignment;
      slot.begin = cursor;
      slot.base = cursor + kGuard + misalignment;
      slot.end = slot.base + slot.operand.bytes() + kGuard;
      cursor = round_up(slot.end, kGrain);
      if (slot.operand.is_output()) {
        output_slot_ = i;
      }
    }
    slots_.push_back(std::move(slot));
  }
  copy_bytes_ = std::max(cursor, kGrain);
}

void TuningBuffers::fill(Slot& slot, bool random, unsigned seed) {
  const Operand& operand = slot.operand;
  slot.image.assign(slot.end - slot.begin, kPoison);
  if (!random) {
    return;
  }
  const std::size_t size = size_of(operand.dtype);
  const std::vector<std::byte> block = normal_block(operand.dtype, seed);
  std::byte* const base = slot.image.data() + (slot.base - slot.begin);
  std::minstd_rand engine(seed);
  for (std::int64_t b = 0; b < operand.batch; ++b) {
    for (std::int64_t o = 0; o < operand.outer; ++o) {
      std::int64_t filled = 0;
      while (filled < operand.inner) {
        const std::size_t start = engine() % (kNormals - kNormals / 4);
        const auto run =
            std::min<std::int64_t>(operand.inner - filled,
                                   static_cast<std::int64_t>(kNormals - start));
        std::memcpy(
            base +
                static_cast<std::size_t>(operand.offset(b, o, filled)) * size,
            block.data() + start * size, static_cast<std::size_t>(run) * size);
        filled += run;
      }
    }
  }
}

std::byte* TuningBuffers::address(std::size_t copy) const {
  return static_cast<std::byte*>(memory_.get()) + copy * copy_bytes_;
}

Arguments TuningBuffers::arguments(std::size_t copy) const {
  Arguments arguments;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].operand.dtype != DType::kNone) {
      arguments.operands[i] = address(copy) + slots_[i].base;
    }
  }
  arguments.alpha = alpha_;
  arguments.beta = beta_;
  arguments.workspace = workspace_.get();
  return arguments;
}

std::vector<const void*> TuningBuffers::host_operands() const {
  std::vector<const void*> operands;
  for (const Slot& slot : slots_) {
    operands.push_back(slot.operand.dtype == DType::kNone
                           ? nullptr
                           : slot.image.data() + (slot.base - slot.begin));
  }
  return operands;
}

Status TuningBuffers::reset_output() {
  const Slot& slot = slots_[output_slot_];
  return backend_.copy_from_host(address(0) + slot.begin, slot.image.data(),
                                 slot.image.size(), stream_);
}

Status TuningBuffers::fetch_output(std::vector<std::byte>& output) {
  const Slot& slot = slots_[output_slot_];
  std::vector<std::byte> now(slot.image.size());
  if (Status copied = backend_.copy_to_host(now.data(), address(0) + slot.begin,
                                            now.size(), stream_);
      !copied.is_ok()) {
    return copied;
  }
  if (Status untouched = check_untouched(slot, now); !untouched.is_ok()) {
    return untouched;
  }
  const auto base =
      now.begin() + static_cast<std::ptrdiff_t>(slot.base - slot.begin);
  output.assign(base, base + static_cast<std::ptrdiff_t>(slot.operand.bytes()));
  return Status::ok();
}

Status TuningBuffers::check_untouched(const Slot& slot,
                                      const std::vector<std::byte>& now) const {
  const Operand& operand = slot.operand;
  const std::size_t size = size_of(operand.dtype);
  const std::size_t base = slot.base - slot.begin;
  const auto differs = [&](std::size_t begin, std::size_t end) {
    return std::memcmp(now.data() + begin, slot.image.data() + begin,
                       end - begin) != 0;
  };
  // Walks the runs in memory order; what lies before, between and behind them
  // must be as it was.
  std::size_t clean_until = 0;
  for (std::int64_t b = 0; b < operand.batch; ++b) {
    for (std::int64_t o = 0; o < operand.outer; ++o) {
      const std::size_t begin =
          base + static_cast<std::size_t>(operand.offset(b, o, 0)) * size;
      if (begin > clean_until && differs(clean_until, begin)) {
        return Status::unsupported("writes outside of its output");
      }
      clean_until = begin + static_cast<std::size_t>(operand.inner) * size;
    }
  }
  if (differs(clean_until, now.size())) {
    return Status::unsupported("writes outside of its output");
  }
  return Status::ok();
}

}  // namespace tunedops
