// SPDX-License-Identifier: Apache-2.0
// SpellingOf and ParseSpelling.
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "compiler/base/status.h"
#include "compiler/options/options.h"

namespace kiln {
namespace {

template <typename E>
struct Spelling {
  const char* text;
  E value;
};

constexpr Spelling<Executor> kExecutors[] = {{"aot", Executor::kAot}, {"graph", Executor::kGraph}};
constexpr Spelling<Runtime> kRuntimes[] = {{"cpp", Runtime::kCpp}, {"crt", Runtime::kCrt}};
constexpr Spelling<Interface> kInterfaces[] = {{"packed", Interface::kPacked},
                                               {"c", Interface::kC}};
constexpr Spelling<CallingConvention> kCallingConventions[] = {
    {"packed", CallingConvention::kPacked},
    {"cpacked", CallingConvention::kCPacked},
    {"unpacked", CallingConvention::kUnpacked}};
constexpr Spelling<Codegen> kCodegens[] = {{"llvm", Codegen::kLlvm}, {"c", Codegen::kC}};
constexpr Spelling<CConstants> kCConstants[] = {{"packed", CConstants::kPacked},
                                                {"elements", CConstants::kElements}};
constexpr Spelling<Optimize> kOptimize[] = {{"speed", Optimize::kSpeed},
                                            {"balanced", Optimize::kBalanced},
                                            {"size", Optimize::kSize},
                                            {"ram", Optimize::kRam}};
constexpr Spelling<Allowance> kAllowances[] = {{"bf16", Allowance::kBf16}};

// An option whose values are the enumerators of E, each with a row in `spellings`.
template <typename E>
struct EnumOption {
  const char* name;
  absl::Span<const Spelling<E>> spellings;
};

template <typename E>
constexpr EnumOption<E> kOption = {};
template <>
constexpr EnumOption<Executor> kOption<Executor> = {"executor", kExecutors};
template <>
constexpr EnumOption<Runtime> kOption<Runtime> = {"runtime", kRuntimes};
template <>
constexpr EnumOption<Interface> kOption<Interface> = {"interface", kInterfaces};
template <>
constexpr EnumOption<CallingConvention> kOption<CallingConvention> = {"calling-convention",
                                                                      kCallingConventions};
template <>
constexpr EnumOption<Codegen> kOption<Codegen> = {"codegen", kCodegens};
template <>
constexpr EnumOption<CConstants> kOption<CConstants> = {"c-constants", kCConstants};
template <>
constexpr EnumOption<Optimize> kOption<Optimize> = {"optimize", kOptimize};
template <>
constexpr EnumOption<Allowance> kOption<Allowance> = {"allow", kAllowances};

}  // namespace

template <typename E>
const char* SpellingOf(E value) {
  return absl::c_find_if(kOption<E>.spellings,
                         [&](const Spelling<E>& s) { return s.value == value; })
      ->text;
}

template <typename E>
absl::StatusOr<E> ParseSpelling(absl::string_view text) {
  std::string known;
  for (const Spelling<E>& s : kOption<E>.spellings) {
    if (text == s.text) return s.value;
    absl::StrAppend(&known, known.empty() ? "" : ", ", s.text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", kOption<E>.name, ": found '", text, "', wanted one of ", known));
}

template const char* SpellingOf(Executor value);
template const char* SpellingOf(Runtime value);
template const char* SpellingOf(Interface value);
template const char* SpellingOf(CallingConvention value);
template const char* SpellingOf(Codegen value);
template const char* SpellingOf(CConstants value);
template const char* SpellingOf(Optimize value);
template absl::StatusOr<Executor> ParseSpelling(absl::string_view text);
template absl::StatusOr<Runtime> ParseSpelling(absl::string_view text);
template absl::StatusOr<Interface> ParseSpelling(absl::string_view text);
template absl::StatusOr<CallingConvention> ParseSpelling(absl::string_view text);
template absl::StatusOr<Codegen> ParseSpelling(absl::string_view text);
template absl::StatusOr<CConstants> ParseSpelling(absl::string_view text);
template absl::StatusOr<Optimize> ParseSpelling(absl::string_view text);

absl::Status Allow(const std::vector<std::string>& spellings, CompileOptions& options) {
  for (const std::string& text : spellings) {
    KILN_ASSIGN_OR_RETURN(const Allowance allowance, ParseSpelling<Allowance>(text));
    switch (allowance) {
      case Allowance::kBf16:
        options.schedule.bfloat16_products = true;
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln
