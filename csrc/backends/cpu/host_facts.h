#pragma once

// What the operating system says about the machine.

#include <cstddef>
#include <filesystem>
#include <string>

namespace tunedops::cpu {

/// The processor's model name, fit for a CSV field.
std::string processor_name();

/// Bytes of the last level of cache, of all that the processors have of it; a
/// guess where the system does not tell.
std::size_t last_cache_bytes();

/// The same as a folder tells that is laid out as Linux'
/// /sys/devices/system/cpu is; 0 if it tells nothing.
std::size_t last_cache_bytes(const std::filesystem::path& processors);

/// Bytes that can be allocated without swapping; a guess where the system does
/// not tell.
std::size_t available_memory_bytes();

}  // namespace tunedops::cpu
