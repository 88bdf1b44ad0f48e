// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/layer_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/terminal/table.h"

namespace kiln::tools {
namespace {

// Returns the bytes of all workspaces that are alive during a call, and of the state. Bytes that an
// output and an input share count once.
int64_t AliveBytes(const proto::Metadata& metadata, int32_t call) {
  int64_t bytes = 0;
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() == proto::Pool::CONSTANT) continue;
    std::vector<std::pair<int64_t, int64_t>> alive;  // [begin, end)
    for (const proto::PoolBuffer& buffer : pool.buffers()) {
      if (call < buffer.first_call() || buffer.last_call() < call) continue;
      alive.emplace_back(buffer.offset_bytes(), buffer.offset_bytes() + buffer.size_bytes());
    }
    std::sort(alive.begin(), alive.end());
    int64_t counted = 0;
    for (const auto& [begin, end] : alive) {
      bytes += std::max<int64_t>(0, end - std::max(begin, counted));
      counted = std::max(counted, end);
    }
  }
  return bytes;
}

std::string Found(const std::map<std::string, int64_t>& numbers, const std::string& name) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? "" : absl::StrCat(found->second);
}

std::string StateText(const proto::Metadata& metadata) {
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() != proto::Pool::STATE) continue;
    return absl::StrCat(" and ", pool.size_bytes(), " of state");
  }
  return "";
}

std::string Sums(const proto::Metadata& metadata, int64_t macs,
                 const std::optional<ObjectFigures>& figures) {
  const int64_t constants = metadata.functions(0).constant_size_bytes();
  std::string text = absl::StrCat("\nMACs: ", macs, "\n");
  if (!figures) {
    return absl::StrCat(text, "flash: ", constants,
                        " bytes of constants, and the code, which a compiler makes of C\nRAM: ",
                        metadata.functions(0).workspace_size_bytes(), " bytes of workspace",
                        StateText(metadata), "\n");
  }
  absl::StrAppend(&text, "flash: ", figures->flash_bytes, " bytes, ", constants,
                  " of them constants\nRAM: ", figures->ram_bytes,
                  " bytes, without inputs and outputs, which the application gives\n");
  if (figures->stack_bytes) absl::StrAppend(&text, "stack: ", *figures->stack_bytes, " bytes\n");
  return text;
}

}  // namespace

std::string LayerName(const std::string& source, const std::string& function) {
  const std::string& names = source.empty() ? function : source;
  return names.substr(0, names.find(';'));
}

std::string LayerReport(const proto::Metadata& metadata, const std::map<std::string, int64_t>& macs,
                        const std::optional<ObjectFigures>& figures, int columns) {
  std::map<std::string, int64_t> code;
  if (figures) {
    for (const ObjectPart& part : figures->flash_parts) code[part.name] = part.size_bytes;
  }
  Table table({"layer", "operators", ">MACs", ">code", ">constants", ">RAM", ">stack"});
  int64_t all_macs = 0;
  for (int i = 1; i < metadata.functions_size(); ++i) {
    const proto::Function& f = metadata.functions(i);
    if (const auto found = macs.find(f.name()); found != macs.end()) all_macs += found->second;
    table.Add({LayerName(f.source(), f.name()), f.op_names(), Found(macs, f.name()),
               Found(code, f.name()), absl::StrCat(f.constant_size_bytes()),
               absl::StrCat(AliveBytes(metadata, i - 1)),
               figures ? Found(figures->stack_of, f.name()) : ""});
  }
  return absl::StrCat("\nlayers, sizes in bytes:\n", table.ToString(columns),
                      Sums(metadata, all_macs, figures));
}

}  // namespace kiln::tools
