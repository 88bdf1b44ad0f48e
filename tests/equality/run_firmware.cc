// SPDX-License-Identifier: Apache-2.0
#include "tests/equality/run_firmware.h"

#include <cstring>

#include "compiler/base/status.h"
#include "compiler/loop/interpret.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"

namespace kiln::equality {

absl::StatusOr<FirmwareRun> RunFirmware(const Case& test, const Target& target,
                                        const FirmwareOptions& firmware) {
  CompileOptions options;
  options.target = target;
  options.runtime = Runtime::kCrt;
  options.interface = Interface::kC;
  options.calling_convention = CallingConvention::kUnpacked;
  options.workspace_io = true;
  options.overlap = firmware.overlap;
  if (firmware.max_bytes >= 0) {
    options.pools = {{.name = "workspace", .limit_bytes = firmware.max_bytes}};
  }
  if (!firmware.split) options.passes.disabled = {"split"};
  KILN_ASSIGN_OR_RETURN(const Compilation compilation, RunStages(test.graph, options));
  const Plan& plan = compilation.plan;
  std::string memory(static_cast<size_t>(plan.workspace_bytes()), '\xa5');
  const auto at = [&](int id) -> char* {
    return memory.data() + plan.buffers[static_cast<size_t>(plan.Root(id))].offset_bytes;
  };
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const std::string bytes(test.inputs[i].bytes());
    std::memcpy(at(plan.inputs[i]), bytes.data(), bytes.size());
  }
  const std::vector<void*> args = {memory.data()};
  KILN_RETURN_IF_ERROR(
      loop::Interpreter(compilation.program).Run(compilation.metadata.functions(0).name(), args));
  FirmwareRun run{.overlaps = plan.overlaps.size(),
                  .calls = plan.calls.size(),
                  .workspace_bytes = plan.workspace_bytes(),
                  .split_saves_bytes = compilation.strips_save_bytes,
                  .outputs = {}};
  for (int id : plan.outputs) {
    run.outputs.emplace_back(at(id),
                             static_cast<size_t>(plan.buffers[static_cast<size_t>(id)].bytes()));
  }
  return run;
}

}  // namespace kiln::equality
