// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/object_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "tools/kiln/elf.h"

namespace kiln::tools {
namespace {

constexpr int kMaxCallDepth = 1000;
constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 40;

// The functions of an object with their frames and calls.
class CallGraph {
 public:
  CallGraph(const ElfObject& object, std::map<std::string, int64_t> stack_usage)
      : object_(object), frames_(std::move(stack_usage)) {
    for (const ElfSymbol& symbol : object.symbols) {
      if (!symbol.is_function || symbol.section == 0) continue;
      AdoptFrame(symbol.name);
      // If one piece of code has several names, the compiler reports the frame for one of them.
      const ElfSymbol*& function = functions_[{symbol.section, symbol.value}];
      if (function == nullptr || !frames_.contains(function->name)) function = &symbol;
    }
    for (const ElfRelocation& relocation : object.relocations) {
      const ElfSection& section = object.sections[relocation.section];
      if (section.name == ".stack_sizes") {
        ReadFrame(section, relocation);
      } else if (const ElfSymbol* caller = FunctionAround(relocation)) {
        AddCall(caller->name, relocation);
      }
    }
  }

  const std::set<std::string>& external() const { return external_; }
  bool has_frames() const { return !frames_.empty(); }

  // Returns the deepest chain of calls; nullopt if it is not known.
  std::optional<std::vector<std::string>> Deepest() {
    std::optional<std::vector<std::string>> deepest = std::vector<std::string>();
    int64_t most = -1;
    for (const auto& [place, symbol] : functions_) {
      const int64_t depth = Depth(symbol->name);
      if (depth < 0) return std::nullopt;
      if (depth <= most) continue;
      most = depth;
      deepest = {symbol->name};
    }
    if (deepest->empty()) return std::nullopt;
    // Follows the callee that determines each function's depth.
    while (depths_[deepest->back()] > frames_[deepest->back()]) {
      const std::string& caller = deepest->back();
      const int64_t rest = depths_[caller] - frames_[caller];
      const std::set<std::string>& callees = calls_[caller];
      const auto callee =
          std::find_if(callees.begin(), callees.end(),
                       [&](const std::string& name) { return depths_[name] == rest; });
      if (callee == callees.end()) return std::nullopt;
      deepest->push_back(*callee);
    }
    return deepest;
  }

  // Returns the depths of all functions with a known depth.
  std::map<std::string, int64_t> KnownDepths() {
    std::map<std::string, int64_t> known;
    for (const auto& [place, symbol] : functions_) {
      const int64_t depth = Depth(symbol->name);
      if (depth >= 0) known[symbol->name] = depth;
    }
    return known;
  }

  // Returns the stack bytes of a function including its callees; -1 if not known.
  int64_t Depth(const std::string& function, int level = 0) {
    if (level > kMaxCallDepth) return -1;
    if (const auto known = depths_.find(function); known != depths_.end()) return known->second;
    depths_[function] = -1;  // found by recursive calls
    const auto frame = frames_.find(function);
    if (frame == frames_.end()) return -1;
    int64_t deepest_callee = 0;
    for (const std::string& callee : calls_[function]) {
      const int64_t depth = Depth(callee, level + 1);
      if (depth < 0) return -1;
      deepest_callee = std::max(deepest_callee, depth);
    }
    return depths_[function] = frame->second + deepest_callee;
  }

 private:
  // gcc numbers its copies of a function, such as "layer.constprop.0", but reports frames without
  // the number.
  void AdoptFrame(const std::string& name) {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos || frames_.contains(name)) return;
    const bool numbered = name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
    const auto frame = frames_.find(name.substr(0, dot));
    if (numbered && frame != frames_.end()) frames_[name] = frame->second;
  }

  // Returns the function to which a relocation refers, by its symbol or by its place in a section.
  const ElfSymbol* Named(const ElfRelocation& relocation, uint64_t addend) const {
    const ElfSymbol& symbol = object_.symbols[relocation.symbol];
    const uint64_t thumb = object_.machine == kElfMachineArm ? 1 : 0;
    const uint64_t place = symbol.is_function ? symbol.value : (symbol.value + addend) & ~thumb;
    const auto function = functions_.find({symbol.section, place});
    return function == functions_.end() ? nullptr : function->second;
  }

  const ElfSymbol* FunctionAround(const ElfRelocation& relocation) const {
    auto next = functions_.upper_bound({relocation.section, relocation.offset});
    if (next == functions_.begin()) return nullptr;
    const auto& [place, symbol] = *--next;
    const bool inside =
        place.first == relocation.section && relocation.offset - place.second < symbol->size_bytes;
    return inside ? symbol : nullptr;
  }

  void AddCall(const std::string& caller, const ElfRelocation& relocation) {
    const ElfSymbol& symbol = object_.symbols[relocation.symbol];
    const ElfSymbol* callee = Named(relocation, static_cast<uint64_t>(relocation.addend));
    if (symbol.section == 0) {
      if (!symbol.name.empty()) external_.insert(symbol.name);
    } else if (callee != nullptr && callee->name != caller) {
      calls_[caller].insert(callee->name);
    }
  }

  // Reads an entry of .stack_sizes: an address, and the size of the frame as ULEB128.
  void ReadFrame(const ElfSection& section, const ElfRelocation& relocation) {
    const size_t address_bytes = static_cast<size_t>(object_.address_bytes);
    if (relocation.offset > section.contents.size() ||
        section.contents.size() - relocation.offset <= address_bytes) {
      return;
    }
    uint64_t addend = static_cast<uint64_t>(relocation.addend);
    for (size_t i = 0; i < address_bytes; ++i) {
      addend += uint64_t{static_cast<unsigned char>(section.contents[relocation.offset + i])}
                << (8 * i);
    }
    const ElfSymbol* function = Named(relocation, addend);
    if (function == nullptr) return;
    uint64_t size = 0;
    int shift = 0;
    for (size_t at = relocation.offset + address_bytes; at < section.contents.size() && shift < 35;
         ++at, shift += 7) {
      const uint64_t byte = static_cast<unsigned char>(section.contents[at]);
      size |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) break;
    }
    frames_[function->name] = static_cast<int64_t>(size);
  }

  const ElfObject& object_;
  std::map<std::string, int64_t> frames_, depths_;
  std::map<std::pair<uint32_t, uint64_t>, const ElfSymbol*> functions_;
  std::map<std::string, std::set<std::string>> calls_;
  std::set<std::string> external_;
};

}  // namespace

absl::StatusOr<std::map<std::string, int64_t>> ParseStackUsage(absl::string_view text,
                                                               absl::string_view file) {
  std::map<std::string, int64_t> sizes;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    // file:line:column:function TAB bytes TAB static
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
    int64_t bytes = 0;
    if (fields.size() != 3 || !absl::SimpleAtoi(fields[1], &bytes) || bytes < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          file, ":", number, ": found '", absl::CHexEscape(line.substr(0, 80)),
          "', wanted a line of gcc -fstack-usage: file:line:column:function, bytes and "
          "'static', with tabs between them"));
    }
    if (fields[2] != "static") continue;
    sizes[std::string(fields[0].substr(fields[0].rfind(':') + 1))] = bytes;
  }
  return sizes;
}

absl::StatusOr<ObjectFigures> MeasureObject(absl::string_view bytes,
                                            std::map<std::string, int64_t> stack_usage) {
  KILN_ASSIGN_OR_RETURN(const ElfObject object, ParseElfObject(bytes));
  ObjectFigures figures;
  for (const ElfSection& section : object.sections) {
    if (!section.in_memory()) continue;
    if (section.size_bytes > kMaxSectionBytes) {
      return absl::InvalidArgumentError(absl::StrCat("the object is damaged: section ",
                                                     section.name, " has more bytes than memory"));
    }
    const int64_t size = static_cast<int64_t>(section.size_bytes);
    if (section.writable()) figures.ram_bytes += size;
    if (!section.writable() || !section.contents.empty()) figures.flash_bytes += size;
  }
  for (const ElfSymbol& symbol : object.symbols) {
    if (symbol.section == 0 || symbol.section >= object.sections.size()) continue;
    const ElfSection& section = object.sections[symbol.section];
    if (!section.in_memory() || symbol.size_bytes == 0 || symbol.name.empty()) continue;
    const ObjectPart part = {symbol.name, static_cast<int64_t>(symbol.size_bytes)};
    if (section.writable()) figures.ram_parts.push_back(part);
    if (!section.writable() || !section.contents.empty()) figures.flash_parts.push_back(part);
  }
  CallGraph graph(object, std::move(stack_usage));
  figures.calls.assign(graph.external().begin(), graph.external().end());
  figures.has_frames = graph.has_frames();
  figures.stack_of = graph.KnownDepths();
  if (const auto deepest = graph.Deepest()) {
    figures.stack_bytes = graph.Depth(deepest->front());
    figures.deepest_calls = *deepest;
  }
  return figures;
}

std::string ObjectText(const ObjectFigures& figures) {
  std::string text =
      absl::StrCat("flash: ", figures.flash_bytes, " bytes\nRAM: ", figures.ram_bytes,
                   " bytes, without what the application gives\n");
  if (figures.stack_bytes) {
    absl::StrAppend(&text, "stack: ", *figures.stack_bytes, " bytes in ",
                    absl::StrJoin(figures.deepest_calls, ", "), "\n");
  } else if (figures.has_frames) {
    absl::StrAppend(
        &text,
        "stack: not known; the size of a frame is not fixed or is missing, or functions "
        "call each other in a circle\n");
  } else {
    absl::StrAppend(&text,
                    "stack: not known; the object does not say the sizes of frames, as Kiln's own "
                    "for microcontrollers do; for an object of gcc, compile with -fstack-usage and "
                    "name the file by --stack-usage\n");
  }
  if (!figures.calls.empty()) {
    absl::StrAppend(&text, "calls: ", absl::StrJoin(figures.calls, ", "), "\n");
  }
  return text;
}

std::string ObjectJson(const ObjectFigures& figures) {
  nlohmann::ordered_json json = {{"flash_bytes", figures.flash_bytes},
                                 {"ram_bytes", figures.ram_bytes},
                                 {"stack_bytes", nullptr},
                                 {"deepest_calls", figures.deepest_calls},
                                 {"calls", figures.calls}};
  if (figures.stack_bytes) json["stack_bytes"] = *figures.stack_bytes;
  // Names of a damaged object need not be UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::tools
