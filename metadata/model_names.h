// SPDX-License-Identifier: Apache-2.0
// The names that generated C and C++ have for a model and its tensors: one rule for the header, the
// model source and the C++ interface.
#ifndef KILN_METADATA_MODEL_NAMES_H_
#define KILN_METADATA_MODEL_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "metadata/metadata.pb.h"

namespace kiln {

// A view of metadata that must outlive it.
class ModelNames {
 public:
  explicit ModelNames(const proto::Metadata& metadata);

  const proto::Metadata& metadata() const { return metadata_; }
  const proto::Function& main() const { return metadata_.functions(0); }
  const std::string& prefix() const { return prefix_; }  // "tvmgen_my_mod"
  const std::string& macro() const { return macro_; }    // "TVMGEN_MY_MOD"
  // The model itself, TVMModel of kiln/model.h: "my_mod"; "default_", "exit_" or "kiln_" for
  // a name that C, C++, the C library or Kiln's headers take.
  std::string model() const;

  int num_tensors() const { return main().parameters_size(); }
  bool is_input(int i) const { return i < main().num_inputs(); }
  // Among the inputs, or among the outputs.
  int index(int i) const { return is_input(i) ? i : i - main().num_inputs(); }
  // The member of tensor `i` in the struct of inputs or of outputs, and a part of its macros. It is unique among
  // the inputs, or among the outputs, in capitals too: a tensor whose name is taken by an earlier one gets a
  // number at its end. ModelHeader refuses such tensors for the C interface, where a caller writes the names.
  const std::string& member(int i) const { return members_[static_cast<size_t>(i)]; }
  std::string element_type(int i) const;  // of C, with the bytes of an element of tensor `i`
  int64_t element_bytes(int i) const;     // 0 of a tensor without elements
  // "INPUT_IMAGE": what the names of the macros of tensor `i` have after macro() and '_'.
  std::string tensor_macro(int i) const;
  // "TVMGEN_MY_MOD_SRAM_WORKSPACE_POOL": what the names of a pool's macros begin with.
  std::string pool_macro(const proto::Pool& pool) const;

  // Workspaces, and with them the state, that the application described and gives: parameters of the
  // model's function.
  const std::vector<const proto::Pool*>& pools() const { return pools_; }
  // Whether the inputs and outputs lie in the pools, and are no parameters of the model's function.
  bool workspace_io() const;
  // Where tensor `i` lies with them: an index in pools(), and " + <offset>" or nothing.
  size_t pool_of(int i) const;
  std::string offset_in_pool(int i) const;
  // Devices whose hooks the model calls, each with a context of the application's, which are the
  // last parameters of the model's function.
  const std::vector<std::string>& devices() const { return devices_; }
  // Scratch memory that the module has itself, for callers who give none; null if it needs none.
  const proto::Pool* static_workspace() const { return static_workspace_; }
  // The block of what the model keeps from one run to the next; null if it keeps nothing. Without
  // pools of the application's the module has one itself, which callers may replace.
  const proto::Pool* state() const { return state_; }
  bool has_static_state() const { return state_ != nullptr && !state_->external(); }
  int num_states() const { return metadata_.states_size(); }
  const proto::Parameter& state_tensor(int i) const { return metadata_.states(i).tensor(); }
  // The function with scratch memory as a parameter, and that of the model.
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
