// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/board_run.h"

#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "metadata/model_names.h"
#include "tools/firmware/run_image.h"
#include "tools/kiln/files.h"
#include "tools/kiln/run_program.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

constexpr int64_t kStackBytes = 16 << 10;
constexpr int64_t kMaxResultBytes = int64_t{8} << 30;
constexpr size_t kMaxShownBytes = 2000;

std::string DefineBytes(const std::string& name, int64_t bytes, int64_t alignment_bytes) {
  return absl::StrCat("static uint8_t ", name, "[", bytes, "] __attribute__((aligned(",
                      alignment_bytes, ")));\n");
}

// Returns the function that runs the model once. `members` initialize the structs of inputs and
// outputs.
std::string RunFunction(const ModelNames& names, const std::string (&members)[2]) {
  const std::string& prefix = names.prefix();
  std::string text = "\nint32_t RunModel(void) {\n";
  std::vector<std::string> arguments;
  for (const bool input : {true, false}) {
    const std::string what = input ? "inputs" : "outputs";
    if (names.workspace_io()) continue;
    absl::StrAppend(&text, "  const struct ", prefix, "_", what, " ", what, " = {",
                    members[input ? 0 : 1], "};\n");
    arguments.push_back("&" + what);
  }
  if (!names.pools().empty()) {
    absl::StrAppend(&text, "  static const struct ", prefix, "_workspace_pools pools = {");
    for (const proto::Pool* pool : names.pools()) {
      absl::StrAppend(&text, ".", pool->name(), " = pool_", pool->name(), ", ");
    }
    absl::StrAppend(&text, "};\n");
    arguments.push_back("&pools");
  }
  if (names.state() != nullptr && !names.has_static_state()) {
    absl::StrAppend(&text, "  static int is_begun;\n  if (!is_begun) (void)", prefix,
                    "_initialize_state(pool_", names.state()->name(), ");\n  is_begun = 1;\n");
  }
  return absl::StrCat(text, "  return ", prefix, "_run(", absl::StrJoin(arguments, ", "),
                      ");\n}\n");
}

// Returns the C definitions that run_samples.h declares. Memory that the application provides is
// static.
std::string GluedModel(const mlf::Module& module, int64_t samples, const std::string& folder) {
  const ModelNames names(module.metadata);
  std::string memory, table, members[2];
  for (const proto::Pool* pool : names.pools()) {
    memory += DefineBytes("pool_" + pool->name(), pool->size_bytes(), pool->alignment_bytes());
  }
  for (int i = 0; i < names.num_tensors(); ++i) {
    const int64_t bytes = names.main().parameters(i).size_bytes();
    std::string place = absl::StrCat("buffer_", i);
    if (names.workspace_io()) {
      place =
          absl::StrCat("pool_", names.pools()[names.pool_of(i)]->name(), names.offset_in_pool(i));
    } else {
      memory += DefineBytes(place, bytes, 16);
    }
    absl::StrAppend(&table, "    {", place, ", ", bytes, "},\n");
    absl::StrAppend(&members[names.is_input(i) ? 0 : 1], ".", names.member(i), " = (void*)", place,
                    ", ");
  }
  const int num_inputs = names.main().num_inputs();
  return absl::StrCat("#include \"tvmgen_", module.name(), ".h\"\n#include \"run_samples.h\"\n\n",
                      memory, "const struct SampleBuffer sample_buffers[] = {\n", table,
                      "};\nconst uint32_t num_sample_inputs = ", num_inputs,
                      ", num_sample_outputs = ", names.num_tensors() - num_inputs,
                      ", num_samples = ", samples, ";\nconst char samples_path[] = \"", folder,
                      "/samples\", results_path[] = \"", folder, "/results\";\n",
                      RunFunction(names, members));
}

std::string Interleaved(const std::vector<Samples>& inputs) {
  std::string bytes;
  for (int64_t s = 0; s < inputs.front().count; ++s) {
    for (const Samples& input : inputs) absl::StrAppend(&bytes, input.sample(s));
  }
  return bytes;
}

// Writes all sources. Returns the paths of the files to compile and link.
absl::StatusOr<std::vector<std::string>> WriteSources(const mlf::Module& module,
                                                      const std::vector<Samples>& inputs,
                                                      const std::string& folder) {
  std::map<std::string, std::string> files = {{"tvmgen_" + module.name() + ".h", module.header},
                                              {"samples", Interleaved(inputs)}};
  std::vector<std::string> linked;
  const auto add = [&](const std::string& name, std::string text) {
    const bool is_code = absl::EndsWith(name, ".c") || absl::EndsWith(name, ".o");
    if (is_code) linked.push_back(absl::StrCat(folder, "/", name));
    files[name] = std::move(text);
  };
  add("glue.c", GluedModel(module, inputs.front().count, folder));
  for (size_t i = 0; i < module.sources.size(); ++i) {
    add(absl::StrCat("model_", i, ".c"), module.sources[i]);
  }
  for (size_t i = 0; i < module.objects.size(); ++i) {
    add(absl::StrCat("model_", i, ".o"), module.objects[i]);
  }
  for (const auto& [name, text] : RunSamplesFiles()) add(name, text);
  const bool is_arm = absl::StartsWith(module.metadata.target(), "cortex");
  for (const auto& [name, text] : BareMetalFiles()) {
    if (absl::EndsWith(name, is_arm ? "start_riscv.c" : "start_cortex_m.c")) continue;
    if (absl::EndsWith(name, "/platform.c")) continue;  // the hooks of the C runtime
    add("runtime_crt/" + name, text);
  }
  for (const auto& [name, text] : RuntimeHeaders()) files[name] = text;
  KILN_RETURN_IF_ERROR(WriteFiles(folder, files));
  return linked;
}

std::string LogOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str().substr(0, kMaxShownBytes);
}

absl::StatusOr<std::string> Link(const Board& board, const std::vector<std::string>& sources,
                                 const std::string& folder) {
  const std::string image = folder + "/image.elf", log = folder + "/gcc.log";
  std::vector<std::string> argv = {board.compiler + "-gcc"};
  argv.insert(argv.end(), board.flags.begin(), board.flags.end());
  argv.insert(argv.end(), {"-O2", "-std=gnu99", "-ffp-contract=off", "-ffunction-sections",
                           "-fdata-sections", "-nostartfiles", "-Wl,--gc-sections",
                           "-Wl,--no-warn-rwx-segments", "-Wl,-z,noexecstack", "-I" + folder, "-T",
                           folder + "/runtime_crt/platform/bare_metal/image.ld"});
  const std::vector<std::string> memory = MemoryFlags(board, kStackBytes);
  argv.insert(argv.end(), memory.begin(), memory.end());
  argv.insert(argv.end(), sources.begin(), sources.end());
  argv.insert(argv.end(), {"-lm", "-o", image});
  const absl::StatusOr<int> status = RunProgram(argv, log);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("an image for ", board.target,
                                                   " needs a cross compiler, and '", argv[0],
                                                   "' cannot be run: ", status.status().message(),
                                                   "; on Debian install ", PackageOf(argv[0])));
  }
  if (*status == 0) return image;
  const std::string text = LogOf(log);
  if (absl::StrContains(text, "overflowed") || absl::StrContains(text, "will not fit")) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model does not fit the emulated board, which has ", board.flash_bytes,
                     " bytes of flash and ", board.ram_bytes,
                     " bytes of RAM, of which the model's inputs and "
                     "outputs take a part:\n",
                     text));
  }
  return absl::InternalError(absl::StrCat("the image does not link:\n", text));
}

absl::StatusOr<std::vector<Samples>> ReadResults(const proto::Function& main, int64_t count,
                                                 const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxResultBytes));
  std::vector<Samples> outputs;
  int64_t sample_bytes = 0;
  for (int i = main.num_inputs(); i < main.parameters_size(); ++i) {
    const proto::Parameter& parameter = main.parameters(i);
    Samples& output = outputs.emplace_back();
    output.count = count;
    output.type.shape.assign(parameter.shape().begin(), parameter.shape().end());
    KILN_ASSIGN_OR_RETURN(output.type.dtype, DType::Parse(parameter.dtype()));
    sample_bytes += output.type.num_bytes();
  }
  if (static_cast<int64_t>(bytes.size()) != count * sample_bytes) {
    return absl::InternalError(absl::StrCat("the firmware has written ", bytes.size(),
                                            " bytes, wanted ", count * sample_bytes));
  }
  absl::string_view rest = bytes;
  for (int64_t s = 0; s < count; ++s) {
    for (Samples& output : outputs) {
      const size_t size = static_cast<size_t>(output.type.num_bytes());
      absl::StrAppend(&output.bytes, rest.substr(0, size));
      rest.remove_prefix(size);
    }
  }
  return outputs;
}

}  // namespace

absl::Status CheckForBoard(const mlf::Module& module) {
  if (module.is_foreign() || module.metadata.interface_api() != "c") {
    return absl::InvalidArgumentError(
        absl::StrCat("the module ", module.name(),
                     " has no C interface, wanted one that was compiled with --interface c"));
  }
  return absl::OkStatus();
}

absl::StatusOr<BoardRun> RunOnBoard(const mlf::Module& module, const Board& board,
                                    const std::vector<Samples>& inputs,
                                    const BoardOptions& options) {
  KILN_RETURN_IF_ERROR(CheckForBoard(module));
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> sources,
                        WriteSources(module, inputs, folder.path()));
  KILN_ASSIGN_OR_RETURN(const std::string image, Link(board, sources, folder.path()));
  KILN_ASSIGN_OR_RETURN(
      EmulatedRun run, RunImage(options.emulator.empty() ? board.emulator : options.emulator, image,
                                {.timeout_seconds = options.timeout_seconds, .counts = true}));
  BoardRun result = {.instructions = std::move(run.instructions)};
  KILN_ASSIGN_OR_RETURN(
      result.outputs,
      ReadResults(module.metadata.functions(0), inputs.front().count, folder.path() + "/results"));
  return result;
}

}  // namespace kiln::tools
