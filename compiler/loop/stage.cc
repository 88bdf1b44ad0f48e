// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/stage.h"

#include "compiler/loop/check.h"

namespace kiln::loop {

Expr CombineExprs(Combine combine, Expr acc, Expr term) {
  switch (combine) {
    case Combine::kSum:
      return acc + term;
    case Combine::kProd:
      return acc * term;
    case Combine::kMax:
      return Max(acc, term);
    case Combine::kMin:
      return Min(acc, term);
    case Combine::kNone:
      break;
  }
  KILN_CHECK(false, "a stage without a reduction combines nothing");
}

}  // namespace kiln::loop
