#include "tuning/host_memory.h"

#include <algorithm>
#include <cstring>

#include "tuning/normal_data.h"
#include "tuning/operand_layout.h"
#include "tuning/typed_elements.h"

namespace tunedops {
namespace {

// Operands may be aligned worse than their elements.
template <class T>
T load(const std::byte* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <class T>
void store(std::byte* data, std::int64_t index, T value) {
  std::memcpy(data + index * static_cast<std::int64_t>(sizeof(T)), &value,
              sizeof(T));
}

template <class T>
void write_run(std::byte* base, const std::byte* table, std::uint64_t seed,
               std::int64_t begin, std::int64_t end) {
  std::int64_t index = begin;
  const auto write = [&](std::uint64_t hash, int element) {
    store(base, index++, load<T>(table, normal_of_group(hash, element)));
  };
  while (index < end) {
    const std::uint64_t hash = normal_hash(seed, index / kNormalGroup);
    if (index % kNormalGroup == 0 && end - index >= kNormalGroup) {
      write(hash, 0);
      write(hash, 1);
      write(hash, 2);
      write(hash, 3);
    } else {
      write(hash, static_cast<int>(index % kNormalGroup));
    }
  }
}

bool is_poison(const std::byte* data, std::int64_t bytes) {
  return data[0] == kPoison &&
         std::memcmp(data, data + 1, static_cast<std::size_t>(bytes - 1)) == 0;
}

// The first of [begin, end) that differs, or `end`. In blocks without a branch
// for each element.
template <class T>
std::int64_t find_in_run(const std::byte* data, const std::byte* expected,
                         std::int64_t begin, std::int64_t end,
                         Tolerance tolerance) {
  constexpr std::int64_t kBlock = 256;
  const auto is_right = [&](std::int64_t index) {
    return agrees(load<T>(data, index), load<T>(expected, index),
                  tolerance.absolute, tolerance.relative);
  };
  for (std::int64_t block = begin; block < end; block += kBlock) {
    const std::int64_t stop = std::min(block + kBlock, end);
    bool all = true;
    for (std::int64_t index = block; index < stop; ++index) {
      all &= is_right(index);
    }
    for (std::int64_t index = block; !all && index < stop; ++index) {
      if (!is_right(index)) {
        return index;
      }
    }
  }
  return end;
}

}  // namespace

Status HostMemory::poison(void* begin, std::size_t bytes) {
  std::memset(begin, static_cast<int>(kPoison), bytes);
  return Status::ok();
}

Status HostMemory::clear(void* begin, std::size_t bytes) {
  std::memset(begin, 0, bytes);
  return Status::ok();
}

Status HostMemory::write_normals(const Operand& operand, void* base,
                                 std::uint64_t seed) {
  const Runs runs = element_runs(operand);
  const std::byte* const table = normal_table(operand.dtype).data();
  with_element_type(operand.dtype, [&]<class T>() {
    for (std::int64_t run = 0; run < runs.count(); ++run) {
      write_run<T>(static_cast<std::byte*>(base), table, seed, runs.start(run),
                   runs.start(run) + runs.length);
    }
  });
  return Status::ok();
}

Status HostMemory::copy(void* target, const void* source, std::size_t bytes) {
  std::memcpy(target, source, bytes);
  return Status::ok();
}

Status HostMemory::find_stray_write(const Operand& operand, const void* base,
                                    const void* begin, const void* end,
                                    bool& found) {
  const auto* const bytes = static_cast<const std::byte*>(base);
  found = false;
  for (const Gaps& gaps :
       gaps_between(operand, static_cast<const std::byte*>(begin) - bytes,
                    static_cast<const std::byte*>(end) - bytes)) {
    for (std::int64_t run = 0; !found && run < gaps.runs.count(); ++run) {
      found = !is_poison(bytes + gaps.first + gaps.runs.start(run),
                         gaps.runs.length);
    }
  }
  return Status::ok();
}

Status HostMemory::gather(const Operand& operand, const void* base,
                          std::span<const std::int64_t> indices,
                          std::span<std::complex<double>> values) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    values[i] =
        load_element(operand.dtype, base, static_cast<std::size_t>(indices[i]));
  }
  return Status::ok();
}

Status HostMemory::find_difference(const Operand& operand, const void* base,
                                   const void* expected, Tolerance tolerance,
                                   std::optional<std::int64_t>& index) {
  const Runs runs = element_runs(operand);
  index.reset();
  with_element_type(operand.dtype, [&]<class T>() {
    for (std::int64_t run = 0; !index && run < runs.count(); ++run) {
      const std::int64_t begin = runs.start(run);
      const std::int64_t end = begin + runs.length;
      const std::int64_t found = find_in_run<T>(
          static_cast<const std::byte*>(base),
          static_cast<const std::byte*>(expected), begin, end, tolerance);
      if (found < end) {
        index = found;
      }
    }
  });
  return Status::ok();
}

}  // namespace tunedops
