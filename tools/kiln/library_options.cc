// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/library_options.h"

#include "tools/kiln/help_format.h"

namespace kiln::tools {

void AddLibraryOptions(CLI::App& command, LibraryFlags& load, int& threads) {
  command.add_option("--threads", threads, "Threads; 0: one per CPU")->capture_default_str();
  command.add_option("--cpu-variant", load.cpu_variant,
                     "Of a library of compile --cpu-variants: which to run [the best of this CPU]");
  command.add_flag(kSkipChecksum, load.skip_checksum, kSkipChecksumHelp);
  SetGroups(command, {{"Library", {"--threads", "--cpu-variant", kSkipChecksum}}});
}

}  // namespace kiln::tools
