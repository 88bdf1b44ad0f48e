// SPDX-License-Identifier: Apache-2.0
// Reads metadata as C structs in the layout of every version.
#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "metadata/version.h"
#include "runtime_cpp/metadata.h"

namespace kiln::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Returns the structs of structs.c, compiled with the header of each version.
std::map<int, const ::Metadata*> AllStructs() {
  std::map<int, const ::Metadata*> all;
  for (const auto& file : std::filesystem::directory_iterator("metadata/testdata")) {
    int version = 0;
    char tail = 0;
    const std::string name = file.path().filename().string();
    if (std::sscanf(name.c_str(), "v%d_structs.s%c", &version, &tail) != 2) continue;
    void* const library = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    if (library == nullptr) continue;
    using Getter = const ::Metadata* (*)();
    const auto getter = reinterpret_cast<Getter>(dlsym(library, "metadata_of_a_version"));
    EXPECT_NE(getter, nullptr) << name;
    if (getter != nullptr) all[version] = getter();
  }
  return all;
}

TEST(MetadataVersions, StructsAndSchemaCountAlike) {
  EXPECT_EQ(KILN_METADATA_VERSION, kMetadataVersion);
}

TEST(MetadataVersions, EveryReleasedVersionIsReadOrRefused) {
  const std::map<int, const ::Metadata*> all = AllStructs();
  ASSERT_EQ(all.size(), static_cast<size_t>(KILN_METADATA_VERSION));
  for (const auto& [version, metadata] : all) {
    const absl::Status status = CheckMetadata(metadata);
    if (version == KILN_METADATA_VERSION) {
      EXPECT_TRUE(status.ok()) << status;
      continue;
    }
    // All versions have the version number at the same offset.
    EXPECT_EQ(metadata->version, version);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(absl::StrCat("metadata of version ", version)),
                      HasSubstr(absl::StrCat("reads version ", KILN_METADATA_VERSION))));
  }
}

TEST(MetadataVersions, TheCurrentLayoutIsTheReleasedOne) {
  const ::Metadata* const metadata = AllStructs().at(KILN_METADATA_VERSION);
  EXPECT_STREQ(metadata->module_name, "small");
  EXPECT_STREQ(metadata->target, "host");
  ASSERT_EQ(metadata->num_functions, 1);
  const ::FunctionInfo& function = metadata->functions[0];
  EXPECT_EQ(function.constant_size_bytes, 12);
  EXPECT_EQ(function.device.device_type, kDLCPU);
  const TensorInfo x = ParameterInfoView(&function.params[0]).ToTensorInfo();
  EXPECT_EQ(x.name, "input-x");
  EXPECT_EQ(x.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(x.quantization.zero_points, std::vector<int32_t>{-3});
  EXPECT_EQ(ParameterInfoView(&function.params[1]).size_bytes(), 4);
  ASSERT_EQ(metadata->num_pools, 1);
  EXPECT_EQ(metadata->pools[0].alignment_bytes, 64);
  EXPECT_EQ(metadata->pools[0].kind, KILN_POOL_WORKSPACE);
}

}  // namespace
}  // namespace kiln::runtime
