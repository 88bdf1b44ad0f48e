// SPDX-License-Identifier: Apache-2.0
// For tests of passes: text in, text out.
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

// A model in Relay text without its first line, as a typed graph. Inputs whose names begin with
// "constant" become constants: floats are 1, 1.5, 2, … by element, integers 1, 2, 3, ….
Graph ParseModel(absl::string_view model);

// The lines of @main's body, without types, each without its indentation by two blanks.
std::string BodyText(const Graph& graph);

// The outputs: every node in the interpreter.
absl::StatusOr<std::vector<Tensor>> RunOnInputs(const Graph& graph,
                                                const std::vector<Tensor>& inputs);

// The outputs for inputs by a fixed seed.
absl::StatusOr<std::vector<Tensor>> RunGraph(const Graph& graph);

using PassFunction = absl::StatusOr<Graph> (*)(const Graph&, const PassContext&);

// The pass over the graph, with an evaluator that counts in `evaluations` how often it is asked.
absl::StatusOr<Graph> RunPass(PassFunction pass, const Graph& graph, int* evaluations = nullptr);

// The body of the model after the pass. Fails the test if the pass fails, makes a graph that the
// verifier rejects, or one that computes something else.
std::string Transform(PassFunction pass, absl::string_view model);

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_TESTING_RUN_PASS_H_
