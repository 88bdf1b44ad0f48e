// SPDX-License-Identifier: Apache-2.0
// FunctionPrinter's `fail` statements, and the function that they call.
#include "compiler/codegen/c/fail_printer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/literals.h"

namespace kiln::codegen {
namespace {

constexpr char kDeclareWeak[] =
    "#if defined(__GNUC__)\n"
    "/* Keeps the text of an error, in programs that have a runtime. */\n"
    "extern void TVMAPISetLastError(const char*) __attribute__((weak));\n"
    "#define KILN_SET_LAST_ERROR(text) (TVMAPISetLastError ? TVMAPISetLastError(text) : (void)0)\n"
    "#else\n"
    "#define KILN_SET_LAST_ERROR(text) ((void)(text))\n"
    "#endif\n\n";

// $0: the function that records an error; $1: bytes of the longest text; $2: the status.
constexpr char kFailNumber[] =
    "/* Leaves \"before number after\" as the last error. */\n"
    "static int32_t kiln_fail_number(const char* before, uint64_t number, int negative, const "
    "char* after) {\n"
    "  char text[$1], digits[20];\n"
    "  int size = 0, count = 0;\n"
    "  while (*before != '\\0') text[size++] = *before++;\n"
    "  if (negative) {\n"
    "    text[size++] = '-';\n"
    "    number = 0 - number;\n"
    "  }\n"
    "  do {\n"
    "    digits[count++] = (char)('0' + (int)(number % 10));\n"
    "    number /= 10;\n"
    "  } while (number != 0);\n"
    "  while (count > 0) text[size++] = digits[--count];\n"
    "  while (*after != '\\0') text[size++] = *after++;\n"
    "  text[size] = '\\0';\n"
    "  $0(text);\n"
    "  return $2;\n"
    "}\n\n";

// A sign, 20 digits and the NUL.
constexpr size_t kNumberBytes = 22;

}  // namespace

bool CContext::HasPackedFunction() const {
  return std::any_of(program.funcs.begin(), program.funcs.end(), [](const loop::Func& func) {
    return func.kind != loop::Func::Kind::kExternal && func.convention == loop::Convention::kPacked;
  });
}

std::string FailHelper(CContext& context) {
  if (!context.uses_fail_number) return "";
  const bool has_runtime = context.options.loader_pointers || context.HasPackedFunction();
  const std::string set_last_error =
      has_runtime ? context.Runtime("TVMAPISetLastError") : "KILN_SET_LAST_ERROR";
  const std::string definition = absl::Substitute(
      kFailNumber, set_last_error, loop::kMaxFailText + kNumberBytes, loop::kFailStatus);
  return absl::StrCat(has_runtime ? "" : kDeclareWeak, OncePerUnit("kiln_fail_number", definition));
}

void FunctionPrinter::PrintFail(const loop::Fail& node) {
  context_.uses_fail_number = true;
  exprs_.Begin({&node.number});
  const std::string number = exprs_.Print(node.number, kPrefix);
  const bool is_signed = !node.number.type().dtype.is_uint();
  lines_.Line(absl::StrCat("return kiln_fail_number(", StringLiteral(node.before), ", (uint64_t)",
                           number, ", ", is_signed ? absl::StrCat(number, " < 0") : "0", ", ",
                           StringLiteral(node.after), ");"));
}

}  // namespace kiln::codegen
