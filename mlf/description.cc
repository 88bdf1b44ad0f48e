// SPDX-License-Identifier: Apache-2.0
#include "mlf/description.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "compiler/base/status.h"
#include "metadata/version.h"
#include "runtime_cpp/graph_table.h"

namespace kiln::mlf {
namespace {

using Json = nlohmann::json;  // sorts keys alphabetically

constexpr char kTimeFormat[] = "%Y-%m-%d %H:%M:%SZ";
constexpr int64_t kMostBytes = int64_t{1} << 40;  // cap on sizes read from an entry
constexpr char kStyle[] = "full-model";
// Release of TVM whose standalone C runtime has the same interface.
constexpr char kRuntimeVersion[] = "0.9.0";

std::string TimeText(int64_t seconds) {
  return absl::FormatTime(kTimeFormat, absl::FromUnixSeconds(seconds), absl::UTCTimeZone());
}

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("metadata.json: ", parts...));
}

Json MainMemory(const proto::Metadata& metadata) {
  const proto::Function& main = metadata.functions(0);
  return {{"constants_size_bytes", main.constant_size_bytes()},
          {"device", main.device().device_type()},
          {"io_size_bytes", main.io_size_bytes()},
          {"workspace_size_bytes", main.workspace_size_bytes()}};
}

Json OperatorMemory(const proto::Metadata& metadata) {
  Json functions = Json::array();
  for (int i = 1; i < metadata.functions_size(); ++i) {
    const proto::Function& function = metadata.functions(i);
    const Json workspace = {{"device", function.device().device_type()},
                            {"workspace_size_bytes", function.workspace_size_bytes()}};
    functions.push_back(
        {{"function_name", function.name()}, {"workspace", Json::array({workspace})}});
  }
  return functions;
}

// Returns every storage of a graph with the size of the largest tensor in it and, if it holds an
// input, the name of the input.
absl::StatusOr<Json> Storages(const Module& module) {
  KILN_ASSIGN_OR_RETURN(const runtime::GraphTable table,
                        runtime::ParseGraphTable(module.graph_json));
  std::map<int64_t, Json> storages;
  for (const runtime::GraphEntry& entry : table.entries) {
    Json& storage = storages[entry.storage_id];
    storage["storage_id"] = entry.storage_id;
    storage["size_bytes"] = std::max(storage.value("size_bytes", int64_t{0}), entry.size_bytes);
  }
  for (const size_t argument : table.arguments) {
    const runtime::GraphNode& node = table.nodes[argument];
    storages[table.entries[node.first_entry].storage_id]["input_binding"] = node.name;
  }
  Json list = Json::array();
  for (const auto& [id, storage] : storages) list.push_back(storage);
  return list;
}

absl::StatusOr<Json> DescribeModule(const Module& module, const ModelLibrary& library) {
  const proto::Metadata& metadata = module.metadata;
  const std::string target =
      absl::StrCat(module.objects.empty() ? "c" : "llvm", " -keys=cpu -model=", metadata.target());
  Json json;
  json["executors"] = Json::array({metadata.executor()});
  json["export_datetime"] = TimeText(library.export_time);
  json["memory"]["functions"]["main"] = Json::array({MainMemory(metadata)});
  json["memory"]["functions"]["operator_functions"] = OperatorMemory(metadata);
  json["model_name"] = module.name();
  json["style"] = kStyle;
  json["target"] = Json::array({target});
  if (metadata.executor() == "graph") {
    KILN_ASSIGN_OR_RETURN(json["memory"]["sids"], Storages(module));
  }
  if (!library.runtime.empty()) {
    const Json runtime = {{"short_name", "tvm_standalone_crt"},
                          {"url", "./runtime"},
                          {"url_type", "mlf_path"},
                          {"version_spec", kRuntimeVersion}};
    json["external_dependencies"] = Json::array({runtime});
  }
  return json;
}

// Returns the member `key` of an object. Error if it is missing or has another type.
template <typename T>
absl::StatusOr<const T*> Member(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  const T* const value = found == object.end() ? nullptr : found->get_ptr<const T*>();
  if (value == nullptr) return Error(where, " has no '", key, "' of the right type");
  return value;
}

// Checks the entry of a module, sets `executor` and returns the time of export.
absl::StatusOr<int64_t> ReadModule(const std::string& name, const Json& json,
                                   std::string& executor) {
  const std::string where = absl::StrCat("module '", name, "'");
  if (!json.is_object()) return Error(where, " is not an object");
  KILN_ASSIGN_OR_RETURN(const auto* const style, Member<std::string>(json, "style", where));
  if (*style != kStyle) return Error(where, " has the style '", *style, "', wanted ", kStyle);
  KILN_ASSIGN_OR_RETURN(const auto* const model, Member<std::string>(json, "model_name", where));
  if (*model != name) return Error(where, " has the model_name '", *model, "'");
  KILN_ASSIGN_OR_RETURN(const auto* const executors,
                        Member<Json::array_t>(json, "executors", where));
  if (executors->size() != 1 || !(*executors)[0].is_string()) {
    return Error(where, " does not have one executor");
  }
  executor = (*executors)[0].get<std::string>();
  KILN_ASSIGN_OR_RETURN(const auto* const date,
                        Member<std::string>(json, "export_datetime", where));
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(kTimeFormat, *date, absl::UTCTimeZone(), &time, &error) ||
      TimeText(absl::ToUnixSeconds(time)) != *date) {
    return Error(where, " has the export_datetime '", *date, "', wanted YYYY-MM-DD hh:mm:ssZ");
  }
  const int64_t seconds = absl::ToUnixSeconds(time);
  if (seconds < 0 || seconds > kMaxExportTime) return Error(where, " is of the time ", *date);
  return seconds;
}

// Returns the integer `key` of an object, clamped to 0 … kMostBytes. 0 if there is no such integer.
int64_t Number(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !found->is_number_integer()) return 0;
  return std::clamp(found->get<int64_t>(), int64_t{0}, kMostBytes);
}

std::string Text(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Returns the list `key` of an object. Empty if there is no such list.
Json List(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? *found : Json::array();
}

}  // namespace

absl::StatusOr<proto::Metadata> MetadataOfEntry(const std::string& name,
                                                const ModuleDescription& module, bool has_header) {
  const Json json = Json::parse(module.json, /*cb=*/nullptr, /*allow_exceptions=*/false);
  proto::Metadata metadata;
  metadata.set_version(kMetadataVersion);
  metadata.set_module_name(name);
  metadata.set_executor(module.executor);
  metadata.set_runtime("crt");
  metadata.set_interface_api(has_header ? "c" : "packed");
  const Json targets = List(json, "target");
  metadata.set_target(!targets.empty() && targets[0].is_string() ? targets[0].get<std::string>()
                                                                 : "unknown");
  proto::Function& main = *metadata.add_functions();
  if (module.executor == "aot") {
    main.set_name(absl::StrCat("tvmgen_", name, has_header ? "_run" : "___tvm_main__"));
  }
  const auto memory = json.find("memory");
  const auto functions =
      memory == json.end() || !memory->is_object() ? memory : memory->find("functions");
  if (memory == json.end() || !memory->is_object() || functions == memory->end()) {
    return Error("module '", name, "' has no memory.functions");
  }
  for (const Json& device : List(*functions, "main")) {
    main.set_workspace_size_bytes(main.workspace_size_bytes() +
                                  Number(device, "workspace_size_bytes"));
    main.set_constant_size_bytes(main.constant_size_bytes() +
                                 Number(device, "constants_size_bytes"));
    main.set_io_size_bytes(main.io_size_bytes() + Number(device, "io_size_bytes"));
  }
  for (const Json& function : List(*functions, "operator_functions")) {
    proto::Function& added = *metadata.add_functions();
    added.set_name(Text(function, "function_name"));
    for (const Json& workspace : List(function, "workspace")) {
      added.set_workspace_size_bytes(added.workspace_size_bytes() +
                                     Number(workspace, "workspace_size_bytes"));
    }
  }
  return metadata;
}

absl::StatusOr<std::string> DescriptionJson(const ModelLibrary& library) {
  Json json = {{"modules", Json::object()}, {"version", kVersion}};
  for (const Module& module : library.modules) {
    if (module.is_foreign()) {
      json["modules"][module.name()] =
          Json::parse(module.foreign_description, /*cb=*/nullptr, /*allow_exceptions=*/false);
      continue;
    }
    KILN_ASSIGN_OR_RETURN(json["modules"][module.name()], DescribeModule(module, library));
  }
  return json.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<Description> ParseDescription(absl::string_view text) {
  const Json json =
      Json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error("the text is no JSON object");
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_integer()) return Error("no version");
  if (*version != kVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the archive has version ", version->dump(),
                                                      " of the Model Library Format, ", "version ",
                                                      kVersion, " can be read"));
  }
  KILN_ASSIGN_OR_RETURN(const auto* const modules,
                        Member<Json::object_t>(json, "modules", "the archive"));
  if (modules->empty()) return Error("the archive has no modules");
  Description description;
  for (const auto& [name, module] : *modules) {
    ModuleDescription& entry = description.modules[name];
    KILN_ASSIGN_OR_RETURN(description.export_time, ReadModule(name, module, entry.executor));
    entry.json = module.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  return description;
}

}  // namespace kiln::mlf
