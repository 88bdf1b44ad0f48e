// SPDX-License-Identifier: Apache-2.0
// A dot that adds to a vector of sums, in C: the intrinsics of every form that a compiler may know,
// and plain C with the same bits.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/dot_vector.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/loop/dot_tile.h"

namespace kiln::codegen {
namespace {

// `$0`: the name; `$1`: the parameters for the factors; `$2`: the forms; `$3`: the number of lanes;
// `$4`: the new sum of a lane; `$5`: the type of sums; `$6`: a description of the addition; `$7`:
// the prefix of the function.
constexpr char kFunction[] =
    "/* Adds the products of groups to $3 sums, $6. */\n"
    "$7static inline void $0($5* sums, $1) {\n"
    "$2"
    "#else\n"
    "  int lane;\n"
    "  for (lane = 0; lane < $3; ++lane) {\n"
    "    sums[lane] = $4;\n"
    "  }\n"
    "#endif\n"
    "}\n\n";

// An architecture's expressions for data at the address `$0`, with `$1` lanes of sums.
struct Spelling {
  std::string header, load_sums, store_sums;
  std::string groups;     // groups of all lanes
  std::string one_group;  // one group for all lanes
};

std::string LoadBits(int count) {
  if (count == 512) return "_mm512_loadu_si512($0)";
  return absl::StrCat("_mm", count == 256 ? "256" : "", "_loadu_si", count, "((const __m", count,
                      "i*)$0)");
}

// "_mm512" and so on, for vectors of `lanes` 32-bit lanes.
std::string PrefixOfX86(int lanes) {
  return absl::StrCat("_mm", lanes == 4 ? "" : absl::StrCat(32 * lanes));
}

Spelling SpellingOfX86(int lanes, DType in_memory, DType factor) {
  const std::string prefix = PrefixOfX86(lanes), load = LoadBits(32 * lanes);
  const std::string to = lanes == 16 ? "sums" : absl::StrCat("(__m", 32 * lanes, "i*)sums");
  // SSE2 has no such conversion: each byte is moved to the upper half of a word and shifted down.
  const std::string widened =
      lanes == 4 ? "_mm_srai_epi16(_mm_unpacklo_epi8(_mm_setzero_si128(), "
                   "_mm_loadl_epi64((const __m128i*)$0)), 8)"
                 : absl::StrCat(prefix, "_cvtepi8_epi16(", LoadBits(16 * lanes), ")");
  return {.header = "immintrin.h",
          .load_sums = load,
          .store_sums = absl::StrCat(prefix, "_storeu_si", 32 * lanes, "(", to, ", $0)"),
          .groups = in_memory == factor ? load : widened,
          .one_group = absl::StrCat(prefix, "_set1_epi32(word)")};
}

// bfloat16 has vector types of its own for sums and factors.
Spelling SpellingOfBFloats(int lanes) {
  const std::string prefix = PrefixOfX86(lanes);
  const std::string type = absl::StrCat("(__m", 32 * lanes, "bh)");
  return {.header = "immintrin.h",
          .load_sums = absl::StrCat(prefix, "_loadu_ps($0)"),
          .store_sums = absl::StrCat(prefix, "_storeu_ps(sums, $0)"),
          .groups = absl::StrCat(type, LoadBits(32 * lanes)),
          .one_group = absl::StrCat(type, prefix, "_set1_epi32(word)")};
}

Spelling SpellingOfAArch64(int elements, DType factor) {
  const std::string type = absl::StrCat(factor.is_uint() ? "u" : "s", factor.bits);
  const std::string wide = elements * factor.bits == 128 ? "q" : "";
  return {.header = "arm_neon.h",
          .load_sums = "vld1q_s32($0)",
          .store_sums = "vst1q_s32(sums, $0)",
          .groups = absl::StrCat("vld1", wide, "_", type, "($0)"),
          .one_group = factor.bits == 8
                           ? absl::StrCat("vreinterpretq_", type, "_s32(vdupq_n_s32(word))")
                           : "vdup_n_s16(*$0)"};
}

Spelling SpellingOfRiscV() {
  return {.header = "riscv_vector.h",
          .load_sums = "__riscv_vle32_v_i32m1($0, $1)",
          .store_sums = "__riscv_vse32_v_i32m1(sums, $0, $1)",
          .groups = "__riscv_vle16_v_i16mf2($0, $1)",
          .one_group = "__riscv_vmv_v_x_i16mf2(*$0, $1)"};
}

Spelling SpellingOf(const DotVector& dot, int groups, DType in_memory, DType factor) {
  if (dot.of_floats()) return SpellingOfBFloats(dot.lanes());
  if (dot.row->IsOfArch("x86_64")) return SpellingOfX86(dot.lanes(), in_memory, factor);
  if (dot.row->IsOfArch("aarch64")) return SpellingOfAArch64(groups * dot.shape.group, factor);
  return SpellingOfRiscV();
}

// Loads a factor from memory at `at`: `groups` groups, or one group for all lanes.
std::string GroupsInMemory(const DotVector& dot, int groups, DType in_memory, DType factor,
                           const char* at) {
  const bool is_one = !dot.shape.paired && groups == 1;
  const Spelling spelling = SpellingOf(dot, is_one ? dot.lanes() : groups, in_memory, factor);
  return absl::Substitute(is_one ? spelling.one_group : spelling.groups, at, dot.lanes());
}

// x86: pairs of int16 whose elements are not adjacent. Each element is extended to the 32 bits of a
// lane; the second one becomes the upper half.
std::string PairsApart(const DotVector& dot) {
  const int lanes = dot.lanes();
  const std::string prefix = PrefixOfX86(lanes), bits = absl::StrCat(32 * lanes);
  const auto element = [&](size_t k) {
    const DotVector::Factor& factor = dot.a[k];
    const std::string name = absl::StrCat("a", k);
    if (factor.load == nullptr) return absl::StrCat(prefix, "_set1_epi32(", name, ")");
    const int of_memory = factor.dtype().bits * lanes;
    const std::string load =
        of_memory >= 128 ? LoadBits(of_memory) : "_mm_loadl_epi64((const __m128i*)$0)";
    return absl::StrCat(prefix, "_cvtep", factor.dtype().is_uint() ? "u" : "i", factor.dtype().bits,
                        "_epi32(", absl::Substitute(load, name), ")");
  };
  return absl::StrCat(prefix, "_or_si", bits, "(", prefix, "_and_si", bits, "(", element(0), ", ",
                      prefix, "_set1_epi32(0xffff)), ", prefix, "_slli_epi32(", element(1),
                      ", 16))");
}

// AArch64: groups of four bytes whose elements are not adjacent, gathered by a table lookup.
std::string BytesApart(const DotVector& dot) {
  const std::string type = dot.row->a.is_uint() ? "u8" : "s8";
  return absl::StrCat("vqtbl1q_", type, "(vreinterpretq_", type,
                      "_s32(vld1q_s32(words)), vld1q_u8(order))");
}

std::string NameOf(const DotVector& dot) {
  const loop::DotShape& shape = dot.shape;
  std::string name =
      absl::StrCat("kiln_dot_", absl::StrReplaceAll(dot.row->name, {{".", "_"}}), "_", dot.lanes());
  for (const DotVector::Factor& factor : dot.a) {
    if (!dot.apart) break;
    absl::StrAppend(&name, "_", factor.load == nullptr ? "n" : ShortName(factor.dtype()));
  }
  if (dot.apart && shape.rows == 1) absl::StrAppend(&name, "_all");
  const bool has_one_column = !shape.paired && shape.columns == 1;
  absl::StrAppend(&name, dot.apart        ? ""
                         : shape.paired   ? "_paired"
                         : has_one_column ? "_one_column"
                                          : "");
  if (dot.b.dtype() != dot.row->b) absl::StrAppend(&name, "_", ShortName(dot.b.dtype()));
  return name;
}

// Statements before the sum of a form: a group of four bytes as a word, or elements that are not
// adjacent.
std::string Before(const DotVector& dot, absl::string_view sum) {
  constexpr char kWord[] =
      "  int32_t word;\n"
      "  __builtin_memcpy(&word, $0, 4);\n";
  if (absl::StrContains(sum, "(word)")) {
    return absl::Substitute(kWord, dot.shape.rows == 1 && !dot.apart ? "a" : "b");
  }
  if (!absl::StrContains(sum, "(words)")) return "";
  std::string text =
      "  static const uint8_t order[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};\n"
      "  int32_t words[4];\n";
  for (size_t k = 0; k < dot.a.size(); ++k) {
    absl::StrAppend(
        &text,
        dot.a[k].load == nullptr
            ? absl::Substitute("  words[$0] = (int32_t)((uint32_t)(a$0 & 255) * 0x01010101u);\n", k)
            : absl::Substitute("  __builtin_memcpy(&words[$0], a$0, 4);\n", k));
  }
  return text;
}

// Replaces `s`, `a` and `b` in the form's expression.
std::string WithOperands(absl::string_view text, const std::string& s, const std::string& a,
                         const std::string& b) {
  std::string result;
  while (!text.empty()) {
    size_t length = 0;
    while (length < text.size() && (absl::ascii_isalnum(text[length]) || text[length] == '_')) {
      ++length;
    }
    const absl::string_view word = text.substr(0, std::max<size_t>(length, 1));
    absl::StrAppend(&result, word == "s"   ? absl::string_view(s)
                             : word == "a" ? a
                             : word == "b" ? b
                                           : word);
    text.remove_prefix(word.size());
  }
  return result;
}

// The new sum of a lane, in plain C.
std::string PlainSum(const DotVector& dot) {
  const loop::DotShape& shape = dot.shape;
  const int group = shape.group;
  // Index of element k in the group of a lane.
  const auto at = [&](const std::string& which, int k) {
    const std::string first = which == "0" ? "" : absl::StrCat(which, " * ", group);
    if (first.empty()) return absl::StrCat(k);
    return k == 0 ? first : absl::StrCat(first, " + ", k);
  };
  const std::string columns = absl::StrCat(shape.columns);
  const bool both = !shape.paired && shape.rows > 1 && shape.columns > 1;
  const std::string row = both                             ? "lane / " + columns
                          : shape.paired || shape.rows > 1 ? "lane"
                                                           : "0";
  const std::string column = both                                ? "lane % " + columns
                             : shape.paired || shape.columns > 1 ? "lane"
                                                                 : "0";
  std::vector<std::string> products;
  std::string sum = "sums[lane]";
  for (int k = 0; dot.of_floats() && k < group; ++k) {
    const int term = shape.TermOfBFloats(k);
    sum = absl::StrCat("kiln_add_product_bf16(", sum, ", a[", at(row, term), "], b[",
                       at(column, term), "])");
  }
  if (dot.of_floats()) return sum;
  for (int k = 0; k < group; ++k) {
    std::string element = absl::StrCat("a[", at(row, k), "]");
    if (dot.apart) {
      element = absl::StrCat("a", k, dot.a[static_cast<size_t>(k)].load != nullptr ? "[lane]" : "");
    }
    products.push_back(absl::StrCat("(uint32_t)((int32_t)", element, " * b[", at(column, k), "])"));
  }
  return absl::StrCat("(int32_t)((uint32_t)", sum, " + ", absl::StrJoin(products, " + "), ")");
}

// The parameters for both factors, those of `a` first.
std::string Parameters(const DotVector& dot) {
  std::vector<std::string> parameters;
  for (size_t k = 0; k < dot.a.size(); ++k) {
    const std::string name = dot.apart ? absl::StrCat("a", k) : "a";
    parameters.push_back(dot.a[k].load == nullptr
                             ? absl::StrCat("int32_t ", name)
                             : absl::StrCat("const ", CType(dot.a[k].dtype()), "* ", name));
  }
  parameters.push_back(absl::StrCat("const ", CType(dot.b.dtype()), "* b"));
  return absl::StrJoin(parameters, ", ");
}

}  // namespace

std::string Helpers::Dot(const DotVector& dot) {
  const DotInstruction& row = *dot.row;
  const loop::DotShape& shape = dot.shape;
  const Spelling spelling = SpellingOf(dot, dot.lanes(), row.b, row.b);
  const std::string a = !dot.apart ? GroupsInMemory(dot, shape.rows, row.a, row.a, "a")
                        : row.IsOfArch("x86_64") ? PairsApart(dot)
                                                 : BytesApart(dot);
  const std::string b =
      GroupsInMemory(dot, shape.paired ? dot.lanes() : shape.columns, dot.b.dtype(), row.b, "b");
  const std::string sums = absl::Substitute(spelling.load_sums, "sums", dot.lanes());
  std::string forms;
  std::vector<std::string> guards;
  for (const DotForm& form : row.forms) {
    if (form.lanes != dot.lanes() || form.c.empty()) continue;
    const std::string sum = WithOperands(form.c, sums, a, b);
    guards.push_back(Guard(form));
    absl::StrAppend(&forms, forms.empty() ? "#if " : "#elif ", guards.back(), "\n",
                    Before(dot, sum), "  ", absl::Substitute(spelling.store_sums, sum, dot.lanes()),
                    ";\n");
  }
  const std::string name = InVariant(NameOf(dot));
  if (dot.of_floats()) BFloatProduct();
  const std::string includes = absl::StrCat("#if (", absl::StrJoin(guards, ") || ("),
                                            ")\n#include <", spelling.header, ">\n#endif\n");
  return Define(
      name, absl::StrCat(includes, absl::Substitute(kFunction, name, Parameters(dot), forms,
                                                    dot.lanes(), PlainSum(dot), CType(row.sum),
                                                    dot.of_floats() ? "as VDPBF16PS does"
                                                                    : "in 32 bits that wrap around",
                                                    CpuVariantPrefix(target_))));
}

bool FunctionPrinter::PrintDotVector(const loop::Store& store) {
  const auto* node = store.value.As<loop::Dot>();
  const std::optional<DotVector> dot = node == nullptr ? std::nullopt : AsDotVector(*node);
  const auto sums = loop::SumsInPlace(store);
  if (!dot.has_value() || !sums.has_value()) return false;
  std::vector<const loop::Expr*> offsets = {&sums->offset, &dot->b.offset()};
  for (const DotVector::Factor& factor : dot->a) {
    if (factor.load != nullptr) offsets.push_back(&factor.offset());
  }
  exprs_.Begin(offsets);
  std::vector<std::string> arguments = {exprs_.ElementAddress(*sums)};
  for (const DotVector::Factor& factor : dot->a) {
    arguments.push_back(factor.load == nullptr
                            ? absl::StrCat(factor.number)
                            : exprs_.ElementAddress({factor.load->buffer, factor.offset()}));
  }
  arguments.push_back(exprs_.ElementAddress({dot->b.load->buffer, dot->b.offset()}));
  lines_.Line(absl::StrCat(context_.helpers.Dot(*dot), "(", absl::StrJoin(arguments, ", "), ");"));
  return true;
}

}  // namespace kiln::codegen
