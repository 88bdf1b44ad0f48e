// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/emulate.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::streamsize kMaxOutputBytes = 1 << 20;
constexpr size_t kMaxShownBytes = 2000;
constexpr auto kPause = std::chrono::milliseconds(5);
constexpr int kNoEnd = -1;

// The first kMaxOutputBytes of a file that may be empty.
std::string Beginning(const std::string& path) {
  std::string text(static_cast<size_t>(kMaxOutputBytes), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), kMaxOutputBytes);
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

// The status of the program, or kNoEnd. Its output goes to `log`.
absl::StatusOr<int> Run(const std::vector<std::string>& argv, const std::string& log,
                        int timeout_seconds) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const absl::Cleanup destroy = [&] { posix_spawn_file_actions_destroy(&actions); };
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  if (error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--emulator: '", argv[0], "' cannot be run: ", std::strerror(error)));
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_seconds);
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return kNoEnd;
    }
    std::this_thread::sleep_for(kPause);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

absl::StatusOr<EmulatedRun> Emulate(absl::string_view emulator, const std::string& image,
                                    int timeout_seconds) {
  std::vector<std::string> argv = absl::StrSplit(emulator, ' ', absl::SkipWhitespace());
  if (argv.empty()) {
    return absl::InvalidArgumentError(
        "--emulator: found nothing, wanted a program and its arguments");
  }
  std::error_code no_folder;
  std::string folder = (fs::temp_directory_path(no_folder) / "kiln-XXXXXX").string();
  if (no_folder || mkdtemp(folder.data()) == nullptr) {
    return absl::InvalidArgumentError("no temporary folder can be made; TMPDIR says where");
  }
  const absl::Cleanup remove = [&] {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  };
  const std::string plugin = folder + "/plugin.so", counts = folder + "/counts",
                    log = folder + "/log";
  std::ofstream(plugin, std::ios::binary) << EmulatorPlugin().begin()->second;
  argv.insert(argv.end(), {"-kernel", image, "-plugin", absl::StrCat(plugin, ",out=", counts)});
  KILN_ASSIGN_OR_RETURN(const int status, Run(argv, log, timeout_seconds));
  EmulatedRun run;
  run.output = Beginning(log);
  if (status != 0) {
    const std::string what = status == kNoEnd
                                 ? absl::StrCat("does not end within ", timeout_seconds, " s")
                                 : absl::StrCat("ends with status ", status, ", wanted 0");
    return absl::InvalidArgumentError(
        absl::StrCat(image, ": ", what, ":\n", run.output.substr(0, kMaxShownBytes)));
  }
  const std::string lines = Beginning(counts);
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(line, &run.instructions.emplace_back())) {
      return absl::InternalError(absl::StrCat("the plugin of the emulator wrote '", line, "'"));
    }
  }
  if (run.instructions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        image,
        ": calls of BeginInference and EndInference, between which instructions are counted, "
        "were not found; they must be functions that are not inlined"));
  }
  return run;
}

std::string EmulatedText(const EmulatedRun& run) {
  const auto [least, most] = std::minmax_element(run.instructions.begin(), run.instructions.end());
  std::string text = absl::StrCat("instructions: ", *least);
  if (*least != *most) absl::StrAppend(&text, " to ", *most);
  return absl::StrCat(text, " in each of ", run.instructions.size(),
                      run.instructions.size() == 1 ? " inference\n" : " inferences\n");
}

std::string EmulatedJson(const EmulatedRun& run) {
  const nlohmann::ordered_json json = {{"instructions", run.instructions}, {"output", run.output}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::tools
