// SPDX-License-Identifier: Apache-2.0
//
// The module that the external code generator dnnl makes: functions that oneDNN computes.
//
// For each function `f` it also has `__init_f`, which takes the function's constants and must be
// called before `f`. The ConstLoaderModule does that. The types of the arguments come from the
// model's metadata.
#ifndef KILN_RUNTIME_CPP_DNNL_DNNL_MODULE_H_
#define KILN_RUNTIME_CPP_DNNL_DNNL_MODULE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/dnnl/compiled_function.h"
#include "runtime_cpp/dnnl/format/program.pb.h"
#include "runtime_cpp/external_module.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {

class DnnlModule final : public ExternalModuleNode {
 public:
  explicit DnnlModule(dnnl::proto::Program program);

  absl::string_view type_key() const override { return "dnnl"; }
  PackedFunc FindFunction(const std::string& name) override;
  std::vector<std::string> FunctionNames() const override;
  absl::Status TakeMetadata(const ModelMetadata& metadata) override;

 private:
  struct Function {
    const dnnl::proto::Function* layers = nullptr;
    std::vector<TensorInfo> inputs, outputs;           // From the metadata.
    std::shared_ptr<const CompiledFunction> compiled;  // Null until the initializer has run.
  };

  absl::Status Initialise(Function& function, const Args& args);
  static absl::Status Run(const Function& function, const CompiledFunction& compiled,
                          const Args& args);

  const dnnl::proto::Program program_;
  std::map<std::string, Function> functions_;
  bool has_metadata_ = false;
  std::mutex mutex_;  // Guards Function::compiled.
};

// Loads the payload: a length of 8 bytes, then that many bytes of dnnl::proto::Program. Returns
// DataLoss if they are not a program, and Unimplemented if it has another version.
absl::StatusOr<ModulePtr> LoadDnnlModule(ByteReader& reader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DNNL_DNNL_MODULE_H_
