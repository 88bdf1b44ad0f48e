// SPDX-License-Identifier: Apache-2.0
// Every form of Relay text: the input text, and the text printed from its graph.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/graph/relay_text.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr char kHeader[] = "#[version = \"0.0.5\"]\n";

struct Case {
  const char* name;
  const char* text;   // without the header
  const char* print;  // printed graph, without the header
};

class ParseForms : public testing::TestWithParam<Case> {};

TEST_P(ParseForms, PrintsAs) {
  const Case& c = GetParam();
  absl::StatusOr<Graph> graph = ParseRelay(absl::StrCat(kHeader, c.text), "t.relay", FindTestOp);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Verify(*graph, /*typed=*/false), absl::OkStatus());
  const std::string print = PrintRelay(*graph);
  EXPECT_EQ(print, absl::StrCat(kHeader, c.print));
  absl::StatusOr<Graph> again = ParseRelay(print, "t.relay", FindTestOp);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(*again == *graph);
}

const Case kCases[] = {
    {"Bindings",
     R"(def @main(%a: Tensor[(4), float32]) {
  %0 = nn.relu(%a);
  let %x = nn.relu(%0);
  let %y: Tensor[(4,), float32] = nn.relu(%x);
  nn.relu(%y)
})",
     R"(def @main(%a: Tensor[(4,), float32]) -> _ {
  %0 = nn.relu(%a);
  %1 = nn.relu(%0);
  %2 = nn.relu(%1) /* ty=Tensor[(4,), float32] */;
  nn.relu(%2)
}
)"},
    {"InfixPrecedence",
     R"(def @main(%a: float32, %b: float32) { %a + %b * %a - %b / %a < %a == %b >= 2f })",
     R"(def @main(%a: float32, %b: float32) -> _ {
  %0 = multiply(%b, %a);
  %1 = add(%a, %0);
  %2 = divide(%b, %a);
  %3 = subtract(%1, %2);
  %4 = less(%3, %a);
  %5 = greater_equal(%b, 2f);
  equal(%4, %5)
}
)"},
    {"SlashInNames",
     R"(def @main(%/conv1/out: float32, %b/: float32) { %/conv1/out / %b/ /* a /* nested */ comment */ } // end)",
     R"(def @main(%/conv1/out: float32, %b/: float32) -> _ {
  divide(%/conv1/out, %b/)
}
)"},
    {"AttributesThatDiffer",
     R"(def @main(%a: float32, %b: float32) {
  nn.conv2d(%a, %b, strides=[1, 1], padding=1, channels=8, data_layout="NHWC", out_dtype="int32", attrs_type_key="relay.attrs.Conv2DAttrs")
})",
     R"(def @main(%a: float32, %b: float32) -> _ {
  nn.conv2d(%a, %b, padding=[1], channels=8, data_layout="NHWC", out_dtype="int32")
}
)"},
    {"AttributeTypes",
     R"(def @main(%a: float32) {
  %0 = clip(%a, a_min=-inff, a_max=6, scales=[1, 2.5f], bias=2f);
  %1 = nn.pad(%0, 0f, pad_width=[[0, 0], (1, 1)]);
  cast(%1, dtype="int8")
})",
     R"(def @main(%a: float32) -> _ {
  %0 = clip(%a, a_min=-inff, a_max=6f, scales=[1f, 2.5f]);
  %1 = nn.pad(%0, 0f, pad_width=[[0, 0], [1, 1]]);
  cast(%1, dtype="int8")
}
)"},
    {"Scalars",
     R"(def @main() { (5, 5i64, -7i16, 2147483648, 2.5f, 1f64, 1f16, 1e-05f, True, False, inff, -inff, nanf, -0f) })",
     R"(def @main() -> (int32, int64, int16, int64, float32, float64, float16, float32, bool, bool, float32, float32, float32, float32) {
  (5, 5i64, -7i16, 2147483648i64, 2.5f, 1f64, 1f16, 1e-05f, True, False, inff, -inff, nanf, -0f)
}
)"},
    {"Tuples",
     R"(def @main(%a: float32, %b: float32) {
  %0 = ((%a, %b), (%b,), ());
  %1 = %0.0;
  let %t = (%1.1, %0.0.0);
  (%t, (nn.relu(%0.1.0), 1f))
})",
     R"(def @main(%a: float32, %b: float32) {
  %0 = nn.relu(%b);
  (%b, %a, %0, 1f)
}
)"},
    {"TupleParameters",
     R"(def @main(%x: (Tensor[(1), int8], (int8, int8)), %x_0: bool) -> (bool, Tensor[(1), int8], (int8, int8)) {
  (%x_0, %x.0, %x.1)
})",
     R"(def @main(%x_0_: Tensor[(1,), int8], %x_1_0: int8, %x_1_1: int8, %x_0: bool) -> (bool, Tensor[(1,), int8], int8, int8) {
  (%x_0, %x_0_, %x_1_0, %x_1_1)
}
)"},
    {"TupleInput",
     R"(def @main(%a: float32, %b: float32) {
  %0 = concatenate((%a, %b, 1f), axis=1);
  %1 = (%0,);
  concatenate(%1)
})",
     R"(def @main(%a: float32, %b: float32) -> _ {
  %0 = concatenate((%a, %b, 1f), axis=1);
  concatenate((%0,))
}
)"},
    {"SeveralTupleInputs",
     R"(def @main(%a: float32, %b: float32) { qnn.concatenate((%a, %b), (1f, 2f), 3f, axis=1) })",
     R"(def @main(%a: float32, %b: float32) -> _ {
  qnn.concatenate((%a, %b, 1f, 2f, 3f), axis=1)
}
)"},
    {"ZeroPointsOfAProductBeforeItsScales",
     R"(def @main(%a: int8, %w: int8) { qnn.dense(%a, %w, 1, 2, 0.5f, 0.25f) })",
     R"(def @main(%a: int8, %w: int8) -> _ {
  qnn.dense(%a, %w, 0.5f, 1, 0.25f, 2)
}
)"},
    {"WholeResultOfSplit",
     R"(def @main(%a: Tensor[(6), int8]) {
  split(%a, indices_or_sections=2) /* ty=(Tensor[(3), int8], Tensor[(3), int8]) span=x:1:2 */
})",
     R"(def @main(%a: Tensor[(6,), int8]) -> (Tensor[(3,), int8], Tensor[(3,), int8]) {
  split(%a, indices_or_sections=2) /* ty=(Tensor[(3,), int8], Tensor[(3,), int8]) */
}
)"},
    {"FieldsOfSplit",
     R"(def @main(%a: Tensor[(6), int8]) {
  %0 = split(%a, indices_or_sections=[2, 4]) /* ty=(Tensor[(2), int8], _, Tensor[(2), int8]) */;
  %1 = split(%0.2, indices_or_sections=1);
  (%0.1, nn.relu(%1.0))
})",
     R"(def @main(%a: Tensor[(6,), int8]) {
  %0 = split(%a, indices_or_sections=[2, 4]) /* ty=(Tensor[(2,), int8], _, Tensor[(2,), int8]) */;
  %1 = split(%0.2, indices_or_sections=1);
  %2 = nn.relu(%1.0);
  (%0.1, %2)
}
)"},
    {"TupleOfOneField", R"(def @main(%a: int8) { split(%a, indices_or_sections=1) })",
     R"(def @main(%a: int8) -> _ {
  %0 = split(%a, indices_or_sections=1);
  %0.0
}
)"},
    {"OptionalInput", R"(def @main(%a: int8) { where3(%a, where3(%a, %a, %a)) })",
     R"(def @main(%a: int8) -> _ {
  %0 = where3(%a, %a, %a);
  where3(%a, %0)
}
)"},
    {"NoInputs", R"(def @main() { zeros(shape=[2, 3]) })",
     R"(def @main() -> _ {
  zeros(shape=[2, 3])
}
)"},
    {"Identity", R"(def @main(%a: int8) -> int8 { %a })",
     R"(def @main(%a: int8) -> int8 {
  %a
}
)"},
    {"RepeatedOutputs", R"(def @main(%a: int8) { (%a, 1f, %a) })",
     R"(def @main(%a: int8) -> (int8, float32, int8) {
  (%a, 1f, %a)
}
)"},
    {"NothingReadsIt", R"(def @main(%a: int8) { let %unused = nn.relu(%a); %a })",
     R"(def @main(%a: int8) -> int8 {
  %0 = nn.relu(%a);
  %a
}
)"},
    {"PrimitiveBoundToName",
     R"(def @main(%a: float32) {
  %3 = fn (%p0: float32, Primitive=1, hash="f00") -> float32 {
    %0 = add(%p0, 1f);
    nn.relu(%0) /* ty=float32 */
  };
  let %first = %3(%a);
  %3(%first)
})",
     R"(def @main(%a: float32) -> float32 {
  %0 = fn (%p0: float32, Primitive=1, hash="f00") -> float32 {
    %0 = add(%p0, 1f);
    nn.relu(%0) /* ty=float32 */
  };
  %1 = %0(%a) /* ty=float32 */;
  %2 = fn (%p0: float32, Primitive=1, hash="f00") -> float32 {
    %0 = add(%p0, 1f);
    nn.relu(%0) /* ty=float32 */
  };
  %2(%1) /* ty=float32 */
}
)"},
    {"PrimitiveCalledAtOnce",
     R"(def @main(%a: float32) { fn (%p0, %p1: (float32, float32), Primitive=1) { (%p1, (nn.relu(%p0),)) }(%a, (%a, 2f)) })",
     R"(def @main(%a: float32) {
  %0 = fn (%p0: float32, %p1_0: float32, %p1_1: float32, Primitive=1) {
    %0 = nn.relu(%p0);
    (%p1_0, %p1_1, %0)
  };
  %0(%a, %a, 2f) /* ty=(float32, float32, _) */
}
)"},
    {"NestedGroups",
     R"(def @main(%a: float32) {
  @ext(%a).1
}
def @ext(%x: float32, Compiler="dnnl", global_symbol="ext") -> (float32, float32) {
  %0 = fn (%p: float32, Primitive=1) -> float32 { nn.relu(%p) };
  (%x, %0(%x))
})",
     R"(def @main(%a: float32) -> float32 {
  %0 = fn (%x: float32, Compiler="dnnl", global_symbol="ext") -> (float32, float32) {
    %0 = fn (%p: float32, Primitive=1) -> float32 {
      nn.relu(%p) /* ty=float32 */
    };
    %1 = %0(%x) /* ty=float32 */;
    (%x, %1)
  };
  %1 = %0(%a) /* ty=(float32, float32) */;
  %1.1
}
)"},
    {"GlobalsAreInlined",
     R"(def @twice(%f: fn (float32) -> float32, %x: float32) { %f(%f(%x)) }
def @main(%a: float32) { @twice(@step, %a) }
def @step(%x: float32, Inline=1) -> float32 { add(%x, 1f) })",
     R"(def @main(%a: float32) -> float32 {
  %0 = add(%a, 1f) /* ty=float32 */;
  add(%0, 1f) /* ty=float32 */
}
)"},
    {"ClosuresAreInlined",
     R"(def @main(%a: float32) {
  let %b = nn.relu(%a);
  let %f = fn (%x) { %x + %b };
  %f(%f(%a))
})",
     R"(def @main(%a: float32) -> _ {
  %0 = nn.relu(%a);
  %1 = add(%a, %0);
  add(%1, %0)
}
)"},
    {"ConstantCondition",
     R"(def @main(%a: float32) {
  let %c = False;
  if (%c) { %a } else { %0 = nn.relu(%a); if (1) { nn.relu(%0) } else { %a } }
})",
     R"(def @main(%a: float32) -> _ {
  %0 = nn.relu(%a);
  nn.relu(%0)
}
)"},
    {"Blocks",
     R"(def @main(%a: float32) { let %x = { let %y = nn.relu(%a); %y }; nn.relu((let %z = %x; %z)) })",
     R"(def @main(%a: float32) -> _ {
  %0 = nn.relu(%a);
  nn.relu(%0)
}
)"},
    {"AttributesOfMain",
     R"(def @main(%a: int8, input_scales=[0.5f], "odd key"="tab\there", flag=True, none=None, output_tensor_names=["a b", "c"]) { (%a, %a) })",
     "def @main(%a: int8, flag=True, input_scales=[0.5f], none=None, \"odd key\"=\"tab\\x09here\", "
     "output_tensor_names=[\"a b\", \"c\"]) -> (int8, int8) {\n  (%a, %a)\n}\n"},
    {"OddInputNames",
     R"(def @main(%input_x__2: int8, %b: int8, input_names=["input-x::2", "b"]) { add(%input_x__2, %b) })",
     R"(def @main(%input_x__2: int8, %b: int8, input_names=["input-x::2", "b"]) -> _ {
  add(%input_x__2, %b)
}
)"},
    {"UnknownDimensionsOfIntermediates",
     R"(def @main(%a: int8) -> Tensor[(?), int8] { let %x: Tensor[(?, 2), int8] = nn.relu(%a); nn.relu(%x) /* ty=Tensor[(?), int8] */ })",
     R"(def @main(%a: int8) -> _ {
  %0 = nn.relu(%a);
  nn.relu(%0)
}
)"},
    {"CommentThatIsNoType", R"(def @main(%a: int8) { nn.relu(%a) /* ty=nothing */ })",
     R"(def @main(%a: int8) -> _ {
  nn.relu(%a)
}
)"},
};

INSTANTIATE_TEST_SUITE_P(Relay, ParseForms, testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(Parse, SharesConstantsOfMetadata) {
  Graph graph;
  const ValueId a = graph.AddInput("a", {{2}, DType::Float(32)});
  const ValueId c = graph.AddConstant(Tensor::From<float>({2}, DType::Float(32), {1, 2}));
  const NodeId add = graph.AddNode({.op = FindTestOp("add"), .inputs = {a, c}}, 1);
  const NodeId sum =
      graph.AddNode({.op = FindTestOp("add"), .inputs = {graph.node(add).outputs[0], c}}, 1);
  graph.outputs = graph.node(sum).outputs;
  const std::string text = PrintRelay(graph);
  EXPECT_EQ(text.find("meta[relay.Constant][1]"), std::string::npos) << text;
  absl::StatusOr<Graph> again = ParseRelay(text, "t.relay", FindTestOp);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(*again == graph);
  EXPECT_EQ(again->node(0).inputs[1], again->node(1).inputs[1]);
}

TEST(Parse, SharesTheBodyOfAFunctionThatIsCalledTwice) {
  absl::StatusOr<Graph> graph = ParseRelay(absl::StrCat(kHeader, R"(
def @f(%x: int8, Primitive=1) { nn.relu(%x) }
def @main(%a: int8) { @f(@f(%a)) })"),
                                           "t.relay", FindTestOp);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->node(0).body, graph->node(1).body);
}

TEST(Parse, TakesShapesOfInputs) {
  const std::string text =
      absl::StrCat(kHeader, "def @main(%a: Tensor[(?, 3), int8]) { nn.relu(%a) }");
  absl::StatusOr<Graph> graph =
      ParseRelay(text, "t.relay", FindTestOp, {.input_shapes = {{"a", {8, 3}}}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->type(graph->inputs[0]).ToString(), "Tensor[(8, 3), int8]");
  EXPECT_EQ(
      ParseRelay(text, "t.relay", FindTestOp, {.input_shapes = {{"a", {8, 4}}}}).status().message(),
      "t.relay:2:15: the shape (8, 4) that is given for the input 'a' does not fit its type");
}

TEST(Parse, KeepsPlacesAndNames) {
  absl::StatusOr<Graph> graph = ParseRelay(
      absl::StrCat(kHeader, "def @main(%a: int8) {\n  let %sum = %a + %a;\n  nn.relu(%sum)\n}"),
      "t.relay", FindTestOp);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->node(0).source.ToString(), "t.relay:3:17: ");
  EXPECT_EQ(graph->node(1).source.ToString(), "t.relay:4:3: ");
  EXPECT_EQ(graph->value(graph->node(0).outputs[0]).name, "sum");
}

}  // namespace
}  // namespace kiln
