// SPDX-License-Identifier: Apache-2.0
//
// What a module of an external code generator is, where its bytes travel in the model's library.
//
// A library that implements one registers a loader for its type key (RegisterModuleLoader).
// Constants come through calls of `__init_<function>` (const_loader.h); names and types of its
// functions' arguments from the model's metadata, once the whole library is loaded.
#ifndef KILN_RUNTIME_CPP_EXTERNAL_MODULE_H_
#define KILN_RUNTIME_CPP_EXTERNAL_MODULE_H_

#include "absl/status/status.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {

class ExternalModuleNode : public ModuleNode {
 public:
  // Called once, before any FindFunction. The metadata lives as long as the library, which
  // holds this module: take copies, not the ModelMetadata itself.
  virtual absl::Status TakeMetadata(const ModelMetadata& metadata) = 0;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_EXTERNAL_MODULE_H_
