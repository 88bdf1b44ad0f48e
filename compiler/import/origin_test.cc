// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/origin.h"

#include <cstdlib>
#include <fstream>

#include "gtest/gtest.h"

namespace kiln {
namespace {

using frontend::ImportOptions;

TEST(ModelDigest, OfOneFileIsItsOwn) {
  EXPECT_EQ(ModelDigest("abc", {}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ModelDigest, WeightsInOtherFilesCount) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/weights";
  std::ofstream(path) << "one";
  const std::string first = ModelDigest("abc", {{"w.bin", path}});
  // The output of: printf '…  -\n…  w.bin\n' | sha256sum, with the digests of "abc" and "one".
  EXPECT_EQ(first, "b99732da3d62dd4e686db60318656df53910ec851c9cb000d896e817b9034bee");
  EXPECT_EQ(first, ModelDigest("abc", {{"w.bin", path}}));
  std::ofstream(path) << "two";
  EXPECT_NE(first, ModelDigest("abc", {{"w.bin", path}}));
  EXPECT_NE(first, ModelDigest("abc", {}));
}

TEST(ImportOptionsText, SaysAllThatTheUserSaid) {
  ImportOptions options;
  EXPECT_EQ(ImportOptionsText(options), "");
  options.pins = {{"x", {1, 3}, DType::Float(32)}, {"y", {2}, {}}};
  options.dims = {{"n", 4}};
  options.outputs = {"z"};
  options.constants["w"] = Tensor::Scalar(DType::Int(32), 5);
  EXPECT_EQ(ImportOptionsText(options),
            "input=x:(1, 3):float32\ninput=y:(2,)\ndim=n=4\noutput=z\n"
            "constant=w:int32:"
            "2594b6a92ebfb1c3312deb7d01c015fb95e9fbe9bd7bc6b527af07813ec7b910\n");
}

TEST(TextProperties, LeavesOutWhatIsNoText) {
  const Properties found = TextProperties({{"names", "{0: 'cat'}"},
                                           {"bytes", std::string("a\0b", 3)},
                                           {"latin-1", "M\xfcller"},
                                           {"utf-8", "M\xc3\xbcller"},
                                           {"empty", ""}});
  EXPECT_EQ(found,
            (Properties{{"names", "{0: 'cat'}"}, {"utf-8", "M\xc3\xbcller"}, {"empty", ""}}));
}

TEST(TextProperties, BoundsTheirBytes) {
  const std::string large(kMaxPropertyBytes - 1, 'x');
  EXPECT_EQ(TextProperties({{"a", large}, {"b", "y"}, {"", ""}}).size(), 2u);
  EXPECT_EQ(TextProperties({{"ab", large}, {"b", "y"}}), (Properties{{"b", "y"}}));
}

}  // namespace
}  // namespace kiln
