// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "mlf/model_library.h"
#include "mlf/tar.h"
#include "mlf/testing/sample.h"

namespace kiln::mlf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

void ExpectSame(const Module& a, const Module& b) {
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(a.metadata, b.metadata));
  EXPECT_EQ(a.sources, b.sources);
  EXPECT_EQ(a.objects, b.objects);
  EXPECT_EQ(a.header, b.header);
  EXPECT_EQ(a.params, b.params);
  EXPECT_EQ(a.relay, b.relay);
  EXPECT_EQ(a.graph_json, b.graph_json);
}

// Returns the files of an archive without checksums, so that a test may change them.
Artifacts SampleFiles() {
  Artifacts files = UnpackTar(WriteArchive(SampleLibrary()).value(), "sample").value();
  files.erase("SHA256SUMS");
  return files;
}

absl::Status StatusOf(const Artifacts& files) {
  return ReadArchive(PackTar(files, 0).value(), "a.tar").status();
}

TEST(Mlf, GivesBackWhatWentIn) {
  const ModelLibrary library = SampleLibrary();
  const ModelLibrary read = ReadArchive(WriteArchive(library).value(), "").value();
  ASSERT_EQ(read.modules.size(), 2u);
  ExpectSame(read.modules[0], library.modules[0]);
  ExpectSame(read.modules[1], library.modules[1]);
  EXPECT_EQ(read.runtime, library.runtime);
  EXPECT_EQ(read.headers, library.headers);
  EXPECT_EQ(read.export_time, library.export_time);
}

TEST(Mlf, SameLibrarySameBytes) {
  ModelLibrary library = SampleLibrary();
  const std::string bytes = WriteArchive(library).value();
  EXPECT_EQ(bytes, WriteArchive(SampleLibrary()).value());
  std::swap(library.modules[0], library.modules[1]);
  EXPECT_EQ(bytes, WriteArchive(library).value());
}

TEST(Mlf, LayoutOfVersion7) {
  EXPECT_THAT(
      SampleFiles(),
      ElementsAre(Key("codegen/host/include/tvmgen_fast.h"),
                  Key("codegen/host/include/tvmgen_slow.h"), Key("codegen/host/lib/slow_lib0.o"),
                  Key("codegen/host/src/fast_lib0.c"), Key("codegen/host/src/fast_lib1.c"),
                  Key("codegen/host/src/kiln/model.h"), Key("codegen/host/src/slow_lib0.c"),
                  Key("codegen/host/src/slow_lib1.c"), Key("executor-config/graph/slow.graph"),
                  Key("metadata.json"), Key("metadata/fast.json"), Key("metadata/slow.json"),
                  Key("parameters/fast.params"), Key("parameters/slow.params"),
                  Key("runtime/include/crt.h"), Key("runtime/src/crt.c"), Key("src/fast.relay"),
                  Key("src/slow.relay")));
  // Magic number, reserved word, no names, no arrays.
  EXPECT_EQ(SampleFiles()["parameters/fast.params"],
            std::string("\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7", 8) + std::string(24, '\0'));
}

TEST(Mlf, DescriptionOfVersion7) {
  EXPECT_EQ(SampleFiles()["metadata.json"], R"({
  "modules": {
    "fast": {
      "executors": [
        "aot"
      ],
      "export_datetime": "2001-09-09 01:46:40Z",
      "external_dependencies": [
        {
          "short_name": "tvm_standalone_crt",
          "url": "./runtime",
          "url_type": "mlf_path",
          "version_spec": "0.9.0"
        }
      ],
      "memory": {
        "functions": {
          "main": [
            {
              "constants_size_bytes": 12,
              "device": 1,
              "io_size_bytes": 24,
              "workspace_size_bytes": 64
            }
          ],
          "operator_functions": [
            {
              "function_name": "tvmgen_fast_fused_add",
              "workspace": [
                {
                  "device": 1,
                  "workspace_size_bytes": 48
                }
              ]
            }
          ]
        }
      },
      "model_name": "fast",
      "style": "full-model",
      "target": [
        "c -keys=cpu -model=cortex-m4f"
      ]
    },
)" + SampleFiles()["metadata.json"].substr(SampleFiles()["metadata.json"].find("    \"slow\"")));
  const auto json = nlohmann::json::parse(SampleFiles()["metadata.json"]);
  EXPECT_EQ(json["version"], 7);
  const auto& slow = json["modules"]["slow"];
  EXPECT_EQ(slow["executors"], nlohmann::json::array({"graph"}));
  EXPECT_EQ(slow["target"][0], "llvm -keys=cpu -model=cortex-m4f");
  EXPECT_EQ(slow["memory"]["sids"].dump(),
            R"([{"input_binding":"x","size_bytes":8,"storage_id":0},)"
            R"({"input_binding":"y","size_bytes":8,"storage_id":1},)"
            R"({"size_bytes":8,"storage_id":2}])");
}

TEST(Mlf, WithoutRuntimeNothingDependsOnIt) {
  ModelLibrary library = SampleLibrary();
  library.runtime.clear();
  const Artifacts files = UnpackTar(WriteArchive(library).value(), "").value();
  EXPECT_EQ(files.at("metadata.json").find("external_dependencies"), std::string::npos);
}

TEST(Mlf, RefusesToWriteWhatItCannotHold) {
  const auto error = [](const ModelLibrary& library) {
    return std::string(WriteArchive(library).status().message());
  };
  EXPECT_EQ(error({}), "an archive without modules");
  ModelLibrary library = SampleLibrary();
  library.modules[1].metadata.set_module_name("fast");
  EXPECT_EQ(error(library), "two modules have the name 'fast'");
  library.modules[1].metadata.set_runtime("cpp");
  EXPECT_EQ(
      error(library),
      "module 'fast' is for the runtime 'cpp', an archive holds code for the C runtime (crt)");
  library = SampleLibrary();
  library.modules[0].sources.clear();
  EXPECT_EQ(error(library), "module 'fast' has no code");
  library = SampleLibrary();
  library.modules[1].graph_json.pop_back();
  EXPECT_EQ(error(library), "graph JSON: the text is not JSON");
  library = SampleLibrary();
  library.export_time = -1;
  EXPECT_THAT(error(library), HasSubstr("export time: found -1"));
}

TEST(Mlf, NamesBothVersionsOfAnotherArchive) {
  for (const char* const version : {"5", "8", "99999999999999999999", "-7"}) {
    Artifacts files = SampleFiles();
    files["metadata.json"] = absl::StrReplaceAll(
        files["metadata.json"], {{"\"version\": 7", absl::StrCat("\"version\": ", version)}});
    const absl::Status status = StatusOf(files);
    if (version[0] != '9') {
      EXPECT_EQ(status, absl::FailedPreconditionError(
                            absl::StrCat("a.tar: the archive has version ", version,
                                         " of the Model Library Format, version 7 can be read")));
    } else {
      EXPECT_FALSE(status.ok());
    }
  }
}

TEST(Mlf, RefusesWhatDoesNotFitTogether) {
  const struct {
    const char* file;
    const char* from;
    const char* to;
    const char* error;
  } kCases[] = {
      {"metadata.json", "\"version\": 7", "\"edition\": 7", "no version"},
      {"metadata.json", "{", "", "no JSON object"},
      {"metadata.json", "\"modules\"", "\"models\"", "the archive has no 'modules'"},
      {"metadata.json", "full-model", "operator", "wanted full-model"},
      {"metadata.json", "\"model_name\": \"fast\"", "\"model_name\": \"f\"", "model_name 'f'"},
      {"metadata.json", "\"fast\": {", "\"quick\": {", "module 'quick' has the model_name 'fast'"},
      {"metadata.json", "2001-09-09", "2001-13-09", "export_datetime '2001-13-09"},
      {"metadata.json", "\"aot\"", "\"graph\"", "for the aot executor"},
      {"metadata.json", "\"executors\"", "\"runners\"", "no 'executors'"},
      {"metadata/fast.json", "\"fast\"", "\"slow\"", "of the module 'slow'"},
      {"metadata/fast.json", "\"crt\"", "\"cpp\"", "of the runtime cpp"},
      {"metadata/fast.json", "\"version\": ", "\"version\": 9", "found metadata of version 9"},
      {"parameters/fast.params", "\xb7", "\xb8", "not the start of a params file"},
      {"executor-config/graph/slow.graph", "tvm_op", "op", "unknown op"},
  };
  for (const auto& c : kCases) {
    Artifacts files = SampleFiles();
    std::string& text = files[c.file];
    ASSERT_NE(text.find(c.from), std::string::npos) << c.from;
    text.replace(text.find(c.from), strlen(c.from), c.to);
    EXPECT_THAT(std::string(StatusOf(files).message()), HasSubstr(c.error));
  }
}

TEST(Mlf, EveryFileMustBeThereAndNoOther) {
  for (const auto& [path, bytes] : SampleFiles()) {
    Artifacts files = SampleFiles();
    files.erase(path);
    const bool optional =
        path.rfind("runtime/", 0) == 0 || path.rfind("codegen/host/src/kiln/", 0) == 0 ||
        path == "codegen/host/lib/slow_lib0.o" || path.find("_lib1.c") != std::string::npos;
    EXPECT_EQ(StatusOf(files).ok(), optional) << path;
  }
  Artifacts files = SampleFiles();
  files["codegen/host/src/fast_lib3.c"] = "";
  EXPECT_THAT(std::string(StatusOf(files).message()),
              HasSubstr("has the file codegen/host/src/fast_lib3.c, which is no part"));
  EXPECT_THAT(std::string(StatusOf({{"README", "hello"}}).message()),
              HasSubstr("a tar archive, but not of the Model Library Format"));
}

TEST(Mlf, ChecksumsOfAllFiles) {
  const Artifacts files = UnpackTar(WriteArchive(SampleLibrary()).value(), "sample").value();
  const std::string& lines = files.at("SHA256SUMS");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), static_cast<int>(files.size()) - 1);
  // The checksum is the output of printf '#pragma once\n' | sha256sum.
  const ModelLibrary library = {.modules = {SampleModule("m", "aot")},
                                .runtime = {{"a.h", "#pragma once\n"}}};
  EXPECT_THAT(UnpackTar(WriteArchive(library).value(), "").value().at("SHA256SUMS"),
              HasSubstr("\nb3adf106d95b8934f690943f2921308b90be5b766c4c8ba250c792de56400201  "
                        "runtime/a.h\n"));
  const struct {
    const char* file;
    const char* from;
    const char* to;
    const char* error;
  } kCases[] = {
      {"src/fast.relay", "", "x", "a.tar: src/fast.relay: found the SHA-256 "},
      {"runtime/extra.h", "", "", "a.tar: SHA256SUMS has no checksum of the file runtime/extra.h"},
      {"SHA256SUMS", "  src/fast.relay", "  src/fest.relay",
       "a.tar: the archive has no file src/fest.relay, of which SHA256SUMS has a checksum"},
      {"SHA256SUMS", "  codegen", " codegen",
       "a.tar: SHA256SUMS:1: wanted 64 digits, two blanks and a path that comes once"},
  };
  for (const auto& c : kCases) {
    Artifacts damaged = files;
    std::string& text = damaged[c.file];
    text.replace(text.find(c.from), strlen(c.from), c.to);
    EXPECT_THAT(std::string(StatusOf(damaged).message()), HasSubstr(c.error));
  }
}

// Returns an archive as TVM 0.9 writes it: it has no checksums and no central metadata, and no
// header with the packed interface.
Artifacts TvmFiles(const std::string& executor) {
  Artifacts files = {{"codegen/host/lib/default_lib0.o", "object"},
                     {"codegen/host/src/default_lib0.c", "code"},
                     {"parameters/default.params", NoParams()},
                     {"runtime/include/tvm/runtime/crt/crt.h", "// crt"},
                     {"src/default.relay", "def @main() {}"},
                     {"metadata.json", absl::StrReplaceAll(R"({
  "modules": {
    "default": {
      "executors": ["EXECUTOR"],
      "export_datetime": "2022-08-01 10:11:12Z",
      "external_dependencies": [{"short_name": "tvm_standalone_crt", "url": "./runtime",
                                 "url_type": "mlf_path", "version_spec": "0.9.0"}],
      "memory": {
        "functions": {
          "main": [{"constants_size_bytes": 8, "device": 1, "io_size_bytes": 18,
                    "workspace_size_bytes": 64}],
          "operator_functions": [{"function_name": "tvmgen_default_fused_add",
                                  "workspace": [{"device": 1, "workspace_size_bytes": 32}]}]
        }
      },
      "model_name": "default",
      "style": "full-model",
      "target": ["c -keys=cpu -link-params=0 -model=host"]
    }
  },
  "version": 7
}
)",
                                                           {{"EXECUTOR", executor}})}};
  if (executor == "graph") {
    files["executor-config/graph/default.graph"] = SampleModule("default", "graph").graph_json;
  }
  return files;
}

TEST(Mlf, ReadsArchivesOfTvm) {
  for (const char* const executor : {"aot", "graph"}) {
    const Artifacts files = TvmFiles(executor);
    const absl::StatusOr<ModelLibrary> library = ReadArchive(PackTar(files, 0).value(), "tvm.tar");
    ASSERT_TRUE(library.ok()) << library.status();
    ASSERT_EQ(library->modules.size(), 1u);
    const Module& module = library->modules[0];
    EXPECT_TRUE(module.is_foreign());
    EXPECT_EQ(module.name(), "default");
    EXPECT_EQ(module.metadata.executor(), executor);
    EXPECT_EQ(module.metadata.interface_api(), "packed");
    EXPECT_EQ(module.metadata.target(), "c -keys=cpu -link-params=0 -model=host");
    const bool is_aot = executor == std::string("aot");
    const proto::Function& main = module.metadata.functions(0);
    EXPECT_EQ(main.name(), is_aot ? "tvmgen_default___tvm_main__" : "");
    EXPECT_EQ(main.workspace_size_bytes(), 64);
    EXPECT_EQ(main.io_size_bytes(), 18);
    EXPECT_EQ(main.parameters_size(), is_aot ? 0 : 3);
    EXPECT_EQ(module.metadata.functions(1).workspace_size_bytes(), 32);

    // After a merge with a module compiled by Kiln, its files are unchanged.
    const ModelLibrary mine = {.modules = {SampleModule("mine", "aot")}, .export_time = 5};
    const std::string merged = WriteArchive(Merge({*library, mine}).value()).value();
    const Artifacts written = UnpackTar(merged, "both.tar").value();
    EXPECT_FALSE(written.contains("metadata/default.json"));
    for (const auto& [path, bytes] : files) {
      if (path == "metadata.json") continue;
      EXPECT_EQ(written.at(path), bytes) << path;
    }
    EXPECT_EQ(nlohmann::json::parse(written.at("metadata.json"))["modules"]["default"],
              nlohmann::json::parse(files.at("metadata.json"))["modules"]["default"]);
    const absl::StatusOr<ModelLibrary> again = ReadArchive(merged, "both.tar");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->modules[0].is_foreign());
    EXPECT_FALSE(again->modules[1].is_foreign());
  }
}

TEST(Mlf, MergesModules) {
  const ModelLibrary one = {.modules = {SampleModule("b", "aot")}, .export_time = 5};
  ModelLibrary two = {.modules = {SampleModule("a", "graph")},
                      .runtime = {{"x", "1"}},
                      .headers = {{"model.h", "1"}}};
  const ModelLibrary both = Merge({one, two}).value();
  ASSERT_EQ(both.modules.size(), 2u);
  ExpectSame(both.modules[0], two.modules[0]);
  ExpectSame(both.modules[1], one.modules[0]);
  EXPECT_EQ(both.runtime, two.runtime);
  EXPECT_EQ(both.export_time, 5);
  EXPECT_THAT(std::string(Merge({one, both}).status().message()),
              HasSubstr("two modules have the name 'b'"));
  EXPECT_EQ(both.headers, two.headers);
  ModelLibrary other = {.modules = {SampleModule("c", "aot")}, .runtime = {{"x", "2"}}};
  EXPECT_THAT(std::string(Merge({two, other}).status().message()),
              HasSubstr("different C runtimes"));
  other = {.modules = {SampleModule("c", "aot")}, .headers = {{"model.h", "2"}}};
  EXPECT_THAT(std::string(Merge({two, other}).status().message()),
              HasSubstr("different headers codegen/host/src/kiln/model.h"));
  two.modules[0].objects = {"object"};
  other = {.modules = {SampleModule("c", "aot")}};
  other.modules[0].metadata.set_target("aarch64");
  EXPECT_TRUE(Merge({two, other}).ok());
  other.modules[0].objects = {"object"};
  EXPECT_THAT(std::string(Merge({two, other}).status().message()),
              HasSubstr("the module 'a' is for the target cortex-m4f, the module 'c' for aarch64"));
}

}  // namespace
}  // namespace kiln::mlf
