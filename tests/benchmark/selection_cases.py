# SPDX-License-Identifier: Apache-2.0
"""Models with one TopK each: the heads of detectors, rerankers and nearest neighbors."""

import dataclasses
import importlib

from tests.benchmark.environment import np

onnx = importlib.import_module("onnx")

OPSET = 17
SEED = 1


@dataclasses.dataclass(frozen=True)
class Selection:
    count: int  # K
    places: int  # length of a row
    rows: int = 1

    @property
    def name(self):
        return "top_%d_of_%d_rows_%d" % (self.count, self.places, self.rows)


SELECTIONS = (Selection(5, 500), Selection(100, 1024), Selection(100, 1344), Selection(300, 8400),
              Selection(8400, 8400), Selection(2, 8, rows=512), Selection(40, 32000))


def write(selection, path):
    """Writes the ONNX file, and returns inputs for it: scores from 0 to 1."""
    tensor = onnx.helper.make_tensor_value_info
    shape, chosen = (selection.rows, selection.places), (selection.rows, selection.count)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("TopK", ["scores", "k"], ["values", "places"])], selection.name,
        [tensor("scores", onnx.TensorProto.FLOAT, shape)],
        [tensor("values", onnx.TensorProto.FLOAT, chosen),
         tensor("places", onnx.TensorProto.INT64, chosen)],
        [onnx.numpy_helper.from_array(np.array([selection.count], np.int64), "k")])
    opset = onnx.helper.make_opsetid("", OPSET)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), str(path))
    return {"scores": np.random.default_rng(SEED).random(shape, np.float32)}
