// SPDX-License-Identifier: Apache-2.0
// Builds a graph operator by operator:
//
//   Net net;
//   net.Output(net.Op("nn.relu", {net.Input({1, 64})}));
//   absl::StatusOr<Graph> graph = std::move(net).Take();
//
// Weights are small numbers in a repeating pattern.
#ifndef KILN_TESTS_BENCHMARK_NET_H_
#define KILN_TESTS_BENCHMARK_NET_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/dtype.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"

namespace kiln::benchmark {

class Net {
 public:
  ValueId Input(Shape shape, DType dtype = DType::Float(32));
  ValueId Weights(const Shape& shape);      // float32
  ValueId Int8Weights(const Shape& shape);  // from -13 to 13
  ValueId Scalar(DType dtype, double value);
  // The first error is kept until Take; operators that are added after it are ignored.
  ValueId Op(absl::string_view op, std::vector<ValueId> inputs, Attrs attrs = {});
  // A quantized product, "qnn.conv2d" or "qnn.dense", as the TFLite reader writes it: bias per
  // channel, and requantization with a scale per channel to int8.
  ValueId QuantisedProduct(absl::string_view op, ValueId data, ValueId weights, int64_t channels,
                           Attrs attrs);
  void Output(ValueId value) { graph_.outputs.push_back(value); }

  absl::StatusOr<Graph> Take() &&;

 private:
  Graph graph_;
  absl::Status status_;
};

}  // namespace kiln::benchmark

#endif  // KILN_TESTS_BENCHMARK_NET_H_
