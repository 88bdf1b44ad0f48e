// SPDX-License-Identifier: Apache-2.0
#include "tools/package/marks.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/kiln_version.h"
#include "metadata/model_names.h"
#include "tools/package/example.h"

namespace kiln::tools {
namespace {

// A row of a table in Markdown: what it is in C, its shape, and what a number in it stands for.
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

// Beside these the compiler only needs to be told the processor.
std::vector<std::string> Flags(const Target& target) {
  std::vector<std::string> flags = {"-O2", "-ffp-contract=off"};
  // Vectors of floats have other bits on Helium: subnormals are zero. Compilers that do not know the name of
  // a younger core with Helium know this one, whose code it runs.
  if (target.HasFeature("mve")) flags.push_back("-mcpu=cortex-m55+nomve.fp");
  return flags;
}

}  // namespace

Marks MarksOf(const PackageRequest& request, const PackagedModel& model) {
  const ModelNames names(model.metadata);
  const proto::Function& main = names.main();
  const std::string& name = model.metadata.module_name();
  Example example = ExampleOf(names);
  Marks marks;
  marks.values = {
      {"NAME", absl::AsciiStrToUpper(name)},
      {"constant_bytes", absl::StrCat(main.constant_size_bytes())},
      {"description",
       absl::StrCat("The neural network ", name, ", compiled by Kiln: ", main.constant_size_bytes(),
                    " bytes of constants, ", main.workspace_size_bytes(), " bytes of workspace")},
      {"io_bytes", absl::StrCat(main.io_size_bytes())},
      {"kiln_version", kKilnVersion},
      {"name", name},
      {"target", model.target.name},
      {"url", request.url},
      {"value", example.value},
      {"vendor", request.vendor},
      {"version", request.version},
      {"workspace_bytes", absl::StrCat(main.workspace_size_bytes())},
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
  marks.lists["given_url"] = {};
  if (!request.url.empty()) marks.lists["given_url"] = {request.url};
  marks.lists["fpu"] = {};
  if (model.target.hard_float && model.target.is_baremetal()) marks.lists["fpu"] = {"FPU"};
  for (int i = 0; i < names.num_tensors(); ++i) {
    marks.lists["tensor"].push_back(TensorRow(names, i));
  }
  return marks;
}

}  // namespace kiln::tools
