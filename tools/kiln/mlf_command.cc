// SPDX-License-Identifier: Apache-2.0
// kiln mlf
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/status.h"
#include "mlf/model_library.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/model_library.h"

namespace kiln::tools {
namespace {

struct MergeFlags {
  std::vector<std::string> archives;
  std::string output;
};

absl::Status RunMerge(const MergeFlags& flags) {
  std::vector<mlf::ModelLibrary> libraries;
  for (const std::string& path : flags.archives) {
    KILN_ASSIGN_OR_RETURN(libraries.emplace_back(), ReadModelLibrary(path));
  }
  KILN_ASSIGN_OR_RETURN(const mlf::ModelLibrary merged, mlf::Merge(libraries));
  return WriteModelLibrary("-o", flags.output, merged);
}

}  // namespace

void AddMlfCommand(CLI::App& app, Action& action) {
  CLI::App* mlf = app.add_subcommand(
      "mlf", "Work with archives of the Model Library Format, which `kiln compile --mlf` makes");
  mlf->require_subcommand(1);
  mlf->footer("Examples:\n  kiln mlf merge one.tar two.tar -o both.tar");
  CLI::App* merge = mlf->add_subcommand("merge", "Put the models of several archives into one");
  auto flags = std::make_shared<MergeFlags>();
  merge->add_option("archives", flags->archives, "Archives")->required();
  merge->add_option("-o,--output", flags->output, "Archive to write")->required();
  merge->footer("Examples:\n  kiln mlf merge one.tar two.tar -o both.tar");
  merge->callback([flags, &action] { action = [flags] { return RunMerge(*flags); }; });
}

}  // namespace kiln::tools
