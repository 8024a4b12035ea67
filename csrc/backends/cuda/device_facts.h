#pragma once

// What a GPU says about itself, read once.

#include <cstddef>
#include <string>

namespace tunedops::cuda {

struct DeviceFacts {
  std::string name;
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  std::size_t l2_bytes = 0;
  std::size_t block_shared_bytes = 0;  // the most that a block may ask for
  double bytes_per_us = 0;             // what its memory should deliver
};

const DeviceFacts& device_facts(int index);

}  // namespace tunedops::cuda
