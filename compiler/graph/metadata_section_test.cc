// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/ndarray_bytes.h"
#include "compiler/graph/relay_text.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// The text that TVM 0.9 writes for one constant of type Tensor[(2), float32], including nodes that
// Kiln ignores.
constexpr char kNodes[] = R"(#[metadata]
{
  "root": 1,
  "nodes": [
    { "type_key": "" },
    { "type_key": "Map", "keys": ["relay.Constant"], "data": [2] },
    { "type_key": "Array", "data": [3] },
    { "type_key": "relay.Constant", "attrs": { "_checked_type_": "4", "data": "0", "span": "0", "virtual_device_": "0" } },
    { "type_key": "relay.TensorType", "attrs": { "dtype": "float32", "shape": "5", "span": "0" } },
    { "type_key": "Array", "data": [6] },
    { "type_key": "IntImm", "attrs": { "dtype": "int32", "span": "0", "value": "2" } }
  ],
  "b64ndarrays": ["$data"],
  "attrs": {"tvm_version": "0.9.0"}
})";

const Tensor& Constant() {
  static const Tensor* const kTensor =
      new Tensor(Tensor::From<float>({2}, DType::Float(32), {1, -2.5}));
  return *kTensor;
}

absl::StatusOr<Graph> ParseWith(absl::string_view metadata, absl::string_view encoded) {
  return ParseRelay(
      absl::StrCat("#[version = \"0.0.5\"]\ndef @main() { meta[relay.Constant][0] }\n",
                   absl::StrReplaceAll(metadata, {{"$data", encoded}})),
      "t.relay", FindTestOp);
}

std::string Encoded() {
  std::string bytes;
  AppendNDArray(Constant(), bytes);
  return absl::Base64Escape(bytes);
}

TEST(Metadata, ReadsTvmsNodeGraph) {
  absl::StatusOr<Graph> graph = ParseWith(kNodes, Encoded());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(graph->value(graph->outputs[0]).constant == Constant());
}

TEST(Metadata, SaysWhatIsWrong) {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  const Case cases[] = {
      {"{\n  \"root\"", "[\n \"root\"", "it is not JSON"},
      {"\"nodes\"", "\"knots\"", "wanted an array 'nodes'"},
      {"\"root\": 1", "\"root\": 7", "found index 7 as 'root', wanted less than 7"},
      {"\"root\": 1", "\"root\": -1", "found index -1 as 'root', wanted less than 7"},
      {"\"root\": 1", "\"root\": 18446744073709551615",
       "found index -1 as 'root', wanted less than 7"},
      {"\"root\": 1", "\"root\": 1.5", "wanted an index as 'root'"},
      {"\"data\": [2]", "\"data\": [2, 3]", "wanted as many 'keys' as 'data' in the root"},
      {"\"data\": [3]", "\"data\": 3", "wanted an array as 'data'"},
      {"\"data\": [3]", "\"data\": [4]", "wanted an index as the data of a constant"},
      {"\"data\": \"0\"", "\"data\": \"1\"",
       "found index 1 as the data of a constant, wanted less than 1"},
      {"$data", "?", "b64ndarrays: wanted strings in base64"},
      {"$data", "AAAA", "serialized tensor: found the end, wanted more bytes"},
      {"[\"$data\"]", "{}", "wanted an array as 'b64ndarrays'"},
  };
  for (const Case& c : cases) {
    const std::string metadata = absl::StrReplaceAll(kNodes, {{c.from, c.to}});
    EXPECT_EQ(ParseWith(metadata, Encoded()).status().message(),
              absl::StrCat("t.relay:3:12: metadata section: ", c.message));
  }
}

TEST(Metadata, RefusesBytesBehindATensor) {
  std::string bytes;
  AppendNDArray(Constant(), bytes);
  bytes += "x";
  EXPECT_EQ(ParseWith(kNodes, absl::Base64Escape(bytes)).status().message(),
            "t.relay:3:12: metadata section: b64ndarrays: found bytes behind a tensor");
}

TEST(Metadata, WithoutConstants) {
  EXPECT_EQ(ParseWith("#[metadata]{\"root\": 0, \"nodes\": [{\"type_key\": \"\"}]}", "")
                .status()
                .message(),
            "t.relay:2:15: found meta[relay.Constant][0], the metadata section has 0 constants");
}

}  // namespace
}  // namespace kiln
