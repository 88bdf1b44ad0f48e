// SPDX-License-Identifier: Apache-2.0
// Every trait that an operator states is true for its examples. The transformation that a trait
// promises is applied before the operator in one run, and after it in another.
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/channels_last.h"
#include "compiler/ops/op_queries.h"
#include "compiler/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using Tensors = std::vector<Tensor>;

// A tensor of `shape` whose element at each index is that of `x` at source(index).
Tensor Gathered(const Tensor& x, const Shape& shape,
                const std::function<std::vector<int64_t>(const std::vector<int64_t>&)>& source) {
  const Shape& from = x.type().shape;
  std::string bytes;
  std::vector<int64_t> index(shape.size(), 0);
  const TensorType type{shape, x.type().dtype};
  const auto element_bytes = static_cast<size_t>(type.dtype.bytes());
  for (int64_t n = 0; n < type.num_elements(); ++n) {
    int64_t rest = n;
    for (size_t d = shape.size(); d-- > 0;) {
      index[d] = rest % shape[d];
      rest /= shape[d];
    }
    const std::vector<int64_t> at = source(index);
    int64_t offset = 0;
    for (size_t d = 0; d < from.size(); ++d) offset = offset * from[d] + at[d];
    bytes.append(x.bytes().substr(static_cast<size_t>(offset) * element_bytes, element_bytes));
  }
  return Tensor(type, std::move(bytes));
}

Tensor Transposed(const Tensor& x, const std::vector<int64_t>& axes) {
  Shape shape;
  for (int64_t axis : axes) shape.push_back(x.type().shape[static_cast<size_t>(axis)]);
  return Gathered(x, shape, [&](const std::vector<int64_t>& i) {
    std::vector<int64_t> at(i.size());
    for (size_t d = 0; d < i.size(); ++d) at[static_cast<size_t>(axes[d])] = i[d];
    return at;
  });
}

Tensor Last(const Tensor& x) { return Transposed(x, ToChannelsLast(x.type().rank())); }

// x with ones in front of its shape.
Tensor Extended(const Tensor& x, size_t rank) {
  Shape shape(rank - x.type().shape.size(), 1);
  shape.insert(shape.end(), x.type().shape.begin(), x.type().shape.end());
  return Tensor({shape, x.type().dtype}, std::string(x.bytes()));
}

// Applies a function of an element's value and its position to every element.
Tensor Mapped(const Tensor& x, const std::function<double(double, int64_t)>& f) {
  std::string bytes;
  for (int64_t i = 0; i < x.type().num_elements(); ++i) {
    bytes += Tensor::Scalar(x.type().dtype, f(x.AsDouble(i), i)).bytes();
  }
  return Tensor(x.type(), std::move(bytes));
}

void ExpectNear(const Tensors& expected, const Tensors& found, double tolerance) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(expected[k].type(), found[k].type());
    for (int64_t i = 0; i < expected[k].type().num_elements(); ++i) {
      const double e = expected[k].AsDouble(i), f = found[k].AsDouble(i);
      if (std::isnan(e) && std::isnan(f)) continue;
      EXPECT_LE(std::abs(e - f), tolerance * (1 + std::abs(e))) << "output " << k << ", " << i;
    }
  }
}

double ToleranceOf(const OpExample& example) {
  for (const TensorType& type : example.inputs) {
    if (type.dtype == DType::Float(16)) return 1e-2;
  }
  return 1e-5;
}

// The example as the only node of a graph. The graph has no outputs if type inference fails.
struct OneNode {
  Graph graph;
  const Node& node() const { return graph.nodes[0]; }
};

OneNode NodeOf(const OpDef& op, const OpExample& example) {
  OneNode one;
  const Tensors inputs = ExampleInputs(example);
  std::vector<ValueId> ids;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const bool is_constant = k < example.values.size() && !example.values[k].empty();
    ids.push_back(is_constant ? one.graph.AddConstant(inputs[k])
                              : one.graph.AddInput(absl::StrCat("x", k), inputs[k].type()));
  }
  const auto outputs = AddOpOutputs(one.graph, op.name, ids, example.attrs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (outputs.ok()) one.graph.outputs = *outputs;
  return one;
}

Tensors RunExample(const OpDef& op, const Attrs& attrs, const Tensors& inputs) {
  absl::StatusOr<Tensors> outputs = RunOp(op, attrs, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *std::move(outputs) : Tensors();
}

class EveryTrait : public testing::TestWithParam<const OpDef*> {
 protected:
  // Calls f(example, its inputs) for every example.
  template <typename F>
  void ForEachExample(F f) {
    const OpDef& op = *GetParam();
    for (size_t e = 0; e < op.examples.size(); ++e) {
      SCOPED_TRACE(absl::StrCat("example ", e));
      f(op.examples[e], ExampleInputs(op.examples[e]));
    }
  }
};

// The example with inputs of rank 4. Element-wise operators get inputs of one shape. Other
// operators get further axes in front, which the attribute of the layout trait leaves alone.
OpExample WithFourAxes(const OpDef& op, OpExample example) {
  const LayoutTrait& layout = op.traits.layout;
  const size_t rank = example.inputs[0].shape.size();
  if (layout.rule == LayoutRule::kElementwise) {
    int64_t most = 0;
    for (const TensorType& type : example.inputs) most = std::max(most, type.num_elements());
    for (size_t k = 0; k < example.inputs.size(); ++k) {
      if (example.inputs[k].num_elements() == 1 && most > 1) continue;
      example.inputs[k].shape = {2, 3, 4, 5};
      if (k < example.values.size()) example.values[k] = Tensor();
    }
    return example;
  }
  // The rank of a vector does not tell which of the other inputs are data.
  const bool is_vector = rank == 1 && example.inputs.size() > 1 && !op.tuple_input;
  const absl::StatusOr<Attrs> attrs = NormalizeAttrs(op, example.attrs);
  const bool has_entries = layout.rule != LayoutRule::kNamed && !std::string(layout.attr).empty();
  if (rank == 0 || rank >= 4 || is_vector || !has_entries || !attrs.ok()) return example;
  Shape front = {2, 3, 2};
  front.resize(4 - rank);
  for (size_t k = 0; k < example.inputs.size(); ++k) {
    Shape& shape = example.inputs[k].shape;
    if (shape.size() != rank) continue;
    shape.insert(shape.begin(), front.begin(), front.end());
    if (k < example.values.size()) example.values[k] = Tensor();
  }
  example.attrs = *attrs;
  const AttrValue& given = attrs->Get(layout.attr);
  if (layout.rule == LayoutRule::kPerAxis) {
    const auto& entries = std::get<std::vector<AttrValue>>(given.value);
    // An entry without effect: a width of 0, or a factor of 1.
    const AttrValue nothing = entries[0].is_list() ? AttrValue::Ints({0, 0}) : AttrValue(1);
    std::vector<AttrValue> all(front.size(), nothing);
    all.insert(all.end(), entries.begin(), entries.end());
    example.attrs.Set(layout.attr, AttrValue(std::move(all)));
    return example;
  }
  std::vector<int64_t> axes = attrs->Ints(layout.attr);
  if (layout.rule == LayoutRule::kSlice && given.is_none()) {
    for (size_t d = 0; d < attrs->Ints("begin").size(); ++d) axes.push_back(static_cast<int>(d));
  } else if (given.is_none()) {
    return example;
  }
  for (int64_t& axis : axes) axis -= axis < 0 ? 0 : static_cast<int64_t>(rank);
  const bool is_list = given.is_list() || layout.rule == LayoutRule::kSlice;
  example.attrs.Set(layout.attr, is_list ? AttrValue::Ints(axes) : AttrValue(axes[0]));
  if (attrs->Has("keepdims")) example.attrs.Set("keepdims", true);
  return example;
}

TEST_P(EveryTrait, FollowsTheLayout) {
  const OpDef& op = *GetParam();
  const LayoutTrait& layout = op.traits.layout;
  if (layout.rule == LayoutRule::kFixed) return;
  int cases = 0;
  const bool is_elementwise = layout.rule == LayoutRule::kElementwise;
  ForEachExample([&](const OpExample& given, const Tensors&) {
    const OpExample example = WithFourAxes(op, given);
    const Tensors inputs = ExampleInputs(example);
    const OneNode one = NodeOf(op, example);
    if (one.graph.outputs.empty()) return;
    const std::optional<Attrs> attrs = ChannelsLastAttrs(one.graph, op, one.node());
    if (!attrs.has_value()) return;
    ++cases;
    Tensors moved;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const bool follows = FollowsData(one.graph, op, one.node(), k);
      const size_t rank = is_elementwise ? one.graph.type(one.graph.outputs[0]).shape.size()
                                         : inputs[k].type().shape.size();
      const bool stays = !follows || (is_elementwise && inputs[k].type().num_elements() == 1 &&
                                      inputs[k].type().shape.size() < rank);
      moved.push_back(stays ? inputs[k] : Last(Extended(inputs[k], rank)));
    }
    Tensors expected = RunExample(op, example.attrs, inputs);
    for (Tensor& output : expected) {
      if (output.type().rank() >= kMinChannelsRank) output = Last(output);
    }
    ExpectNear(expected, RunExample(op, *attrs, moved), ToleranceOf(example));
  });
  // Layouts of one or three dimensions have other names.
  const bool wants_cases = layout.rule != LayoutRule::kNamed ||
                           op.FindAttr(layout.attr)->default_value == AttrValue("NCHW");
  EXPECT_TRUE(cases > 0 || !wants_cases) << "no example shows how the operator follows";
}

// An attribute that a trait names exists.
TEST_P(EveryTrait, NamesAnAttribute) {
  const OpDef& op = *GetParam();
  const std::string attr = op.traits.layout.attr;
  if (!attr.empty()) {
    EXPECT_NE(op.FindAttr(attr), nullptr) << attr;
  }
  if (op.traits.parts != Parts::kNone) {
    EXPECT_NE(op.FindAttr("axis"), nullptr);
  }
  EXPECT_LT(op.traits.weight, static_cast<int>(std::max<size_t>(op.inputs.size(), 1)));
}

// Applying an element-wise function to the inputs of an example applies it to the outputs.
TEST_P(EveryTrait, MovesOrChoosesData) {
  const OpDef& op = *GetParam();
  if (op.traits.origin == Origin::kComputed) return;
  const auto f = [&](double v, DType dtype) {
    if (dtype.is_bool()) return op.traits.origin == Origin::kMoved ? 1 - v : v;
    if (op.traits.origin == Origin::kChosen) return 2 * v + 1;
    return dtype.is_uint() ? 100 - v : -v;
  };
  ForEachExample([&](const OpExample& example, Tensors inputs) {
    Tensors expected = RunExample(op, example.attrs, inputs);
    for (Tensor& y : expected) {
      y = Mapped(y, [&](double v, int64_t) { return f(v, y.type().dtype); });
    }
    for (size_t k = 0; k < (op.tuple_input ? inputs.size() : 1); ++k) {
      const DType dtype = inputs[k].type().dtype;
      inputs[k] = Mapped(inputs[k], [&](double v, int64_t) { return f(v, dtype); });
    }
    ExpectNear(expected, RunExample(op, example.attrs, inputs), 0);
  });
}

TEST_P(EveryTrait, ViewsAreTheSameBytes) {
  const OpDef& op = *GetParam();
  if (op.traits.view == View::kNone) return;
  ForEachExample([&](const OpExample& example, const Tensors& inputs) {
    const Tensors outputs = RunExample(op, example.attrs, inputs);
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(outputs[0].bytes(), inputs[0].bytes());
    EXPECT_EQ(outputs[0].type().dtype, inputs[0].type().dtype);
    if (op.traits.view == View::kSame) {
      EXPECT_EQ(outputs[0].type(), inputs[0].type());
    }
  });
}

TEST_P(EveryTrait, SumsAndProductsTakeAFactorOut) {
  const OpDef& op = *GetParam();
  if (op.traits.arithmetic == Arithmetic::kOther) return;
  const auto doubled = [](const Tensor& x) {
    return Mapped(x, [](double v, int64_t) { return 2 * v; });
  };
  ForEachExample([&](const OpExample& example, const Tensors& inputs) {
    if (!example.inputs[0].dtype.is_float()) return;
    Tensors expected = RunExample(op, example.attrs, inputs);
    expected[0] = doubled(expected[0]);
    Tensors both = {doubled(inputs[0]), doubled(inputs[1])};
    if (op.traits.arithmetic == Arithmetic::kSum) {
      ExpectNear(expected, RunExample(op, example.attrs, both), 0);
      return;
    }
    ExpectNear(expected, RunExample(op, example.attrs, {both[0], inputs[1]}), 0);
    const Tensor other = op.traits.arithmetic == Arithmetic::kProduct
                             ? both[1]
                             : Mapped(inputs[1], [](double v, int64_t) { return v / 2; });
    ExpectNear(expected, RunExample(op, example.attrs, {inputs[0], other}), 0);
  });
}

// Other data in all rows but the first leaves the first row of the output unchanged.
TEST_P(EveryTrait, RowsAreOfRowsOfData) {
  const OpDef& op = *GetParam();
  if (op.traits.by_rows == nullptr) return;
  int cases = 0;
  ForEachExample([&](const OpExample& example, Tensors inputs) {
    const OneNode one = NodeOf(op, example);
    const Shape& shape = inputs[0].type().shape;
    if (!IsByRows(one.graph, one.node()) || shape.back() == inputs[0].type().num_elements()) return;
    ++cases;
    const Tensors expected = RunExample(op, example.attrs, inputs);
    inputs[0] = Mapped(inputs[0], [row = shape.back()](double v, int64_t i) {
      return i < row || i % 2 == 0 ? v : v + 1;
    });
    const Tensors found = RunExample(op, example.attrs, inputs);
    const auto row_bytes =
        static_cast<size_t>(expected[0].type().shape.back() * expected[0].type().dtype.bytes());
    EXPECT_EQ(expected[0].bytes().substr(0, row_bytes), found[0].bytes().substr(0, row_bytes));
    EXPECT_NE(expected[0].bytes(), found[0].bytes());
    // The rows are at the same places.
    const Shape& out = expected[0].type().shape;
    EXPECT_EQ(Shape(shape.begin(), shape.end() - 1), Shape(out.begin(), out.end() - 1));
  });
  EXPECT_GT(cases, 0);
}

// A weight that is scaled per output channel gives outputs that are scaled in the same way.
TEST_P(EveryTrait, ScalesFoldIntoTheWeight) {
  const OpDef& op = *GetParam();
  if (op.traits.channels == Channels::kNone) return;
  int cases = 0;
  ForEachExample([&](const OpExample& example, Tensors inputs) {
    const auto weight_input = static_cast<size_t>(op.traits.weight);
    if (example.inputs[0].dtype != DType::Float(32) ||
        example.inputs[weight_input].dtype != DType::Float(32)) {
      return;
    }
    const OneNode one = NodeOf(op, example);
    const std::optional<ChannelAxes> axes = ChannelAxesOf(one.graph, one.node());
    ASSERT_TRUE(axes.has_value());
    if (!axes->weight.has_value()) return;
    ++cases;
    const auto scaled = [](const Tensor& x, int64_t axis) {
      const Shape& shape = x.type().shape;
      int64_t inner = 1;
      for (size_t d = static_cast<size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
      const int64_t extent = shape[static_cast<size_t>(axis)];
      return Mapped(x, [=](double v, int64_t i) {
        return std::ldexp(v, static_cast<int>(i / inner % extent));
      });
    };
    Tensors expected = RunExample(op, example.attrs, inputs);
    expected[0] = scaled(expected[0], axes->output);
    inputs[weight_input] = scaled(inputs[weight_input], *axes->weight);
    ExpectNear(expected, RunExample(op, example.attrs, inputs), 0);
  });
  EXPECT_GT(cases, 0);
}

// A weight of bytes gives the same outputs as a weight with these numbers as floats.
TEST_P(EveryTrait, TakesWeightsOfBytes) {
  const OpDef& op = *GetParam();
  if (!op.traits.takes_byte_weights) return;
  int cases = 0;
  ForEachExample([&](const OpExample& example, Tensors inputs) {
    Tensor& weight = inputs[static_cast<size_t>(op.traits.weight)];
    const DType data = example.inputs[0].dtype;
    if (!data.is_float() || !weight.type().dtype.is_integral()) return;
    ++cases;
    const Tensors found = RunExample(op, example.attrs, inputs);
    std::string floats;
    for (int64_t i = 0; i < weight.type().num_elements(); ++i) {
      floats += Tensor::Scalar(data, weight.AsDouble(i)).bytes();
    }
    weight = Tensor({weight.type().shape, data}, std::move(floats));
    ExpectNear(RunExample(op, example.attrs, inputs), found, 0);
  });
  EXPECT_GT(cases, 0);
}

TEST_P(EveryTrait, QuantisedFormTakesTheSameAttributes) {
  const OpDef& op = *GetParam();
  if (op.traits.quantized == nullptr) return;
  const OpDef* quantized = FindOp(op.traits.quantized);
  ASSERT_NE(quantized, nullptr);
  EXPECT_EQ(op.inputs.size(), 2u);
  EXPECT_EQ(quantized->inputs.size(), 6u);
  EXPECT_NE(op.traits.channels, Channels::kNone);
  for (const AttrSchema& attr : op.attrs) {
    EXPECT_NE(quantized->FindAttr(attr.name), nullptr) << attr.name;
  }
}

// The outputs of all nodes of a graph, by value.
std::map<ValueId, Tensor> RunNodes(const Graph& graph, const Tensors& inputs) {
  std::map<ValueId, Tensor> values;
  for (size_t k = 0; k < graph.inputs.size(); ++k) values[graph.inputs[k]] = inputs[k];
  for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
    if (graph.is_constant(id)) values[id] = graph.value(id).constant;
  }
  for (const Node& node : graph.nodes) {
    Tensors arguments;
    for (ValueId input : node.inputs) arguments.push_back(values.at(input));
    const Tensors outputs = RunExample(*FindOp(node.op_name()), node.attrs, arguments);
    for (size_t k = 0; k < outputs.size(); ++k) values[node.outputs[k]] = outputs[k];
  }
  return values;
}

// All inputs but the first are constants, so that the operator has its canonical form.
TEST_P(EveryTrait, CanonicalFormComputesTheSame) {
  const OpDef& op = *GetParam();
  if (op.traits.canonical == nullptr) return;
  int cases = 0;
  ForEachExample([&](const OpExample& example, const Tensors& inputs) {
    OpExample constant = example;
    constant.values = inputs;
    constant.values[0] = Tensor();
    const OneNode one = NodeOf(op, constant);
    Graph form;
    std::vector<ValueId> ids = {form.AddInput("x", inputs[0].type())};
    for (size_t k = 1; k < inputs.size(); ++k) ids.push_back(form.AddConstant(inputs[k]));
    const absl::StatusOr<std::vector<ValueId>> outputs = op.traits.canonical(form, one.node(), ids);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    if (outputs->empty()) return;
    ++cases;
    const std::map<ValueId, Tensor> values = RunNodes(form, {inputs[0]});
    Tensors found;
    for (ValueId output : *outputs) found.push_back(values.at(output));
    ExpectNear(RunExample(op, example.attrs, inputs), found, ToleranceOf(example));
  });
  EXPECT_GT(cases, 0) << "no example has the canonical form";
}

// Such a form takes more than one operator; canonicalize_test.cc has the cases.
TEST_P(EveryTrait, FormWithProducersIsNotThereWithoutThem) {
  const OpDef& op = *GetParam();
  if (op.traits.canonical_with_producers == nullptr) return;
  EXPECT_EQ(op.traits.canonical, nullptr) << "which comes first";
  int cases = 0;
  ForEachExample([&](const OpExample& example, const Tensors& inputs) {
    const OneNode one = NodeOf(op, example);
    Graph form;
    std::vector<ValueId> ids;
    for (const Tensor& input : inputs) ids.push_back(form.AddConstant(input));
    ids[0] = form.AddInput("x", inputs[0].type());
    const auto outputs = op.traits.canonical_with_producers(form, one.node(), ids);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_TRUE(outputs->empty());
    EXPECT_TRUE(form.nodes.empty());
    ++cases;
  });
  EXPECT_GT(cases, 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryTrait, testing::ValuesIn(AllOps()), [](const auto& info) {
  std::string name = info.param->name;
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace kiln
