// SPDX-License-Identifier: Apache-2.0
// Names of a model and its tensors in generated C and C++. The header, the model source and the C++
// interface share these rules.
#ifndef KILN_METADATA_MODEL_NAMES_H_
#define KILN_METADATA_MODEL_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "metadata/metadata.pb.h"

namespace kiln {

// A view of metadata. The metadata must outlive it.
class ModelNames {
 public:
  explicit ModelNames(const proto::Metadata& metadata);

  const proto::Metadata& metadata() const { return metadata_; }
  const proto::Function& main() const { return metadata_.functions(0); }
  const std::string& prefix() const { return prefix_; }  // "tvmgen_my_mod"
  const std::string& macro() const { return macro_; }    // "TVMGEN_MY_MOD"
  // Returns the name of the TVMModel object of kiln/model.h, such as "my_mod". A name that C, C++,
  // the C library or Kiln's headers use gets a '_' at its end: "default_", "exit_", "kiln_".
  std::string model() const;

  int num_tensors() const { return main().parameters_size(); }
  bool is_input(int i) const { return i < main().num_inputs(); }
  // Returns the index among the inputs or among the outputs.
  int index(int i) const { return is_input(i) ? i : i - main().num_inputs(); }
  // Returns the member of tensor `i` in the struct of inputs or of outputs; macros of the tensor
  // contain it in upper case. Members are unique, also in upper case, among the inputs and among
  // the outputs: a tensor whose name is taken by an earlier one gets a number at its end. With the
  // C interface, where callers write these names, ModelHeader refuses such tensors.
  const std::string& member(int i) const { return members_[static_cast<size_t>(i)]; }
  std::string element_type(int i) const;  // C type with the size of an element
  int64_t element_bytes(int i) const;     // 0 for a tensor without elements
  // Returns the tensor's part of macro names, after macro() and '_': "INPUT_IMAGE".
  std::string tensor_macro(int i) const;
  // Returns the prefix of a pool's macros: "TVMGEN_MY_MOD_SRAM_WORKSPACE_POOL".
  std::string pool_macro(const proto::Pool& pool) const;

  // Workspaces, and the state if any, that the application describes and provides. They are
  // parameters of the model's function.
  const std::vector<const proto::Pool*>& pools() const { return pools_; }
  // True if inputs and outputs lie in the pools. They are then no parameters of the model's
  // function.
  bool workspace_io() const;
  // Place of tensor `i` if workspace_io(): its index in pools(), and the C text that adds its
  // offset, " + <offset>" or empty.
  size_t pool_of(int i) const;
  std::string offset_in_pool(int i) const;
  // Devices whose hooks the model calls. The application has a context for each. The contexts are
  // the last parameters of the model's function.
  const std::vector<std::string>& devices() const { return devices_; }
  // Scratch memory that the module owns, for callers that provide none. Null if it needs none.
  const proto::Pool* static_workspace() const { return static_workspace_; }
  // The pool of the state. Null if the model keeps no state. The module owns the block unless the
  // pool is external; callers may pass another block instead.
  const proto::Pool* state() const { return state_; }
  bool has_static_state() const { return state_ != nullptr && !state_->external(); }
  int num_states() const { return metadata_.states_size(); }
  const proto::Parameter& state_tensor(int i) const { return metadata_.states(i).tensor(); }
  // Returns the name of the function with scratch memory as a parameter. If the module owns no
  // scratch memory, this is the model's function.
  std::string function_with_workspace() const;

 private:
  const proto::Metadata& metadata_;
  std::string prefix_, macro_;
  std::vector<std::string> members_;
  std::vector<const proto::Pool*> pools_;
  std::vector<std::string> devices_;
  const proto::Pool* static_workspace_ = nullptr;
  const proto::Pool* state_ = nullptr;
};

}  // namespace kiln

#endif  // KILN_METADATA_MODEL_NAMES_H_
