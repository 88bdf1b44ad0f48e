// SPDX-License-Identifier: Apache-2.0
#include "mlf/testing/sample.h"

#include "metadata/version.h"

namespace kiln::mlf {
namespace {

constexpr char kGraph[] =
    R"({"nodes":[{"op":"null","name":"x","inputs":[]},{"op":"null","name":"y","inputs":[]},)"
    R"({"op":"tvm_op","name":"sum","attrs":{"num_outputs":"1","num_inputs":"2",)"
    R"("flatten_data":"0","func_name":"sum"},"inputs":[[0,0,0],[1,0,0]]}],)"
    R"("arg_nodes":[0,1],"heads":[[2,0,0]],"attrs":{"dltype":["list_str",["float32","float32",)"
    R"("float32"]],"storage_id":["list_int",[0,1,2]],"shape":["list_shape",[[2],[2],[2]]]},)"
    R"("node_row_ptr":[0,1,2,3]})";

void AddTensors(proto::Function& function) {
  for (const char* const name : {"x", "y", "sum"}) {
    proto::Parameter& parameter = *function.add_parameters();
    parameter.set_relay_name_hint(name);
    parameter.set_tir_name_hint(name);
    parameter.add_shape(2);
    parameter.set_dtype("float32");
    parameter.set_size_bytes(8);
    parameter.mutable_target_device()->set_device_type(1);
  }
  function.set_num_inputs(2);
  function.set_num_outputs(1);
  function.set_io_size_bytes(24);
  function.mutable_device()->set_device_type(1);
}

proto::Metadata SampleMetadata(const std::string& name, const std::string& executor) {
  proto::Metadata metadata;
  metadata.set_version(kMetadataVersion);
  metadata.set_module_name(name);
  metadata.set_executor(executor);
  metadata.set_runtime("crt");
  metadata.set_interface_api("packed");
  metadata.set_calling_convention("cpacked");
  metadata.set_target("cortex-m4f");
  metadata.add_devices()->set_device_type(1);
  proto::Function& main = *metadata.add_functions();
  main.set_name("tvmgen_" + name + "___tvm_main__");
  main.set_workspace_size_bytes(64);
  main.set_constant_size_bytes(12);
  AddTensors(main);
  proto::Function& sum = *metadata.add_functions();
  sum.set_name("tvmgen_" + name + "_fused_add");
  sum.set_workspace_size_bytes(48);
  sum.set_constant_size_bytes(12);
  AddTensors(sum);
  proto::Pool& pool = *metadata.add_pools();
  pool.set_name("workspace");
  pool.set_size_bytes(64);
  pool.set_alignment_bytes(64);
  pool.set_lower_bound_bytes(48);
  proto::PoolBuffer& scratch = *pool.add_buffers();
  scratch.set_name("scratch");
  scratch.set_offset_bytes(16);
  scratch.set_size_bytes(48);
  return metadata;
}

}  // namespace

Module SampleModule(const std::string& name, const std::string& executor) {
  const bool graph = executor == "graph";
  Module module;
  module.metadata = SampleMetadata(name, executor);
  module.sources = {"int " + name + ";\n", "int more_of_" + name + ";\n"};
  if (graph) module.objects = {std::string("\x7f\x45LF\0\xff", 6)};
  module.header = "#define " + name + "\n";
  module.params = NoParams();
  module.relay = "def @main(%x, %y) { %x + %y }\n";
  if (graph) module.graph_json = kGraph;
  return module;
}

ModelLibrary SampleLibrary() {
  return {.modules = {SampleModule("fast", "aot"), SampleModule("slow", "graph")},
          .runtime = {{"include/crt.h", "// CRT\n"}, {"src/crt.c", ""}},
          .headers = {{"model.h", "// model\n"}},
          .export_time = 1'000'000'000};
}

}  // namespace kiln::mlf
