// SPDX-License-Identifier: Apache-2.0
// FuncIndex: the functions of a program by name, for code that looks up many of them.
//
//   const FuncIndex index(program);
//   const Func* func = index.Find("tvmgen_mod_fused_add");
#ifndef KILN_COMPILER_LOOP_FUNC_INDEX_H_
#define KILN_COMPILER_LOOP_FUNC_INDEX_H_

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

class FuncIndex {
 public:
  // The program's functions must stay as they are while the index is used.
  explicit FuncIndex(const LoopProgram& program) {
    for (const Func& func : program.funcs) funcs_.try_emplace(func.name, &func);
  }

  // Returns null if there is no such function.
  const Func* Find(absl::string_view name) const {
    const auto found = funcs_.find(name);
    return found == funcs_.end() ? nullptr : found->second;
  }

 private:
  absl::flat_hash_map<absl::string_view, const Func*> funcs_;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_FUNC_INDEX_H_
