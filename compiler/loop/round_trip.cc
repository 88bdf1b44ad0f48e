// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/round_trip.h"

#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "compiler/loop/fingerprint.h"
#include "compiler/loop/parse.h"
#include "compiler/loop/print_data.h"

namespace kiln::loop {
namespace {

// Byte strings, keyed by the hash that the text shows.
using Contents = std::map<std::string, const std::string*, std::less<>>;

void Collect(const DataValue& value, Contents& contents) {
  if (const auto* bytes = std::get_if<DataValue::Bytes>(&value.value)) {
    contents.emplace(ShortHash(bytes->bytes), &bytes->bytes);
  } else if (const auto* aggregate = std::get_if<DataValue::Aggregate>(&value.value)) {
    for (const DataValue& field : aggregate->fields) Collect(field, contents);
  }
}

Contents ContentsOf(const LoopProgram& program) {
  Contents contents;
  for (const Constant& constant : program.constants) {
    contents.emplace(ShortHash(constant.tensor.bytes()), &constant.tensor.bytes());
  }
  for (const DataDef& data : program.data) Collect(data.value, contents);
  return contents;
}

std::string FirstDifference(const std::string& left, const std::string& right) {
  const std::vector<std::string> a = absl::StrSplit(left, '\n'), b = absl::StrSplit(right, '\n');
  const size_t lines = std::min(a.size(), b.size());
  size_t i = 0;
  while (i < lines && a[i] == b[i]) ++i;
  return absl::StrCat("line ", i + 1, " is\n", i < a.size() ? a[i] : "", "\nand reads back as\n",
                      i < b.size() ? b[i] : "");
}

}  // namespace

absl::Status CheckRoundTrip(const LoopProgram& program) {
  const std::string text = ToString(program);
  const Contents contents = ContentsOf(program);
  ParseOptions options;
  options.contents = [&](absl::string_view hash) -> const std::string* {
    const auto it = contents.find(hash);
    return it == contents.end() ? nullptr : it->second;
  };
  const absl::StatusOr<LoopProgram> again = ParseProgram(text, options);
  if (!again.ok()) return Annotate(again.status(), "the text does not read back: ");
  if (const std::string printed = ToString(*again); printed != text) {
    return absl::InternalError(FirstDifference(text, printed));
  }
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const Constant &a = program.constants[i], &b = again->constants[i];
    if (a.buffer->name == b.buffer->name && a.tensor.bytes() == b.tensor.bytes()) continue;
    return absl::InternalError(absl::StrCat("constant ", a.buffer->name, " reads back as another"));
  }
  for (size_t i = 0; i < program.funcs.size(); ++i) {
    if (Fingerprint(program.funcs[i]) == Fingerprint(again->funcs[i])) continue;
    return absl::InternalError(
        absl::StrCat("function ", program.funcs[i].name, " reads back as another"));
  }
  return absl::OkStatus();
}

}  // namespace kiln::loop
