#include "tuning/key_hint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "tuning/dtype.h"

namespace tunedops {
namespace {

constexpr std::string_view kFamily = "Gemm";  // of other ops nothing is known
constexpr std::string_view kBatched = "GemmStridedBatchedTunableOp";
constexpr std::array kProducts = {std::string_view("GemmTunableOp"),
                                  std::string_view("GemmAndBiasTunableOp"),
                                  kBatched};
constexpr std::string_view kTf32 = "tf32";
constexpr std::size_t kMaxQuoted = 40;

std::string quoted(std::string_view text) {
  return text.size() <= kMaxQuoted
             ? "'" + std::string(text) + "'"
             : "'" + std::string(text.substr(0, kMaxQuoted)) + "...'";
}

struct OpText {
  std::string_view product;
  std::string_view type;
  std::string_view layout;
};

OpText split_op(std::string_view op) {
  OpText parts;
  const std::size_t first = op.find('_');
  const std::size_t last = op.rfind('_');
  parts.product = op.substr(0, first);
  if (first != std::string_view::npos) {
    parts.layout = op.substr(last + 1);
    parts.type = op.substr(first + 1, last > first ? last - first - 1 : 0);
  }
  return parts;
}

bool is_layout(std::string_view text) {
  return text.size() == 2 && std::all_of(text.begin(), text.end(), [](char c) {
           return c == 'N' || c == 'T';
         });
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

// The params as words between underscores, taken one after the other.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  std::string_view peek() const { return rest_.substr(0, rest_.find('_')); }
  std::string_view rest() const { return rest_; }

  std::string_view take() {
    const std::string_view word = peek();
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    return word;
  }

  bool take(std::string_view word) {
    const bool is_there = peek() == word;
    if (is_there) {
      take();
    }
    return is_there;
  }

  std::vector<std::int64_t> take_numbers() {
    std::vector<std::int64_t> numbers;
    while (const auto value = number(peek())) {
      numbers.push_back(*value);
      take();
    }
    return numbers;
  }

 private:
  static std::optional<std::int64_t> number(std::string_view word) {
    std::int64_t value = 0;
    const char* const last = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data(), last, value);
    return error == std::errc() && end == last ? std::make_optional(value)
                                               : std::nullopt;
  }

  std::string_view rest_;
};

// Numbers that a key has and the text has not, or the other way round.
std::string wrong_count(std::string_view name, std::size_t expected,
                        std::size_t found) {
  return std::string(name) + " has to be followed by " +
         std::to_string(expected) +
         (expected == 1 ? " number, not " : " numbers, not ") +
         std::to_string(found);
}

std::string hint_for_op(const OpText& op) {
  if (std::find(kProducts.begin(), kProducts.end(), op.product) ==
      kProducts.end()) {
    std::string known;
    for (const std::string_view product : kProducts) {
      known += (known.empty() ? "" : ", ") + std::string(product);
    }
    return quoted(op.product) + " is none of " + known;
  }
  if (!is_layout(op.layout)) {
    return "the op has to be " + std::string(op.product) +
           "_<type>_ and NN, NT, TN or TT";
  }
  if (op.type != kTf32 && !dtype_from_text(op.type)) {
    return "there is no type " + quoted(op.type);
  }
  return {};
}

std::string
hint_for_leading_dimensions(const OpText& op,
                            const std::vector<std::int64_t>& sizes,
                            const std::vector<std::int64_t>& dimensions) {
  const std::int64_t m = sizes[0];
  const std::int64_t n = sizes[1];
  const std::int64_t k = sizes[2];
  const std::array least = {op.layout[0] == 'T' ? k : m,
                            op.layout[1] == 'T' ? n : k, m};
  constexpr std::array kNames = {"<lda>", "<ldb>", "<ldc>"};
  for (std::size_t i = 0; i < least.size(); ++i) {
    if (dimensions[i] < least[i]) {
      return std::string(kNames[i]) + " behind _ld is " +
             std::to_string(dimensions[i]) + " and has to be " +
             std::to_string(least[i]) + " at least";
    }
  }
  return {};
}

std::string hint_for_sizes(const OpText& op, Words& words) {
  const std::string letters = lower(op.layout);
  if (!words.take(letters)) {
    return "the op ends in _" + std::string(op.layout) +
           ", so the params have to begin with " + letters + "_, not with " +
           quoted(words.peek());
  }
  const std::vector<std::int64_t> sizes = words.take_numbers();
  if (sizes.size() != 3) {
    return wrong_count(letters, 3, sizes.size()) + " (m, n, k)";
  }
  const bool is_batched = words.take("B");
  if (is_batched != (op.product == kBatched)) {
    return is_batched ? "only " + std::string(kBatched) + " has _B_<batch>"
                      : std::string(op.product) + " has _B_<batch> before _ld";
  }
  std::int64_t least = *std::min_element(sizes.begin(), sizes.end());
  if (is_batched) {
    const std::vector<std::int64_t> batch = words.take_numbers();
    if (batch.size() != 1) {
      return wrong_count("_B", 1, batch.size());
    }
    least = std::min(least, batch[0]);
  }
  if (!words.take("ld")) {
    return "_ld_<lda>_<ldb>_<ldc> has to follow the sizes, not " +
           quoted(words.rest());
  }
  const std::vector<std::int64_t> dimensions = words.take_numbers();
  if (dimensions.size() != 3) {
    return wrong_count("_ld", 3, dimensions.size());
  }
  if (least < 1) {
    return "sizes are 1 at least";
  }
  return hint_for_leading_dimensions(op, sizes, dimensions);
}

std::string hint_for_threads(std::string_view params, DeviceType device) {
  constexpr std::string_view kThreads = "_threads_";
  const std::size_t place = params.rfind(kThreads);
  if (device != DeviceType::kCpu) {
    return place == std::string_view::npos ? ""
                                           : "only keys of a CPU have "
                                             "_threads_<n>";
  }
  Words behind(place == std::string_view::npos
                   ? std::string_view()
                   : params.substr(place + kThreads.size()));
  const std::vector<std::int64_t> count = behind.take_numbers();
  if (count.size() != 1 || !behind.rest().empty()) {
    return "keys of a CPU end in _threads_<n>";
  }
  constexpr std::int64_t kMost =
      std::numeric_limits<decltype(ProblemHeader::threads)>::max();
  return count[0] >= 1 && count[0] <= kMost
             ? ""
             : "the threads are 1 to " + std::to_string(kMost);
}

}  // namespace

std::string key_hint(const KeyText& key, DeviceType device) {
  if (!key.op.starts_with(kFamily)) {
    return {};
  }
  const OpText op = split_op(key.op);
  if (std::string hint = hint_for_op(op); !hint.empty()) {
    return hint;
  }
  Words words(key.params);
  if (std::string hint = hint_for_sizes(op, words); !hint.empty()) {
    return hint;
  }
  if (std::string hint = hint_for_threads(key.params, device); !hint.empty()) {
    return hint;
  }
  return quoted("_" + std::string(words.rest())) +
         " behind the numbers of _ld is not what keys have there, or not in "
         "their order";
}

}  // namespace tunedops
