// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {

bool AsLinear(const Expr& e, const std::vector<Var>& vars, LinearForm* out) {
  if (e.get() == nullptr || e.type() != Type::Index()) return false;
  Simplifier simplifier;
  LinearSum rest = simplifier.LinearOf(simplifier.Simplify(e));
  LinearForm form;
  for (const Var& var : vars) {
    form.coefficients.push_back(0);
    std::erase_if(rest.terms, [&](const LinearSum::Term& term) {
      if (term.atom.get() != var.get()) return false;
      form.coefficients.back() = term.coefficient;
      return true;
    });
  }
  for (const LinearSum::Term& term : rest.terms) {
    for (const Var& var : vars) {
      if (Uses(term.atom, var)) return false;
    }
  }
  form.base = simplifier.FromLinear(rest);
  *out = std::move(form);
  return true;
}

}  // namespace kiln::loop
