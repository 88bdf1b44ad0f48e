// SPDX-License-Identifier: Apache-2.0
// Compares the table of operators in docs/tflite.md with the refusals of the importer. A supported
// operator has a row, and so do all operators of TFLite Micro.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/graph/graph.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using Type = ModelBuilder::Type;

// True if the importer reports that it does not support the operator with these operands.
bool IsRefused(BuiltinOperator code, Type type, float out_scale) {
  ModelBuilder b;
  const int x = b.Input("x", {1, 2, 2, 1}, type);
  const int y = b.Op(code, {x, x, x}, "y", {1, 2, 2, 1}, type);
  if (type != Type::FLOAT32) {
    b.Quantize(x, {0.5}, {0});
    b.Quantize(y, {out_scale}, {0});
  }
  b.Output(y);
  const absl::StatusOr<Graph> graph = ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
  if (graph.ok()) return false;
  const std::string name = schema::EnumNameBuiltinOperator(code);
  return absl::StrContains(graph.status().message(),
                           absl::StrCat("operator ", name, " is not supported"));
}

std::string Support(BuiltinOperator code, Type type) {
  if (!IsRefused(code, type, 0.25)) return "yes";
  return IsRefused(code, type, 0.5) ? "no" : "one scale";
}

// Returns the table in the page: the cells after the name, keyed by operator.
std::map<std::string, std::vector<std::string>> TableOfPage() {
  std::ifstream page("docs/tflite.md");
  std::map<std::string, std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (absl::StartsWith(line, "| operator |")) inside = true;
    if (line.empty()) inside = false;
    if (!inside) continue;
    std::vector<std::string> cells;
    for (absl::string_view cell : absl::StrSplit(line, '|')) {
      cells.emplace_back(absl::StripAsciiWhitespace(cell));
    }
    if (cells.size() != 7 || cells[1] == "operator" || cells[1] == "---") continue;
    rows[cells[1]] = {cells[2], cells[3], cells[4], cells[5]};
  }
  return rows;
}

TEST(Operators, TableIsWhatTheImporterSays) {
  const std::map<std::string, std::vector<std::string>> rows = TableOfPage();
  std::string table;
  bool differs = false;
  for (BuiltinOperator code : schema::EnumValuesBuiltinOperator()) {
    const std::string name = schema::EnumNameBuiltinOperator(code);
    if (code == BuiltinOperator::CUSTOM) continue;
    const std::vector<std::string> cells = {Support(code, Type::FLOAT32), Support(code, Type::INT8),
                                            Support(code, Type::INT16)};
    if (cells[0] == "no") {
      differs |= rows.contains(name);
      continue;
    }
    const auto row = rows.find(name);
    const std::string why = row == rows.end() ? "" : row->second[3];
    absl::StrAppend(&table, "| ", name, " | ", cells[0], " | ", cells[1], " | ", cells[2], " | ",
                    why, " |\n");
    differs |= row == rows.end() || cells[0] != row->second[0] || cells[1] != row->second[1] ||
               cells[2] != row->second[2];
    const bool all = cells == std::vector<std::string>{"yes", "yes", "yes"};
    EXPECT_TRUE(all || !why.empty()) << name << " is refused without a reason";
  }
  EXPECT_FALSE(differs) << "the table of docs/tflite.md must be\n" << table;
}

}  // namespace
}  // namespace kiln::tflite_frontend
