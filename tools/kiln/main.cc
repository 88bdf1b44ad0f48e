// SPDX-License-Identifier: Apache-2.0
// kiln: compiles models, and runs and measures compiled models.
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/status.h"
#include "tools/kiln/build_facts.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/explain.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/lack_of_memory.h"
#include "tools/kiln/parent_process.h"
#include "tools/kiln/standard_output.h"

namespace {

constexpr int kKilnsFault = 1;
constexpr int kDifferent = 1;  // the compared values differ
constexpr int kUsersFault = 2;

// Prints the error and returns the exit status.
int ExitStatus(const absl::Status& status) {
  if (status.ok()) return 0;
  const std::string text = kiln::tools::Shortened(status.message());
  std::fprintf(stderr, "kiln: %s\n", kiln::tools::Printable(text).c_str());
  switch (status.code()) {
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return kKilnsFault;
    case absl::StatusCode::kAborted:
      return kDifferent;
    default:
      return kUsersFault;
  }
}

// Adds subcommands that inform about the tool itself.
void AddHelpCommands(CLI::App& app, kiln::tools::Action& action) {
  CLI::App* help = app.add_subcommand("help", "Print the help of a subcommand");
  auto names = std::make_shared<std::vector<std::string>>();
  help->add_option("command", *names, "Subcommand, such as compile, or mlf merge");
  help->callback([names, &app, &action] {
    action = [names, &app]() -> absl::Status {
      KILN_ASSIGN_OR_RETURN(const std::string text, kiln::tools::HelpOf(app, *names));
      return kiln::tools::Print(text);
    };
  });
  CLI::App* version = app.add_subcommand("version", "Print the version and what is built in");
  auto json = std::make_shared<bool>(false);
  version->add_flag("--json", *json, "Print one JSON object");
  version->callback([json, &action] {
    action = [json] {
      return *json ? kiln::tools::PrintJson(kiln::tools::BuildFactsJson())
                   : kiln::tools::Print(kiln::tools::BuildFacts() + "\n");
    };
  });
}

// Parses the command line, runs the command and returns the exit status.
int Main(int argc, char** argv) {
  CLI::App app{
      "Kiln compiles a trained neural network ahead of time into a library that a program "
      "links.\n\n"
      "  kiln compile digits.onnx -o out\n"
      "  kiln run out/digits.so --input image=random\n"
      "  kiln bench out/digits.so\n"
      "  kiln tune digits.onnx -o digits.tuning --time 10\n"
      "  kiln quantize digits.onnx --calibration calibration -o digits_int8.onnx\n"
      "  kiln inspect digits.onnx\n\n"
      "The file digits.onnx is in share/kiln/examples/digits of a release, where kiln.example() of "
      "the Python package says, and in models/digits of a checkout. The folder calibration is "
      "beside it.\n",
      "kiln"};
  app.set_version_flag("--version", kiln::tools::BuildFacts);
  app.formatter(std::make_shared<kiln::tools::HelpFormatter>());
  app.require_subcommand(1);
  app.failure_message(kiln::tools::ExplainFailure);
  kiln::tools::Action action;
  kiln::tools::AddCompileCommand(app, action);
  kiln::tools::AddRunCommand(app, action);
  kiln::tools::AddBenchCommand(app, action);
  kiln::tools::AddValidateCommand(app, action);
  kiln::tools::AddTuneCommand(app, action);
  kiln::tools::AddCompareCommand(app, action);
  kiln::tools::AddQuantizeCommand(app, action);
  kiln::tools::AddInspectCommand(app, action);
  kiln::tools::AddBudgetCommand(app, action);
  kiln::tools::AddSignatureCommands(app, action);
  kiln::tools::AddPackageCommand(app, action);
  kiln::tools::AddMlfCommand(app, action);
  kiln::tools::AddCheckOnnxCommand(app, action);
  kiln::tools::AddImportCheckCommand(app, action);
  kiln::tools::AddTargetsCommand(app, action);
  kiln::tools::AddDoctorCommand(app, action);
  AddHelpCommands(app, action);
  kiln::tools::AddCompletionCommand(app, action);
  kiln::tools::AddManCommand(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    if (app.exit(error, text, std::cerr) != 0) return kUsersFault;
    const absl::Status status = kiln::tools::Print(text.str());
    return ExitStatus(status.ok() ? kiln::tools::FlushStandardOutput() : status);
  }
  absl::Status status = kiln::tools::CheckValues(app);
  if (status.ok()) status = action();
  if (status.ok()) status = kiln::tools::FlushStandardOutput();
  return ExitStatus(status);
}

// Initializers of libraries run before main and allocate memory, too.
__attribute__((section(".preinit_array"),
               used)) void (*const kBeforeInitializers)() = kiln::tools::EndOnLackOfMemory;

}  // namespace

int main(int argc, char** argv) {
  kiln::tools::EndWithParent();
  // A write beyond the limit of a file's size is then an ordinary error.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // thrown by a library
    std::fprintf(stderr, "kiln: internal: %s\n", error.what());
    return kKilnsFault;
  }
}
