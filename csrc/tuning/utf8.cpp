#include "tuning/utf8.h"

#include <cstdint>
#include <cstdio>

namespace tunedops {
namespace {

// Bytes of the character that `text` begins with, 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first >= 0xf0   ? 4
                             : first >= 0xe0 ? 3
                             : first >= 0xc2 ? 2
                                             : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) {
    return 0;
  }
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) {
      return 0;
    }
    code = (code << 6) | (next & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) ||
                        (length == 4 && (code < 0x10000 || code > 0x10ffff));
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return overlong || surrogate ? 0 : length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::string with_bytes_escaped(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    std::size_t length = character_length(text);
    if (length == 0) {
      char code[5];
      std::snprintf(code, sizeof(code), "\\x%02x",
                    static_cast<unsigned char>(text[0]));
      escaped += code;
      length = 1;
    } else {
      escaped += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return escaped;
}

}  // namespace tunedops
