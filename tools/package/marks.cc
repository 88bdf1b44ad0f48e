// SPDX-License-Identifier: Apache-2.0
#include "tools/package/marks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/kiln_version.h"
#include "metadata/model_names.h"
#include "tools/package/example.h"

namespace kiln::tools {
namespace {

// Returns a row of a table in Markdown: C type, shape, and the real number that an integer in the
// tensor represents.
std::string TensorRow(const ModelNames& names, int i) {
  const proto::Parameter& tensor = names.main().parameters(i);
  std::string meaning;
  if (tensor.has_quantization() && tensor.quantization().scales_size() == 1) {
    meaning = absl::StrCat(tensor.quantization().scales(0), " * (q - ",
                           tensor.quantization().zero_points(0), ")");
  }
  return absl::StrCat("| ", names.is_input(i) ? "input" : "output", " | `", names.member(i),
                      "` | `", names.element_type(i), "` | ", absl::StrJoin(tensor.shape(), " x "),
                      " | ", meaning, " |");
}

// Compiler flags that are needed in addition to the processor. The linker drops unused sections,
// such as the static workspace if the application provides one.
std::vector<std::string> Flags(const Target& target) {
  std::vector<std::string> flags = {"-O2", "-ffp-contract=off", "-ffunction-sections",
                                    "-fdata-sections"};
  // Helium's vectors of floats flush subnormals to zero, so that results would differ. Older
  // compilers do not know younger cores with Helium, but these run code for the Cortex-M55.
  if (target.HasFeature("mve")) flags.push_back("-mcpu=cortex-m55+nomve.fp");
  return flags;
}

// True if the code of the package is an object, false if it is sources.
bool HasObject(const PackagedModel& model) {
  return std::any_of(model.artifacts.begin(), model.artifacts.end(),
                     [](const auto& artifact) { return absl::EndsWith(artifact.first, ".o"); });
}

int64_t StateBytes(const ModelNames& names) {
  return names.state() == nullptr ? 0 : names.state()->size_bytes();
}

// Returns the bytes of flash for the initial values of the state. They are part of the image if one
// of them is not 0.
int64_t FirstValueBytes(const ModelNames& names) {
  const auto& states = names.metadata().states();
  const bool has_image =
      names.has_static_state() && std::any_of(states.begin(), states.end(),
                                              [](const auto& s) { return s.initial_value() != 0; });
  return has_image ? StateBytes(names) : 0;
}

// Returns the bytes of flash in addition to the code.
int64_t DataBytes(const ModelNames& names) {
  return names.main().constant_size_bytes() + FirstValueBytes(names);
}

// Returns rows "bytes | of | in" of the table of memory. The rows of flash add up to the result of
// `size` for the object.
std::vector<std::string> MemoryRows(const ModelNames& names, const PackagedModel& model) {
  const proto::Function& main = names.main();
  std::vector<std::string> rows;
  if (model.figures.has_value() && model.figures->flash_bytes > DataBytes(names)) {
    rows.push_back(absl::StrCat(model.figures->flash_bytes - DataBytes(names), " | code",
                                HasObject(model) ? "" : ", an estimate", " | flash"));
  }
  rows.push_back(absl::StrCat(main.constant_size_bytes(), " | constants | flash"));
  rows.push_back(absl::StrCat(
      main.workspace_size_bytes(),
      names.workspace_io() ? " | workspace, inputs and outputs" : " | workspace", " | RAM"));
  if (!names.workspace_io()) {
    rows.push_back(absl::StrCat(main.io_size_bytes(), " | inputs and outputs | RAM"));
  }
  if (const proto::Pool* state = names.state(); state != nullptr) {
    rows.push_back(absl::StrCat(state->size_bytes(), " | state between runs | RAM"));
    if (const int64_t bytes = FirstValueBytes(names); bytes > 0) {
      rows.push_back(absl::StrCat(bytes, " | first values of the state | flash"));
    }
  }
  return rows;
}

std::vector<std::string> StateLines(const ModelNames& names) {
  if (names.state() == nullptr) return {};
  if (!names.has_static_state()) {
    return {
        absl::StrCat("The model keeps state from one run to the next, in a pool that the "
                     "application gives and `",
                     names.prefix(), "_initialize_state` fills before the first run.")};
  }
  return {absl::StrCat("The model keeps state from one run to the next; `", names.prefix(),
                       "_reset_state` begins a new sequence. `", names.prefix(),
                       "_run_with_state` runs it on a block of the application's, one for each "
                       "sequence, which `",
                       names.prefix(), "_initialize_state` fills before the first run.")};
}

// Returns the cores that run code for the target, with the names of CMSIS-Pack: cores of the
// target's architecture or of one that includes it. Generated C refuses to compile for other cores.
std::vector<std::string> CmsisCores(const Target& target) {
  struct Row {
    absl::string_view cpu;
    absl::string_view core;
    int architecture;  // each includes the smaller ones
  };
  static constexpr Row kCores[] = {
      {"cortex-m0", "Cortex-M0", 6},     {"cortex-m0plus", "Cortex-M0+", 6},
      {"cortex-m1", "Cortex-M1", 6},     {"cortex-m23", "Cortex-M23", 7},
      {"cortex-m3", "Cortex-M3", 8},     {"cortex-m4", "Cortex-M4", 9},
      {"cortex-m7", "Cortex-M7", 9},     {"cortex-m33", "Cortex-M33", 9},
      {"cortex-m35p", "Cortex-M35P", 9}, {"cortex-m52", "Cortex-M52", 10},
      {"cortex-m55", "Cortex-M55", 10},  {"cortex-m85", "Cortex-M85", 10},
  };
  const auto* const own = std::find_if(std::begin(kCores), std::end(kCores),
                                       [&](const Row& row) { return row.cpu == target.cpu; });
  std::vector<std::string> cores;
  for (const Row& row : kCores) {
    if (own != std::end(kCores) && row.architecture < own->architecture) continue;
    cores.push_back(
        absl::StrCat("Dcore=\"", row.core, "\"", target.has_fpu ? " Dfpu=\"FPU\"" : ""));
  }
  return cores;
}

// Returns Zephyr's name of the architecture.
std::string ZephyrArchitecture(const Target& target) {
  if (absl::StartsWith(target.triple, "riscv")) return "riscv";
  if (absl::StartsWith(target.triple, "xtensa")) return "xtensa";
  return "arm";
}

constexpr char kHowToMeasure[] = "`size` and `-fstack-usage` of the compiler";

std::string CodeAndStack(const ModelNames& names, const PackagedModel& model) {
  if (!model.figures.has_value()) {
    return absl::StrCat("The code of the model and its stack come on top; ", kHowToMeasure,
                        " tell them of the sources.");
  }
  const ObjectFigures& figures = *model.figures;
  const char* const about = HasObject(model) ? "" : "about ";
  std::string text = absl::StrCat(
      FirstValueBytes(names) > 0 ? "Code, constants and first values" : "Code and constants",
      " take ", about, figures.flash_bytes, " bytes of flash together.");
  if (figures.stack_bytes.has_value()) {
    absl::StrAppend(&text, " A run takes ", about, *figures.stack_bytes,
                    " bytes of stack, besides those of its caller.");
  }
  if (!HasObject(model)) {
    absl::StrAppend(&text, " These figures are those of the object that LLVM makes of the model; ",
                    kHowToMeasure, " tell those of the sources.");
  }
  return text;
}

// Returns a short text for lists of packages.
std::string Description(const ModelNames& names) {
  const proto::Function& main = names.main();
  std::string text = absl::StrCat(
      "The neural network ", names.metadata().module_name(),
      ", compiled by Kiln: ", main.constant_size_bytes(), " bytes of constants, ",
      main.workspace_size_bytes(),
      names.workspace_io() ? " bytes of workspace with inputs and outputs" : " bytes of workspace");
  if (names.state() != nullptr) {
    absl::StrAppend(&text, ", ", StateBytes(names), " bytes of state");
  }
  if (const int64_t bytes = FirstValueBytes(names); bytes > 0) {
    absl::StrAppend(&text, " whose first values take as many bytes of flash");
  }
  if (!names.workspace_io()) {
    absl::StrAppend(&text, ", ", main.io_size_bytes(), " bytes of inputs and outputs");
  }
  return text;
}

int64_t RamBytes(const ModelNames& names) {
  const int64_t io = names.workspace_io() ? 0 : names.main().io_size_bytes();
  return names.main().workspace_size_bytes() + io + StateBytes(names);
}

// Rough sizes of Zephyr's kernel with its stacks and the sample, and of a model's code if it is not
// measured.
constexpr int64_t kZephyrRamBytes = 8 << 10, kZephyrFlashBytes = 40 << 10, kCodeBytes = 16 << 10;

int64_t FlashBytes(const ModelNames& names, const PackagedModel& model) {
  return model.figures.has_value() ? model.figures->flash_bytes : DataBytes(names) + kCodeBytes;
}

// Returns the stack of main in Zephyr: that of the model, and more for printf and interrupts.
int64_t MainStackBytes(const PackagedModel& model) {
  constexpr int64_t kLeast = 4096, kForOthers = 3072, kStep = 1024;
  const int64_t own =
      model.figures.has_value() ? model.figures->stack_bytes.value_or(0) : int64_t{0};
  return std::max(kLeast, (own + kForOthers + kStep - 1) / kStep * kStep);
}

// Returns the minimum memory of a board in Zephyr's unit, including `other_bytes` for the system.
std::string KilobytesOf(int64_t bytes, int64_t other_bytes) {
  return absl::StrCat((bytes + other_bytes + 1023) / 1024);
}

}  // namespace

Marks MarksOf(const PackageRequest& request, const PackagedModel& model) {
  const ModelNames names(model.metadata);
  const std::string& name = model.metadata.module_name();
  Example example = ExampleOf(names);
  Marks marks;
  marks.values = {
      {"NAME", absl::AsciiStrToUpper(name)},
      {"description", Description(names)},
      {"kiln_version", kKilnVersion},
      {"name", name},
      {"target", model.target.name},
      {"url", request.url},
      {"value", example.value},
      {"vendor", request.vendor},
      {"version", request.version},
      {"whose_memory",
       names.workspace_io()
           ? absl::StrCat("Inputs and outputs lie in the workspace, where `", names.prefix(),
                          "_map_inputs` and `", names.prefix(), "_map_outputs` find them")
           : "The application provides the memory of inputs and outputs"},
      {"code_and_stack", CodeAndStack(names, model)},
      {"zephyr_arch", ZephyrArchitecture(model.target)},
      {"ram_kilobytes", KilobytesOf(RamBytes(names), kZephyrRamBytes)},
      {"flash_kilobytes", KilobytesOf(FlashBytes(names, model), kZephyrFlashBytes)},
      {"main_stack_bytes", absl::StrCat(MainStackBytes(model))},
      {"processors", absl::StrCat("Code for ", model.target.name)},
  };
  for (const auto& [path, bytes] : model.artifacts) {
    if (absl::EndsWith(path, ".c")) marks.lists["source"].push_back(path);
    if (absl::EndsWith(path, ".o")) marks.lists["object"].push_back(path);
  }
  marks.lists.try_emplace("source");
  marks.lists.try_emplace("object");
  marks.lists["memory"] = std::move(example.memory);
  marks.lists["run"] = std::move(example.run);
  marks.lists["flag"] = Flags(model.target);
  marks.values["flags"] = absl::StrJoin(marks.lists["flag"], " ");
  marks.lists["memory_row"] = MemoryRows(names, model);
  marks.lists["state_line"] = StateLines(names);
  marks.lists["core"] = CmsisCores(model.target);
  marks.lists["given_url"] = {};
  if (!request.url.empty()) marks.lists["given_url"] = {request.url};
  marks.lists["fpu"] = {};
  if (model.target.has_fpu && model.target.is_baremetal()) marks.lists["fpu"] = {"FPU"};
  for (int i = 0; i < names.num_tensors(); ++i) {
    marks.lists["tensor"].push_back(TensorRow(names, i));
  }
  return marks;
}

}  // namespace kiln::tools
