#pragma once

// A text file to which several processes append lines, none of them twice.
//
// What the file holds is what counts: what others append is read, and a file
// that was deleted, replaced or edited is as it is now. It stays open and is
// locked itself, since nobody replaces it here: a program whose shapes never
// repeat comes by with each product, and opening costs more than writing.

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "tuning/file_io.h"
#include "tuning/status.h"

namespace tunedops {

class SharedLines {
 public:
  /// The part of a line by which two are the same.
  using Identity = std::string_view (*)(std::string_view line);

  /// A relative path begins where the program stands at the first use, wherever
  /// it goes later.
  SharedLines(std::string path, Identity identity);

  /// Appends the line, which has no end of its own, unless the file has one
  /// that is the same. What cannot be written is kept for the next time.
  Status add(std::string_view line);

  /// Writes what is kept; Ok if there is nothing.
  Status write_kept();

 private:
  Status open();
  Status open_folder();
  void close();
  void forget();
  void notice_fork();
  Status synchronize(bool& is_gone);
  Status read_until(std::int64_t end);
  void learn(std::string_view text);
  bool knows(std::string_view identity) const;
  Status append_kept(bool& is_gone);

  const std::string path_;
  const Identity identity_;
  pid_t process_;  // that opened the file: a forked child needs its own lock
  Descriptor folder_;
  Descriptor file_;
  std::uint64_t inode_ = 0;
  std::int64_t read_bytes_ = 0;
  std::unordered_set<std::string> known_;  // identities of the file's lines
  std::string unended_;                    // what follows its last newline
  std::set<std::string> kept_;
  bool lock_is_kept_ = false;  // somebody did not give it back in time
};

}  // namespace tunedops
