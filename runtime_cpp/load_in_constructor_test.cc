// SPDX-License-Identifier: Apache-2.0
//
// Constructors of libraries that load models. The system's loader holds its lock while it runs a
// constructor, and takes it when another thread looks up a symbol.
#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/testdata/floats.h"

namespace {

std::function<void()> in_constructor;

}  // namespace

// Called by the constructor of the plugin.
extern "C" void LoadInConstructor();
void LoadInConstructor() {
  if (in_constructor) in_constructor();
}

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char kModel[] = "runtime_cpp/testdata/add_aot.so";
constexpr char kPlugin[] = "runtime_cpp/testdata/add_aot_plugin.so";

// (1 + 10) + 1
constexpr float kResult = 12;

float LoadedResult(const std::string& path) {
  const absl::StatusOr<Model> model = Model::Load(path);
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return -1;
  const absl::StatusOr<std::vector<NDArray>> outputs =
      model->Run({Floats({1, 1, 1, 1}), Floats({10, 10, 10, 10})});
  return outputs.ok() ? outputs->front().values<float>()[3] : -1;
}

class InConstructor : public ::testing::Test {
 protected:
  void TearDown() override { in_constructor = nullptr; }
};

TEST_F(InConstructor, OfAModelAnotherModelIsLoaded) {
  float result = 0;
  in_constructor = [&] { result = LoadedResult(kModel); };
  EXPECT_EQ(LoadedResult(kPlugin), kResult);
  EXPECT_EQ(result, kResult);
}

TEST_F(InConstructor, OfAModelItsOwnFileIsLoaded) {
  absl::StatusOr<Module> inner = Module();
  in_constructor = [&] { inner = Module::LoadFromFile(kPlugin); };
  const absl::StatusOr<Module> outer = Module::LoadFromFile(kPlugin);
  ASSERT_TRUE(inner.ok()) << inner.status();
  ASSERT_TRUE(outer.ok()) << outer.status();
  for (const Module& module : {*inner, *outer}) {
    const Model model = Model::FromModule(module).value();
    EXPECT_TRUE(model.Run({Floats({1, 1, 1, 1}), Floats({1, 1, 1, 1})}).ok());
  }
}

// Calls `thread` in another thread while this thread loads and closes plugins whose constructors
// load `model`.
void LoadBesidePlugins(const std::string& model, const std::function<void()>& thread) {
  const fs::path absolute = fs::absolute(kPlugin);
  std::atomic<int> loads = 0;
  in_constructor = [&] { loads += LoadedResult(model) == kResult ? 1 : 0; };
  std::atomic<bool> done = false;
  std::thread loader([&] {
    while (!done) thread();
  });
  constexpr int kPlugins = 300;
  for (int i = 0; i < kPlugins; ++i) {
    void* const plugin = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(plugin, nullptr) << dlerror();
    if (plugin != nullptr) dlclose(plugin);
  }
  done = true;
  loader.join();
  EXPECT_EQ(loads, kPlugins);
}

TEST_F(InConstructor, OfAPluginAModelIsLoadedWhileAThreadLoadsIt) {
  LoadBesidePlugins(kModel, [] { EXPECT_EQ(LoadedResult(kModel), kResult); });
}

TEST_F(InConstructor, OfAPluginAModelIsLoadedWhileAThreadLoadsAnother) {
  const std::string copy = ::testing::TempDir() + "/copy.so";
  fs::copy_file(kModel, copy, fs::copy_options::overwrite_existing);
  LoadBesidePlugins(copy, [] { EXPECT_EQ(LoadedResult(kModel), kResult); });
}

}  // namespace
}  // namespace kiln::runtime
