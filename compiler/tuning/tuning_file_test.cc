// SPDX-License-Identifier: Apache-2.0
#include "compiler/tuning/tuning_file.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/schedule/tuning.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr char kFile[] = R"(targets {
  name: "x86-64-v3"
  triple: "x86_64-pc-linux-gnu"
  cpu: "x86-64-v3"
  cores: 4
  contractions {
    problem: "a"
    direct {
      rows: 7
      vectors: 2
      outside: COLUMNS
    }
    default_microseconds: 12.5
    microseconds: 10.25
  }
  contractions {
    problem: "b"
    winograd {
      outputs: 4
      block_rows: 2
      rows: 14
      vectors: 1
    }
    default_microseconds: 3
    microseconds: 2
  }
  contractions {
    problem: "c"
    default_microseconds: 1
    microseconds: 1
  }
  contractions {
    problem: "d"
    direct {
      outer_rows: 2
      rows: 3
      vectors: 1
    }
  }
}
)";

std::string ErrorOf(const std::string& text) {
  return std::string(ParseTuning(text, "f.tuning").status().message());
}

TEST(TuningFile, IsReadAsItIsWritten) {
  const absl::StatusOr<Tuning> tuning = ParseTuning(kFile, "f.tuning");
  ASSERT_TRUE(tuning.ok()) << tuning.status();
  ASSERT_EQ(tuning->targets.size(), 1u);
  const TunedTarget& target = tuning->targets[0];
  EXPECT_EQ(target.cores, 4);
  EXPECT_EQ(target.contractions.at("a").choice->rows, 7);
  EXPECT_TRUE(target.contractions.at("a").choice->columns_outside);
  EXPECT_EQ(target.contractions.at("a").default_microseconds, 12.5);
  EXPECT_EQ(target.contractions.at("b").choice->algorithm, ContractionChoice::Algorithm::kWinograd);
  EXPECT_FALSE(target.contractions.at("c").choice.has_value());
  EXPECT_EQ(target.contractions.at("d").choice->outer_rows, 2);
  EXPECT_EQ(PrintTuning(*tuning, ""), kFile);
  EXPECT_EQ(PrintTuning(*tuning, "one\ntwo\n"), absl::StrCat("# one\n# two\n", kFile));
  EXPECT_EQ(PrintTuning(*ParseTuning(absl::StrCat("# comment\n", kFile), "f"), ""), kFile);
}

TEST(TuningFile, IsForOneTarget) {
  const absl::StatusOr<Tuning> tuning = ParseTuning(kFile, "f.tuning");
  ASSERT_TRUE(tuning.ok()) << tuning.status();
  Target target = *Target::Parse("x86-64-v3 -cores=4");
  EXPECT_NE(tuning->Find(target), nullptr);
  target.cores = 1;
  EXPECT_EQ(tuning->Find(target), nullptr);
  EXPECT_EQ(tuning->Find(*Target::Parse("x86-64-v2 -cores=4")), nullptr);
}

TEST(TuningFile, MayBeEmpty) {
  EXPECT_TRUE(ParseTuning("", "f").ok());
  EXPECT_EQ(PrintTuning({}, ""), "");
}

TEST(TuningFile, SaysWhatIsWrong) {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {"targets {\n  colour: 3\n}", "f.tuning:2:9: "},
      {"targets {\n  colour: 3\n}", "no field named \"colour\""},
      {"targets { cores: \"x\" }", "f.tuning:1:"},
      {"targets {", "f.tuning:1:"},
      {"\x7f\x45LF\x01\x02", "wanted a tuning file as kiln tune writes it"},
      {"targets { contractions { direct { outside: DIAGONAL } } }", "DIAGONAL"},
      {"targets { contractions { problem: \"p\" direct { outside: 7 } } }", "7"},
      {"targets { contractions { problem: \"p\" direct { rows: 99999999999999999999 } } }",
       "f.tuning:1:"},
      {"targets { contractions { problem: \"p\" direct { } winograd { } } }", "f.tuning:1:"},
      {"targets { name: \"t\" contractions { problem: \"p\" } contractions { problem: \"p\" } }",
       "f.tuning: target 't': contraction 'p': found a second entry"},
      {"targets { name: \"t\" } targets { name: \"u\" }",
       "f.tuning: target 'u': found a second section for it"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(absl::StrContains(ErrorOf(c.text), c.error)) << ErrorOf(c.text) << "\n" << c.error;
  }
}

// Truncated files are either accepted or rejected with an error that names the file.
TEST(TuningFile, MayEndAnywhere) {
  const std::string text = kFile;
  for (size_t size = 0; size < text.size(); ++size) {
    const absl::StatusOr<Tuning> tuning = ParseTuning(text.substr(0, size), "f");
    if (!tuning.ok()) {
      EXPECT_TRUE(absl::StartsWith(tuning.status().message(), "f:")) << tuning.status();
    }
  }
}

}  // namespace
}  // namespace kiln
