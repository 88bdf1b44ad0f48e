# SPDX-License-Identifier: Apache-2.0
"""model_test: one set of inputs and expected outputs on every way to run a model.

    model_test(
        name = "my_mod_test",
        model = "my_mod.relay",
        inputs = {"a": "a.npy", "b": "b.npy"},
        expected = {"output": "sum.npy"},
    )

makes a test for each executor of the C++ runtime and each code generator, and a test suite of this name.
"""

load("@rules_cc//cc:defs.bzl", "cc_test")
load(":cc_model.bzl", "cc_model")

def model_test(name, model, inputs, expected, rtol = 0, atol = 0, input_shapes = {}, target = "x86-64", size = "small"):
    """Runs `model` on every executor and code generator of the C++ runtime.

    Args:
      name: of the test suite.
      model: Relay text or ONNX.
      inputs: names of inputs to files with their values (.npy or .pb).
      expected: names of outputs to files with what must come out.
      rtol: relative tolerance; 0 with atol = 0: equal bits.
      atol: absolute tolerance.
      input_shapes: cc_model's `inputs`.
      target: cc_model's `target`.
      size: of each test.
    """
    tests = []
    for executor in ["aot", "graph"]:
        for codegen in ["llvm", "c"]:
            variant = "%s_cpp_%s_%s" % (name, executor, codegen)
            cc_model(
                name = variant + "_model",
                testonly = True,
                codegen = codegen,
                executor = executor,
                inputs = input_shapes,
                model = model,
                module_name = variant,
                target = target,
            )
            args = ["$(rootpath :%s_library)" % variant]
            native.filegroup(
                name = variant + "_library",
                testonly = True,
                srcs = [":%s_model" % variant],
                output_group = "shared_object",
            )
            for tensor, path in sorted(inputs.items()):
                args.append("--input=%s=$(rootpath %s)" % (tensor, path))
            for tensor, path in sorted(expected.items()):
                args.append("--check=%s=$(rootpath %s)" % (tensor, path))
            cc_test(
                name = variant,
                size = size,
                args = ["run"] + args + ["--rtol=%s" % rtol, "--atol=%s" % atol],
                data = [":%s_library" % variant] + depset(inputs.values() + expected.values()).to_list(),
                deps = [Label("//tools/kiln:main")],
            )
            tests.append(variant)
    native.test_suite(
        name = name,
        tests = tests,
    )
