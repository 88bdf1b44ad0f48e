// SPDX-License-Identifier: Apache-2.0
// A tile of dots in C: one loop in assembly if the compiler knows the instruction, otherwise plain
// C with the same bits.
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/target/instructions.h"

namespace kiln::codegen {
namespace {

// `$0`: the name; `$1`: the condition; `$2` and `$3`: the types of the factors; `$4`: the
// statements in assembly; `$5`: a description of the steps; `$6`: all steps in plain C; `$7` and
// `$8`: specifiers of the declaration; `$9`: further parameters.
constexpr char kDotTile[] =
    "/* Adds the products of $5 to the sums of a tile, in 32 bits that wrap around. */\n"
    "$8static $7void $0(int32_t* sums, const $2* a, const $3* b$9) {\n"
    "#if $1\n"
    "$4"
    "#else\n"
    "$6"
    "#endif\n"
    "}\n\n";

// `$0`: the number of steps; `$1`: the products of a step; `$2` and `$3`: elements of rows and of
// columns in a step.
constexpr char kPlainSteps[] =
    "  int step;\n"
    "  for (step = 0; step < $0; ++step, a += $2, b += $3) {\n"
    "$1"
    "  }\n";
constexpr char kPlainStepsToEnd[] =
    "  for (; b != end; a += $2, b += $3) {\n"
    "$1"
    "  }\n";

bool Repeats(const loop::DotTile& tile) {
  return loop::DotTile::StepsOfIteration(tile.shape.steps) < tile.shape.steps;
}

// Parameters of a tile's function besides the addresses of the sums and of the first elements. They
// let different tiles share the function.
struct Taken {
  bool end = false;  // end of the columns
  bool row = false;  // elements from the rows of one dot to those of the next
  bool any() const { return end || row; }
};

// Returns a line for each sum, which adds all of its products in one step, or in all dots of a
// chain.
std::string PlainStep(const loop::DotTile& tile, absl::string_view indent, const Taken& taken) {
  const loop::DotShape& shape = tile.shape;
  std::string text;
  for (int lane = 0; lane < shape.lanes(); ++lane) {
    std::vector<std::string> products;
    for (int i = 0; i < tile.chain.length; ++i) {
      for (int k = 0; k < shape.group; ++k) {
        const int in_row = tile.slide > 0 ? lane * tile.slide + k : shape.InA(lane, k);
        const std::string in_a = taken.row ? absl::StrCat(in_row, " + ", i, " * row")
                                           : absl::StrCat(in_row + i * tile.row_elements());
        products.push_back(absl::StrCat("(uint32_t)((int32_t)a[", in_a, "] * b[",
                                        shape.InB(lane, k) + i * tile.chain.b_step, "])"));
      }
    }
    absl::StrAppend(&text, indent, "sums[", lane, "] = (int32_t)((uint32_t)sums[", lane, "] + ",
                    absl::StrJoin(products, " + "), ");\n");
  }
  return text;
}

// Maps names in the text of a step to operands in GNU C.
std::vector<std::pair<std::string, std::string>> OperandNames(const std::vector<std::string>& all) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& name : all) {
    names.emplace_back(absl::StrCat("{", name, "}"), absl::StrCat("%[", name, "]"));
  }
  return names;
}

std::vector<std::string> Numbered(const char* name, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(name, i));
  return names;
}

std::string InAssembly(const DotLoop& loop, const loop::DotTile& tile, const DotInstruction& row,
                       const Taken& taken) {
  const loop::DotShape& shape = tile.shape;
  const std::vector<std::string> sums = Numbered("s", loop.rows * loop.columns),
                                 temporaries = Numbered("t", loop.temporaries);
  std::vector<std::string> changed = sums, all;
  changed.insert(changed.end(), {"a", "b"});
  all = changed;
  all.insert(all.end(), temporaries.begin(), temporaries.end());
  if (taken.row) all.push_back("row");

  std::string text = absl::StrCat("  int32_t ", absl::StrJoin(temporaries, ", "), ";\n");
  std::vector<std::string> first_values;
  for (size_t i = 0; i < sums.size(); ++i) {
    first_values.push_back(absl::StrCat(sums[i], " = sums[", i, "]"));
  }
  absl::StrAppend(&text, "  int32_t ", absl::StrJoin(first_values, ", "), ";\n");
  const int of_iteration = loop::DotTile::StepsOfIteration(shape.steps);
  const bool repeats = taken.end || Repeats(tile);
  if (repeats && !taken.end) {
    absl::StrAppend(&text, "  const ", CType(row.b), "* const end = b + ",
                    shape.columns * shape.terms(), ";\n");
  }
  absl::StrAppend(&text, "  __asm volatile(\n", repeats ? "      \"1:\\n\"\n" : "");
  const auto row_bytes = static_cast<unsigned>(row.a.bytes());
  std::string steps;
  for (int i = 0; i < of_iteration * tile.chain.length; ++i) {
    if (taken.row && i > 0) {
      absl::StrAppend(&steps, "add {a}, {a}, {row}, lsl #", std::countr_zero(row_bytes), "\n");
    }
    absl::StrAppend(&steps, loop.StepAt(taken.row ? 0 : i * tile.row_elements() * row.a.bytes(),
                                        i * tile.chain.b_step * row.b.bytes()));
  }
  steps = absl::StrReplaceAll(steps, OperandNames(all));
  for (absl::string_view line : absl::StrSplit(steps, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&text, "      \"", line, "\\n\"\n");
  }
  if (repeats) absl::StrAppend(&text, "      \"cmp %[b], %[end]\\n\"\n      \"bne 1b\\n\"\n");
  const auto operands = [](const std::vector<std::string>& names, const char* constraint) {
    return absl::StrJoin(names, ", ", [&](std::string* out, const std::string& name) {
      absl::StrAppend(out, "[", name, "]\"", constraint, "\"(", name, ")");
    });
  };
  absl::StrAppend(&text, "      : ", operands(changed, "+&r"), ",\n        ",
                  operands(temporaries, "=&r"), "\n      : ",
                  repeats     ? operands({"end"}, "r")
                  : taken.row ? operands({"row"}, "r")
                              : std::string(),
                  "\n      : \"cc\", \"memory\");\n");
  for (size_t i = 0; i < sums.size(); ++i) {
    absl::StrAppend(&text, "  sums[", i, "] = ", sums[i], ";\n");
  }
  return text;
}

std::string PlainSteps(const loop::DotTile& tile, const Taken& taken) {
  const loop::DotShape& shape = tile.shape;
  if (shape.steps == 1) return PlainStep(tile, "  ", taken);
  return absl::Substitute(taken.end ? kPlainStepsToEnd : kPlainSteps, shape.steps,
                          PlainStep(tile, "    ", taken), shape.rows * shape.group,
                          shape.columns * shape.group);
}

}  // namespace

std::string Helpers::DotTile(const DotInstruction& row, const DotLoop& loop,
                             const loop::DotTile& tile, bool takes_end, bool takes_row) {
  uses_tile_assembly_ = true;
  const Taken taken = {.end = takes_end, .row = takes_row};
  const int steps = tile.shape.steps * tile.chain.length;
  std::string name = absl::StrCat("kiln_dots_", absl::StrReplaceAll(row.name, {{".", "_"}}), "_",
                                  loop.rows, "x", loop.columns, "_");
  if (taken.end) {
    absl::StrAppend(&name, "to_end_by_", loop::DotTile::StepsOfIteration(tile.shape.steps));
  } else {
    absl::StrAppend(&name, steps);
  }
  if (loop.slide > 0) {
    absl::StrAppend(&name, "_by_", loop.slide, "_",
                    taken.row ? "row" : absl::StrCat(tile.row_elements()), "_", tile.chain.b_step);
  }
  return Define(
      name, absl::Substitute(kDotTile, name, row.c.guard, CType(row.a), CType(row.b),
                             InAssembly(loop, tile, row, taken),
                             taken.end ? "all steps up to `end`" : absl::StrCat(steps, " steps"),
                             PlainSteps(tile, taken), taken.any() ? "" : "inline ",
                             taken.row ? absl::StrCat(kNotInlinedMacro, " ") : "",
                             taken.end   ? absl::StrCat(", const ", CType(row.b), "* end")
                             : taken.row ? ", int32_t row"
                                         : ""));
}

bool FunctionPrinter::PrintDotTile(const loop::DotTile& tile) {
  const DotInstruction* row = FindDotInstruction(tile.kind.instruction);
  if (row != nullptr &&
      !row->IsNamed(tile.kind.instruction, tile.kind.group, tile.kind.swaps, tile.kind.column_run,
                    tile.a.buffer->dtype, tile.b.buffer->dtype)) {
    row = nullptr;
  }
  if (tile.kind.column_run > 0) {
    PrintMatrices(tile, row);
    return true;
  }
  if (row == nullptr) return false;
  const DotLoop* loop =
      row->FindLoop(tile.shape.rows, tile.shape.columns, tile.shape.run, tile.slide);
  if (loop == nullptr) return false;
  const loop::Expr& row_elements = tile.chain.a_step;
  const loop::Expr columns =
      tile.repeats * loop::Expr(int64_t{tile.shape.columns} * tile.shape.terms());
  exprs_.Begin({&tile.sums.offset, &tile.a.offset, &tile.b.offset, &columns, &row_elements});
  std::vector<std::string> list = {exprs_.ElementAddress(tile.sums), exprs_.ElementAddress(tile.a),
                                   exprs_.ElementAddress(tile.b)};
  // A loop needs the end of its columns as a parameter, and so do tiles that share a function.
  const bool small = context_.options.small_code;
  const bool is_loop = !loop::IsInt(tile.repeats, 1);
  const bool takes_end = is_loop || (small && Repeats(tile));
  const bool takes_row =
      tile.chain.length > 1 && (small || row_elements.As<loop::IntImm>() == nullptr);
  if (takes_end) {
    list.push_back(absl::StrCat(list[2], " + ", exprs_.Print(columns, kAdditive)));
  } else if (takes_row) {
    list.push_back(exprs_.Print(row_elements));
  }
  lines_.Line(absl::StrCat(context_.helpers.DotTile(*row, *loop, tile, takes_end, takes_row), "(",
                           absl::StrJoin(list, ", "), ");"));
  return true;
}

}  // namespace kiln::codegen
