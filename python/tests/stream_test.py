# SPDX-License-Identifier: Apache-2.0
"""Streams: runs of a model that pass states on."""

import gc
import pickle
import threading
import unittest

import kiln
import numpy
from python.tests.case import MY_MOD, Case

# Outputs the square of a running sum, and the sum, which is a state.
SUMS = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(3), float32], %sum: Tensor[(3), float32]) {
  %0 = add(%x, %sum);
  (multiply(%0, %0), %0)
}
"""
# Has two sums of different types. An output is computed from the first one.
TWO_STATES = b"""#[version = "0.0.5"]
def @main(%a: Tensor[(2), float32], %x: Tensor[(2), float32], %n: Tensor[(1), int64]) {
  %0 = add(%a, %x);
  (%0, add(%n, 1i64), negative(%0))
}
"""
# A sum and a count that begin with 2 and with -7. Only the count is of integers.
BEGUN = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32], %sum: Tensor[(2), float32], %count: Tensor[(1), int32],
          output_tensor_names=["y", "sum.next", "count.next"],
          state_inputs=["sum", "count"], state_outputs=["sum.next", "count.next"], state_initial=[2f, -7f]) {
  %0 = add(%sum, %x);
  %1 = add(%count, 1);
  (multiply(%0, cast(%1, dtype="float32")), %0, %1)
}
"""
# A cache of four rows. Each run writes the row at the given index and outputs the sum of all rows.
CACHE = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3), float32], %at: Tensor[(1, 3), int32], %cache: Tensor[(4, 3), float32]) {
  %0 = scatter_elements(%cache, %at, %x, axis=0);
  (sum(%0, axis=[0]), %0)
}
"""


def floats(*values):
    return numpy.array(values, "float32")


class StreamTest(Case):
    @classmethod
    def setUpClass(cls):
        cls.sums = kiln.compile(SUMS, state="sum=output1").load()
        cls.graph = kiln.compile(SUMS, state="sum=output1", executor="graph").load()
        cls.stateless = kiln.compile(MY_MOD).load()

    def test_keeps_the_state(self):
        for model in (self.sums, self.graph):
            self.assertEqual(model.states, (kiln.State("sum", "output1", 0.0),))
            stream = model.stream()
            for step in range(1, 6):
                found = stream(floats(1, 2, 3))
                self.assertEqual(found.tolist(), [step * step, 4 * step * step, 9 * step * step])
            self.assertEqual(stream.states["sum"].tolist(), [5, 10, 15])
            stream.reset()
            self.assertEqual(stream.states["sum"].tolist(), [0, 0, 0])
            self.assertEqual(stream(x=floats(2, 0, 1)).tolist(), [4, 0, 1])

    def test_values_that_states_begin_with(self):
        for executor in ("aot", "graph"):
            model = kiln.compile(BEGUN, executor=executor).load()
            self.assertEqual(model.states, (kiln.State("sum", "sum.next", 2.0), kiln.State("count", "count.next", -7.0)))
            stream = model.stream()
            for _ in range(2):
                states = stream.states
                self.assertEqual((states["sum"].tolist(), states["count"].tolist()), ([2, 2], [-7]))
                self.assertEqual(stream(floats(1, 2)).tolist(), [-18, -24])
                self.assertEqual(stream(floats(1, 2)).tolist(), [-20, -30])
                stream.reset()
            # A call without a stream has no initial values: its states are arguments.
            found = model(floats(1, 2), floats(0, 0), numpy.zeros(1, "int32"))
            self.assertEqual([array.tolist() for array in found], [[1, 2], [1, 2], [1]])

    def test_cache(self):
        """The state is updated in place in a stream, and copied in calls without one."""
        for executor in ("aot", "graph"):
            model = kiln.compile(CACHE, state="cache=output1", executor=executor).load()
            stream, wanted = model.stream(), numpy.zeros((4, 3), "float32")
            for step, row in enumerate((2, 0, 2, 3)):
                x = numpy.full((1, 3), step + 1, "float32")
                wanted[row] = x
                sums, cache = model(x, numpy.full((1, 3), row, "int32"), stream.states["cache"])
                numpy.testing.assert_array_equal(cache, wanted)
                numpy.testing.assert_array_equal(stream(x, numpy.full((1, 3), row, "int32")), wanted.sum(0))
                numpy.testing.assert_array_equal(sums, wanted.sum(0))
                numpy.testing.assert_array_equal(stream.states["cache"], wanted)

    def test_equals_a_loop_over_the_model(self):
        random = numpy.random.default_rng(3)
        state, stream = numpy.zeros(3, "float32"), self.sums.stream()
        for _ in range(20):
            x = random.standard_normal(3, "float32")
            wanted, state = self.sums(x, state)
            numpy.testing.assert_array_equal(stream(x), wanted)
        numpy.testing.assert_array_equal(stream.states["sum"], state)

    def test_streams_are_independent(self):
        first, second = self.sums.stream(), self.sums.stream()
        first(floats(1, 1, 1))
        second(floats(5, 5, 5))
        self.assertEqual(first(floats(1, 1, 1)).tolist(), [4, 4, 4])
        self.assertEqual(second(floats(0, 0, 0)).tolist(), [25, 25, 25])

    def test_several_states(self):
        stream = kiln.compile(TWO_STATES, state=["a=output0", "n=output1"]).load().stream()
        self.assertEqual([info.name for info in stream.inputs], ["x"])
        self.assertEqual([info.name for info in stream.outputs], ["output2"])
        for _ in range(3):
            found = stream(floats(1, 2))
        self.assertEqual(found.tolist(), [-3, -6])
        states = stream.states
        self.assertEqual(states["a"].tolist(), [3, 6])
        self.assertEqual((states["n"].dtype, states["n"].tolist()), (numpy.dtype("int64"), [3]))
        stream.states = {"n": numpy.array([40]), "a": floats(10, 20)}
        self.assertEqual(stream(floats(0, 0)).tolist(), [-10, -20])
        self.assertEqual(stream.states["n"].tolist(), [41])

    def test_arrays_of_any_kind(self):
        stream = self.sums.stream()
        wide = numpy.zeros((3, 2), "float32")
        wide[:, 0] = 1
        stream(wide[:, 0])  # not contiguous
        memory = numpy.zeros(20, "int8")
        odd = memory[1:13].view("float32")  # not aligned
        odd[:] = 1
        target = numpy.zeros(20, "int8")[3:15].view("float32")
        self.assertIs(stream(odd, out=target), target)
        self.assertEqual(target.tolist(), [4, 4, 4])
        self.assertEqual(stream(floats(0, 0, 0)).tolist(), [4, 4, 4])
        # An output overlaps the input.
        x = floats(1, 1, 1)
        self.refuses(ValueError, "overlaps input 'x'", stream, x, out=x)
        self.assertEqual(stream.states["sum"].tolist(), [2, 2, 2])

    def test_what_is_wrong(self):
        self.refuses(kiln.ModelError, "the model has no state; --state input=output", self.stateless.stream)
        self.assertEqual(self.stateless.states, ())
        stream = self.sums.stream()
        self.refuses(TypeError, "model 'model' got 2 inputs, wanted 1", stream, floats(1, 2, 3), floats(1, 2, 3))
        self.refuses(TypeError, "has no input 'sum'", stream, sum=floats(1, 2, 3))
        self.refuses(ValueError, "found the shape (2,), wanted (3,)", stream, floats(1, 2))
        self.refuses(TypeError, "cannot be pickled", pickle.dumps, stream)
        for states, error, words in (
            ({}, TypeError, "states: found none, wanted 'sum'"),
            ({"sum": floats(1)}, ValueError, "state 'sum': found the shape (1,)"),
            ({"sum": numpy.zeros(3)}, TypeError, "state 'sum': found float64"),
        ):
            with self.assertRaises(error) as caught:
                stream.states = states
            self.assertIn(words, str(caught.exception))
        self.assertEqual(stream.states["sum"].tolist(), [0, 0, 0])

    def test_outlives_its_model(self):
        model = kiln.compile(SUMS, state="sum=output1").load()
        stream = model.stream()
        model.close()
        self.refuses(kiln.ModelError, "the model is closed", model.stream)
        del model
        gc.collect()
        self.assertEqual(stream(floats(1, 2, 3)).tolist(), [1, 4, 9])

    def test_threads_take_turns(self):
        stream, one = self.sums.stream(), floats(1, 1, 1)
        threads = [threading.Thread(target=lambda: [stream(one) for _ in range(100)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(stream.states["sum"].tolist(), [800, 800, 800])


if __name__ == "__main__":
    unittest.main()
