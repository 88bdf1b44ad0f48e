// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/testing/tile_functions.h"

#include "compiler/loop/dot_tile.h"

namespace kiln::loop {

Func TileFunction(const std::string& name, const DotKind& kind, const TileTypes& types, int rows,
                  int columns, int64_t repeats) {
  const int64_t a_elements = rows * kind.elements(), b_elements = columns * kind.elements();
  const auto param = [](const char* param_name, DType dtype, int64_t elements) {
    return MakeBuffer(param_name, dtype, {elements}, BufferScope::kParam);
  };
  const Buffer a = param("a", types.a, repeats * a_elements),
               b = param("b", types.b, repeats * b_elements),
               sums = param("sums", types.sum, int64_t{rows} * columns);
  const Var repeat = MakeVar("repeat");
  const Stmt tile = MakeDotTile(kind, rows, columns, {sums, 0}, {a, repeat * Expr(a_elements)},
                                {b, repeat * Expr(b_elements)});
  return {.name = name,
          .params = {a, b, sums},
          .num_inputs = 2,
          .body = MakeFor(repeat, 0, repeats, ForKind::kSerial, tile)};
}

LoopProgram TilesAroundCall(const DotKind& kind, const TileTypes& types, int rows, int columns) {
  Func f = TileFunction("f", kind, types, rows, columns);
  const std::vector<Buffer>& params = f.params;
  f.body =
      MakeBlock({f.body, MakeCall("g", {{params[0], 0}, {params[1], 0}, {params[2], 0}}), f.body});
  LoopProgram program;
  program.funcs = {TileFunction("g", kind, types, rows, columns), f};
  return program;
}

}  // namespace kiln::loop
