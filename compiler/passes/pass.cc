// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/pass.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln {
namespace {

constexpr std::array kPasses = {
    Pass{"infer-types", "gives every value its type, and checks the operators' constraints", 0,
         kTyped, false, InferTypes},
    Pass{"check-indices",
         "where it is asked for, checks indices in front of the operators that read them", kTyped,
         kTyped, false, CheckIndices},
    Pass{"canonicalize",
         "writes operators in one way: batch_norm over constants as scale and shift, dropout away, "
         "every change of shape as reshape",
         kTyped, kTyped | kCanonical, false, Canonicalize},
    Pass{"integer-products",
         "multiplies integers where products of dequantised numbers are written, and moves data "
         "while it is quantised",
         kTyped | kCanonical, kTyped | kCanonical, true, IntegerProducts},
    Pass{"fold-scales", "moves scales per channel behind a convolution or dense into its weights",
         kTyped | kCanonical, kTyped | kCanonical, true, FoldScales},
    Pass{"fold-constants", "computes what depends on constants only", kTyped,
         kTyped | kCanonical | kFolded, true, FoldConstants},
    Pass{"eliminate-common-subexpressions", "computes once what is written twice", kTyped,
         kTyped | kCanonical | kFolded, true, EliminateCommonSubexpressions},
    Pass{"partition", "gives subgraphs to external code generators; later passes leave them alone",
         kTyped, kTyped | kCanonical | kFolded, true, PartitionForExternal},
    Pass{"convert-layout",
         "makes channels-last the inner layout of convolutional graphs; weights stay as they are",
         kTyped | kCanonical, kTyped | kCanonical | kLaidOut, true, ConvertLayout},
    Pass{"fold-layout-constants", "computes the constants that the layout change has moved", kTyped,
         kTyped | kCanonical | kFolded | kLaidOut, true, FoldConstants},
    Pass{"copy-outputs", "copies outputs that are inputs, constants or other outputs", kTyped,
         kTyped | kOwnOutputs, false, CopyOutputs},
    Pass{"fuse", "puts operators that are computed in one nest of loops into one function",
         kTyped | kOwnOutputs, kTyped | kOwnOutputs | kFused, true, Fuse},
};

// Whether every pass finds what it needs when all run. A pass keeps what it gives and drops the
// rest.
constexpr bool OrderIsValid() {
  unsigned known = 0;
  for (const Pass& pass : kPasses) {
    if ((known & pass.needs) != pass.needs) return false;
    known = pass.gives;
  }
  return true;
}
static_assert(OrderIsValid(), "a pass needs what the passes before it do not give");

absl::Status CheckDisabled(const PassOptions& options) {
  for (const std::string& name : options.disabled) {
    const auto it = std::find_if(kPasses.begin(), kPasses.end(),
                                 [&](const Pass& pass) { return name == pass.name; });
    if (it == kPasses.end() || !it->optional) {
      std::vector<std::string> names;
      for (const Pass& pass : kPasses) {
        if (pass.optional) names.push_back(pass.name);
      }
      std::string list;
      for (const std::string& n : names) absl::StrAppend(&list, list.empty() ? "" : ", ", n);
      return absl::InvalidArgumentError(
          absl::StrCat(it == kPasses.end() ? "unknown pass '" : "cannot switch off pass '", name,
                       "'; optional passes are ", list));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Pass> AllPasses() { return kPasses; }

absl::StatusOr<Graph> RunPasses(Graph graph, const PassContext& context,
                                const PassOptions& options) {
  KILN_RETURN_IF_ERROR(CheckDisabled(options));
  for (const Pass& pass : kPasses) {
    const bool off = std::find(options.disabled.begin(), options.disabled.end(), pass.name) !=
                     options.disabled.end();
    if (off) continue;
    KILN_ASSIGN_OR_RETURN(graph, pass.run(graph, context));
    if (const absl::Status status = Verify(graph, /*typed=*/true); !status.ok()) {
      return absl::InternalError(
          absl::StrCat("pass ", pass.name, " made an invalid graph: ", status.message()));
    }
    if (options.after) options.after(pass.name, graph);
  }
  return graph;
}

}  // namespace kiln
