// SPDX-License-Identifier: Apache-2.0
#include "metadata/c_interface.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "metadata/device_hooks.h"
#include "metadata/interface_function.h"
#include "metadata/line_writer.h"

namespace kiln {
namespace {

using Parameter = InterfaceParameter;

class CInterfaceWriter : private LineWriter {
 public:
  CInterfaceWriter(const ModelNames& names, absl::string_view version)
      : names_(names), prefix_(names.prefix()), version_(version) {}

  std::string Write() && {
    Line(InterfaceMacros(names_));
    WriteTensors("inputs", true);
    WriteTensors("outputs", false);
    WritePools();
    WriteDevices();
    WriteBlockOfState();
    WriteFunctions();
    WriteState();
    WriteCpuVariants();
    if (names_.workspace_io()) {
      WriteMap("inputs", true);
      WriteMap("outputs", false);
    }
    WriteRun();
    if (names_.has_static_state()) WriteRunWithState();
    Line("// The model for TVMExecute, in ", names_.metadata().module_name(),
         "_model.c, for files that include kiln/model.h before this header.");
    Line("#ifdef KILN_MODEL_VERSION\nextern const struct TVMModel ", names_.model(), ";\n#endif\n");
    WriteWorkspaceMacros();
    return std::move(text_);
  }

 private:
  void WriteTensors(absl::string_view what, bool input) {
    const proto::Function& main = names_.main();
    // C has no empty structs.
    const bool empty = (input ? main.num_inputs() : main.num_outputs()) == 0;
    if (names_.workspace_io()) {
      Line("// The ", what, " of the model, in order, in memory of the pools: ", prefix_, "_map_",
           what, ".");
    } else if (empty) {
      Line("// The model has no ", what, "; ", prefix_, "_run takes NULL for them.");
    } else {
      Line("// The ", what, " of the model, in order. The memory is the caller's.");
    }
    Line("struct ", prefix_, "_", what, " {");
    if (empty) Line("  char unused;");
    for (int i = 0; i < names_.num_tensors(); ++i) {
      if (names_.is_input(i) != input) continue;
      const bool read_only = input && !names_.workspace_io();
      Line("  ", read_only ? "const " : "", names_.element_type(i), "* ", names_.member(i), ";");
    }
    Line("};\n");
  }

  void WritePools() {
    if (names_.pools().empty()) return;
    Line("// ", names_.workspace_io() ? "Memory" : "Scratch memory",
         " of the application's, in order, aligned as the macros below say.");
    if (names_.state() != nullptr)
      Line("// The last one is the state, which runs leave to the next.");
    Line("struct ", prefix_, "_workspace_pools {");
    for (const proto::Pool* pool : names_.pools()) Line("  void* ", pool->name(), ";");
    Line("};\n");
  }

  void WriteDevices() {
    if (names_.devices().empty()) return;
    Line("// What the hooks of each device are called with; the application defines them. They");
    Line("// return 0, or an error that ends the run.");
    Line("struct ", prefix_, "_devices {");
    for (const std::string& device : names_.devices()) Line("  void* ", device, ";");
    Line("};\n");
    for (const std::string& device : names_.devices()) Line(DeviceHookPrototypes(device));
  }

  // Returns the parameters of the model's function. `workspace` holds the parameters for the
  // module's own scratch memory.
  std::vector<Parameter> Parameters(const std::vector<Parameter>& workspace) const {
    std::vector<Parameter> params;
    for (int i = 0; i < names_.num_tensors() && !names_.workspace_io(); ++i) {
      const bool input = names_.is_input(i);
      params.push_back(
          {input ? "const void*" : "void*", absl::StrCat(input ? "in" : "out", names_.index(i)),
           absl::StrCat(input ? "input " : "output ", names_.member(i)), names_.element_bytes(i)});
    }
    for (const proto::Pool* pool : names_.pools())
      params.push_back(Memory("pool_" + pool->name(), *pool));
    params.insert(params.end(), workspace.begin(), workspace.end());
    if (names_.has_static_state()) params.push_back(Memory("state", *names_.state()));
    for (const std::string& device : names_.devices()) {
      params.push_back({"void*", absl::StrCat("device_context_", device)});
    }
    return params;
  }

  static Parameter Memory(std::string name, const proto::Pool& pool) {
    return {"uint8_t*", std::move(name), pool.name(),
            pool.size_bytes() > 0 ? pool.alignment_bytes() : 0};
  }

  std::string Function(const std::string& name, const std::vector<Parameter>& params,
                       bool initializes = false) const {
    return InterfaceFunction(names_, version_, name, params, initializes);
  }

  void WriteFunctions() {
    const std::vector<Parameter> params = Parameters({});
    Line(
        "// Objects define functions by names that end with the version of what this header says: "
        "a program");
    Line("// whose header and object are of different versions of the model does not link.");
    Line("//");
    if (names_.static_workspace() == nullptr) {
      Line(
          "// Runs the model; 0 is success. Safe from many threads at once, each with its own "
          "memory.");
      text_ += Function(names_.main().name(), params);
      return;
    }
    Line("// Runs the model; 0 is success. Its scratch memory is static: one run at a time.");
    text_ += Function(names_.main().name(), params);
    Line("// The same with scratch memory of the caller's, ", names_.macro(),
         "_WORKSPACE_SIZE_BYTES bytes aligned to");
    Line("// ", names_.macro(),
         "_WORKSPACE_ALIGNMENT_BYTES: safe from many threads at once, each with its own memory.");
    text_ += Function(names_.function_with_workspace(),
                      Parameters({Memory("workspace", *names_.static_workspace())}));
  }

  void WriteBlockOfState() {
    if (!names_.has_static_state()) return;
    Line("// The module's own block, in which ", prefix_,
         "_run keeps the state. It has the state from");
    Line("// before the first run when the program starts.");
    Line("extern uint8_t ", prefix_, "_state[", names_.state()->size_bytes(), "];\n");
  }

  void WriteState() {
    if (names_.state() == nullptr) return;
    Line("// Gives a block of ", names_.macro(), "_STATE_SIZE_BYTES bytes, aligned to");
    Line("// ", names_.macro(),
         "_STATE_ALIGNMENT_BYTES, the state from before the first run. Returns 0.");
    const proto::Pool& state = *names_.state();
    text_ += Function(prefix_ + "_initialize_state",
                      {{"void*", "state", state.name(), state.alignment_bytes()}},
                      /*initializes=*/true);
    if (!names_.has_static_state()) return;
    Line(
        "// Gives the module's own block that state again: the next run is the first of a stream.");
    Line("static inline void ", prefix_, "_reset_state(void) {");
    Line("  (void)", prefix_, "_initialize_state(", prefix_, "_state);\n}\n");
  }

  void WriteCpuVariants() {
    const auto& variants = names_.metadata().cpu_variants();
    if (variants.empty()) return;
    Line("// Which of the CPU variants ", absl::StrJoin(variants, ", "),
         " runs: the best that the CPU");
    Line(
        "// has. NULL if it has not what the first needs; the functions above return an error "
        "there.");
    Line("const char* ", prefix_, "_cpu_variant(void);");
    Line(
        "// Lets another one run; 0 is success. An error if there is none of the name, or the CPU "
        "has");
    Line("// not what it needs.");
    Line("int32_t ", prefix_, "_set_cpu_variant(const char* name);\n");
  }

  // Writes the function that returns the places of the inputs or outputs in the pools.
  void WriteMap(const std::string& what, bool input) {
    if (input) {
      Line("// Where the inputs lie in these pools. A run writes over them: before each, the");
      Line("// application writes all of them.");
    } else {
      Line("// Where the outputs lie after a run, until the application writes inputs again.");
    }
    const std::string type = absl::StrCat("struct ", prefix_, "_", what);
    Line("static inline ", type, " ", prefix_, "_map_", what, "(const struct ", prefix_,
         "_workspace_pools* workspace_pools) {");
    Line("  ", type, " ", what, ";");
    bool empty = true;
    for (int i = 0; i < names_.num_tensors(); ++i) {
      if (names_.is_input(i) != input) continue;
      const std::string pool = names_.pools()[names_.pool_of(i)]->name();
      Line("  ", what, ".", names_.member(i), " = KILN_CAST(", names_.element_type(i),
           "*, KILN_CAST(void*, KILN_CAST(uint8_t*, workspace_pools->", pool, ")",
           names_.offset_in_pool(i), "));");
      empty = false;
    }
    if (empty) Line("  (void)workspace_pools;\n  ", what, ".unused = 0;");
    Line("  return ", what, ";\n}\n");
  }

  void WriteRun() {
    if (names_.has_static_state()) {
      Line("// Runs the model on its own state.");
      WriteRun("_run", {}, prefix_ + "_state");
    } else {
      WriteRun("_run", {}, "");
    }
  }

  void WriteRunWithState() {
    Line("// The same on a state of the caller's: one for each stream.");
    WriteRun("_run_with_state", {"void* state"}, "KILN_CAST(uint8_t*, state)");
  }

  // Writes a function that runs the model. `more` are its further parameters; `state` is the
  // argument for the state, empty if the module has none.
  void WriteRun(const std::string& name, const std::vector<std::string>& more,
                const std::string& state) {
    const bool workspace_io = names_.workspace_io();
    std::vector<std::string> args, params;
    if (!workspace_io) {
      params.push_back(absl::StrCat("const struct ", prefix_, "_inputs* inputs"));
      params.push_back(absl::StrCat("const struct ", prefix_, "_outputs* outputs"));
    }
    if (!names_.pools().empty()) {
      params.push_back(absl::StrCat("const struct ", prefix_, "_workspace_pools* workspace_pools"));
    }
    if (!names_.devices().empty()) {
      params.push_back(absl::StrCat("const struct ", prefix_, "_devices* devices"));
    }
    for (int i = 0; i < names_.num_tensors() && !workspace_io; ++i) {
      args.push_back(absl::StrCat(names_.is_input(i) ? "inputs->" : "outputs->", names_.member(i)));
    }
    for (const proto::Pool* pool : names_.pools()) {
      args.push_back(absl::StrCat("KILN_CAST(uint8_t*, workspace_pools->", pool->name(), ")"));
    }
    if (!state.empty()) args.push_back(state);
    params.insert(params.end(), more.begin(), more.end());
    for (const std::string& device : names_.devices()) {
      args.push_back(absl::StrCat("devices->", device));
    }
    Line("static inline int32_t ", prefix_, name, "(", absl::StrJoin(params, ", "), ") {");
    if (names_.main().num_inputs() == 0 && !workspace_io) Line("  (void)inputs;");
    if (names_.main().num_outputs() == 0 && !workspace_io) Line("  (void)outputs;");
    const auto check = [&](bool reads, const std::string& name) {
      if (reads)
        Line("  KILN_CHECK(", name, ", ", CheckText(names_, absl::StrCat(name, " is NULL")), ");");
    };
    check(names_.main().num_inputs() > 0 && !workspace_io, "inputs");
    check(names_.main().num_outputs() > 0 && !workspace_io, "outputs");
    check(!names_.pools().empty(), "workspace_pools");
    check(!names_.devices().empty(), "devices");
    Line("  return ", names_.main().name(), "(", absl::StrJoin(args, ", "), ");");
    Line("}\n");
  }

  void WriteWorkspaceMacros() {
    if (const proto::Pool* workspace = names_.static_workspace()) {
      Line("#define ", names_.macro(), "_WORKSPACE_ALIGNMENT_BYTES ", workspace->alignment_bytes());
    }
    for (const proto::Pool* pool : names_.pools()) {
      const std::string pool_macro = names_.pool_macro(*pool);
      const std::string macro = "#define " + pool_macro;
      text_ += SizeMacro(pool_macro + "_SIZE_BYTES", names_, *pool);
      Line(macro, "_SIZE ", pool_macro, "_SIZE_BYTES");
      Line(macro, "_ALIGNMENT_BYTES ", pool->alignment_bytes());
    }
  }

  const ModelNames& names_;
  const std::string& prefix_;
  const absl::string_view version_;
};

}  // namespace

std::string CInterface(const ModelNames& names, absl::string_view version) {
  return CInterfaceWriter(names, version).Write();
}

}  // namespace kiln
