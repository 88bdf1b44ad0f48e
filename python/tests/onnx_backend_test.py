# SPDX-License-Identifier: Apache-2.0
"""ONNX's backend interface, used in the same way as by ONNX's own runner."""

import subprocess
import unittest

import kiln
import numpy
from kiln import onnx_backend
from python.tests.case import DIGITS, Case

try:
    import onnx
    import onnx.backend.test
    import onnx.helper
except ImportError:
    onnx = None


class OnnxBackendTest(Case):
    def test_import_needs_no_onnx(self):
        program = "import kiln.onnx_backend, sys; print('onnx' in sys.modules)"
        output, _ = self.python(program, stdout=subprocess.PIPE).communicate()
        self.assertEqual(output, "False\n")

    def test_prepare_and_run(self):
        image, expected = numpy.load("models/digits/image.npy"), numpy.load("models/digits/probabilities.npy")
        prepared = onnx_backend.prepare(DIGITS, "CPU:0", executor="graph")
        for inputs in (image, [image], {"image": image}):
            (found,) = prepared.run(inputs)
            numpy.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)
        (found,) = onnx_backend.run_model(DIGITS, [image])
        numpy.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)

    def test_devices(self):
        self.assertEqual([onnx_backend.supports_device(device) for device in ("CPU", "CPU:0", "CUDA")], [True, True, False])
        with self.assertRaisesRegex(ValueError, "found the device 'CUDA'"):
            onnx_backend.prepare(DIGITS, "CUDA")
        self.assertTrue(onnx_backend.is_compatible(DIGITS))
        self.assertFalse(onnx_backend.is_compatible(b"no model"))


@unittest.skipUnless(onnx and hasattr(onnx, "helper"), "Debian's package python3-onnx is not installed")
class OnnxTest(Case):
    def test_model_proto(self):
        (found,) = onnx_backend.run_model(onnx.load(DIGITS), [numpy.load("models/digits/image.npy")])
        self.assertEqual(int(found.argmax()), 4)

    def test_constant(self):
        make_input = onnx.helper.make_tensor_value_info
        infos = [make_input(name, onnx.TensorProto.FLOAT, shape) for name, shape in (("x", [2]), ("k", []), ("y", [2]))]
        graph = onnx.helper.make_graph([onnx.helper.make_node("Mul", ["x", "k"], ["y"])], "product", infos[:2], infos[2:])
        model = kiln.compile(onnx.helper.make_model(graph), constant={"k": 3}).load()
        self.assertEqual(model(x=numpy.array([1, 2], "float32")).tolist(), [3, 6])

    def test_node(self):
        node = onnx.helper.make_node("Sub", ["x", "y"], ["z"])
        x, y = numpy.array([5, 7], "float32"), numpy.array([1, 2], "float32")
        (found,) = onnx_backend.run_node(node, [x, y], outputs_info=[("float32", (2,))])
        self.assertEqual(found.tolist(), [4, 5])

    def test_runner(self):
        """A few cases of ONNX's own suite. //tests/conformance has all of them."""
        # ONNX 1.12 uses a name that NumPy 1.24 has removed.
        numpy.object = object
        self.addCleanup(delattr, numpy, "object")
        runner = onnx.backend.test.BackendTest(onnx_backend, __name__)
        for case in ("add", "matmul_2d", "transpose_default", "softmax_example", "maxpool_2d_default"):
            runner.include("^test_{}_cpu$".format(case))
        suite = unittest.TestSuite()
        for case in runner.test_cases.values():
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
        result = unittest.TestResult()
        suite.run(result)
        self.assertEqual(result.failures + result.errors, [])
        self.assertEqual(result.testsRun - len(result.skipped), 5)


if __name__ == "__main__":
    unittest.main()
