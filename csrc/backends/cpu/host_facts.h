#pragma once

// What the operating system says about the machine.

#include <cstddef>
#include <string>

namespace tunedops::cpu {

/// The processor's model name, fit for a CSV field.
std::string processor_name();

/// Bytes of the last cache level; a guess where the system does not tell.
std::size_t last_cache_bytes();

/// Bytes that can be allocated without swapping; a guess where the system does
/// not tell.
std::size_t available_memory_bytes();

}  // namespace tunedops::cpu
