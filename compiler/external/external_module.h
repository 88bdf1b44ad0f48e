// SPDX-License-Identifier: Apache-2.0
// ExternalModule: the output of an external code generator for the subgraphs of one model. It is
// either C source, which is compiled and linked with the model, or bytes in the model's library.
// The C++ runtime has a loader of such bytes for each type key.
#ifndef KILN_COMPILER_EXTERNAL_EXTERNAL_MODULE_H_
#define KILN_COMPILER_EXTERNAL_EXTERNAL_MODULE_H_

#include <string>
#include <vector>

#include "compiler/base/tensor.h"

namespace kiln {

// A tensor that is not part of a module of bytes. When a function is first requested, the runtime
// passes its constants to `__init_<function>`.
struct ExternalConstant {
  std::string name;  // unique in the model: "tvmgen_my_mod_dnnl_main_0_const_0"
  Tensor tensor;
};

struct ExternalFunction {
  std::string name;  // the linker symbol, or the name that the loaded module looks up
  std::vector<ExternalConstant> constants = {};  // in the order of the initializer's arguments
  // Bytes of `constants`. For C source, also of the subgraph's constants with more than one
  // element. Set after `generate`.
  int64_t constant_size_bytes = 0;
};

// The accelerator that runs a module. A system may have several of a kind, each with a program of
// its own.
struct DeviceKey {
  int device_type = 1;  // DLDeviceType; 1 is the CPU
  std::string program;  // the program on the device, if the device distinguishes programs

  friend bool operator==(const DeviceKey&, const DeviceKey&) = default;
};

struct ExternalModule {
  std::string codegen;                      // name of the generator
  std::string type_key;                     // "c" for C source, otherwise that of the loader
  std::string c_source;                     // C source, if any
  std::string payload;                      // otherwise the bytes for the loader
  std::vector<ExternalFunction> functions;  // modules of bytes have at least one
  DeviceKey device_key = {};
  std::string device = {};  // its hooks are called around the functions; set from the options

  // Name of the module in messages.
  std::string name() const { return functions.empty() ? codegen : functions.front().name; }
  bool is_linkable() const { return type_key == "c"; }
  bool needs_constants() const {
    for (const ExternalFunction& function : functions) {
      if (!function.constants.empty()) return true;
    }
    return false;
  }
  // The C runtime supports modules that the linker resolves.
  bool crt_exportable() const { return is_linkable(); }
};

// True if a module is C source, which has to be linked with the model's program.
bool HasExternalSource(const std::vector<ExternalModule>& modules);

// The modules as text: type, functions and constants, and C source in full.
std::string ToString(const std::vector<ExternalModule>& modules);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_EXTERNAL_MODULE_H_
