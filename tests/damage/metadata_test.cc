// SPDX-License-Identifier: Apache-2.0
// Damaged metadata as JSON.
#include <string>

#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "metadata/json.h"
#include "mlf/testing/sample.h"
#include "tests/damage/damage.h"

namespace kiln::testing {
namespace {

absl::Status Read(absl::string_view text) {
  const absl::StatusOr<proto::Metadata> metadata = ParseMetadataJson(text, "m.json");
  if (!metadata.ok()) return metadata.status();
  EXPECT_GE(metadata->functions_size(), 1);
  const proto::Function& main = metadata->functions(0);
  EXPECT_EQ(main.parameters_size(), main.num_inputs() + main.num_outputs());
  const std::string written = MetadataJson(*metadata);
  const absl::StatusOr<proto::Metadata> again = ParseMetadataJson(written, "m.json");
  EXPECT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(MetadataJson(*again), written);
  return absl::OkStatus();
}

std::string Text() {
  proto::Metadata metadata = mlf::SampleModule("m", "aot").metadata;
  proto::Quantization& q =
      *metadata.mutable_functions(0)->mutable_parameters(0)->mutable_quantization();
  q.add_scales(0.25f);
  q.add_zero_points(-3);
  // Without the last line feed, which is not part of the JSON value.
  return std::string(absl::StripSuffix(MetadataJson(metadata), "\n"));
}

TEST(MetadataDamage, Cuts) { ExpectCutsFail(Text(), Read); }

TEST(MetadataDamage, Flips) { ExpectFlipsAreHarmless(Text(), Read); }

TEST(MetadataDamage, DeepNestingIsAnError) {
  for (const char* const bracket : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += bracket;
    EXPECT_FALSE(Read(text).ok());
  }
  EXPECT_FALSE(Read(std::string(100'000, '[') + std::string(100'000, ']')).ok());
}

}  // namespace
}  // namespace kiln::testing
