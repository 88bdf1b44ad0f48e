// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/graph_program.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/run_scope.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// Calls of an operator with at most this many arguments allocate no memory for lists of arguments.
constexpr size_t kInlineArguments = kInlineTensors;

// Returns for each entry the entry whose memory it uses: itself or, through __nop nodes, another
// one.
std::vector<size_t> AliasRoots(const GraphTable& table) {
  std::vector<size_t> root(table.entries.size());
  for (size_t i = 0; i < root.size(); ++i) root[i] = i;
  for (const GraphNode& node : table.nodes) {
    if (node.func_name == kNopFunction) root[node.first_entry] = root[node.inputs[0]];
  }
  return root;
}

// Returns the metadata of the library if it has some. A graph can run without metadata.
absl::StatusOr<std::optional<ModelMetadata>> FindMetadata(const Module& module) {
  absl::StatusOr<ModelMetadata> metadata = ModelMetadata::Find(module);
  if (metadata.ok()) return *std::move(metadata);
  if (absl::IsNotFound(metadata.status())) return std::nullopt;
  return metadata.status();
}

TensorInfo MakeInfo(std::string name, const GraphEntry& entry, DLDevice device) {
  return {.name = std::move(name),
          .shape = entry.shape,
          .dtype = entry.dtype,
          .device = device,
          .size_bytes = entry.size_bytes,
          .quantization = {}};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Program>> GraphProgram::Create(absl::string_view graph_json,
                                                              const Module& module,
                                                              DLDevice device) {
  KILN_RETURN_IF_ERROR(GetDeviceApi(device).status());
  KILN_ASSIGN_OR_RETURN(GraphTable table, ParseGraphTable(graph_json));
  KILN_ASSIGN_OR_RETURN(const std::optional<ModelMetadata> metadata, FindMetadata(module));
  std::unique_ptr<GraphProgram> program(new GraphProgram(std::move(table), device));
  KILN_RETURN_IF_ERROR(program->CheckDevice());
  const std::vector<size_t> alias_of = AliasRoots(program->table_);
  program->PlaceEntries(alias_of);
  KILN_RETURN_IF_ERROR(program->PlaceWorkspace(alias_of));
  KILN_RETURN_IF_ERROR(program->ResolveCalls(module, metadata));
  program->DescribeTensors(metadata);
  if (metadata.has_value()) KILN_RETURN_IF_ERROR(program->TakeStates(*metadata));
  program->RegisterWorkspaces(metadata.has_value() ? &*metadata : nullptr);
  return program;
}

absl::Status GraphProgram::CheckDevice() const {
  for (const GraphEntry& entry : table_.entries) {
    if (entry.device_type == device_.device_type) continue;
    const DLDevice wanted = {entry.device_type, device_.device_id};
    KILN_RETURN_IF_ERROR(GetDeviceApi(wanted).status());
    return absl::InvalidArgumentError(absl::StrCat("the graph is compiled for ", DeviceName(wanted),
                                                   ", not for ", DeviceName(device_)));
  }
  return absl::OkStatus();
}

void GraphProgram::PlaceEntries(const std::vector<size_t>& alias_of) {
  // Places by alias root. Roots without a place here are in the workspace.
  std::map<size_t, Place> place_of;
  for (size_t i = 0; i < table_.arguments.size(); ++i) {
    place_of[table_.nodes[table_.arguments[i]].first_entry] = {Place::kInput, i};
  }
  for (size_t i = 0; i < table_.heads.size(); ++i) {
    const size_t entry = table_.heads[i];
    const bool in_place = place_of.try_emplace(alias_of[entry], Place{Place::kOutput, i}).second;
    if (!in_place) output_copies_.push_back({.output = i, .entry = entry});
  }
  // Several calls may each write a part of an output. Their entries then have the same storage id
  // and the same size as the output.
  std::map<int64_t, size_t> output_of;  // Entry of the output, by storage id.
  for (const auto& [entry, place] : place_of) {
    if (place.kind == Place::kOutput) output_of[table_.entries[entry].storage_id] = entry;
  }
  places_.resize(table_.entries.size());
  for (size_t i = 0; i < places_.size(); ++i) {
    const GraphEntry& entry = table_.entries[alias_of[i]];
    auto found = place_of.find(alias_of[i]);
    const auto output = output_of.find(entry.storage_id);
    if (found == place_of.end() && output != output_of.end() &&
        entry.size_bytes == table_.entries[output->second].size_bytes) {
      found = place_of.find(output->second);
    }
    if (found != place_of.end()) places_[i] = found->second;
  }
}

absl::Status GraphProgram::PlaceWorkspace(const std::vector<size_t>& alias_of) {
  std::map<int64_t, int64_t> bytes_of;  // Size of the largest entry, by storage id.
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].kind != Place::kWorkspace) continue;
    int64_t& bytes = bytes_of[table_.entries[alias_of[i]].storage_id];
    bytes = std::max(bytes, table_.entries[i].size_bytes);
  }
  std::map<int64_t, int64_t> offset_of;
  for (const auto& [storage_id, bytes] : bytes_of) {
    offset_of[storage_id] = workspace_bytes_;
    int64_t end = 0;
    if (__builtin_add_overflow(workspace_bytes_, bytes, &end) ||
        __builtin_add_overflow(end, static_cast<int64_t>(kTensorAlignment) - 1, &end)) {
      return absl::InvalidArgumentError("the storage of the graph is too large");
    }
    workspace_bytes_ =
        end / static_cast<int64_t>(kTensorAlignment) * static_cast<int64_t>(kTensorAlignment);
  }
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].kind != Place::kWorkspace) continue;
    const int64_t storage_id = table_.entries[alias_of[i]].storage_id;
    places_[i].index = static_cast<size_t>(offset_of.at(storage_id));
  }
  return absl::OkStatus();
}

absl::Status GraphProgram::ResolveCalls(const Module& module,
                                        const std::optional<ModelMetadata>& metadata) {
  std::map<absl::string_view, OperatorTiming> described;
  for (int32_t i = 0; metadata.has_value() && i < metadata->num_functions(); ++i) {
    described[metadata->function(i).function_name()] = TimingOf(metadata->function(i));
  }
  for (const GraphNode& node : table_.nodes) {
    if (node.is_argument || node.func_name == kNopFunction) continue;
    Call call = {.first_argument = arguments_.size()};
    if (node.func_name != kCopyFunction) {
      call.function = module.node()->FindFunctionInTree(node.func_name);
      if (!call.function.defined()) {
        return absl::NotFoundError(absl::StrCat("graph node '", node.name, "' calls '",
                                                node.func_name, "', which is not in the library"));
      }
    }
    const auto found = described.find(node.func_name);
    if (found != described.end()) call.untimed = found->second;
    call.untimed.function_name = node.func_name;
    for (const size_t entry : node.inputs) AddArgument(entry, node.flatten_data);
    for (size_t i = 0; i < node.num_outputs; ++i) {
      AddArgument(node.first_entry + i, node.flatten_data);
    }
    call.num_arguments = arguments_.size() - call.first_argument;
    calls_.push_back(std::move(call));
  }
  return absl::OkStatus();
}

void GraphProgram::AddArgument(size_t entry_index, bool flatten) {
  GraphEntry& entry = table_.entries[entry_index];
  DLTensor tensor = CompactTensor(nullptr, device_, entry.dtype, entry.shape);
  if (flatten) {
    const int64_t element_bytes = ElementBytes(entry.dtype);
    flat_extents_.push_back(std::make_unique<int64_t>(entry.size_bytes / element_bytes));
    tensor.ndim = 1;
    tensor.shape = flat_extents_.back().get();
  }
  arguments_.push_back({.tensor = tensor, .entry = entry_index});
}

void GraphProgram::DescribeTensors(const std::optional<ModelMetadata>& metadata) {
  std::vector<ParameterInfoView> known_inputs;
  std::vector<ParameterInfoView> known_outputs;
  if (metadata.has_value()) {
    known_inputs = metadata->run_model().inputs();
    known_outputs = metadata->run_model().outputs();
  }
  for (const size_t argument : table_.arguments) {
    const GraphNode& node = table_.nodes[argument];
    TensorInfo info = MakeInfo(node.name, table_.entries[node.first_entry], device_);
    for (const ParameterInfoView& known : known_inputs) {
      if (known.relay_name_hint() == node.name || known.tir_name_hint() == node.name) {
        info.quantization = known.ToTensorInfo().quantization;
      }
    }
    inputs_.push_back(std::move(info));
  }
  const bool outputs_known = known_outputs.size() == table_.heads.size();
  for (size_t i = 0; i < table_.heads.size(); ++i) {
    TensorInfo info = MakeInfo(absl::StrCat("output", i), table_.entries[table_.heads[i]], device_);
    if (outputs_known) {
      info.name = std::string(known_outputs[i].relay_name_hint());
      info.quantization = known_outputs[i].ToTensorInfo().quantization;
    }
    outputs_.push_back(std::move(info));
  }
  if (metadata.has_value()) TakeAlignment(*metadata);
}

void* GraphProgram::Address(const Place& place, const RunMemory& memory) const {
  switch (place.kind) {
    case Place::kInput:
      return memory.inputs[place.index];
    case Place::kOutput:
      return memory.outputs[place.index];
    case Place::kWorkspace:
      return static_cast<char*>(memory.workspace) + place.index;
  }
  return nullptr;
}

absl::Status GraphProgram::RunCall(const Call& call, const RunMemory& memory) const {
  absl::InlinedVector<DLTensor, kInlineArguments> tensors(call.num_arguments);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Argument& argument = arguments_[call.first_argument + i];
    tensors[i] = argument.tensor;
    tensors[i].data = Address(places_[argument.entry], memory);
  }
  if (!call.function.defined()) {
    const GraphEntry& entry = table_.entries[arguments_[call.first_argument].entry];
    return CopyBetweenDevices(tensors[0].data, device_, tensors[1].data, device_,
                              static_cast<size_t>(entry.size_bytes));
  }
  absl::InlinedVector<TVMValue, kInlineArguments> values(tensors.size());
  const absl::InlinedVector<int, kInlineArguments> codes(tensors.size(), kTVMDLTensorHandle);
  for (size_t i = 0; i < tensors.size(); ++i) values[i].v_handle = &tensors[i];
  const Args args(values.data(), codes.data(), static_cast<int>(tensors.size()));
  return call.function.Call(args).status();
}

absl::Status GraphProgram::RunCalls(const RunMemory& memory,
                                    std::vector<OperatorTiming>* timings) const {
  RunScope* const run = RunScope::Current();
  for (const Call& call : calls_) {
    if (run != nullptr) KILN_RETURN_IF_ERROR(run->Check());
    const Clock::time_point start = timings == nullptr ? Clock::time_point() : Clock::now();
    KILN_RETURN_IF_ERROR(RunCall(call, memory));
    if (timings == nullptr) continue;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const auto found =
        std::find_if(timings->begin(), timings->end(), [&call](const OperatorTiming& timing) {
          return timing.function_name == call.untimed.function_name;
        });
    OperatorTiming& timing = found != timings->end() ? *found : timings->emplace_back(call.untimed);
    timing.seconds += seconds;
    ++timing.calls;
  }
  for (const OutputCopy& copy : output_copies_) {
    KILN_RETURN_IF_ERROR(CopyBetweenDevices(
        Address(places_[copy.entry], memory), device_, memory.outputs[copy.output], device_,
        static_cast<size_t>(table_.entries[copy.entry].size_bytes)));
  }
  return absl::OkStatus();
}

absl::Status GraphProgram::Run(const RunMemory& memory) const { return RunCalls(memory, nullptr); }

absl::StatusOr<std::vector<OperatorTiming>> GraphProgram::Profile(const RunMemory& memory) const {
  std::vector<OperatorTiming> timings;
  KILN_RETURN_IF_ERROR(RunCalls(memory, &timings));
  return timings;
}

}  // namespace kiln::runtime
