#pragma once

// Why text is no key: a row that was written by hand and is ignored helps its
// writer only if it says what is wrong with it.

#include <string>

#include "tuning/device.h"
#include "tuning/op_definition.h"

namespace tunedops {

/// The first thing that keeps text in TunableOp's grammar from being a key of
/// that kind of device, as half a sentence; empty where nobody knows. Whether
/// it is a key is for the ops to say (`OpDefinition::from_text`).
std::string key_hint(const KeyText& key, DeviceType device);

}  // namespace tunedops
