// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of passes: text in, text out.
//
//   EXPECT_EQ(Transform(Canonicalize, R"(
//   def @main(%x: Tensor[(4,), float32]) {
//     copy(%x)
//   })"), "%x\n");
#ifndef KILN_COMPILER_PASSES_TESTING_RUN_PASS_H_
#define KILN_COMPILER_PASSES_TESTING_RUN_PASS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/pass.h"

namespace kiln {

// Parses a model in Relay text without its first line to a typed graph. Inputs whose names begin
// with "constant" become constants: floats are 1, 1.5, 2, … by element, integers 1, 2, 3, ….
Graph ParseModel(absl::string_view model);

// The lines of @main's body, without types and without their indentation by two blanks.
std::string BodyText(const Graph& graph);

// The outputs for these inputs. Every node runs in the interpreter.
absl::StatusOr<std::vector<Tensor>> RunOnInputs(const Graph& graph,
                                                const std::vector<Tensor>& inputs);

// The outputs for random inputs from fixed seeds.
absl::StatusOr<std::vector<Tensor>> RunGraph(const Graph& graph);

using PassFunction = absl::StatusOr<Graph> (*)(const Graph&, const PassContext&);

// Runs the pass over the graph. The evaluator counts its calls in `evaluations`.
absl::StatusOr<Graph> RunPass(PassFunction pass, const Graph& graph, int* evaluations = nullptr);

// The body of the model after the pass. Fails the test if the pass fails, if the verifier rejects
// the new graph, or if that computes something else.
std::string Transform(PassFunction pass, absl::string_view model);

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_TESTING_RUN_PASS_H_
