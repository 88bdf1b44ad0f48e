// SPDX-License-Identifier: Apache-2.0
// A tile of dots in matrix registers (AMX), and the code before the first one in a function: it
// requests the registers from Linux and sets their shapes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/loop/mutate.h"
#include "compiler/target/instructions.h"

namespace kiln::codegen {
namespace {

// `$0`, `$1` and `$2` are kCall, kOption and kComponent of MatrixRequest.
constexpr char kRequest[] =
    "#if defined(__GNUC__) && defined(__x86_64__) && defined(__linux__)\n"
    "/* 0; or why Linux does not let this process use the registers of AMX. */\n"
    "__attribute__((unused)) static int64_t kiln_request_matrices(void) {\n"
    "  static unsigned char has_them;\n"
    "  int64_t status = $0; /* arch_prctl */\n"
    "  if (__atomic_load_n(&has_them, __ATOMIC_RELAXED)) return 0;\n"
    "  __asm__ __volatile__(\"syscall\"\n"
    "                       : \"+a\"(status)\n"
    "                       : \"D\"((int64_t)$1), \"S\"((int64_t)$2)\n"
    "                       : \"rcx\", \"r11\", \"memory\");\n"
    "  if (status == 0) __atomic_store_n(&has_them, 1, __ATOMIC_RELAXED);\n"
    "  return status;\n"
    "}\n"
    "#endif\n\n";

// `$0`: the condition; `$1`: the shapes; `$2`: the prefix of the definition; `$3`: the name.
constexpr char kUse[] =
    "#if $0\n"
    "#include <immintrin.h>\n"
    "/* 0; or why Linux does not let this process use the registers of AMX. */\n"
    "$2static int64_t $3(void) {\n"
    "  static const uint8_t shapes[] = {$1};\n"
    "#if defined(__linux__)\n"
    "  const int64_t status = kiln_request_matrices();\n"
    "  if (status != 0) return status;\n"
    "#endif\n"
    "  _tile_loadconfig(shapes);\n"
    "  return 0;\n"
    "}\n"
    "#endif\n\n";

// `$0`: the declaration up to the parameters; `$1`: the condition; `$2`, `$3` and `$4`: the types
// of the sums and the factors; `$5`, `$6` and `$7`: statements that load sums, add the products of
// a step and store sums; `$8` and `$9`: the bytes of a step's factors.
constexpr char kTile[] =
    "#if $1\n"
    "/* Adds the products of `steps` steps to the sums of a tile. */\n"
    "$0($2* sums, const $3* a, const $4* b, int64_t steps) {\n"
    "  const char *row = (const char*)a, *column = (const char*)b;\n"
    "  __asm__ volatile(\"\" : : : \"memory\");\n"
    "$5"
    "  for (; steps > 0; --steps) {\n"
    "$6"
    "    row += $8;\n"
    "    column += $9;\n"
    "  }\n"
    "$7"
    "  __asm__ volatile(\"\" : : : \"memory\");\n"
    "}\n"
    "#endif\n\n";

}  // namespace

std::string Helpers::MatrixGuard() const {
  if (target_ == 0) return "defined(__GNUC__) && defined(__AMX_TILE__)";
  return machine_->HasFeature("amx-tile") ? "defined(__GNUC__)" : "0";
}

std::string Helpers::RequestMatrices() {
  return Define("kiln_request_matrices",
                absl::Substitute(kRequest, MatrixRequest::kCall,
                                 absl::StrCat("0x", absl::Hex(MatrixRequest::kOption)),
                                 MatrixRequest::kComponent));
}

std::string Helpers::UseMatrices() {
  RequestMatrices();
  const std::string name = InVariant("kiln_use_matrices");
  return Define(name, absl::Substitute(kUse, MatrixGuard(), absl::StrJoin(MatrixShapes(), ", "),
                                       CpuVariantPrefix(target_), name));
}

std::string Helpers::Matrices(const DotInstruction& row, const loop::DotShape& shape) {
  UseMatrices();
  const int rows = shape.rows / kMatrixSide, columns = shape.columns / kMatrixSide;
  const int registers = rows * columns, row_bytes = columns * kMatrixRowBytes;
  constexpr int kBytes = kMatrixSide * kMatrixRowBytes;
  std::string load_sums, store_sums, products;
  for (int i = 0; i < registers; ++i) {
    const std::string at = absl::StrCat(
        "(char*)sums + ", i / columns * kMatrixSide * row_bytes + i % columns * kMatrixRowBytes,
        ", ", row_bytes, ");\n");
    absl::StrAppend(&load_sums, "  _tile_loadd(", i, ", ", at);
    absl::StrAppend(&store_sums, "  _tile_stored(", i, ", ", at);
  }
  const int first_row = registers, first_column = registers + rows;
  const auto load_rows = [&](int part) {
    for (int i = 0; i < rows; ++i) {
      absl::StrAppend(&products, "    _tile_loadd(", first_row + i, ", row + ",
                      (part * rows + i) * kBytes, ", ", kMatrixRowBytes, ");\n");
    }
  };
  const auto load_columns = [&](int part) {
    for (int i = 0; i < columns; ++i) {
      absl::StrAppend(&products, "    _tile_loadd(", first_column + i, ", column + ",
                      part * columns * kBytes + i * kMatrixRowBytes, ", ", row_bytes, ");\n");
    }
  };
  shape.ForEachProduct(load_rows, load_columns, [&] {
    for (int i = 0; i < registers; ++i) {
      absl::StrAppend(&products, "    ", row.forms[0].c, "(", i, ", ", first_row + i / columns,
                      ", ", first_column + i % columns, ");\n");
    }
  });
  const std::string name = InVariant(
      absl::StrCat("kiln_", row.name, "_", rows, "x", columns, shape.parts > 1 ? "_in_parts" : ""));
  const int bytes = kBytes * shape.parts;
  return Define(
      name,
      absl::Substitute(kTile, absl::StrCat(CpuVariantPrefix(target_), "static inline void ", name),
                       Guard(row.forms[0]), CType(row.sum), CType(row.a), CType(row.b), load_sums,
                       products, store_sums, rows * bytes, columns * bytes));
}

void FunctionPrinter::PrintMatrices(const loop::DotTile& tile, const DotInstruction* row) {
  const bool of_matrices =
      row != nullptr && row->HoldsTile(tile.shape.rows, tile.shape.columns, tile.shape.run);
  if (of_matrices) {
    uses_matrices_ = true;
    const loop::Expr steps = tile.repeats * loop::Expr(tile.kind.steps);
    exprs_.Begin({&tile.sums.offset, &tile.a.offset, &tile.b.offset, &steps});
    const std::vector<std::string> list = {exprs_.ElementAddress(tile.sums),
                                           exprs_.ElementAddress(tile.a),
                                           exprs_.ElementAddress(tile.b), exprs_.Print(steps)};
    lines_.Directive(absl::StrCat("#if ", context_.helpers.Guard(row->forms[0])));
    // Called functions release the registers.
    if (loop::CallsFunctions(func_.body)) {
      lines_.Line(absl::StrCat("(void)", context_.helpers.UseMatrices(), "();"));
    }
    lines_.Line(absl::StrCat(context_.helpers.Matrices(*row, tile.shape), "(",
                             absl::StrJoin(list, ", "), ");"));
    lines_.Directive("#else");
  }
  lines_.Open("{");
  PrintBody(loop::WrittenOut(tile));
  lines_.Close();
  if (of_matrices) lines_.Directive("#endif");
}

std::string FunctionPrinter::BeforeMatrices() {
  if (!uses_matrices_) return "";
  context_.uses_fail_number = true;
  LineWriter lines(1);
  lines.Directive(absl::StrCat("#if ", context_.helpers.MatrixGuard()));
  lines.Line(absl::StrCat("const int64_t kiln_refusal = ", context_.helpers.UseMatrices(), "();"));
  lines.Line("if (kiln_refusal != 0) {");
  lines.Line(absl::StrCat("  return kiln_fail_number(",
                          StringLiteral(std::string(MatrixRequest::kRefusal)),
                          ", (uint64_t)kiln_refusal, kiln_refusal < 0, \"\");"));
  lines.Line("}");
  lines.Directive("#else");
  lines.Line("(void)kiln_fail_number;");
  lines.Directive("#endif");
  return lines.text();
}

std::string FunctionPrinter::BehindMatrices() const {
  if (!uses_matrices_) return "";
  return absl::StrCat("#if ", context_.helpers.MatrixGuard(), "\n  _tile_release();\n#endif\n");
}

}  // namespace kiln::codegen
