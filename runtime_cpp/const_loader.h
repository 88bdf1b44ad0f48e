// SPDX-License-Identifier: Apache-2.0
//
// The module that passes constants to modules of external code generators.
//
// Such a module cannot contain large constants. When one of its functions is first requested, this
// module calls "__init_<function>" once, with the function's constants as arguments, and then
// returns the function.
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
  // `constants_of` lists the constants of each function in the order of the arguments of its
  // initializer. All of them are in `constants`.
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

// Loads the payload of "const_loader": strings of constants, a count, their arrays; strings of
// functions, a count, for each function the strings of its constants.
absl::StatusOr<ModulePtr> LoadConstLoaderModule(ByteReader& reader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CONST_LOADER_H_
