# SPDX-License-Identifier: Apache-2.0
"""Attributes of the rule cc_model (cc_model.bzl): properties of a model, and dependencies."""

load("//tools/bazel:tool_configuration.bzl", "TOOL_CONFIGURATION")

# Libraries that load the modules of external code generators.
def _external_deps(external, runtime):
    return [Label("//runtime_cpp/dnnl")] if "dnnl" in external and runtime == "cpp" else []

CC_MODEL_ATTRIBUTES = {
    "allow": attr.string_list(
        doc = "What may change results for speed: [\"bf16\"] rounds constants and what they are multiplied with to bfloat16 where the " +
              "target has an instruction for it.",
    ),
    "calling_convention": attr.string(
        doc = "Of operator functions: packed, cpacked or unpacked; default: what the runtime and interface take by themselves.",
        values = ["", "packed", "cpacked", "unpacked"],
    ),
    "check_indices": attr.bool(
        doc = "The model fails where an index that it computes is out of range; else it takes the nearest one.",
    ),
    "codegen": attr.string(
        doc = "What makes the code of the library: llvm or c; default: llvm where the compiler has it.",
        values = ["", "llvm", "c"],
    ),
    "constant_pools": attr.string_list(
        doc = "With runtime = \"crt\": sections for constants, \"name:size[:alignment][:speed]\"; each is called .rodata.<name>.",
    ),
    "constants": attr.string_dict(
        doc = "Values of inputs that are fixed and so none any more: {\"sr\": \"16000\"}; of ONNX and TFLite models.",
    ),
    "cpu_variants": attr.string_list(
        doc = "Instead of target: several, lowest first, whose code is in one library that runs the best that the CPU has: " +
              "[\"x86-64-v2\", \"x86-64-v3\", \"x86-64-v4\"].",
    ),
    "data": attr.label_list(
        doc = "Files that the model refers to: external data of ONNX.",
        allow_files = True,
    ),
    "dims": attr.string_dict(
        doc = "Sizes of open dimensions by their names in the model: {\"batch\": \"1\", \"seq\": \"128\"}.",
    ),
    "executor": attr.string(
        default = "aot",
        doc = "aot: a function that calls the operators in order; graph: a table that the runtime walks.",
        values = ["aot", "graph"],
    ),
    "external": attr.string_list(
        doc = "External code generators, in order of priority: [\"csource\", \"dnnl\"].",
    ),
    "fail_on_slow": attr.bool(
        doc = "Firmware: the build fails where an operator only has a slow path on the target, such as floats without a " +
              "floating-point unit; else it warns.",
    ),
    "inputs": attr.string_dict(doc = "Shapes of inputs, and perhaps dtypes: {\"data\": \"1x3x224x224:float32\"}."),
    "interface": attr.string(
        default = "packed",
        doc = "packed: functions by name; c: plain C functions, with runtime = \"crt\".",
        values = ["packed", "c"],
    ),
    "max_flash_bytes": attr.int(doc = "Budget of code, constants and initial values; over it, the build fails. 0: none."),
    "max_ram_bytes": attr.int(doc = "Budget of static memory and of the application's pools. 0: none."),
    "max_stack_bytes": attr.int(doc = "Budget of the deepest chain of calls inside of the model. 0: none."),
    "max_workspace_bytes": attr.int(doc = "Budget of memory for tensors between operators. 0: none."),
    "model": attr.label(
        doc = "The model file: ONNX, TFLite or Relay text.",
        allow_single_file = True,
        mandatory = True,
    ),
    "module_name": attr.string(doc = "A C identifier; default: the rule's name, with _ for what an identifier cannot hold."),
    "optimize": attr.string(
        doc = "What code is made for: \"speed\", \"balanced\", \"size\", or \"ram\", the smallest workspace.",
        default = "speed",
        values = ["speed", "balanced", "size", "ram"],
    ),
    "overlap": attr.bool(default = True, doc = "Firmware: outputs reach into inputs where that makes the workspace smaller."),
    "outputs": attr.string_list(
        doc = "Values at which the model ends, instead of its own outputs: names of values, or of operators, in an ONNX or TFLite model.",
    ),
    "passes": attr.string_list(doc = "Passes to switch off: [\"-fuse\"]."),
    "runtime": attr.string(
        default = "cpp",
        doc = "What runs the model: the C++ runtime (cpp) or the C runtime (crt).",
        values = ["cpp", "crt"],
    ),
    "state": attr.string_dict(doc = "Inputs that are an output of the run before, which interface = \"c\" keeps: {\"h\": \"h_out\"}."),
    "target": attr.string(
        doc = "What `kiln compile --target` takes; default: the core of a firmware platform, else \"x86-64\", which runs on every such " +
              "machine; \"x86-64-v3\" is faster.",
    ),
    "threads": attr.int(doc = "Of a parallel loop; 0: as the runtime decides, 1: serial code."),
    "tuning": attr.label(
        doc = "A tuning file of `kiln tune`: measured choices for the target.",
        allow_single_file = True,
    ),
    "winograd": attr.bool(default = True, doc = "Convolutions 3 x 3 by Winograd's filtering where that is faster."),
    "workspace_io": attr.bool(
        doc = "With interface = \"c\": inputs and outputs lie in the workspace, which the application gives.",
    ),
    "workspace_pools": attr.string_list(
        doc = "With runtime = \"crt\": scratch memory that the application gives, \"name:size[:alignment][:speed]\"; default: static memory.",
    ),
    "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    # Headers, and TVMExecute for programs that call it.
    "_c_deps": attr.label_list(default = ["//runtime_crt/include:crt", "//runtime_crt:model"]),
    "_cpp_deps": attr.label_list(default = ["//runtime_cpp", "//runtime_crt/include:abi"]),
    "_crt_aot_deps": attr.label_list(default = ["//runtime_crt:aot_executor", "//runtime_crt:module"]),
    "_crt_deps": attr.label_list(default = ["//runtime_crt:backend", "//runtime_crt:last_error", "//runtime_crt/include:crt"]),
    "_crt_graph_deps": attr.label_list(default = ["//runtime_crt:graph_executor"]),
    "_external_deps": attr.label_list(default = _external_deps),
    "_kiln": attr.label(default = "//tools:compiler", allow_files = True, executable = True, cfg = TOOL_CONFIGURATION),
    "_llvm": attr.label(default = "//tools/bazel:llvm"),
    "_platform": attr.label(default = "//tools/bazel/platforms:model_platform"),
}
