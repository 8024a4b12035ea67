#pragma once

// Text from files and the environment goes to Python and to terminals, which
// want UTF-8; it may be any bytes.

#include <string>
#include <string_view>

namespace tunedops {

bool is_utf8(std::string_view text);

/// The text with bytes that are not UTF-8 written out (`\xff`).
std::string with_bytes_escaped(std::string_view text);

}  // namespace tunedops
