// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/select.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"

namespace kiln::quantize {
namespace {

constexpr char kNoForm[] = "it has no int8 form here";
constexpr char kNoNeighbour[] = "no int8 layer is in front of it";
constexpr char kNoReader[] = "no int8 layer reads its result";

class Selector {
 public:
  Selector(const Network& network, const std::map<std::string, TensorType>& types,
           const SelectOptions& options)
      : network_(network), types_(types), options_(options), uses_(network.FindUses()) {
    for (int i = 0; i < network.graph().node_size(); ++i) {
      for (const std::string& output : node(i).output()) producer_[output] = i;
    }
    selection_.roles.assign(static_cast<size_t>(network.graph().node_size()), Role::kFloat);
  }

  absl::StatusOr<Selection> Run() && {
    KILN_RETURN_IF_ERROR(CheckOptions());
    const int count = network_.graph().node_size();
    std::vector<const Operator*> candidates(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) candidates[static_cast<size_t>(i)] = Candidate(i);
    for (int i = 0; i < count; ++i) {  // products, and readers of int8 layers
      const Operator* op = candidates[static_cast<size_t>(i)];
      if (op != nullptr && (op->role == Role::kProduct || ReadsInt8(i))) role(i) = op->role;
    }
    for (int i = count - 1; i >= 0; --i) {  // moving operators that only int8 layers read
      const Operator* op = candidates[static_cast<size_t>(i)];
      if (op != nullptr && role(i) == Role::kFloat && op->role == Role::kMoving && Readers(i).all) {
        role(i) = op->role;
      }
    }
    for (int i = count - 1; i >= 0; --i) {  // drops operators without an int8 reader
      if (role(i) == Role::kFloat || role(i) == Role::kProduct || role(i) == Role::kPool) continue;
      if (!Readers(i).any) Keep(i, kNoReader);
    }
    for (int i = 0; i < count; ++i) {
      if (candidates[static_cast<size_t>(i)] != nullptr && role(i) == Role::kFloat) {
        selection_.reasons.try_emplace(i, kNoNeighbour);
      }
      if (role(i) != Role::kFloat) AddTensors(i);
    }
    return std::move(selection_);
  }

 private:
  const onnx::NodeProto& node(int i) const { return network_.graph().node(i); }
  Role& role(int i) { return selection_.roles[static_cast<size_t>(i)]; }
  void Keep(int i, std::string reason) {
    role(i) = Role::kFloat;
    selection_.reasons[i] = std::move(reason);
  }

  absl::Status CheckOptions() const {
    for (const std::string& type : options_.op_types) {
      const auto ops = Operators();
      if (std::any_of(ops.begin(), ops.end(), [&](const Operator& o) { return o.name == type; })) {
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("--op-types: found '", type, "', wanted operators that have an int8 form: ",
                       absl::StrJoin(ops, ", ", [](std::string* out, const Operator& o) {
                         absl::StrAppend(out, o.name);
                       })));
    }
    for (const std::string& name : options_.keep_float) {
      const auto& nodes = network_.graph().node();
      if (std::none_of(nodes.begin(), nodes.end(),
                       [&](const onnx::NodeProto& n) { return IsNamed(n, name); })) {
        return absl::InvalidArgumentError(absl::StrCat("--keep-float: the model has no node '",
                                                       name, "' and none that computes it"));
      }
    }
    return absl::OkStatus();
  }

  static bool IsNamed(const onnx::NodeProto& node, const std::string& name) {
    return node.name() == name ||
           std::find(node.output().begin(), node.output().end(), name) != node.output().end();
  }

  bool IsFloat32(const std::string& value) const {
    const auto it = types_.find(value);
    return it != types_.end() && it->second.dtype == DType::Float(32);
  }

  // Returns the inputs of a node that may be quantized activations or constants.
  std::vector<std::string> Operands(int i) const {
    const Operator* op = FindOperator(node(i));
    std::vector<std::string> operands;
    for (int k = 0; k < node(i).input_size() && (op->operands < 0 || k < op->operands); ++k) {
      operands.push_back(node(i).input(k));
    }
    return operands;
  }

  // Returns the operator of a node that may become int8. Otherwise returns null and, if the node
  // computes floats, records the reason.
  const Operator* Candidate(int i) {
    const onnx::NodeProto& n = node(i);
    if (n.output_size() == 0) return nullptr;
    if (const auto type = types_.find(n.output(0));
        type != types_.end() && type->second.dtype.is_float() && !IsFloat32(n.output(0))) {
      selection_.reasons[i] =
          absl::StrCat("it computes ", type->second.dtype.ToString(), ", not float32");
    }
    if (!IsFloat32(n.output(0))) return nullptr;
    const Operator* op = FindOperator(n);
    std::string reason;
    const auto named = [&](const std::string& name) { return IsNamed(n, name); };
    if (std::any_of(options_.keep_float.begin(), options_.keep_float.end(), named)) {
      reason = "--keep-float names it";
    } else if (op == nullptr) {
      reason = kNoForm;
    } else if (!options_.op_types.empty() &&
               std::find(options_.op_types.begin(), options_.op_types.end(), n.op_type()) ==
                   options_.op_types.end()) {
      reason = "--op-types does not name its operator";
    } else {
      reason = Obstacle(network_, n, op->role);
    }
    for (const std::string& x : reason.empty() ? Operands(i) : std::vector<std::string>()) {
      if (!IsFloat32(x) && network_.Floats(x) == nullptr) reason = "what it reads is not float32";
    }
    if (reason.empty()) return op;
    selection_.reasons[i] = reason;
    return nullptr;
  }

  bool ReadsInt8(int i) {
    for (const std::string& x : Operands(i)) {
      const auto producer = producer_.find(x);
      if (producer != producer_.end() && role(producer->second) != Role::kFloat) return true;
    }
    return false;
  }

  // Readers of a node's results: `any` is true if an int8 layer reads one, `all` if there are only
  // such readers.
  struct ReadersOf {
    bool any = false, all = true;
  };
  ReadersOf Readers(int i) {
    ReadersOf readers;
    for (const std::string& output : node(i).output()) {
      const Uses& uses = uses_[output];
      if (uses.outside) readers.all = false;
      for (const int reader : uses.nodes) {
        if (role(reader) != Role::kFloat && Contains(Operands(reader), output)) {
          readers.any = true;
        } else {
          readers.all = false;
        }
      }
    }
    readers.all = readers.all && readers.any;
    return readers;
  }

  static bool Contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  // True if node i is part of the layer that computes `x`.
  bool IsInLayerOf(int i, const std::string& x) {
    const auto producer = producer_.find(x);
    const Uses& uses = uses_[x];
    if (producer == producer_.end() || uses.outside || uses.nodes.size() != 1) return false;
    const Role before = role(producer->second);
    const std::string& op = node(producer->second).op_type();
    if (role(i) == Role::kActivation) {
      return before == Role::kProduct || before == Role::kArithmetic || before == Role::kPool;
    }
    return node(i).op_type() == "Add" && (op == "MatMul" || op == "Gemm") &&
           before == Role::kProduct &&
           (network_.is_constant(node(i).input(0)) || network_.is_constant(node(i).input(1)));
  }

  void AddTensors(int i) {
    for (const std::string& x : Operands(i)) {
      if (network_.is_constant(x)) continue;
      (IsInLayerOf(i, x) ? selection_.inside : selection_.tensors).insert(x);
    }
  }

  const Network& network_;
  const std::map<std::string, TensorType>& types_;
  const SelectOptions& options_;
  std::map<std::string, Uses> uses_;
  std::map<std::string, int> producer_;
  Selection selection_;
};

// Groups of tensors that share a range (union-find).
class Groups {
 public:
  explicit Groups(const std::map<std::string, Range>& ranges) : ranges_(ranges) {}

  std::string Find(std::string name) const {
    for (auto it = parent_.find(name); it != parent_.end(); it = parent_.find(name)) {
      name = it->second;
    }
    return name;
  }
  Range& range(const std::string& name) { return ranges_[Find(name)]; }
  // Merges the group of `name` into the group of `other`, whose range is kept.
  void Join(const std::string& name, const std::string& other) {
    const std::string child = Find(name), root = Find(other);
    if (child != root) parent_[child] = root;
  }

 private:
  std::map<std::string, Range> ranges_;
  std::map<std::string, std::string> parent_;
};

double Width(const Range& range) { return double{range.max} - range.min; }

void ShareOfConcat(const onnx::NodeProto& node, const Selection& selection, Groups& groups) {
  Range all;
  std::vector<std::string> inputs;
  for (const std::string& input : node.input()) {
    if (!selection.tensors.contains(input)) continue;  // a constant
    inputs.push_back(input);
    const Range range = groups.range(input);
    all = {std::min(all.min, range.min), std::max(all.max, range.max)};
  }
  const std::string& output = node.output(0);
  groups.range(output) = all;
  for (const std::string& input : inputs) {
    if (2 * Width(groups.range(input)) >= Width(all)) groups.Join(input, output);
  }
}

}  // namespace

absl::StatusOr<Selection> Select(const Network& network,
                                 const std::map<std::string, TensorType>& types,
                                 const SelectOptions& options) {
  return Selector(network, types, options).Run();
}

std::map<std::string, Scale> ShareScales(const Network& network, const Selection& selection,
                                         const std::map<std::string, Range>& ranges,
                                         bool symmetric) {
  Groups groups(ranges);
  for (int i = 0; i < network.graph().node_size(); ++i) {
    const onnx::NodeProto& node = network.graph().node(i);
    const Role role = selection.roles[static_cast<size_t>(i)];
    if (role == Role::kMoving) {
      for (const std::string& output : node.output()) groups.Join(output, node.input(0));
    } else if (role == Role::kConcat && selection.tensors.contains(node.output(0))) {
      ShareOfConcat(node, selection, groups);
    }
  }
  std::map<std::string, Scale> scales;
  for (const std::string& name : selection.tensors) {
    scales[name] = ScaleOf(groups.range(name), symmetric);
  }
  return scales;
}

}  // namespace kiln::quantize
