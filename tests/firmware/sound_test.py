# SPDX-License-Identifier: Apache-2.0
"""From sound to a label on boards in QEMU, with both code generators, equal to TFLite Micro to the byte.

    sound_test BOARDS    BOARDS is JSON: the emulator and the compiler flags of each board

The front end of micro_speech computes features of each window. microWakeWord's model of "okay nabu" reads three of them at a time, and
micro_speech's model of "yes" and "no" reads all of them. The expected results are TFLite Micro's for the same sound and front end. The front
end that tools/audio writes computes the features of the microfrontend. Models and sounds are below KILN_SHARED_DATA.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from tests.conformance.array_file import ArrayFile
from tests.conformance.micro_frontend_test import GOLDEN, MICRO_FRONTEND, features_of, sound_bytes
from tests.firmware.board import DATA, Board, codegens

MICRO_SPEECH = "tflm/micro_speech/"
FRONT_END = os.path.join(DATA, MICRO_SPEECH, "audio_preprocessor_int8.tflite")
SPEECH = os.path.join(DATA, MICRO_SPEECH, "micro_speech_quantized.tflite")
WAKE_WORD = os.path.join(DATA, "tflite_models/mww_okay_nabu_v2")
LABELS = ["silence", "unknown", "yes", "no"]


def c_array(name, rows):
    text = ",\n".join("{" + ",".join(map(str, row)) + "}" for row in rows)
    return "static const unsigned char {}[{}][{}] = {{\n{}}};\n".format(name, len(rows), len(rows[0]), text)


def rows_of(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


def windows(word):
    """Returns the windows of a recorded word, one per step of the front end."""
    return rows_of(ArrayFile(os.path.join(DATA, MICRO_SPEECH, "audio_preprocessor_int8.{}_1000ms.in0.npy".format(word))).bytes, 960)


class SoundTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, front, judge, sound, expected):
        """Runs a front end, and then the model `judge` if there is one, on steps of sound. `expected` are the results."""
        with open(os.path.join(self.folder, "sound.h"), "w", encoding="utf-8") as file:
            file.write(c_array("sound", sound) + c_array("expected", expected))
        for name, properties in BOARDS.items():
            board = Board(name, properties, self.folder)
            for codegen in codegens():
                with self.subTest(board=name, codegen=codegen):
                    self.run_image(board, codegen, front, judge)

    def run_image(self, board, codegen, front, judge):
        objects = self.objects(board, codegen, "front", front)
        flags = ["-Iruntime_crt/include", "-I" + self.folder]
        if judge is not None:
            objects += self.objects(board, codegen, "judge", judge)
            flags.append("-DHAS_JUDGE")
        objects.append(board.compile("tests/firmware/sound.c", "main", flags))
        board.run(board.link(objects, "image"))

    def objects(self, board, codegen, name, model):
        folder, code = board.model(model, codegen, name, [])
        return [code, board.compile(os.path.join(folder, name + "_model.c"), name + "_model", ["-Iruntime_crt/include"])]

    def test_micro_frontend(self):
        model = os.path.join(self.folder, "front.relay")
        subprocess.run([sys.executable, MICRO_FRONTEND, "--step-ms", "20", "-o", model], check=True)
        expected = [bytes(value % 256 for value in row) for row in features_of(GOLDEN.format(20))]
        self.check(model, None, rows_of(sound_bytes(), 640), expected)

    @unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder with the models")
    def test_wake_word(self):
        expected = ArrayFile(os.path.join(WAKE_WORD, "yes_stream.out_0.tflm.npy"))
        self.check(FRONT_END, os.path.join(WAKE_WORD, "model.tflite"), windows("yes"), rows_of(expected.bytes, 1))

    @unittest.skipUnless(DATA, "KILN_SHARED_DATA does not name the folder with the models")
    def test_yes_and_no(self):
        # The golden rows are in the order no, yes, noise, silence.
        judgements = ArrayFile(os.path.join(DATA, MICRO_SPEECH, "micro_speech_quantized.real4.out0.tflm.npy"))
        for number, word in enumerate(["no", "yes"]):
            expected = judgements.step(number, len(LABELS))
            scores = judgements.values(expected)
            self.assertEqual(LABELS[scores.index(max(scores))], word)
            self.check(FRONT_END, SPEECH, windows(word), [expected])


if __name__ == "__main__":
    BOARDS = json.loads(sys.argv[-1])
    unittest.main(argv=sys.argv[:1], verbosity=2)  # prints the reason for skipping
