#include "tuning/tuning_buffers.h"

#include <algorithm>
#include <numeric>

namespace tunedops {
namespace {

constexpr std::size_t kGuard = 512;
constexpr std::size_t kGrain = 512;  // of allocations and guard zones
// Operands of a program that are large have pages of their own, as torch's
// allocators give them out; where in a page they begin can matter.
constexpr std::size_t kLarge = std::size_t{8} << 20;
constexpr std::size_t kPage = std::size_t{2} << 20;
// A tiny problem is warm in a real program too, and thousands of copies would
// measure the tuner's own page faults.
constexpr std::size_t kMaxCopies = 128;

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

TuningBuffers::TuningBuffers(const Backend& backend, const OpDefinition& op,
                             const ProblemKey& problem, Stream stream,
                             std::size_t rotating_bytes,
                             std::size_t memory_bytes,
                             std::size_t workspace_bytes,
                             std::size_t counter_count,
                             const std::function<bool()>& has_time)
    : alpha_(op.alpha_for_tuning(problem)), beta_(op.beta_for_tuning(problem)) {
  lay_out(op.operands(problem));
  const std::size_t once = kept_bytes_ + workspace_bytes;
  if (copy_bytes_ + once > memory_bytes) {
    status_ = Status::unsupported("not enough free memory to tune on");
    return;
  }
  const std::size_t wanted = rotating_bytes / copy_bytes_ + 1;
  const std::size_t affordable = (memory_bytes - once) / copy_bytes_;
  copies_ =
      std::clamp<std::size_t>(wanted, 1, std::min(affordable, kMaxCopies));
  const Device device = problem.header().device();
  status_ = allocate(backend, device, stream, workspace_bytes);
  if (status_.is_ok()) {
    status_ = fill(has_time);
  }
  if (status_.is_ok() && counter_count > 0) {
    status_ = make_counters(backend, device, counter_count);
  }
}

void TuningBuffers::lay_out(std::vector<Operand> operands) {
  std::size_t cursor = 0;
  std::size_t grain = kGrain;  // of a copy
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Slot slot;
    slot.operand = operands[i];
    slot.seed = i + 1;
    if (slot.operand.dtype != DType::kNone) {
      // An odd multiple of the alignment, so that a kernel that relies on more
      // than the key promises is found out.
      const std::size_t misalignment =
          slot.operand.alignment >= 16 ? 0 : slot.operand.alignment;
      slot.begin = cursor;
      const bool is_large = slot.operand.bytes() >= kLarge;
      grain = is_large ? kPage : grain;
      slot.base =
          round_up(cursor + kGuard, is_large ? kPage : kGrain) + misalignment;
      slot.end = slot.base + slot.operand.bytes() + kGuard;
      cursor = round_up(slot.end, kGrain);
      if (slot.operand.is_output()) {
        output_slot_ = i;
        kept_bytes_ = round_up(misalignment + slot.operand.bytes(), kGrain);
      }
    }
    slots_.push_back(std::move(slot));
  }
  copy_bytes_ = std::max(round_up(cursor, grain), kGrain);
}

Status TuningBuffers::allocate(const Backend& backend, Device device,
                               Stream stream, std::size_t workspace_bytes) {
  memory_ = backend.allocate(device, copies_ * copy_bytes_ + kept_bytes_);
  if (workspace_bytes > 0) {
    workspace_ = backend.allocate(device, workspace_bytes);
  }
  operand_memory_ = backend.make_operand_memory(device, stream);
  return memory_ == nullptr || operand_memory_ == nullptr ||
                 (workspace_bytes > 0 && workspace_ == nullptr)
             ? Status::unsupported("not enough free memory to tune on")
             : Status::ok();
}

Status TuningBuffers::make_counters(const Backend& backend, Device device,
                                    std::size_t count) {
  const std::size_t bytes = count * sizeof(unsigned);
  counters_ = backend.allocate(device, bytes);
  counter_count_ = count;
  return counters_ == nullptr
             ? Status::unsupported("not enough free memory to tune on")
             : operand_memory_->clear(counters_.get(), bytes);
}

// Copy 0 first, then each time as many more as there are already.
Status TuningBuffers::fill(const std::function<bool()>& has_time) {
  Status status = operand_memory_->poison(address(0), copy_bytes_);
  for (const Slot& slot : slots_) {
    if (status.is_ok() && slot.operand.dtype != DType::kNone) {
      status = write_normals(slot);
    }
  }
  for (std::size_t filled = 1; status.is_ok() && filled < copies_;) {
    if (has_time && !has_time()) {
      copies_ = filled;
      break;
    }
    const std::size_t more = std::min(filled, copies_ - filled);
    status =
        operand_memory_->copy(address(filled), address(0), more * copy_bytes_);
    filled += more;
  }
  return status;
}

// An output that is not read stays poisoned.
Status TuningBuffers::write_normals(const Slot& slot) {
  return slot.operand.role == Operand::Role::kOutput
             ? Status::ok()
             : operand_memory_->write_normals(
                   slot.operand, address(0) + slot.base, slot.seed);
}

std::byte* TuningBuffers::address(std::size_t copy) const {
  return static_cast<std::byte*>(memory_.get()) + copy * copy_bytes_;
}

std::byte* TuningBuffers::output_address() const {
  return address(0) + slots_[output_slot_].base;
}

// Aligned as the output is, so that both can be read alike.
std::byte* TuningBuffers::kept_address() const {
  return address(copies_) + slots_[output_slot_].base % kGrain;
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
  arguments.counters = static_cast<unsigned*>(counters_.get());
  return arguments;
}

std::vector<Elements> TuningBuffers::elements() const {
  std::vector<Elements> elements;
  for (const Slot& slot : slots_) {
    elements.push_back(
        slot.operand.dtype == DType::kNone
            ? Elements()
            : Elements::generated(slot.operand.dtype, slot.seed));
  }
  return elements;
}

Status TuningBuffers::reset_output() {
  const Slot& slot = slots_[output_slot_];
  Status status =
      operand_memory_->poison(address(0) + slot.begin, slot.end - slot.begin);
  return status.is_ok() ? write_normals(slot) : status;
}

Status TuningBuffers::check_untouched() {
  const Slot& slot = slots_[output_slot_];
  bool found = false;
  Status status = operand_memory_->find_stray_write(
      slot.operand, output_address(), address(0) + slot.begin,
      address(0) + slot.end, found);
  if (!status.is_ok()) {
    return status;
  }
  return found ? Status::unsupported("writes outside of its output")
               : check_counters();
}

// The next run, of whatever plan, relies on them.
Status TuningBuffers::check_counters() {
  if (counter_count_ == 0) {
    return Status::ok();
  }
  // Zero has the same bits as a number; small counts are numbers that are tiny.
  const auto count = static_cast<std::int64_t>(counter_count_);
  const Operand counters{.name = "counters",
                         .dtype = DType::kFloat32,
                         .inner = count,
                         .outer_stride = count};
  std::vector<std::int64_t> indices(counter_count_);
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  std::vector<std::complex<double>> values(counter_count_);
  Status status =
      operand_memory_->gather(counters, counters_.get(), indices, values);
  if (!status.is_ok()) {
    return status;
  }
  for (const std::complex<double>& value : values) {
    if (value != 0.0) {
      // Whoever comes next must not suffer for it.
      Status cleared = operand_memory_->clear(
          counters_.get(), counter_count_ * sizeof(unsigned));
      return cleared.is_ok()
                 ? Status::unsupported("leaves counters that are not zero")
                 : cleared;
    }
  }
  return Status::ok();
}

Status TuningBuffers::gather_output(std::span<const std::int64_t> indices,
                                    std::span<std::complex<double>> values) {
  return operand_memory_->gather(output(), output_address(), indices, values);
}

Status TuningBuffers::keep_output() {
  return operand_memory_->copy(kept_address(), output_address(),
                               output().bytes());
}

Status TuningBuffers::compare_with_kept(Tolerance tolerance,
                                        std::optional<Difference>& difference) {
  std::optional<std::int64_t> index;
  difference.reset();
  Status status = operand_memory_->find_difference(
      output(), output_address(), kept_address(), tolerance, index);
  if (!status.is_ok() || !index) {
    return status;
  }
  Difference found{.index = *index, .value = {}, .kept = {}};
  status = operand_memory_->gather(output(), output_address(), {&*index, 1},
                                   {&found.value, 1});
  if (status.is_ok()) {
    status = operand_memory_->gather(output(), kept_address(), {&*index, 1},
                                     {&found.kept, 1});
  }
  difference = found;
  return status;
}

}  // namespace tunedops
