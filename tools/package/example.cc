// SPDX-License-Identifier: Apache-2.0
#include "tools/package/example.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::tools {
namespace {

class ExampleWriter {
 public:
  explicit ExampleWriter(const ModelNames& names) : names_(names) {}

  Example Write() && {
    std::vector<std::string> pools, arguments;
    for (const proto::Pool* pool : names_.pools()) pools.push_back(DefinePool(*pool));
    if (!pools.empty()) DefineStruct("workspace_pools", "pools", pools);
    for (const bool input : {true, false}) {
      const std::string argument = Tensors(input);
      if (!names_.workspace_io()) arguments.push_back(argument);
    }
    if (names_.state() != nullptr && !names_.has_static_state()) {
      Run("(void)", names_.prefix(), "_initialize_state(pool_", names_.state()->name(),
          ");  // Before the first run of a stream.");
    }
    WriteFirstInput();
    if (!pools.empty()) arguments.push_back("&pools");
    if (!names_.devices().empty()) {
      Run("// The contexts that the application's hooks of the devices take.");
      DefineStruct("devices", "devices", std::vector<std::string>(names_.devices().size(), "NULL"));
      arguments.push_back("&devices");
    }
    Run("const int32_t status = ", names_.prefix(), "_run(", absl::StrJoin(arguments, ", "), ");");
    const int first_output = names_.main().num_inputs();
    const std::string element = absl::StrCat("outputs.", names_.member(first_output), "[0]");
    const std::string type = names_.element_type(first_output);
    example_.value = type == "float" || type == "double" ? "1000 * " + element : element;
    return std::move(example_);
  }

 private:
  template <typename... Args>
  void Run(const Args&... args) {
    example_.run.push_back(absl::StrCat(args...));
  }

  void DefineStruct(absl::string_view type, absl::string_view name,
                    const std::vector<std::string>& members) {
    Run("const struct ", names_.prefix(), "_", type, " ", name, " = {",
        absl::StrJoin(members, ", "), "};");
  }

  // Returns the name of the array.
  std::string DefinePool(const proto::Pool& pool) {
    const std::string macro = names_.pool_macro(pool), array = "pool_" + pool.name();
    example_.memory.push_back(absl::StrCat("static uint8_t ", array, "[", macro,
                                           "_SIZE_BYTES] __attribute__((aligned(", macro,
                                           "_ALIGNMENT_BYTES)));"));
    return array;
  }

  // Adds memory and the struct of the inputs or the outputs. Returns the argument for them.
  std::string Tensors(bool input) {
    const std::string what = input ? "inputs" : "outputs";
    std::vector<std::string> arrays;
    for (int i = 0; i < names_.num_tensors(); ++i) {
      if (names_.is_input(i) != input) continue;
      const std::string type = names_.element_type(i);
      arrays.push_back(absl::StrCat(input ? "input_" : "output_", names_.member(i)));
      if (names_.workspace_io()) continue;
      example_.memory.push_back(absl::StrCat("static ", type, " ", arrays.back(), "[",
                                             names_.macro(), "_", names_.tensor_macro(i),
                                             "_SIZE_BYTES / sizeof(", type, ")];"));
    }
    if (arrays.empty()) return "NULL";
    if (names_.workspace_io()) {
      Run("const struct ", names_.prefix(), "_", what, " ", what, " = ", names_.prefix(), "_map_",
          what, "(&pools);");
    } else {
      DefineStruct(what, what, arrays);
    }
    return "&" + what;
  }

  void WriteFirstInput() {
    if (names_.main().num_inputs() == 0) return;
    Run(names_.workspace_io() ? "inputs." : "input_", names_.member(0),
        "[0] = 0;  // Here the application writes its data.");
  }

  const ModelNames& names_;
  Example example_;
};

}  // namespace

Example ExampleOf(const ModelNames& names) { return ExampleWriter(names).Write(); }

}  // namespace kiln::tools
