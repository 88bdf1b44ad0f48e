// SPDX-License-Identifier: Apache-2.0
// Error messages of the parser.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/graph/relay_text.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

struct Case {
  const char* name;
  const char* text;  // without the header, which is line 1
  absl::StatusCode code;
  const char* message;  // the beginning of the message
};

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kUnimplemented = absl::StatusCode::kUnimplemented;

class ParseErrors : public testing::TestWithParam<Case> {};

TEST_P(ParseErrors, Says) {
  const Case& c = GetParam();
  absl::StatusOr<Graph> graph =
      ParseRelay(absl::StrCat("#[version = \"0.0.5\"]\n", c.text), "t.relay", FindTestOp);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), c.code);
  EXPECT_TRUE(absl::StartsWith(graph.status().message(), c.message)) << graph.status().message();
}

const Case kCases[] = {
    {"SecondHeader", "#[version = \"0.0.5\"]", kInvalid, "t.relay:2:1: found '#', wanted 'def'"},
    {"NoMain", "def @f() { 1 }", kInvalid, "t.relay: found no function @main"},
    {"SecondDefinition", "def @f() { 1 }\ndef @f() { 1 }", kInvalid,
     "t.relay:3:5: found a second definition of @f, the first is at line 2"},
    {"UnknownVariable", "def @main(%a: int8) { %b }", kInvalid,
     "t.relay:2:23: unknown variable %b"},
    {"UnknownFunction", "def @main(%a: int8) { @f(%a) }", kInvalid,
     "t.relay:2:23: unknown function @f"},
    {"UnknownOperators", "def @main(%a: int8) {\n  foo.bar(%a);\n  %a }", kInvalid,
     "t.relay:3:14: found ';', wanted '}'"},
    {"AllUnknownOperators", "def @main(%a: int8) {\n  foo.b(foo.a(%a)) }", kUnimplemented,
     "t.relay:3:9: unknown operator 'foo.a'\nt.relay:3:3: unknown operator 'foo.b'"},
    {"UnknownAttribute", "def @main(%a: int8) { nn.bias_add(%a, %a, axes=2) }", kInvalid,
     "t.relay:2:23: nn.bias_add: unknown attribute 'axes'; known are axis"},
    {"UnknownAttributeOfNone", "def @main(%a: int8) { nn.relu(%a, axis=2) }", kInvalid,
     "t.relay:2:23: nn.relu: unknown attribute 'axis'; it has none"},
    {"MissingAttribute", "def @main(%a: int8) { cast(%a) }", kInvalid,
     "t.relay:2:23: cast: attribute 'dtype' is missing, wanted a dtype such as \"float32\""},
    {"AttributeOfWrongType", "def @main(%a: int8) { nn.bias_add(%a, %a, axis=\"x\") }", kInvalid,
     "t.relay:2:23: nn.bias_add: attribute 'axis': found \"x\", wanted an int"},
    {"AttributeTwice", "def @main(%a: int8) { nn.bias_add(%a, %a, axis=1, axis=1) }", kInvalid,
     "t.relay:2:51: found attribute 'axis' a second time"},
    {"Arity", "def @main(%a: int8) { nn.conv2d(%a) }", kInvalid,
     "t.relay:2:23: nn.conv2d: found 1 input, wanted 2 inputs (data, weight)"},
    {"OptionalArity", "def @main(%a: int8) { where3(%a) }", kInvalid,
     "t.relay:2:23: where3: found 1 input, wanted 2 to 3 inputs (a, b, c)"},
    {"TupleWanted", "def @main(%a: int8) { concatenate(%a, %a) }", kInvalid,
     "t.relay:2:23: concatenate: found 2 inputs, wanted one tuple: concatenate((%a, %b))"},
    {"TensorWanted", "def @main(%a: int8) { nn.relu((%a, %a)) }", kInvalid,
     "t.relay:2:23: nn.relu: found a tuple with 2 fields as 'data', wanted a tensor"},
    {"CountOfOutputs", "def @main(%a: int8) { split(%a, indices_or_sections=0) }", kInvalid,
     "t.relay:2:23: split: wanted 1 to 1000 sections"},
    {"Redefinition", "def @main(%a: int8) {\n  let %a = 1;\n  %a }", kInvalid,
     "t.relay:3:7: %a is defined already at 2:11"},
    {"RedefinitionOfBinding", "def @main(%a: int8) {\n  %0 = %a;\n  %0 = %a;\n  %0 }", kInvalid,
     "t.relay:4:3: %0 is defined already at 3:3"},
    {"NoField", "def @main(%a: int8) { (%a, %a).2 }", kInvalid,
     "t.relay:2:23: found field 2 of a tuple with 2 fields"},
    {"FieldOfTensor", "def @main(%a: int8) { %a.0 }", kInvalid,
     "t.relay:2:23: found a tensor, wanted a tuple before '.0'"},
    {"CallOfTensor", "def @main(%a: int8) { %a(1) }", kInvalid,
     "t.relay:2:23: found a call of a tensor, wanted a function"},
    {"Arguments", "def @f(%x: int8) { %x }\ndef @main(%a: int8) { @f(%a, %a) }", kInvalid,
     "t.relay:3:23: found 2 arguments, wanted 1, the parameters of @f"},
    {"Recursion", "def @f(%x: int8) { @f(%x) }\ndef @main(%a: int8) { @f(%a) }", kUnimplemented,
     "t.relay:2:20: recursion: @f calls itself"},
    {"RecursionOfMain", "def @main(%a: int8) { @main(%a) }", kUnimplemented,
     "t.relay:2:23: recursion: @main"},
    {"If", "def @main(%a: bool) { if (%a) { 1 } else { 2 } }", kUnimplemented,
     "t.relay:2:23: 'if' with a condition that is known only at run time is not supported; choose "
     "the branch"},
    {"Match", "def @main(%a: bool) { match (%a) { _ => 1 } }", kUnimplemented,
     "t.relay:2:23: match is not supported; "},
    {"Reference", "def @main(%a: bool) { ref(%a) }", kUnimplemented,
     "t.relay:2:23: a reference is not supported; use values"},
    {"FreeVar", "def @main(%a: bool) { free_var %x: int8; %x }", kUnimplemented,
     "t.relay:2:23: free_var is not supported; make the variable a parameter of @main"},
    {"GlobalFreeVar", "free_var %x: int8;", kUnimplemented,
     "t.relay:2:1: free_var is not supported; "},
    {"TypeDefinition", "type List[A] { Nil }", kUnimplemented,
     "t.relay:2:1: a type definition is not supported; "},
    {"Extern", "extern type T", kUnimplemented,
     "t.relay:2:1: an extern definition is not supported; "},
    {"TypeParameters", "def @main[A](%a: A) { %a }", kUnimplemented,
     "t.relay:2:10: a function with type parameters is not supported; "},
    {"MetadataAttribute", "def @main(%a: bool) { nn.relu(%a, meta[relay.attrs.X][0]) }",
     kUnimplemented, "t.relay:2:40: a metadata reference to relay.attrs.X is not supported; "},
    {"MetadataValue", "def @main(%a: bool) { nn.bias_add(%a, %a, axis=meta[relay.Constant][0]) }",
     kUnimplemented,
     "t.relay:2:43: attribute 'axis' in the metadata section is not supported; write its value in "
     "the text"},
    {"MetadataOfFunction", "def @main(%a: bool, k=meta[X][0]) { %a }", kUnimplemented,
     "t.relay:2:33: a function's attribute in the metadata section is not supported; "},
    {"NoMetadata", "def @main(%a: bool) { meta[relay.Constant][0] }", kInvalid,
     "t.relay:2:23: found meta[relay.Constant][0], the metadata section has 0 constants"},
    {"BadMetadata", "def @main(%a: bool) { %a }\n#[metadata] nonsense", kInvalid,
     "t.relay:3:12: metadata section: it is not JSON"},
    {"UnknownDimensions", "def @main(%a: Tensor[(?, 3), int8], %b: Tensor[(?), int8]) { %a }",
     kUnimplemented,
     "t.relay:2:15: found '?', a dimension that is known only at run time, which is not supported; "
     "give the shape: --input a:shape --input b:shape"},
    {"NoType", "def @main(%a) { %a }", kInvalid,
     "t.relay:2:11: parameter %a of @main needs a type"},
    {"WrongType", "def @main(%a: int8) { let %x: int16 = %a; %x }", kInvalid,
     "t.relay:2:31: found type int16, wanted the value's type int8"},
    {"WrongResultType", "def @main(%a: int8) -> (int8, int8) { %a }", kInvalid,
     "t.relay:2:24: found a type that does not fit the value, which is a tensor"},
    {"FunctionAsInput", "def @main(%f: fn (int8) -> int8) { 1 }", kUnimplemented,
     "t.relay:2:15: a function as an input is not supported"},
    {"FunctionAsResult", "def @main() { fn (%x: int8) { %x } }", kInvalid,
     "t.relay:2:15: found a function, wanted a tensor or a tuple"},
    {"CapturedByGroup", "def @main(%a: int8) { fn (%x: int8, Primitive=1) { %a }(%a) }", kInvalid,
     "t.relay:2:52: %a is defined outside of this function; one with the attribute Primitive or "
     "Compiler reads only its parameters"},
    {"OutputNames", "def @main(%a: int8, output_tensor_names=[\"a\", \"b\"]) { %a }", kInvalid,
     "t.relay:2:21: output_tensor_names: wanted a list of 1 names"},
    {"InputNamesTwice", "def @main(%a: int8, %b: int8, input_names=[\"a\", \"a\"]) { %a }",
     kInvalid, "t.relay:2:31: input_names: found a name twice"},
    {"FloatWithoutSuffix", "def @main() { 1.5 }", kInvalid,
     "t.relay:2:15: found the number 1.5, wanted an integer or a float with a suffix, such as "
     "1.5f"},
    {"UnknownSuffix", "def @main() { 1i7 }", kInvalid,
     "t.relay:2:15: found the number 1i7, wanted one of the suffixes"},
    {"IntegerDoesNotFit", "def @main() { 300i8 }", kInvalid,
     "t.relay:2:15: the integer 300 does not fit int8"},
    {"IntegerOf65Bits", "def @main() { 9223372036854775808 }", kInvalid,
     "t.relay:2:15: the integer 9223372036854775808 does not fit 64 bits"},
    {"SubtractionWithoutSpace", "def @main(%a: int8) { %a -1 }", kInvalid,
     "t.relay:2:26: found '-1', wanted '}'; a subtraction has a space behind its '-'"},
    {"OpenComment", "def @main() { /* /* */ 1 }", kInvalid,
     "t.relay:2:15: found a comment without end, wanted '*/'"},
    {"OpenString", "def @main(a=\"x) { 1 }", kInvalid, "t.relay:2:13: found a string without end"},
    {"UnknownEscape", "def @main(a=\"\\q\") { 1 }", kInvalid,
     "t.relay:2:13: found an unknown escape"},
    {"StrangeByte", "def @main() { $ }", kInvalid,
     "t.relay:2:15: found a byte that begins no token: 0x24"},
    {"SigilAlone", "def @main() { % }", kInvalid,
     "t.relay:2:15: found '%' without a name behind it"},
    {"End", "def @main() {", kInvalid, "t.relay:2:14: found end of file, wanted an expression"},
    {"OperatorWithoutCall", "def @main() { nn.relu }", kInvalid,
     "t.relay:2:23: found '}', wanted '(' behind the operator nn.relu"},
    {"UnknownType", "def @main(%a: List) { %a }", kInvalid,
     "t.relay:2:15: found 'List', wanted Tensor[(…), dtype], a dtype"},
    {"UnknownDType", "def @main(%a: Tensor[(1), bfloat16]) { %a }", kInvalid,
     "t.relay:2:27: found 'bfloat16', wanted a dtype"},
    {"HugeType", "def @main(%a: Tensor[(4000000000, 4000000000), int8]) { %a }", kInvalid,
     "t.relay:2:15: shape (4000000000, 4000000000)"},
    {"AttributesOfCall", "def @f() { 1 }\ndef @main() { @f(axis=1) }", kInvalid,
     "t.relay:3:18: a call of a function has no attributes"},
};

INSTANTIATE_TEST_SUITE_P(Relay, ParseErrors, testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(ParseHeader, IsRequired) {
  EXPECT_EQ(ParseRelay("def @main() { 1 }", "t.relay", FindTestOp).status().message(),
            "t.relay:1:1: found 'def', wanted #[version = \"0.0.5\"]");
  EXPECT_EQ(ParseRelay("#[version = \"0.0.4\"]", "t.relay", FindTestOp).status().message(),
            "t.relay:1:13: found '\"0.0.4\"', wanted version \"0.0.5\"");
}

}  // namespace
}  // namespace kiln
