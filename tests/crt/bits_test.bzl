# SPDX-License-Identifier: Apache-2.0
"""bits_test: every legal way to run a model must give the same bits."""

load("//tools:model_test.bzl", "model_test")

def bits_test(name, model, inputs, outputs):
    """Runs the model as a shared object of the C++ runtime, and compares all ways of model_test
    with the result to the bit.

    Args:
      name: name of the test suite.
      model: the model file.
      inputs: names of inputs to .npy files.
      outputs: names of outputs.
    """
    flags = " ".join(["--input %s=$(execpath %s)" % (input, path) for input, path in sorted(inputs.items())])
    files = {output: "%s_%s.npy" % (name, output) for output in outputs}
    native.genrule(
        name = name + "_outputs",
        testonly = True,
        srcs = [model] + depset(inputs.values()).to_list(),
        outs = files.values(),
        cmd = "folder=$$(mktemp -d) && " +
              "$(execpath //tools:kiln) compile $(execpath %s) -o $$folder --module-name model --target x86-64 && " % model +
              "$(execpath //tools:kiln) run $$folder/model.so %s --output $$folder >/dev/null && " % flags +
              " && ".join(["cp $$folder/%s.npy $(execpath %s)" % pair for pair in files.items()]) +
              " && rm -r $$folder",
        # `tools` are built for the host configuration, which is the target configuration here (see
        # .bazelrc).
        tools = ["//tools:kiln"],
    )
    model_test(
        name = name,
        every_way = True,
        expected = {output: ":" + path for output, path in files.items()},
        inputs = inputs,
        model = model,
    )
