// SPDX-License-Identifier: Apache-2.0
// ExternalModule: what an external code generator has made of the subgraphs of one model. Either C
// source, which is compiled and linked with the model, or bytes, which travel in the model's
// library and come back through the loader that the C++ runtime has for their type key.
#ifndef KILN_COMPILER_EXTERNAL_EXTERNAL_MODULE_H_
#define KILN_COMPILER_EXTERNAL_EXTERNAL_MODULE_H_

#include <string>
#include <vector>

#include "compiler/base/tensor.h"

namespace kiln {

// A tensor that a module of bytes does not hold itself. The runtime hands it over when the function
// that wants it is first asked for: it calls `__init_<function>` with the constants of the
// function.
struct ExternalConstant {
  std::string name;  // unique in the model: "tvmgen_my_mod_dnnl_main_0_const_0"
  Tensor tensor;
};

struct ExternalFunction {
  std::string name;  // the linker symbol, or what the loaded module answers to
  std::vector<ExternalConstant> constants = {};  // in the order of the initializer's arguments
  // Of `constants`, and for C source of those with more than one element in the subgraph; filled in
  // after generating.
  int64_t constant_size_bytes = 0;
};

// Which accelerator runs it: one system may have several of a kind, each with a program of its own.
struct DeviceKey {
  int device_type = 1;  // DLDeviceType; 1 is the CPU
  std::string program;  // what runs there, where the device tells programs apart

  friend bool operator==(const DeviceKey&, const DeviceKey&) = default;
};

struct ExternalModule {
  std::string codegen;                      // name of the generator
  std::string type_key;                     // "c" of C source, otherwise that of the loader
  std::string c_source;                     // linkable code, where there is some
  std::string payload;                      // otherwise what the loader reads
  std::vector<ExternalFunction> functions;  // those of bytes have one at least
  DeviceKey device_key = {};
  std::string device = {};  // whose hooks are called around its functions; set from the options

  // What messages call it.
  std::string name() const { return functions.empty() ? codegen : functions.front().name; }
  bool is_linkable() const { return type_key == "c"; }
  bool needs_constants() const {
    for (const ExternalFunction& function : functions) {
      if (!function.constants.empty()) return true;
    }
    return false;
  }
  // The C runtime takes what the linker resolves.
  bool crt_exportable() const { return is_linkable(); }
};

// Whether code outside of the model's program has to be linked with it.
bool HasExternalSource(const std::vector<ExternalModule>& modules);

// The modules as text: type, functions, constants; C source in full.
std::string ToString(const std::vector<ExternalModule>& modules);

}  // namespace kiln

#endif  // KILN_COMPILER_EXTERNAL_EXTERNAL_MODULE_H_
