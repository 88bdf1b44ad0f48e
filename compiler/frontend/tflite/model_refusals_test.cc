// SPDX-License-Identifier: Apache-2.0
// Refusals of whole models: calls of subgraphs, variables, quantization, tensors and limits.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/tensor.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/frontend/tflite/refusal.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using Type = ModelBuilder::Type;

// Adds an IF with a constant condition that calls subgraph `called`, and begins a subgraph.
void If(ModelBuilder& b, const std::vector<int>& operands, int called = 1) {
  schema::IfOptionsT options;
  options.then_subgraph_index = options.else_subgraph_index = called;
  std::vector<int> inputs = {b.Constant<uint8_t>({}, Type::BOOL, {1})};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  b.Output(b.Op(BuiltinOperator::IF, std::move(inputs), "y", {1}, options));
  b.AddSubgraph();
}

// Adds a WHILE with the state x, and begins the subgraph of its condition.
void While(ModelBuilder& b, bool has_output = true) {
  schema::WhileOptionsT options;
  options.cond_subgraph_index = 1;
  options.body_subgraph_index = 2;
  const int x = b.Input("x", {1}), y = b.Add("y", {1}), z = b.Add("z", {1});
  b.AddOperator(BuiltinOperator::WHILE, {x},
                has_output ? std::vector<int>{y} : std::vector<int>{y, z}, options);
  b.Output(y);
  b.AddSubgraph();
  b.Input("v", {1});
}

int Handle(ModelBuilder& b) {
  schema::VarHandleOptionsT options;
  options.shared_name = "sum";
  return b.Op(BuiltinOperator::VAR_HANDLE, {}, "h", {}, options, Type::RESOURCE);
}

// Adds an ABS of int8 with these scales and zero points.
void Quantised(ModelBuilder& b, std::vector<float> scales, std::vector<int64_t> zero_points,
               int axis = 0) {
  const int x = b.Input("x", {2}, Type::INT8);
  const int y = b.Op(BuiltinOperator::ABS, {x}, "y", {2}, Type::INT8);
  b.Quantize(y, {0.5}, {0});
  b.Quantize(x, std::move(scales), std::move(zero_points), axis);
  b.Output(y);
}

// `text` is the part of the error after the name of the file.
const Refusal kRefusals[] = {
    {"CallOfNoSubgraph", [](ModelBuilder& b) { If(b, {}, 7); },
     "node 'y' (IF): the subgraph: found 7, wanted 0 to 1"},
    {"CallWithMoreOperands", [](ModelBuilder& b) { If(b, {b.Input("x", {1})}); },
     "node 'y' (IF): operands: found 1, wanted 0, as the subgraph has inputs"},
    {"CallWithoutAnOperand", [](ModelBuilder& b) { If(b, {-1}); },
     "node 'y' (IF): inputs: found one that is absent, wanted all of them"},
    {"BranchWithoutAResult", [](ModelBuilder& b) { If(b, {}); },
     "node 'y' (IF): outputs: found 1, wanted 0, as the subgraph has"},
    {"ConditionThatIsNoBool",
     [](ModelBuilder& b) {
       schema::IfOptionsT options;
       const int condition = b.Constant<int32_t>({2}, Type::INT32, {1, 1});
       b.Output(b.Op(BuiltinOperator::IF, {condition}, "y", {1}, options));
     },
     "node 'y' (IF): the condition: found Tensor[(2,), int32], wanted one bool"},
    {"LoopWithMoreOutputsThanInputs", [](ModelBuilder& b) { While(b, false); },
     "node 'y' (WHILE): outputs: found 2, wanted 1, as inputs"},
    {"LoopWithoutACondition", [](ModelBuilder& b) { While(b); },
     "node 'y' (WHILE): outputs of the condition: found 0, wanted 1"},
    {"BodyWithoutAResult",
     [](ModelBuilder& b) {
       While(b);
       b.Output(b.Constant<uint8_t>({}, Type::BOOL, {1}));
       b.AddSubgraph();
       b.Input("v", {1});
     },
     "node 'y' (WHILE): outputs of the body: found 0, wanted 1"},
    {"OperatorWithoutAnOutput",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {1});
       b.AddOperator(BuiltinOperator::RESHAPE, {x}, {});
       b.Output(x);
     },
     "node 'RESHAPE_0' (RESHAPE): outputs: found 0, wanted at least 1"},
    {"OperatorWithMoreOutputsThanItHas",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {1}), y = b.Add("y", {1}), z = b.Add("z", {1});
       b.AddOperator(BuiltinOperator::RELU, {x}, {y, z});
       b.Output(y);
     },
     "node 'y' (RELU): outputs: found 2, wanted 1, as the operator has"},
    {"TensorThatIsMadeTwice",
     [](ModelBuilder& b) {
       const int x = b.Input("x", {1}), y = b.Op(BuiltinOperator::ABS, {x}, "y", {1});
       b.AddOperator(BuiltinOperator::ABS, {x}, {y});
       b.Output(y);
     },
     "node 'y' (ABS): tensor 'y' is defined twice"},
    {"VariableOfAnotherDtype",
     [](ModelBuilder& b) {
       const int sum = Handle(b);
       b.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {sum, b.Input("x", {1})}, {});
       b.Output(b.Op(BuiltinOperator::READ_VARIABLE, {sum}, "y", {1}, Type::INT32));
     },
     "node 'y' (READ_VARIABLE): the variable 'sum': found Tensor[(1,), float32], wanted "
     "Tensor[(1,), int32]"},
    {"AssignmentOfNothing",
     [](ModelBuilder& b) {
       b.Output(b.Input("x", {1}));
       b.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {Handle(b)}, {});
     },
     "node 'ASSIGN_VARIABLE_1' (ASSIGN_VARIABLE): inputs: found 1, wanted 2"},
    {"VariableThatGrows",
     [](ModelBuilder& b) {
       const int sum = Handle(b);
       b.Output(b.Op(BuiltinOperator::READ_VARIABLE, {sum}, "y", {1}));
       b.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {sum, b.Input("x", {2})}, {});
     },
     "the variable 'sum': found Tensor[(2,), float32] at the end of a run, wanted Tensor[(1,), "
     "float32]"},
    {"ScalesOfNoDimension", [](ModelBuilder& b) { Quantised(b, {0.5, 0.25}, {0, 0}, 1); },
     "input 'x': quantization: found 2 scales along dimension 1 of (2,), wanted one, "
     "or one per index of a dimension"},
    {"ScaleOfZero", [](ModelBuilder& b) { Quantised(b, {0}, {0}); },
     "input 'x': quantization: found the scale 0, wanted a positive number"},
    {"MoreZeroPointsThanScales", [](ModelBuilder& b) { Quantised(b, {0.5}, {0, 0}); },
     "input 'x': quantization: found 2 zero points, wanted 1, as many as scales"},
    {"ZeroPointOutOfRange", [](ModelBuilder& b) { Quantised(b, {0.5}, {128}); },
     "input 'x': quantization: found the zero point 128, wanted -128 to 127"},
    {"DynamicDimension", [](ModelBuilder& b) { b.Output(b.Input("x", {-1, 4})); },
     "input 'x': dimension 0 is dynamic; give the shape with --input x:…"},
    {"NegativeExtent", [](ModelBuilder& b) { b.Output(b.Input("x", {2, -3})); },
     "tensor 'x': shape: found the extent -3, wanted -1, if it is open, or more"},
    {"LongName", [](ModelBuilder& b) { b.Output(b.Input(std::string(4097, 'x'), {1})); },
     "the name of a tensor: found 4097 bytes, wanted at most 4096"},
    {"OperatorOfNoCode",
     [](ModelBuilder& b) {
       b.Output(b.Op(BuiltinOperator::ABS, {b.Input("x", {1})}, "y", {1}));
       b.subgraph().operators[0]->opcode_index = 7;
     },
     "operator 0: found code 7, there are 1 codes"},
    {"BufferThatIsNone",
     [](ModelBuilder& b) {
       b.Output(b.Input("x", {1}));
       b.tensor(0).buffer = 7;
     },
     "tensor 'x': found buffer 7, there are 1 buffers"},
};

class ModelRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(ModelRefusals, SayWhatIsWrong) {
  EXPECT_EQ(ErrorOf(GetParam()), absl::StrCat("m.tflite: ", GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Models, ModelRefusals, testing::ValuesIn(kRefusals), NameOf);

TEST(ModelRefusals, OfAConstantOfAnotherType) {
  ModelBuilder b;
  b.Output(b.Input("x", {2}));
  const Tensor value = Tensor::From<int32_t>({2}, DType::Int(32), std::vector<int32_t>{3, 2});
  EXPECT_EQ(ErrorOf(b.Bytes(), {.constants = {{"x", value}}}),
            "m.tflite: input 'x': --constant: found Tensor[(2,), int32], wanted Tensor[(2,), "
            "float32]");
}

TEST(ModelRefusals, OfMoreThanAMillionOperators) {
  ModelBuilder b;
  const int x = b.Input("x", {1});
  b.Output(x);
  for (int64_t i = 0; i <= kMaxGraphNodes; ++i) {
    b.subgraph().operators.push_back(std::make_unique<schema::OperatorT>());
  }
  b.model.operator_codes.push_back(std::make_unique<schema::OperatorCodeT>());
  EXPECT_EQ(ErrorOf(b.Bytes()), "m.tflite: more than 1000000 operators");
}

}  // namespace
}  // namespace kiln::tflite_frontend
