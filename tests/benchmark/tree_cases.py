# SPDX-License-Identifier: Apache-2.0
"""Boosted trees of LightGBM and XGBoost, trained on generated data and converted by onnxmltools."""

import dataclasses
import importlib

from tests.benchmark.environment import np

onnx = importlib.import_module("onnx")

SEED = 1
SAMPLES = 4000
FEATURES = 30
BATCHES = (1, 10, 100, 1000)


@dataclasses.dataclass(frozen=True)
class Trees:
    library: str  # lightgbm or xgboost
    trees: int
    batch: int
    float64: bool = False

    @property
    def name(self):
        return "trees_%s_%d%s_batch_%d" % (self.library, self.trees, "_float64" if self.float64 else "", self.batch)


TREES = tuple(Trees(library, trees, batch) for library, trees in (("lightgbm", 100), ("lightgbm", 300), ("xgboost", 100)) for batch in BATCHES)
TREES += tuple(Trees("lightgbm", 100, batch, float64=True) for batch in BATCHES)


def _data():
    random = np.random.default_rng(SEED)
    samples = random.normal(size=(SAMPLES, FEATURES)).astype(np.float32)
    target = samples[:, 0] * samples[:, 1] + np.sin(3 * samples[:, 2]) + 0.1 * random.normal(size=SAMPLES)
    return samples, target.astype(np.float32)


def _converted(trees):
    """Returns the ONNX model. Trees have 31 leaves or 6 levels, the libraries' defaults."""
    samples, target = _data()
    convert = importlib.import_module("onnxmltools.convert")
    types = importlib.import_module("onnxmltools.convert.common.data_types")
    shape = [("x", types.FloatTensorType([None, FEATURES]))]
    if trees.library == "lightgbm":
        lightgbm = importlib.import_module("lightgbm")
        model = lightgbm.LGBMRegressor(n_estimators=trees.trees, n_jobs=1, verbose=-1).fit(samples, target)
        return convert.convert_lightgbm(model, initial_types=shape, target_opset=15)
    xgboost = importlib.import_module("xgboost")
    model = xgboost.XGBRegressor(n_estimators=trees.trees, n_jobs=1).fit(samples, target)
    return convert.convert_xgboost(model, initial_types=shape, target_opset=15)


def _in_float64(model):
    """Returns the same trees with data, thresholds and leaves in float64 (ai.onnx.ml 3)."""
    wide = {"nodes_values": "nodes_values_as_tensor", "target_weights": "target_weights_as_tensor", "base_values": "base_values_as_tensor",
            "nodes_hitrates": "nodes_hitrates_as_tensor"}
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name in wide:
                values = np.array(attribute.floats, np.float64)
                attribute.CopyFrom(onnx.helper.make_attribute(wide[attribute.name], onnx.numpy_helper.from_array(values)))
    for opset in model.opset_import:
        if opset.domain == "ai.onnx.ml":
            opset.version = 3
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    return model


def write(trees, path):
    """Writes the ONNX file, and returns inputs for it."""
    model = _converted(trees)
    samples = _data()[0][: trees.batch]
    if trees.float64:
        model = _in_float64(model)
        samples = samples.astype(np.float64)
    onnx.save(model, str(path))
    return {"x": samples}
