// SPDX-License-Identifier: Apache-2.0
//
// Interface of the modules of external code generators, whose bytes are in the model's library.
//
// A library that implements such a module registers a loader for its type key
// (RegisterModuleLoader). Constants are passed by calls of `__init_<function>` (const_loader.h).
// Names and types of its functions' arguments come from the model's metadata after the whole
// library has been loaded.
#ifndef KILN_RUNTIME_CPP_EXTERNAL_MODULE_H_
#define KILN_RUNTIME_CPP_EXTERNAL_MODULE_H_

#include "absl/status/status.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {

class ExternalModuleNode : public ModuleNode {
 public:
  // Called once, before any FindFunction. The metadata lives as long as the library, which holds
  // this module. Implementations must copy what they need and not keep the ModelMetadata.
  virtual absl::Status TakeMetadata(const ModelMetadata& metadata) = 0;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_EXTERNAL_MODULE_H_
