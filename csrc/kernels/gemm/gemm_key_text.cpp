// The text of a matrix product's key, both ways. TunableOp's grammar, so that
// a plain row is the same text as PyTorch's, with suffixes for what PyTorch's
// keys leave out, written only where the problem differs from the plain case.

#include <charconv>
#include <utility>

#include "kernels/gemm/gemm_definition.h"

namespace tunedops {
namespace {

constexpr std::string_view kGemm = "GemmTunableOp";
constexpr std::string_view kGemmAndBias = "GemmAndBiasTunableOp";
constexpr std::string_view kBatched = "GemmStridedBatchedTunableOp";
constexpr std::string_view kTf32 = "tf32";

constexpr std::pair<Activation, std::string_view> kActivations[] = {
    {Activation::kNone, "none"},
    {Activation::kRelu, "relu"},
    {Activation::kGelu, "gelu"},
    {Activation::kGeluTanh, "gelu_tanh"},
};

constexpr std::pair<GemmPrecision, std::string_view> kPrecisionSuffixes[] = {
    {kFullPrecisionReduction, "_fullprec"},
    {kNoSplitK, "_nosplitk"},
    {kDeterministic, "_det"},
    {kFp16Accumulation, "_accum16"},
    {kAllowBf16, "_bf32"},
    {kOneDnnDisabled, "_onednn_off"},
};

std::string number(std::int64_t value) { return '_' + std::to_string(value); }

std::string three(std::string_view name, std::int64_t a, std::int64_t b,
                  std::int64_t c) {
  return std::string(name) + number(a) + number(b) + number(c);
}

std::string type_text(const GemmProblem& p) {
  const bool tf32 =
      p.a_dtype == DType::kFloat32 && (p.header.precision & kAllowTf32) != 0;
  return std::string(tf32 ? kTf32 : to_text(p.a_dtype));
}

std::string suffixes(const GemmProblem& p) {
  std::string text;
  const PackedStrides packed = packed_strides(p);
  if (p.batched && (p.stride_a != packed.a || p.stride_b != packed.b ||
                    p.stride_c != packed.c)) {
    text += three("_stride", p.stride_a, p.stride_b, p.stride_c);
  }
  if (p.out_dtype != p.a_dtype) {
    text += "_out_" + std::string(to_text(p.out_dtype));
  }
  if (p.has_bias() && (p.bias_dtype != p.out_dtype || p.batched)) {
    text += "_bias_" + std::string(to_text(p.bias_dtype));
  }
  if (p.activation != Activation::kNone) {
    text += "_epi_" + std::string(to_text(p.activation));
  }
  if (p.alpha == ScalarClass::kAny) {
    text += "_alpha_any";
  }
  if (p.beta != ScalarClass::kZero) {
    text += p.beta == ScalarClass::kOne ? "_beta_one" : "_beta_any";
  }
  const bool bias_unaligned = p.has_bias() && p.align_bias != 16;
  if (p.align_a != 16 || p.align_b != 16 || p.align_out != 16 ||
      bias_unaligned) {
    text += three("_align", p.align_a, p.align_b, p.align_out);
    if (bias_unaligned) {
      text += number(p.align_bias);
    }
  }
  if (p.conjugate_a || p.conjugate_b) {
    text += std::string("_conj_") + (p.conjugate_a ? '1' : '0') +
            (p.conjugate_b ? '1' : '0');
  }
  for (const auto& [bit, suffix] : kPrecisionSuffixes) {
    if ((p.header.precision & bit) != 0) {
      text += suffix;
    }
  }
  if (p.workspace_mib != 0) {
    text += "_ws" + number(p.workspace_mib);
  }
  if (p.header.threads != 0) {
    text += "_threads" + number(p.header.threads);
  }
  return text;
}

// Reads what `to_text` writes, in its order. It is lenient about what it skips
// over, because the caller writes the result again and compares.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool take(std::string_view literal) {
    if (!rest_.starts_with(literal)) {
      return false;
    }
    rest_.remove_prefix(literal.size());
    return true;
  }

  // Takes nothing if no number follows, since some numbers may be left out.
  bool take_number(std::int64_t& value) {
    if (!rest_.starts_with('_')) {
      return false;
    }
    const char* const last = rest_.data() + rest_.size();
    const auto [end, error] = std::from_chars(rest_.data() + 1, last, value);
    if (error != std::errc()) {
      return false;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }

  template <class Small>
  bool take_small(Small& value) {
    std::int64_t wide = 0;
    if (!take_number(wide) || !std::in_range<Small>(wide)) {
      return false;
    }
    value = static_cast<Small>(wide);
    return true;
  }

  bool take_dtype(DType& dtype) {
    const std::string_view name = rest_.substr(0, rest_.find('_'));
    const auto found = dtype_from_text(name);
    if (!found) {
      return false;
    }
    dtype = *found;
    rest_.remove_prefix(name.size());
    return true;
  }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool read_op(const std::string& op, GemmProblem& p) {
  const std::size_t first = op.find('_');
  const std::size_t last = op.rfind('_');
  if (first == std::string::npos || last <= first) {
    return false;
  }
  const std::string_view name = std::string_view(op).substr(0, first);
  const std::string type = op.substr(first + 1, last - first - 1);
  const std::string_view layout = std::string_view(op).substr(last + 1);
  const auto dtype = type == kTf32 ? DType::kFloat32 : dtype_from_text(type);
  if (!dtype || layout.size() != 2) {
    return false;
  }
  p.a_dtype = p.b_dtype = p.out_dtype = *dtype;
  p.transpose_a = layout[0] == 'T';
  p.transpose_b = layout[1] == 'T';
  if (type == kTf32) {
    p.header.precision |= kAllowTf32;
  }
  if (name == kGemmAndBias) {
    p.bias_dtype = *dtype;
  }
  p.batched = name == kBatched;
  return name == kGemm || name == kGemmAndBias || p.batched;
}

bool read_activation(Reader& reader, Activation& activation) {
  // Longest first: `gelu` begins `gelu_tanh`.
  for (auto entry = std::rbegin(kActivations); entry != std::rend(kActivations);
       ++entry) {
    if (reader.take(entry->second)) {
      activation = entry->first;
      return true;
    }
  }
  return false;
}

bool read_suffixes(Reader& reader, GemmProblem& p) {
  if (reader.take("_stride") &&
      !(reader.take_number(p.stride_a) && reader.take_number(p.stride_b) &&
        reader.take_number(p.stride_c))) {
    return false;
  }
  if (reader.take("_out_") && !reader.take_dtype(p.out_dtype)) {
    return false;
  }
  p.bias_dtype = p.has_bias() ? p.out_dtype : DType::kNone;
  if (reader.take("_bias_") && !reader.take_dtype(p.bias_dtype)) {
    return false;
  }
  if (reader.take("_epi_") && !read_activation(reader, p.activation)) {
    return false;
  }
  if (reader.take("_alpha_any")) {
    p.alpha = ScalarClass::kAny;
  }
  if (reader.take("_beta_one")) {
    p.beta = ScalarClass::kOne;
  } else if (reader.take("_beta_any")) {
    p.beta = ScalarClass::kAny;
  }
  if (reader.take("_align")) {
    if (!(reader.take_small(p.align_a) && reader.take_small(p.align_b) &&
          reader.take_small(p.align_out))) {
      return false;
    }
    reader.take_small(p.align_bias);
  }
  if (reader.take("_conj_")) {
    p.conjugate_a = reader.take("1");
    p.conjugate_b = (p.conjugate_a || reader.take("0")) && reader.take("1");
    reader.take("0");
  }
  for (const auto& [bit, suffix] : kPrecisionSuffixes) {
    if (reader.take(suffix)) {
      p.header.precision |= bit;
    }
  }
  if (reader.take("_ws") && !reader.take_small(p.workspace_mib)) {
    return false;
  }
  if (reader.take("_threads") && !reader.take_small(p.header.threads)) {
    return false;
  }
  return reader.at_end();
}

bool is_alignment(int value) {
  return value == 1 || value == 2 || value == 4 || value == 8 || value == 16;
}

// A hand-written key may be any text; only sizes that memory could hold and
// layouts that exist make a problem.
bool is_sound(const GemmProblem& p) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  for (const std::int64_t size :
       {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.batch}) {
    if (size < 1 || size > kMost) {
      return false;
    }
  }
  // Nothing can compute with elements that are not aligned to themselves, and a
  // GPU does not survive the attempt.
  if (p.align_a < natural_alignment(p.a_dtype) ||
      p.align_b < natural_alignment(p.b_dtype) ||
      p.align_out < natural_alignment(p.out_dtype) ||
      (p.has_bias() && p.align_bias < natural_alignment(p.bias_dtype))) {
    return false;
  }
  if (p.lda < (p.transpose_a ? p.k : p.m) ||
      p.ldb < (p.transpose_b ? p.n : p.k) || p.ldc < p.m) {
    return false;
  }
  const auto fits = [](std::int64_t count, std::int64_t each) {
    return count == 0 || each <= kMost / count;
  };
  if (!fits(p.lda, p.transpose_a ? p.m : p.k) ||
      !fits(p.ldb, p.transpose_b ? p.k : p.n) || !fits(p.ldc, p.n)) {
    return false;
  }
  for (const std::int64_t stride : {p.stride_a, p.stride_b, p.stride_c}) {
    if (stride < 0 || !fits(p.batch, stride)) {
      return false;
    }
  }
  return is_alignment(p.align_a) && is_alignment(p.align_b) &&
         is_alignment(p.align_out) && is_alignment(p.align_bias);
}

}  // namespace

std::string_view to_text(Activation activation) {
  for (const auto& [value, text] : kActivations) {
    if (value == activation) {
      return text;
    }
  }
  return "none";
}

std::optional<Activation> activation_from_text(std::string_view text) {
  for (const auto& [value, name] : kActivations) {
    if (name == text) {
      return value;
    }
  }
  return std::nullopt;
}

KeyText GemmDefinition::to_text(const ProblemKey& key) const {
  const auto p = from_key<GemmProblem>(key);
  KeyText text;
  text.op = p.batched ? kBatched : p.has_bias() ? kGemmAndBias : kGemm;
  text.op += '_' + type_text(p) + '_' + (p.transpose_a ? 'T' : 'N') +
             (p.transpose_b ? 'T' : 'N');
  text.params = p.transpose_a ? 't' : 'n';
  text.params += p.transpose_b ? 't' : 'n';
  text.params += number(p.m) + number(p.n) + number(p.k);
  if (p.batched) {
    text.params += "_B" + number(p.batch);
  }
  text.params += three("_ld", p.lda, p.ldb, p.ldc) + suffixes(p);
  return text;
}

std::optional<ProblemKey> GemmDefinition::from_text(const KeyText& text,
                                                    Device device) const {
  GemmProblem p;
  p.header.device_type = device.type;
  p.header.device_index = device.index;
  if (!read_op(text.op, p) || text.params.size() < 2) {
    return std::nullopt;
  }
  Reader reader(std::string_view(text.params).substr(2));
  if (!reader.take_number(p.m) || !reader.take_number(p.n) ||
      !reader.take_number(p.k)) {
    return std::nullopt;
  }
  if (p.batched && !(reader.take("_B") && reader.take_number(p.batch))) {
    return std::nullopt;
  }
  if (!reader.take("_ld") || !reader.take_number(p.lda) ||
      !reader.take_number(p.ldb) || !reader.take_number(p.ldc)) {
    return std::nullopt;
  }
  if (!is_sound(p)) {
    return std::nullopt;  // before strides are computed from the sizes
  }
  if (p.batched) {
    const PackedStrides packed = packed_strides(p);
    p.stride_a = packed.a;
    p.stride_b = packed.b;
    p.stride_c = packed.c;
  }
  if (!read_suffixes(reader, p) || !is_sound(p) || to_text(to_key(p)) != text ||
      (p.header.threads != 0) != (device.type == DeviceType::kCpu)) {
    return std::nullopt;
  }
  return to_key(p);
}

}  // namespace tunedops
