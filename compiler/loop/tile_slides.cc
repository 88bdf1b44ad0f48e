// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/tile_slides.h"

#include <optional>

#include "compiler/loop/dot_tile.h"
#include "compiler/loop/mutate.h"

namespace kiln::loop {

std::vector<int> SlidesOf(const Stmt& s) {
  std::vector<int> slides;
  VisitStmt(
      s, [](const Expr&) {},
      [&](const Stmt& at) {
        const auto* store = at.As<Store>();
        const auto* loop = at.As<For>();
        const std::optional<DotTile> tile = store != nullptr  ? AsDotTile(*store)
                                            : loop != nullptr ? AsDotTile(*loop)
                                                              : std::nullopt;
        if (tile.has_value()) slides.push_back(tile->slide);
      });
  return slides;
}

}  // namespace kiln::loop
