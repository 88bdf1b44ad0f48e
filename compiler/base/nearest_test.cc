// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

TEST(Perhaps, NamesTheNearest) {
  EXPECT_EQ(Perhaps("cortex-m4", {"host", "cortex-m4f", "cortex-m7f"}), ", perhaps 'cortex-m4f'");
  EXPECT_EQ(Perhaps("inspekt", {"compile", "inspect"}), ", perhaps 'inspect'");
  EXPECT_EQ(Perhaps("nn.conv2", {"nn.conv1d", "nn.conv2d"}), ", perhaps 'nn.conv2d'");
  EXPECT_EQ(Perhaps("complie", {"compare", "compile"}), ", perhaps 'compile'");
  EXPECT_EQ(Perhaps("TRANSB", {"transA", "transB"}), ", perhaps 'transB'");
}

TEST(Perhaps, NamesSeveralThatAreAsNear) {
  EXPECT_EQ(Perhaps("cortex-m4h", {"cortex-m3", "cortex-m4", "cortex-m4f"}),
            ", perhaps 'cortex-m4' or 'cortex-m4f'");
  EXPECT_EQ(Perhaps("cortex-m5", {"cortex-m4", "cortex-m52", "cortex-m55"}),
            ", perhaps 'cortex-m52' or 'cortex-m55'");
  EXPECT_EQ(Perhaps("a1", {"a2", "a3", "a4", "a5"}), ", perhaps 'a2' or 'a3' or 'a4'");
}

TEST(Perhaps, NamesNoneThatIsFar) {
  EXPECT_EQ(Perhaps("xyz", {"compile", "inspect"}), "");
  EXPECT_EQ(Perhaps("compile", {}), "");
  EXPECT_EQ(Perhaps("", {"compile"}), "");
  const std::string longest(64, 'a');
  EXPECT_EQ(Perhaps(longest, {longest + "b"}), ", perhaps '" + longest + "b'");
  EXPECT_EQ(Perhaps(longest + "a", {longest}), "");
}

}  // namespace
}  // namespace kiln
