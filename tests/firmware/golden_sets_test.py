# SPDX-License-Identifier: Apache-2.0
"""The whole golden sets of the models of MLPerf Tiny on boards in QEMU. 196 spectra, 500 and 200 images, and 1,000 words give the outputs of
TFLite Micro, to the byte, by gcc, clang and LLVM.

    golden_sets_test BOARDS    skipped if KILN_SHARED_DATA is not set to the folder with the models; BOARDS is JSON, as for tflite_models.py

An image contains as many samples as the board's flash has room for.
"""

import json
import os
import sys
import tempfile
import unittest

from tests.firmware.board import DATA, Board, codegens, inspect
from tests.firmware.tflite_models import MLPERF_TINY, Case, read_rows

# Bytes of the image, without the samples and the model.
PROGRAM_BYTES = 24 * 1024
RUN_SECONDS = 600


def sample_count(row):
    """Returns the number of samples in the model's golden set, which is the first extent of the expected output."""
    with open(os.path.join(DATA, row["expected"][0]), "rb") as file:
        header = file.read(128).decode("latin1")
    return int(header.split("'shape': (")[1].split(",")[0])


def chunks(count, size):
    return [(first, min(size, count - first)) for first in range(0, count, size)]


@unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder with the models")
class GoldenSets(unittest.TestCase):
    def run_samples(self, board, folder, model, program):
        source = board.path("main.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        image = board.link([board.compile(source, "main", ["-I" + folder]), model], "image")
        board.run(image, RUN_SECONDS)

    def run_set(self, board, row, way):
        folder, model = board.model(Case(row, 1).model, way)
        with open(os.path.join(folder, "m.metadata.json"), encoding="utf-8") as file:
            metadata = json.load(file)
        bytes_of_sample = sum(tensor["size_bytes"] for tensor in metadata["functions"][0]["parameters"])
        room = board.properties["max_flash_bytes"] - PROGRAM_BYTES - inspect(model)["flash_bytes"]
        for first, steps in chunks(sample_count(row), room // bytes_of_sample):
            self.run_samples(board, folder, model, Case(row, steps, first).program(metadata))

    def test_chunks(self):
        self.assertEqual(chunks(7, 3), [(0, 3), (3, 3), (6, 1)])

    def test_all_samples(self):
        rows = read_rows()
        self.assertEqual([sample_count(rows[name]) for name in MLPERF_TINY], [196, 1000, 500, 200])
        for board_name, properties in BOARDS.items():
            for name in MLPERF_TINY:
                for way in codegens() + ["clang"]:
                    with self.subTest(name, board=board_name, way=way), tempfile.TemporaryDirectory() as folder:
                        self.run_set(Board(board_name, properties, folder), rows[name], way)


if __name__ == "__main__":
    BOARDS = json.loads(sys.argv[-1])
    unittest.main(argv=sys.argv[:1], verbosity=2)  # prints the reason for skipping
