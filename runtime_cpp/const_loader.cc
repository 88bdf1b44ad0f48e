// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/const_loader.h"

#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {

PackedFunc ConstLoaderModule::FindFunction(const std::string& name) {
  if (constants_of_.find(name) == constants_of_.end()) return PackedFunc();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const absl::Status status = Initialise(name);
    if (!status.ok()) return PackedFunc::Failing(status);
  }
  PackedFunc function;
  for (size_t i = 0; !function.defined() && i < imports().size(); ++i) {
    function = imports()[i]->FindFunctionInTree(name);
  }
  return function;
}

std::vector<std::string> ConstLoaderModule::FunctionNames() const {
  std::vector<std::string> names;
  for (const auto& entry : constants_of_) names.push_back(entry.first);
  return names;
}

absl::Status ConstLoaderModule::Initialise(const std::string& symbol) {
  if (initialised_.count(symbol) != 0) return absl::OkStatus();
  const std::vector<std::string>& names = constants_of_.at(symbol);
  if (names.empty()) return absl::OkStatus();
  const std::string initialiser = absl::StrCat("__init_", symbol);
  PackedFunc function;
  for (size_t i = 0; !function.defined() && i < imports().size(); ++i) {
    function = imports()[i]->FindFunctionInTree(initialiser);
  }
  if (!function.defined()) {
    return absl::NotFoundError(absl::StrCat("function '", symbol, "' needs ", names.size(),
                                            " constants, but there is no '", initialiser, "'"));
  }
  std::vector<TVMValue> values(names.size());
  const std::vector<int> codes(names.size(), kTVMNDArrayHandle);
  for (size_t i = 0; i < names.size(); ++i) {
    values[i].v_handle = constants_.at(names[i]).tensor();
  }
  const Args args(values.data(), codes.data(), static_cast<int>(names.size()));
  KILN_ASSIGN_OR_RETURN(const Value result, function.Call(args));
  if (!result.empty() && result.Int().value_or(-1) != 0) {
    return absl::InternalError(absl::StrCat("'", initialiser, "' did not return 0"));
  }
  initialised_.insert(symbol);
  return absl::OkStatus();
}

absl::StatusOr<ModulePtr> LoadConstLoaderModule(ByteReader& reader) {
  KILN_ASSIGN_OR_RETURN(Params constants, LoadNamedArrays(reader));
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> symbols, reader.Strings());
  KILN_ASSIGN_OR_RETURN(const uint64_t count, reader.U64());
  if (count != symbols.size()) {
    return reader.Error(absl::StrCat(count, " lists for ", symbols.size(), " symbols"));
  }
  std::map<std::string, std::vector<std::string>> constants_of;
  for (const std::string& symbol : symbols) {
    KILN_ASSIGN_OR_RETURN(std::vector<std::string> names, reader.Strings());
    for (const std::string& name : names) {
      if (constants.find(name) == constants.end()) {
        return reader.Error(
            absl::StrCat("symbol '", symbol, "' needs the unknown constant '", name, "'"));
      }
    }
    constants_of[symbol] = std::move(names);
  }
  return std::make_shared<ConstLoaderModule>(std::move(constants), std::move(constants_of));
}

}  // namespace kiln::runtime
