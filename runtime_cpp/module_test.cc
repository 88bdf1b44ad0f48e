// SPDX-License-Identifier: Apache-2.0
//
// Tests of loading models and other files, of the system library and of metadata.
#include "runtime_cpp/module.h"

#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/testdata/floats.h"
#include "tvm/runtime/c_backend_api.h"

extern "C" {
// Symbols of testdata/add_graph.c, which is linked into this program.
extern const char __tvm_dev_mblob;
extern void* __tvm_module_ctx;
extern void* __TVMBackendParallelLaunch;
extern void* __TVMBackendAllocWorkspace;
extern void* __TVMBackendFreeWorkspace;
extern void* __TVMAPISetLastError;
int get_model_metadata(TVMValue*, int*, int, TVMValue*, int*, void*);
int tvmgen_add_fused_add(TVMValue*, int*, int, TVMValue*, int*, void*);
int tvmgen_add_fused_multiply(TVMValue*, int*, int, TVMValue*, int*, void*);
}

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAot[] = "runtime_cpp/testdata/add_aot.so";
constexpr char kGraph[] = "runtime_cpp/testdata/add_graph.so";

std::string ErrorOf(const std::string& path) {
  const absl::StatusOr<Module> module = Module::LoadFromFile(path);
  return module.ok() ? "" : std::string(module.status().message());
}

std::string WriteFile(const std::string& name, const std::string& bytes) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(LoadFromFile, BuildsTheTreeOfModules) {
  const Module aot = Module::LoadFromFile(kAot).value();
  EXPECT_EQ(aot.type_key(), "AotExecutorFactory");
  ASSERT_EQ(aot.imports().size(), 1u);
  EXPECT_EQ(aot.imports()[0]->type_key(), "metadata_module");
  const Module library(aot.imports()[0]->imports().at(0));
  EXPECT_EQ(library.type_key(), "library");
  EXPECT_EQ(library["get_func_names"]()->String().value(),
            "get_model_metadata\ntvmgen_add___tvm_main__\ntvmgen_add_fused_add");
  // Data cannot be called as a function.
  EXPECT_FALSE(library.GetFunction("__tvm_module_ctx").ok());
  // Symbols of the library's dependencies are not found.
  EXPECT_FALSE(library.GetFunction("malloc").ok());
}

TEST(LoadFromFile, SameFileTwiceSharesTheLibrary) {
  const Module first = Module::LoadFromFile(kGraph).value();
  Module second = Module::LoadFromFile(kGraph).value();
  EXPECT_NE(first.node(), second.node());
  EXPECT_EQ(first.imports()[0], second.imports()[0]);
  second = Module();
  EXPECT_TRUE(Model::FromModule(first)->Run({Floats({1, 2, 3, 4}), Floats({1, 2, 3, 4})}).ok());
}

TEST(LoadFromFile, ManyThreadsMayLoadAndUnload) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 20; ++j) EXPECT_EQ(ErrorOf(kAot), "");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LoadFromFile, OtherFilesAreRefused) {
  EXPECT_THAT(ErrorOf("no_such_file.so"), HasSubstr("no_such_file.so: cannot open the file"));
  EXPECT_THAT(ErrorOf(WriteFile("text.so", "just text")), HasSubstr("is not a shared object"));
  EXPECT_THAT(ErrorOf("runtime_cpp/testdata/not_a_model.so"),
              HasSubstr("is a shared object, but not a compiled model"));
}

TEST(LoadFromFile, LibrariesForOtherMachinesAreNamed) {
  std::ifstream file(kGraph, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const auto& [machine, elf_class, name] :
       {std::tuple(243, 1, "riscv32"), std::tuple(40, 1, "arm"), std::tuple(8, 2, "the 64-bit")}) {
    bytes[18] = static_cast<char>(machine);
    bytes[4] = static_cast<char>(elf_class);
    EXPECT_THAT(ErrorOf(WriteFile("other.so", bytes)),
                testing::AllOf(HasSubstr(absl::StrCat("other.so: is for ", name)),
                               HasSubstr(", this machine is ")));
  }
}

TEST(LoadFromFile, TruncatedFilesAreRefusedOrWhole) {
  std::ifstream file(kGraph, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_GT(bytes.size(), 1000u);
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); size += 97) {
    // Bytes after the last segment are not needed to run.
    refused += ErrorOf(WriteFile(absl::StrCat("cut", size, ".so"), bytes.substr(0, size))) != "";
  }
  EXPECT_GT(refused, 50);
}

TEST(LoadFromFile, DamagedBlobNamesTheFile) {
  std::ifstream file(kGraph, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t key = bytes.find("GraphExecutorFactory{");
  ASSERT_EQ(key, std::string::npos);  // A length is between key and table.
  const size_t blob = bytes.find("GraphExecutorFactory") - 24;
  bytes[blob + 1] = '\x7f';  // The length of the whole blob.
  EXPECT_THAT(ErrorOf(WriteFile("length.so", bytes)),
              testing::AllOf(HasSubstr("length.so: __tvm_dev_mblob says that"),
                             HasSubstr("bytes follow; there are")));
}

TEST(Module, ImportsMayNotFormACycle) {
  const Module a = Module::LoadFromFile(kAot).value();
  const Module b = Module::LoadFromFile(kGraph).value();
  EXPECT_TRUE(a.Import(b).ok());
  EXPECT_FALSE(b.Import(a).ok());
  EXPECT_FALSE(a.Import(a).ok());
  EXPECT_TRUE(a.GetFunction("get_graph_json", /*query_imports=*/true).ok());
  EXPECT_FALSE(a.GetFunction("get_graph_json").ok());
}

TEST(Metadata, TypedViewOfTheModel) {
  const Module factory = Module::LoadFromFile(kAot).value();
  const ModelMetadataModule module = ModelMetadataModule::Find(factory).value();
  const ModelMetadata metadata = module.get_model_metadata().value();
  EXPECT_EQ(metadata.version(), KILN_METADATA_VERSION);
  EXPECT_EQ(metadata.module_name(), "add");
  EXPECT_EQ(metadata.executor(), "aot");
  EXPECT_EQ(metadata.num_functions(), 2);
  const FunctionInfoView run_model = metadata.run_model();
  EXPECT_EQ(run_model.function_name(), "tvmgen_add___tvm_main__");
  EXPECT_EQ(run_model.workspace_size_bytes(), 64);
  ASSERT_EQ(run_model.inputs().size(), 2u);
  EXPECT_EQ(run_model.inputs()[1].relay_name_hint(), "y:0");
  EXPECT_EQ(run_model.inputs()[1].tir_name_hint(), "y_0");
  EXPECT_FALSE(run_model.inputs()[1].is_quantized());
  EXPECT_THAT(run_model.outputs()[0].shape(), ElementsAre(4));
  EXPECT_EQ(metadata.function(1).op_names(), "add");
  EXPECT_EQ(metadata.function(1).source(), "a1 a2");
  EXPECT_EQ(metadata.function(1).schedule(), "naive");
  EXPECT_EQ(run_model.schedule(), "");
  ASSERT_NE(run_model.cost(), nullptr);
  EXPECT_EQ(run_model.cost()->operations, 8);
  EXPECT_EQ(metadata.function(1).cost()->accessed_bytes, 48);
  EXPECT_EQ(metadata.pools().at(0).size_bytes, 64);
  EXPECT_EQ(metadata.pools().at(0).lower_bound_bytes, 16);
  EXPECT_STREQ(metadata.pools().at(0).buffers[0].name, "t2");
}

TEST(Metadata, ModuleOfAGraphExecutor) {
  const Module factory = Module::LoadFromFile(kGraph).value();
  const absl::StatusOr<ModelMetadataModule> module = ModelMetadataModule::Find(factory);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->module().type_key(), "metadata_module");
  EXPECT_TRUE(module->module().GetFunction("get_model_metadata").ok());
  const ModelMetadata metadata = module->get_model_metadata().value();
  EXPECT_EQ(metadata.executor(), "graph");
  EXPECT_TRUE(metadata.is_complete());
  // A graph is not run by a function of the library.
  EXPECT_EQ(metadata.run_model().function_name(), "");
}

TEST(Metadata, OtherVersionsAreNamed) {
  const ModelMetadata metadata = ModelMetadata::Find(Module::LoadFromFile(kAot).value()).value();
  ::Metadata other = metadata.c_struct();
  EXPECT_TRUE(CheckMetadata(&other).ok());
  other.version = KILN_METADATA_VERSION + 1;
  EXPECT_THAT(std::string(CheckMetadata(&other).message()),
              HasSubstr(absl::StrCat("metadata of version ", KILN_METADATA_VERSION + 1,
                                     ", this runtime reads version ", KILN_METADATA_VERSION)));
  other = metadata.c_struct();
  other.num_functions = 0;
  EXPECT_FALSE(CheckMetadata(&other).ok());
  other = metadata.c_struct();
  other.module_name = nullptr;
  EXPECT_FALSE(CheckMetadata(&other).ok());
  other = metadata.c_struct();
  ::FunctionInfo function = other.functions[0];
  function.num_outputs = 5;
  other.functions = &function;
  other.num_functions = 1;
  EXPECT_FALSE(CheckMetadata(&other).ok());
  other = metadata.c_struct();
  ::PoolInfo pool = other.pools[0];
  pool.buffers = nullptr;
  other.pools = &pool;
  EXPECT_FALSE(CheckMetadata(&other).ok());
}

TEST(Metadata, NamesDevicesAndLaunchParameters) {
  const absl::StatusOr<Module> module = Module::LoadFromFile(kAot);
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<ModelMetadata> metadata = ModelMetadata::Find(*module);
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_STREQ(metadata->devices().at(0).name, "cpu");
  EXPECT_EQ(metadata->function(1).module_type(), "library");
  ASSERT_EQ(metadata->function(1).launch_params().size(), 1u);
  EXPECT_STREQ(metadata->function(1).launch_params()[0].name, "parallel_iterations");
  EXPECT_EQ(metadata->function(1).launch_params()[0].value, 4);
  ::Metadata other = metadata->c_struct();
  other.devices = nullptr;
  EXPECT_FALSE(CheckMetadata(&other).ok());
}

TEST(SystemLib, RunsALinkedModel) {
  EXPECT_THAT(std::string(Module::SystemLib().status().message()), HasSubstr("no model is linked"));
  const std::pair<const char*, void*> symbols[] = {
      {"__tvm_dev_mblob", const_cast<char*>(&__tvm_dev_mblob)},
      {"__tvm_module_ctx", &__tvm_module_ctx},
      {"__TVMBackendParallelLaunch", &__TVMBackendParallelLaunch},
      {"__TVMBackendAllocWorkspace", &__TVMBackendAllocWorkspace},
      {"__TVMBackendFreeWorkspace", &__TVMBackendFreeWorkspace},
      {"__TVMAPISetLastError", &__TVMAPISetLastError},
      {"tvmgen_add_get_model_metadata", reinterpret_cast<void*>(&get_model_metadata)},
      {"tvmgen_add_fused_add", reinterpret_cast<void*>(&tvmgen_add_fused_add)},
      {"tvmgen_add_fused_multiply", reinterpret_cast<void*>(&tvmgen_add_fused_multiply)},
  };
  for (const auto& [name, address] : symbols) {
    ASSERT_EQ(TVMBackendRegisterSystemLibSymbol(name, address), 0) << TVMGetLastError();
  }
  EXPECT_THAT(std::string(Module::SystemLib("multiply").status().message()),
              HasSubstr("'multiply' is not linked into this program; 'add' is"));
  // A second model registers the same name without a prefix. Only prefixed names remain usable.
  int other = 0;
  EXPECT_EQ(TVMBackendRegisterSystemLibSymbol("get_c_metadata", &other), 0);
  EXPECT_NE(TVMBackendRegisterSystemLibSymbol("get_c_metadata", &other + 1), 0);
  EXPECT_THAT(TVMGetLastError(), HasSubstr("several models register 'get_c_metadata'"));
  EXPECT_EQ(TVMBackendRegisterSystemLibSymbol("tvmgen_mul___tvm_dev_mblob", &other), 0);
  EXPECT_EQ(TVMBackendRegisterSystemLibSymbol("tvmgen_add___tvm_dev_mblob",
                                              const_cast<char*>(&__tvm_dev_mblob)),
            0);
  EXPECT_NE(TVMBackendRegisterSystemLibSymbol("__tvm_dev_mblob", &other), 0);
  EXPECT_EQ(Module::SystemLib().status().message(),
            "several models are linked into this program: 'add', 'mul'; name one");
  EXPECT_EQ(Module::SystemLib("div").status().message(),
            "model 'div' is not linked into this program; it has 'add', 'mul'");
  const Module module = Module::SystemLib("add").value();
  EXPECT_EQ(module.node(), Module::SystemLib("add")->node());
  EXPECT_FALSE(module.imports().at(0)->FindFunction("get_c_metadata").defined());
  const Model model = Model::FromModule(module).value();
  const std::vector<NDArray> outputs =
      model.Run({Floats({1, 2, 3, 4}), Floats({1, 1, 1, 1})}).value();
  EXPECT_THAT(outputs[0].values<float>(), ElementsAre(20, 30, 40, 50));
}

}  // namespace
}  // namespace kiln::runtime
