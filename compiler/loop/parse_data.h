// SPDX-License-Identifier: Apache-2.0
// DataParser: reads constants and constant data, for the parser of loop programs (parse.h).
#ifndef KILN_COMPILER_LOOP_PARSE_DATA_H_
#define KILN_COMPILER_LOOP_PARSE_DATA_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/lexer.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/parse.h"
#include "compiler/loop/parse_scope.h"

namespace kiln::loop {

class DataParser {
 public:
  // ParseConstant declares constants in `scope`.
  DataParser(Lexer& lexer, Scope& scope, const ParseOptions& options)
      : lexer_(lexer), scope_(scope), options_(options) {}

  // These parse the text after the words "constant", "data" and "getter".
  absl::StatusOr<Constant> ParseConstant();
  absl::StatusOr<DataDef> ParseData();
  absl::StatusOr<HandleGetter> ParseGetter();
  // Parses the text after the word "cpu_choice".
  absl::StatusOr<CpuChoice> ParseCpuChoice();
  // The word, and a list of texts.
  absl::StatusOr<std::vector<std::string>> ParseTexts(absl::string_view word);

 private:
  absl::StatusOr<std::string> ParseElements(const TensorType& type);
  absl::StatusOr<std::string> ParseContents(int64_t num_bytes);
  absl::StatusOr<DataValue> ParseValue(int depth);
  absl::StatusOr<DataValue> ParseAggregate(bool array, int depth);
  absl::StatusOr<DataValue> ParseNumber();
  absl::StatusOr<DataValue> ParseBytes();

  Lexer& lexer_;
  Scope& scope_;
  const ParseOptions& options_;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_DATA_H_
