# SPDX-License-Identifier: Apache-2.0
"""Runs an ONNX model in ONNX Runtime and keeps tensors between its nodes:   run_onnx.py FOLDER

FOLDER/request.json names the model, a .npy file for every input, and the requested tensors. FOLDER/result.json names a
.npy file for every requested tensor that the model has.
"""

import json
import os
import sys

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as error:
    sys.exit(
        f"{sys.executable} has no package '{error.name}', wanted onnx, onnxruntime and numpy: install them with pip, "
        "or name another interpreter with --python"
    )


def main(folder):
    def path(name):
        return os.path.join(folder, name)

    with open(path("request.json"), encoding="utf-8") as file:
        request = json.load(file)
    model = onnx.load(request["model"])
    made = {output for node in model.graph.node for output in node.output}
    names = [name for name in request["tensors"] if name in made]
    outputs = {output.name for output in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in outputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        wanted = {value.name for value in session.get_inputs()}
        inputs = {name: numpy.load(path(file)) for name, file in request["inputs"].items() if name in wanted}
        values = session.run(names, inputs)
    except Exception as error:  # ONNX Runtime has its own exception types
        sys.exit(f"{request['model']}: {error}")
    result = {"version": onnxruntime.__version__, "tensors": {}}
    for i, (name, value) in enumerate(zip(names, values)):
        if not isinstance(value, numpy.ndarray) or value.dtype == object:
            continue
        numpy.save(path(f"tensor_{i}.npy"), numpy.asarray(value, order="C"))
        result["tensors"][name] = f"tensor_{i}.npy"
    with open(path("result.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)


main(sys.argv[1])
