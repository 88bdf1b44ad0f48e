// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/pass.h"

#include <array>
#include <cstddef>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/graph/relay_text.h"

namespace kiln {
namespace {

using Rewrite = absl::StatusOr<Graph> (*)(const Graph&, const PassContext&);

int64_t ConstantBytes(const Graph& graph) {
  int64_t bytes = 0;
  std::set<const char*> tensors;  // several values may be one tensor of the model
  for (const Value& value : graph.values) {
    if (value.kind != ValueKind::kConstant) continue;
    const absl::string_view tensor = value.constant.bytes();
    if (tensors.insert(tensor.data()).second) bytes += static_cast<int64_t>(tensor.size());
  }
  return bytes;
}

// The pass as the `run` of a row.
template <Rewrite kPass>
absl::Status Run(Graph& graph, const PassContext& context) {
  KILN_ASSIGN_OR_RETURN(graph, kPass(graph, context));
  return absl::OkStatus();
}

// Verifies that the pass finds nothing to do. Equal graphs have equal text, even
// with NaNs in attributes.
template <Rewrite kPass>
absl::Status VerifyNothingLeft(const Graph& graph, const PassContext& context) {
  KILN_ASSIGN_OR_RETURN(const Graph again, kPass(graph, context));
  if (again == graph) return absl::OkStatus();
  const std::string before = PrintRelay(graph), after = PrintRelay(again);
  if (before == after) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the pass would make of\n", before, "\nthis\n", after));
}

absl::Status VerifyTyped(const Graph& graph, const PassContext&) {
  return Verify(graph, /*typed=*/true);
}

using Property = PropertyOf<Graph, PassContext>;
constexpr std::array kProperties = {
    Property{kTyped, "the graph is well formed and typed", Verified::kAfterEachPass, VerifyTyped},
    Property{kCanonical, "operators are written in one way", Verified::kWhereAsked,
             VerifyNothingLeft<Canonicalize>},
    Property{kIntegerProducts, "integers are multiplied where they can be", Verified::kWhereAsked,
             VerifyNothingLeft<IntegerProducts>},
    Property{kFolded, "constants are folded", Verified::kWhereAsked,
             VerifyNothingLeft<FoldConstants>},
    Property{kUnique, "nothing is computed twice", Verified::kWhereAsked,
             VerifyNothingLeft<EliminateCommonSubexpressions>},
    Property{kPartitioned, "external code generators have what they take", Verified::kWhereAsked,
             VerifyNothingLeft<PartitionForExternal>},
    Property{kLaidOut, "convolutions are channels-last", Verified::kWhereAsked,
             VerifyNothingLeft<ConvertLayout>},
    Property{kOwnOutputs, "outputs have memory of their own", Verified::kAfterEachPass,
             VerifyNothingLeft<CopyOutputs>},
    Property{kFused, "operators are fused", Verified::kWhereAsked, VerifyNothingLeft<Fuse>},
};

constexpr std::array kPasses = {
    Pass{.name = "infer-types",
         .doc = "gives every value its type, and checks the operators' constraints",
         .needs = 0,
         .gives = kTyped,
         .keeps = 0,
         .optional = false,
         .run = Run<InferTypes>},
    Pass{.name = "check-indices",
         .doc = "checks indices before the operators that read them, if this is requested",
         .needs = kTyped,
         .gives = 0,
         .keeps = kTyped,
         .optional = false,
         .run = Run<CheckIndices>},
    Pass{.name = "canonicalize",
         .doc = "writes operators in one way: batch_norm over constants becomes scale and shift, "
                "dropout disappears, and every change of shape becomes reshape",
         .needs = kTyped,
         .gives = kCanonical,
         .keeps = kTyped,
         .optional = false,
         .run = Run<Canonicalize>},
    Pass{.name = "widen-states",
         .doc = "stores the whole window whose end is a state, if the model keeps its state",
         .needs = kTyped | kCanonical,
         .gives = 0,
         .keeps = kTyped | kCanonical,
         .optional = true,
         .run = Run<WidenStates>},
    Pass{.name = "integer-products",
         .doc = "multiplies integers instead of dequantized numbers, and moves data while it is "
                "quantized",
         .needs = kTyped | kCanonical,
         .gives = kIntegerProducts,
         .keeps = kTyped | kCanonical,
         .optional = true,
         .run = Run<IntegerProducts>},
    Pass{.name = "keep-byte-weights",
         .doc = "keeps dequantized weights of 8 bits as they are where floats would not be faster",
         .needs = kTyped | kCanonical | kIntegerProducts,
         .gives = 0,
         .keeps = kTyped | kCanonical | kIntegerProducts,
         .optional = true,
         .run = Run<KeepByteWeights>},
    Pass{.name = "fold-scales",
         .doc = "moves scales per channel after a convolution or dense into its weights",
         .needs = kTyped | kCanonical | kIntegerProducts,
         .gives = 0,
         .keeps = kTyped,
         .optional = true,
         .run = Run<FoldScales>},
    Pass{.name = "fold-constants",
         .doc = "computes values that depend only on constants",
         .needs = kTyped,
         .gives = kFolded,
         .keeps = kTyped,
         .optional = true,
         .run = Run<FoldConstants>},
    Pass{.name = "eliminate-common-subexpressions",
         .doc = "computes only once what is written twice",
         .needs = kTyped | kFolded,
         .gives = kUnique,
         .keeps = kTyped | kFolded,
         .optional = true,
         .run = Run<EliminateCommonSubexpressions>},
    Pass{.name = "partition",
         .doc = "gives subgraphs to external code generators; later passes leave them alone",
         .needs = kTyped | kFolded | kUnique,
         .gives = kPartitioned,
         .keeps = kTyped | kFolded,
         .optional = true,
         .run = Run<PartitionForExternal>},
    Pass{.name = "convert-layout",
         .doc = "makes channels-last the inner layout of convolutional graphs; weights stay as "
                "they are",
         .needs = kTyped | kPartitioned,
         .gives = kLaidOut,
         .keeps = kTyped,
         .optional = true,
         .run = Run<ConvertLayout>},
    Pass{.name = "fold-layout-constants",
         .doc = "computes the constants that the layout change has moved",
         .needs = kTyped,
         .gives = kFolded,
         .keeps = kTyped | kLaidOut,
         .optional = true,
         .run = Run<FoldConstants>},
    Pass{.name = "copy-outputs",
         .doc = "copies outputs that are inputs, constants or other outputs",
         .needs = kTyped | kFolded | kLaidOut,
         .gives = kOwnOutputs,
         .keeps = kTyped,
         .optional = false,
         .run = Run<CopyOutputs>},
    Pass{.name = "fuse",
         .doc = "puts operators that are computed in one nest of loops into one function",
         .needs = kTyped | kOwnOutputs,
         .gives = kFused,
         .keeps = kTyped | kOwnOutputs,
         .optional = true,
         .run = Run<Fuse>},
    Pass{.name = "split",
         .doc = "for firmware, computes neighboring convolutions by strips of rows where that "
                "takes less memory",
         .needs = kTyped | kOwnOutputs | kFused,
         .gives = 0,
         .keeps = kTyped | kOwnOutputs | kFused,
         .optional = true,
         .run = Run<SplitRows>},
};
static_assert(OrderIsValid(kPasses, 0, kTyped | kOwnOutputs | kFused),
              "a pass needs what the passes before it do not give");

// Properties of the result of RunPasses, whatever passes are switched off.
constexpr Properties kOfEveryModel = kTyped | kOwnOutputs;

// The last passes of the table, which RunStripPasses runs.
constexpr size_t kNumStripPasses = 1;
constexpr size_t kNumModelPasses = kPasses.size() - kNumStripPasses;

}  // namespace

absl::Span<const Pass> AllPasses() { return kPasses; }
absl::Span<const Property> GraphProperties() { return kProperties; }

absl::StatusOr<Graph> RunPasses(Graph graph, const PassContext& context,
                                const PassOptions& options) {
  KILN_RETURN_IF_ERROR(CheckDisabled(AllPasses(), options.disabled));
  PassContext of_model = context;
  of_model.constant_bytes = ConstantBytes(graph);
  KILN_RETURN_IF_ERROR((RunPassTable<Graph, PassContext>(
      AllPasses().first(kNumModelPasses), kProperties, /*known=*/0, options, of_model, graph)));
  return graph;
}

absl::StatusOr<Graph> RunStripPasses(Graph fused, const PassContext& context,
                                     const PassOptions& options) {
  KILN_RETURN_IF_ERROR((RunPassTable<Graph, PassContext>(
      AllPasses().subspan(kNumModelPasses), kProperties, kOfEveryModel, options, context, fused)));
  return fused;
}

}  // namespace kiln
