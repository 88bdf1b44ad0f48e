# SPDX-License-Identifier: Apache-2.0
"""Runs every case of the package onnx by ONNX's own backend runner, and measures the error of each output.

  cases = Cases()
  for case in cases.names():
      print(cases.run(case))

NumPy computes many of the expected values, and its last bits depend on the CPU. Both sides are therefore limited to x86-64-v3.
"""

import os
import platform
import re
import tempfile

IS_X86 = platform.machine() == "x86_64"
os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4 AVX512_ICL AVX512_SPR" if IS_X86 else ""
os.environ.update(OPENBLAS_CORETYPE="Haswell" if IS_X86 else "", OPENBLAS_NUM_THREADS="1")

import kiln  # noqa: E402
import numpy  # noqa: E402
import onnx  # noqa: E402
from kiln import onnx_backend  # noqa: E402
from onnx.backend.test.loader import load_model_tests  # noqa: E402
from onnx.backend.test.runner import Runner  # noqa: E402

VERSION = onnx.__version__
TARGET = "x86-64-v3" if IS_X86 else "host"

# Texts of errors with which Kiln refuses a model, and the reason that the page gives. A refusal without any of these
# texts is a failure.
_REASONS = [
    (r"data type STRING|operator (String\w*|RegexFullMatch)\b", "strings"),
    (r"operator TfIdfVectorizer ", "text"),
    (r"\bis an? (sequence|optional)", "a sequence or optional as input or output"),
    (r"operator Bernoulli |\.noise\b", "random numbers"),
    (r"operator ai.onnx.preview.training.\w+ |training_mode", "training"),
    (r"operator ImageDecoder ", "image files"),
    (r"data type 24\b", "powers of two as a type"),
    (r"operator TensorScatter ", "the operator"),
    (r"\(Attention\): the output qk_matmul_output", "the output qk_matmul_output"),
    (r"\(Attention\): the input nonpad_kv_seqlen", "the input nonpad_kv_seqlen"),
]

# Cases whose expected output differs from the operator's definition.
_WRONG_EXPECTATIONS = {
    r"test_qlinearmatmul_[23]D_int8_float\d+$": "expected values that wrap around instead of saturating",
    r"test_dft_inverse(_opset19)?$": "expected values of NumPy that are 1.9e-7 where 0 is exact",
}


def can_run():
    """True if this machine can run code for TARGET."""
    if not IS_X86:
        return True
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return {"avx2", "fma", "bmi2"} <= set(file.read().split())


class _FixedShapes:
    """A model that is compiled when its inputs are known: with their shapes, and with inputs as constants if they must
    be constant."""

    def __init__(self, model):
        self._model = model

    def run(self, inputs):
        initializers = {tensor.name for tensor in self._model.graph.initializer}
        names = [port.name for port in self._model.graph.input if port.name not in initializers]
        values, constants = dict(zip(names, inputs)), {}
        with tempfile.TemporaryDirectory() as folder:
            while True:
                shapes = {name: value.shape for name, value in values.items() if getattr(value, "shape", None)}
                try:
                    library = kiln.compile(self._model, target=TARGET, input=shapes, constant=constants)
                    break
                except kiln.ModelError as error:
                    needed = values.keys() & set(re.findall(r"--constant ([^=\s]+)=VALUE", str(error)))
                    if not needed:
                        raise
                for name in sorted(needed):
                    constants[name] = os.path.join(folder, "%d.pb" % len(constants))
                    with open(constants[name], "wb") as file:
                        file.write(onnx.numpy_helper.from_array(numpy.asarray(values.pop(name))).SerializeToString())
            return onnx_backend.BackendRep(library.load(), self._model).run(list(values.values()))


class _Backend:
    supports_device = staticmethod(onnx_backend.supports_device)

    @staticmethod
    def prepare(model, device="CPU", **_):
        return _FixedShapes(model)


def _ordered(array):
    """Maps floats to integers in the same order, so that neighbors differ by 1."""
    bits = array.view("int%d" % (8 * array.dtype.itemsize)).astype("int64")
    lowest = numpy.int64(-(2 ** (8 * array.dtype.itemsize - 1)))
    return numpy.where(bits < 0, lowest - bits, bits)


class Error:
    """The largest differences of outputs from the expected values. A field is None if there is no output of its kind."""

    def __init__(self):
        self.ulps = None  # units in the last place of the tensor's largest magnitude
        self.element_ulps = None  # number of floats between the two values of an element
        self.integers = None  # number of differing elements of integers, truth values and small floats

    def add(self, found, wanted):
        if wanted.dtype.kind == "V":  # types of ml_dtypes, for which numpy.spacing is not defined
            a, b = found.astype("float64"), wanted.astype("float64")
            self.integers = (self.integers or 0) + int(numpy.count_nonzero((a != b) & ~(numpy.isnan(a) & numpy.isnan(b))))
            return
        if wanted.dtype.kind != "f":
            self.integers = (self.integers or 0) + int(numpy.count_nonzero(found != wanted))
            return
        self.ulps, self.element_ulps = self.ulps or 0.0, self.element_ulps or 0
        counts = numpy.isfinite(wanted) & numpy.isfinite(found)
        if not counts.any():
            return
        found, wanted = found[counts], wanted[counts]
        difference = numpy.abs(found.astype("longdouble") - wanted.astype("longdouble")).max()
        self.ulps = max(self.ulps, float(difference / numpy.spacing(numpy.abs(wanted).max())))
        between = _ordered(found).astype(object) - _ordered(wanted).astype(object)
        self.element_ulps = max(self.element_ulps, int(numpy.abs(between).max()))


class Result:
    """The result of one case. `reason` is empty if it passed. `known` is true if the page gives this reason, and false
    for a failure."""

    def __init__(self):
        self.reason, self.known, self.error = "", False, Error()


class _Measured(Runner):
    """ONNX's runner, which also records the error of the outputs."""

    error = Error()

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, *args, **kwargs):
        super().assert_similar_outputs(ref_outputs, outputs, *args, **kwargs)
        for found, wanted in zip(outputs, ref_outputs):
            cls.error.add(numpy.atleast_1d(found), numpy.atleast_1d(wanted))


def _operator_and_opset(kind, models, name):
    """Returns the operator of a case (domain and name) and the opset. If the case has several operators, the kind of
    case replaces the operator."""
    model = models[name]
    # The expansion of a function of ONNX is a case of the function's operator.
    about = models.get(re.sub(r"_expanded(_ver\d+)?$", "", name), model)
    nodes = about.graph.node
    domain = nodes[0].domain if len(nodes) == 1 else ""
    operator = ".".join(filter(None, (domain, nodes[0].op_type))) if len(nodes) == 1 else "models of " + kind
    versions = {"" if opset.domain == "ai.onnx" else opset.domain: opset.version for opset in model.opset_import}
    return operator, versions.get(domain, versions.get(""))


class Cases:
    """The cases for CPUs. `about` maps the name of a case to its operator and opset."""

    def __init__(self):
        numpy.random.seed(0)  # for inputs that are generated here
        tests = _Measured(_Backend, __name__).test_cases
        self._run = {name[: -len("_cpu")]: getattr(test, name) for test in tests.values() for name in dir(test) if name.endswith("_cpu")}
        self.about = {}
        for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
            cases = {case.name: case.model or onnx.load(os.path.join(case.model_dir, "model.onnx")) for case in load_model_tests(kind=kind)}
            self.about.update((name, _operator_and_opset(kind, cases, name)) for name in cases)

    def run(self, name):
        result, _Measured.error = Result(), Error()
        try:
            self._run[name](None)
            result.error = _Measured.error
        except Exception as error:  # any exception is the result of the case
            known = [reason for text, reason in _REASONS if re.search(text, str(error))]
            if isinstance(error, AssertionError):
                known += [reason for case, reason in _WRONG_EXPECTATIONS.items() if re.match(case, name)]
            result.reason = known[0] if known else "%s: %s" % (type(error).__name__, error)
            result.known = bool(known)
        return result
