// SPDX-License-Identifier: Apache-2.0
//
// The module that hands constants to modules of external code generators.
//
// Such a module cannot hold large constants itself. When one of its functions is first asked for,
// this module calls the owner's function "__init_<symbol>" with the constants of that symbol as
// arguments, once, and then gives the function out.
#ifndef KILN_RUNTIME_CPP_CONST_LOADER_H_
#define KILN_RUNTIME_CPP_CONST_LOADER_H_

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/params.h"

namespace kiln::runtime {

class ConstLoaderModule final : public ModuleNode {
 public:
  // `constants_of` says for a symbol which constants its initializer takes, in order; all of them
  // are in `constants`.
  ConstLoaderModule(Params constants, std::map<std::string, std::vector<std::string>> constants_of)
      : constants_(std::move(constants)), constants_of_(std::move(constants_of)) {}

  absl::string_view type_key() const override { return "const_loader"; }
  PackedFunc FindFunction(const std::string& name) override;
  std::vector<std::string> FunctionNames() const override;

 private:
  absl::Status Initialise(const std::string& symbol);

  const Params constants_;
  const std::map<std::string, std::vector<std::string>> constants_of_;
  std::mutex mutex_;
  std::set<std::string> initialised_;
};

// Payload: strings of constants, a count, their arrays; strings of symbols, a count, per symbol the
// strings of its constants.
absl::StatusOr<ModulePtr> LoadConstLoaderModule(ByteReader& reader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CONST_LOADER_H_
