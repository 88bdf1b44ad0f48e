// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/readers.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/relay_text.h"
#include "compiler/loop/parse.h"
#include "compiler/loop/round_trip.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/pass.h"
#include "compiler/target/target.h"

namespace kiln::fuzz {
namespace {

// A wrong result of a reader is an internal error.
absl::Status Fault(absl::string_view what, absl::string_view why) {
  return absl::InternalError(absl::StrCat(what, ": ", why));
}

// Graphs with more nodes are not compared. Loops of few bytes unroll to large graphs with few kinds
// of nodes. With a sanitizer, comparing such a graph takes longer than reading it, and the time
// limit of a fuzzer is meant for the reader.
constexpr size_t kMaxComparedNodes = 10'000;

// Equal graphs have equal text, so graphs with NaNs in attributes can be compared, too.
absl::Status CheckText(const Graph& graph) {
  if (graph.nodes.size() > kMaxComparedNodes) return absl::OkStatus();
  const std::string text = PrintRelay(graph);
  const absl::StatusOr<Graph> again = ParseRelay(text, "printed.relay", FindOpSchema);
  if (!again.ok()) return Fault("the printed graph is not read", again.status().message());
  if (!(*again == graph)) return Fault("the printed graph is read as another", text);
  return absl::OkStatus();
}

absl::Status CheckTypes(const Graph& graph) {
  if (graph.nodes.size() > kMaxComparedNodes) return absl::OkStatus();
  const Target target;
  const absl::StatusOr<Graph> typed = InferTypes(graph, {.target = target, .evaluate = {}});
  if (!typed.ok()) return Fault("InferTypes", typed.status().message());
  if (!(*typed == graph)) return Fault("InferTypes", "finds other types");
  return absl::OkStatus();
}

absl::Status CheckTyped(const Graph& graph) {
  const absl::Status verified = Verify(graph, /*typed=*/true);
  if (!verified.ok()) return Fault("Verify", verified.message());
  KILN_RETURN_IF_ERROR(CheckTypes(graph));
  return CheckText(graph);
}

}  // namespace

absl::Status ReadOnnx(absl::string_view bytes, const std::string& folder) {
  KILN_ASSIGN_OR_RETURN(
      const Graph graph,
      onnx_frontend::ImportOnnx(bytes, folder.empty() ? "m.onnx" : folder + "/m.onnx", {},
                                EvaluateConstants));
  return CheckTyped(graph);
}

absl::Status ReadTflite(absl::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const Graph graph,
                        tflite_frontend::ImportTflite(bytes, "m.tflite", {}, EvaluateConstants));
  return CheckTyped(graph);
}

absl::Status ReadRelayText(absl::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const Graph graph, ParseRelay(bytes, "m.relay", FindOpSchema));
  const absl::Status verified = Verify(graph, /*typed=*/false);
  if (!verified.ok()) return Fault("Verify", verified.message());
  KILN_RETURN_IF_ERROR(CheckText(graph));
  const Target target;
  KILN_ASSIGN_OR_RETURN(const Graph typed, InferTypes(graph, {.target = target, .evaluate = {}}));
  return CheckTyped(typed);
}

absl::Status ReadLoopText(absl::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const loop::LoopProgram program, loop::ParseProgram(bytes));
  const absl::Status same = loop::CheckRoundTrip(program);
  return same.ok() ? same : Fault("CheckRoundTrip", same.message());
}

bool IsHarmless(const absl::Status& status) {
  return status.ok() ||
         (!status.message().empty() && !absl::IsInternal(status) && !absl::IsUnknown(status));
}

}  // namespace kiln::fuzz
