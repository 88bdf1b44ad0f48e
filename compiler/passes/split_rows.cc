// SPDX-License-Identifier: Apache-2.0
// SplitRows: for firmware, computes neighboring nodes by strips of rows (strips.h) where the graph
// needs the most memory, so that the values between them are never stored as a whole.
//
//   conv(conv(x))  becomes  r0 = conv(x[0:6]); s0 = conv(r0);
//                           r1 = conv(x[4:10]); s1 = conv(concatenate(r0[2:4], r1)); …
//                           concatenate(s0, s1, …)
//
// Strips that differ only in their position have equal functions: parts of values from outside are
// copied, and so is each part of the result. Rows of padding are written next to the first and the
// last rows, so that no strip has a border of its own.
//
// The graph stays unchanged if strips would save less than a sixteenth of the bytes that are alive
// at once. Inputs and outputs of the graph count too. If RAM matters more than speed, the graph
// stays unchanged only if strips would save nothing. The bytes are an estimate without scratch
// memory: RunStages compares the plans of both graphs.

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/make.h"
#include "compiler/passes/alive_bytes.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/rows.h"
#include "compiler/passes/strips.h"

namespace kiln {
namespace {

constexpr size_t kMaxNodes = 16;  // limit per region

// Savings that strips must achieve.
struct Thrift {
  double least_saving;  // fraction of the bytes
  // Strips whose bytes differ by less than this fraction are alike: the highest of them are taken.
  double alike;
};
constexpr Thrift kForSpeed = {1.0 / 16, 1.0 / 32}, kForRam = {0, 0};

int64_t Part(double part, int64_t bytes) {
  return static_cast<int64_t>(part * static_cast<double>(bytes));
}

// A region, the strips by which it is computed, and the most bytes that are alive meanwhile.
struct Choice {
  Region region;
  Strips strips;
  int64_t bytes = 0;
};

class Chooser {
 public:
  Chooser(const Graph& graph, const Thrift& thrift)
      : graph_(graph), thrift_(thrift), consumers_(graph.Consumers()), alive_(graph) {
    for (const Node& node : graph.nodes) nodes_.push_back(RowNode::Of(graph, node));
  }

  // Returns choices whose regions have no common node, keyed by the first node. The
  // chooser must outlive them.
  std::map<NodeId, Choice> Run() {
    std::map<NodeId, Choice> choices;
    std::vector<int64_t> bytes;
    for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id) {
      bytes.push_back(alive_.At(id));
    }
    taken_.assign(nodes_.size(), false);
    while (!bytes.empty()) {
      std::optional<Choice> choice = Best(bytes);
      if (!choice.has_value()) break;
      for (NodeId id = choice->region.first; id <= choice->region.last; ++id) {
        bytes[static_cast<size_t>(id)] = choice->bytes;
        taken_[static_cast<size_t>(id)] = true;
      }
      const NodeId first = choice->region.first;
      choices[first] = *std::move(choice);
    }
    return choices;
  }

 private:
  // The choice that lowers the maximum of `bytes` the most; nothing if no choice lowers it enough.
  std::optional<Choice> Best(const std::vector<int64_t>& bytes) const {
    const auto peak =
        static_cast<NodeId>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
    const int64_t peak_bytes = bytes[static_cast<size_t>(peak)];
    std::optional<Choice> best;
    int64_t best_bytes = peak_bytes - Part(thrift_.least_saving, peak_bytes);
    for (NodeId first = peak; first >= 0 && CanBeSplit(first); --first) {
      for (NodeId last = std::max(peak, first + 1);
           last < static_cast<NodeId>(nodes_.size()) && CanBeSplit(last); ++last) {
        if (last - first >= static_cast<NodeId>(kMaxNodes)) break;
        const std::optional<Region> region = RegionOf(first, last);
        if (!region.has_value()) continue;
        std::optional<Choice> choice = BestStrips(*region, bytes);
        if (!choice.has_value()) continue;
        const int64_t most = MostWith(*choice, bytes);
        if (most >= best_bytes) continue;
        best_bytes = most;
        best = std::move(choice);
      }
    }
    return best;
  }

  bool CanBeSplit(NodeId id) const {
    return nodes_[static_cast<size_t>(id)].has_value() && !taken_[static_cast<size_t>(id)];
  }

  std::optional<Region> RegionOf(NodeId first, NodeId last) const {
    Region region = {.first = first, .last = last};
    for (NodeId id = first; id <= last; ++id) {
      const ValueId output = graph_.node(id).outputs[0];
      region.nodes.push_back(&*nodes_[static_cast<size_t>(id)]);
      region.outputs.push_back(output);
      if (id == last) break;
      const std::vector<NodeId>& readers = consumers_[static_cast<size_t>(output)];
      const bool is_output =
          std::find(graph_.outputs.begin(), graph_.outputs.end(), output) != graph_.outputs.end();
      if (is_output || readers.empty() || readers.back() > last) return std::nullopt;
    }
    return FindPaddings(region) ? std::optional(region) : std::nullopt;
  }

  // Returns false if nodes assume different padding of the same value.
  static bool FindPaddings(Region& region) {
    region.paddings.resize(region.outputs.size());
    for (const RowNode* node : region.nodes) {
      for (size_t k = 0; k < node->inputs().size(); ++k) {
        const int producer = region.Producer(node->inputs()[k]);
        if (producer < 0 || !node->padding(k).has_value()) continue;
        std::optional<Tensor>& padding = region.paddings[static_cast<size_t>(producer)];
        if (padding.has_value() && *padding != *node->padding(k)) return false;
        padding = node->padding(k);
      }
    }
    return true;
  }

  // The highest strips that need little more than the least memory.
  std::optional<Choice> BestStrips(const Region& region, const std::vector<int64_t>& bytes) const {
    const int64_t rows = graph_.type(region.outputs.back()).shape[kRowAxis];
    const int64_t outside = alive_.Around(region.first, region.last);
    std::optional<Choice> best;
    int64_t best_bytes = 0;
    for (int64_t num_strips = 2; num_strips <= rows; ++num_strips) {
      const int64_t rows_per_strip = (rows + num_strips - 1) / num_strips;
      if ((rows + rows_per_strip - 1) / rows_per_strip != num_strips) continue;
      std::optional<Strips> strips = MakeStrips(region, rows_per_strip);
      if (!strips.has_value()) continue;
      Choice choice = {region, *std::move(strips)};
      choice.bytes = outside + BytesOfStrips(graph_, region, choice.strips);
      const int64_t most = MostWith(choice, bytes);
      if (best.has_value() && most >= best_bytes - Part(thrift_.alike, best_bytes)) {
        continue;
      }
      best_bytes = most;
      best = std::move(choice);
    }
    return best;
  }

  // The maximum of the bytes if the choice is made.
  static int64_t MostWith(const Choice& choice, const std::vector<int64_t>& bytes) {
    int64_t most = choice.bytes;
    for (NodeId id = 0; id < static_cast<NodeId>(bytes.size()); ++id) {
      if (id >= choice.region.first && id <= choice.region.last) continue;
      most = std::max(most, bytes[static_cast<size_t>(id)]);
    }
    return most;
  }

  const Graph& graph_;
  const Thrift thrift_;
  const std::vector<std::vector<NodeId>> consumers_;
  const AliveBytes alive_;
  std::vector<std::optional<RowNode>> nodes_;
  std::vector<bool> taken_;  // per node: true if it is in a region
};

// Writes the strips of a region.
class StripWriter {
 public:
  StripWriter(const Choice& choice, GraphRewriter& rewriter)
      : region_(choice.region),
        strips_(choice.strips),
        rewriter_(rewriter),
        last_reads_(LastReads(region_)),
        carried_(region_.nodes.size()),
        held_(region_.nodes.size()) {}

  absl::Status Run() {
    for (size_t k = 0; k < strips_.size(); ++k) {
      for (size_t i = 0; i < region_.nodes.size(); ++i) KILN_RETURN_IF_ERROR(Write(k, i));
    }
    KILN_ASSIGN_OR_RETURN(const ValueId whole, Join(parts_));
    rewriter_.Replace(region_.outputs.back(), whole);
    return absl::OkStatus();
  }

 private:
  Graph& graph() { return rewriter_.graph(); }

  absl::StatusOr<ValueId> Join(std::vector<ValueId> parts) {
    if (parts.size() == 1) return parts[0];
    return AddOp(graph(), "concatenate", std::move(parts), {{"axis", int64_t{kRowAxis}}});
  }

  // Writes strip k of node i, then cuts the rows to carry on from values that node i reads last.
  absl::Status Write(size_t k, size_t i) {
    const NodeStrip& strip = strips_[k][i];
    held_[i] = carried_[i];
    if (strip.made.count() > 0) {
      std::vector<ValueId> held;
      if (strip.carried.count() > 0) held.push_back(carried_[i]);
      const Padding padding = {region_.nodes[i]->type(), region_.paddings[i]};
      KILN_RETURN_IF_ERROR(AddPadding(padding, strip.computed.begin - strip.made.begin, held));
      if (strip.computed.count() > 0) {
        KILN_ASSIGN_OR_RETURN(held.emplace_back(), Make(k, i));
      }
      KILN_RETURN_IF_ERROR(AddPadding(padding, strip.made.end - strip.computed.end, held));
      KILN_ASSIGN_OR_RETURN(held_[i], Join(std::move(held)));
    }
    if (i + 1 == region_.nodes.size() && strip.computed.count() > 0) {
      KILN_ASSIGN_OR_RETURN(parts_.emplace_back(), MakeCopy(graph(), held_[i]));
    }
    if (k + 1 == strips_.size()) return absl::OkStatus();
    for (int p : last_reads_[i]) {
      const auto producer = static_cast<size_t>(p);
      const Rows next = strips_[k + 1][producer].carried;
      if (next.count() == 0) continue;
      KILN_ASSIGN_OR_RETURN(carried_[producer],
                            Cut({held_[producer], strips_[k][producer].held()}, next));
    }
    return absl::OkStatus();
  }

  // The type of a value, up to its number of rows, and the element of its padding.
  struct Padding {
    TensorType type;
    std::optional<Tensor> element;
  };

  // Adds `rows` rows of padding to `parts`, or nothing if `rows` is 0.
  absl::Status AddPadding(const Padding& padding, int64_t rows, std::vector<ValueId>& parts) {
    if (rows == 0) return absl::OkStatus();
    Shape shape = padding.type.shape;
    shape[kRowAxis] = rows;
    const ValueId element = graph().AddConstant(*padding.element);
    KILN_ASSIGN_OR_RETURN(parts.emplace_back(),
                          AddOp(graph(), "full", {element}, {{"shape", AttrValue::Ints(shape)}}));
    return absl::OkStatus();
  }

  // Adds the computation of the rows of strip k of node i's output.
  absl::StatusOr<ValueId> Make(size_t k, size_t i) {
    const RowNode& node = *region_.nodes[i];
    const Rows rows = strips_[k][i].computed;
    const std::vector<Rows> needed = *node.Needed(rows);
    std::vector<PartOfRows> parts;
    for (size_t in = 0; in < needed.size(); ++in) {
      const ValueId input = node.inputs()[in];
      if (const int producer = region_.Producer(input); producer >= 0) {
        const auto p = static_cast<size_t>(producer);
        parts.push_back({held_[p], strips_[k][p].held()});
        continue;
      }
      const ValueId whole = rewriter_.Map(input);
      const Padding padding = {graph().type(whole), node.padding(in)};
      const int64_t extent = padding.type.shape[kRowAxis];
      const Rows there = {std::max<int64_t>(needed[in].begin, 0), std::min(needed[in].end, extent)};
      std::vector<ValueId> pieces;
      KILN_RETURN_IF_ERROR(AddPadding(padding, there.begin - needed[in].begin, pieces));
      KILN_ASSIGN_OR_RETURN(pieces.emplace_back(), Cut({whole, {0, extent}}, there));
      KILN_RETURN_IF_ERROR(AddPadding(padding, needed[in].end - there.end, pieces));
      KILN_ASSIGN_OR_RETURN(const ValueId part, Join(std::move(pieces)));
      parts.push_back({part, needed[in]});
    }
    return node.AddTo(graph(), rows, parts);
  }

  absl::StatusOr<ValueId> Cut(const PartOfRows& of, Rows rows) {
    if (of.rows == rows) return of.value;
    return MakeSlice(graph(), of.value, kRowAxis, rows.begin - of.rows.begin,
                     rows.end - of.rows.begin);
  }

  const Region& region_;
  const Strips& strips_;
  GraphRewriter& rewriter_;
  const std::vector<std::vector<int>> last_reads_;
  // Per node: rows of its output that are carried on from the strip before, and all rows in memory.
  std::vector<ValueId> carried_, held_;
  std::vector<ValueId> parts_;  // of the last output
};

}  // namespace

absl::StatusOr<Graph> SplitRows(const Graph& graph, const PassContext& context) {
  if (!context.target.is_baremetal()) return graph;
  Chooser chooser(graph, context.for_ram ? kForRam : kForSpeed);
  const std::map<NodeId, Choice> choices = chooser.Run();
  if (choices.empty()) return graph;
  GraphRewriter rewriter(graph);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const auto choice = choices.find(id);
    if (choice == choices.end()) {
      rewriter.Copy(id);
      continue;
    }
    KILN_RETURN_IF_ERROR(StripWriter(choice->second, rewriter).Run());
    id = choice->second.region.last;
  }
  return std::move(rewriter).Finish();
}

}  // namespace kiln
