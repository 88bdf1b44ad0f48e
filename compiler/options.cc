// SPDX-License-Identifier: Apache-2.0
// Options: their spellings, and which combinations are legal.
#include <cctype>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/compile.h"

namespace kiln {
namespace {

constexpr size_t kMaxModuleName = 128;

template <typename E>
struct Spelling {
  const char* text;
  E value;
};

template <typename E, size_t n>
absl::StatusOr<E> ParseSpelling(const char* option, absl::string_view text,
                                const Spelling<E> (&spellings)[n]) {
  std::string known;
  for (const Spelling<E>& s : spellings) {
    if (text == s.text) return s.value;
    absl::StrAppend(&known, known.empty() ? "" : ", ", s.text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", option, ": found '", text, "', wanted one of ", known));
}

absl::Status CheckModuleName(const std::string& name) {
  bool ok = !name.empty() && name.size() <= kMaxModuleName &&
            !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name)
    ok &= c == '_' ||
          (std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 128);
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--module-name: found '", name,
      "', wanted a C identifier (letters, digits, '_', not beginning with a digit) of at most ",
      kMaxModuleName, " characters"));
}

absl::Status Illegal(absl::string_view what, absl::string_view reason, absl::string_view instead) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " do not go together: ", reason, "; ", instead));
}

}  // namespace

absl::StatusOr<Executor> ParseExecutor(absl::string_view text) {
  return ParseSpelling<Executor>("executor", text,
                                 {{"aot", Executor::kAot}, {"graph", Executor::kGraph}});
}

absl::StatusOr<Runtime> ParseRuntime(absl::string_view text) {
  return ParseSpelling<Runtime>("runtime", text, {{"cpp", Runtime::kCpp}, {"crt", Runtime::kCrt}});
}

absl::StatusOr<Interface> ParseInterface(absl::string_view text) {
  return ParseSpelling<Interface>("interface", text,
                                  {{"packed", Interface::kPacked}, {"c", Interface::kC}});
}

absl::StatusOr<CallingConvention> ParseCallingConvention(absl::string_view text) {
  return ParseSpelling<CallingConvention>("calling-convention", text,
                                          {{"packed", CallingConvention::kPacked},
                                           {"cpacked", CallingConvention::kCPacked},
                                           {"unpacked", CallingConvention::kUnpacked}});
}

absl::StatusOr<Codegen> ParseCodegen(absl::string_view text) {
  return ParseSpelling<Codegen>("codegen", text, {{"llvm", Codegen::kLlvm}, {"c", Codegen::kC}});
}

CallingConvention DefaultCallingConvention(Runtime runtime, Interface interface) {
  return runtime == Runtime::kCrt && interface == Interface::kC ? CallingConvention::kUnpacked
                                                                : CallingConvention::kCPacked;
}

absl::Status CheckOptions(const CompileOptions& o) {
  KILN_RETURN_IF_ERROR(CheckModuleName(o.module_name));
  if (o.executor == Executor::kGraph && o.interface == Interface::kC) {
    return Illegal("--executor graph and --interface c",
                   "the graph executor calls operators through tables",
                   "use --executor aot, or --interface packed");
  }
  if (o.runtime == Runtime::kCpp && o.interface == Interface::kC) {
    return Illegal("--runtime cpp and --interface c",
                   "the C++ runtime calls a model by packed functions",
                   "use --runtime crt, or --interface packed");
  }
  if (o.runtime == Runtime::kCpp && o.calling_convention == CallingConvention::kUnpacked) {
    return Illegal("--runtime cpp and --calling-convention unpacked",
                   "the C++ runtime calls operator functions by packed functions",
                   "use --calling-convention cpacked");
  }
  if (o.interface == Interface::kC && o.calling_convention != CallingConvention::kUnpacked) {
    return Illegal("--interface c and a packed calling convention",
                   "the C interface links no packed functions",
                   "use --calling-convention unpacked");
  }
  if (o.executor == Executor::kGraph && o.calling_convention == CallingConvention::kUnpacked) {
    return Illegal("--executor graph and --calling-convention unpacked",
                   "the graph executor calls operators by packed functions",
                   "use --calling-convention cpacked");
  }
  if (o.executor == Executor::kAot && o.calling_convention == CallingConvention::kPacked) {
    return absl::UnimplementedError(
        "--calling-convention packed: the AOT executor does not look operators up by name; use "
        "cpacked, which has the same "
        "argument form");
  }
  if (o.runtime == Runtime::kCpp && o.target.is_baremetal()) {
    return Illegal(absl::StrCat("--runtime cpp and --target ", o.target.name),
                   "the C++ runtime needs an operating system", "use --runtime crt");
  }
  if (o.system_lib && o.runtime != Runtime::kCpp) {
    return Illegal("--system-lib and --runtime crt", "the C runtime finds a model by the linker",
                   "leave --system-lib out, or use --runtime cpp");
  }
  if (o.profile && o.executor == Executor::kGraph) {
    return Illegal("--profile and --executor graph", "the graph executor is profiled as it is",
                   "leave --profile out");
  }
  if (o.threads < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads: found ", o.threads, ", wanted 0 or more"));
  }
  return absl::OkStatus();
}

}  // namespace kiln
