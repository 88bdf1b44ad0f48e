# SPDX-License-Identifier: Apache-2.0
"""Compares whole models with ONNX Runtime, LiteRT and OpenVINO, in one process, taking turns.

  bazel run -c opt //tests/benchmark:models -- --threads 1,2 --only int8,encoder

Each model is compiled for this machine and measured in rounds. In a round, Kiln and all peers that
can run the model take turns, with the same number of threads. Each turn is long compared with the
clock's resolution. Figures are medians over the rounds. A ratio is the median of the rounds' ratios,
for the fastest peer, which has the largest ratio.
"""

import argparse
import datetime
import fnmatch
import os
import pathlib
import platform
import sys
import tempfile

from tests.benchmark import kiln_model
from tests.benchmark import model_cases
from tests.benchmark import multiply_adds
from tests.benchmark import peers as peer_table
from tests.benchmark import rounds
from tests.benchmark import table

TOLERANCE = 1e-3  # largest difference, relative to the largest output
# Mean differences for models with integers. Peers round intermediate results differently, and
# differences of one quantum grow through a net.
MEAN_QUANTA = 4
MEAN_TOLERANCE = 0.05  # relative to the largest output


def cpu_name():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


class Session:
    """The rows so far, and notes on models that could not be measured or are wrong."""

    def __init__(self, arguments, folder):
        self._arguments = arguments
        self._folder = folder
        self._library = kiln_model.Library(arguments.runner, arguments.processor_time)
        self.rows = []
        self.notes = []
        self.wrong = []

    def _open_peers(self, case, threads):
        opened = []
        for peer in self._arguments.peers:
            try:
                with peer_table.QuietErrors():
                    opened.append(peer(case, threads))
            except peer_table.Unfit as error:
                if peer.reads(case):
                    self.notes.append("%s, %s: %s" % (case.name, peer.name, error))
        return opened

    def _difference(self, case, kiln, peers):
        """Returns the difference from the nearest peer, with " WRONG" appended if it is too large."""
        if not peers:
            return "-"
        wanted = [peer.outputs() for peer in peers]
        nearest = min((rounds.difference(kiln.outputs(w), w) for w in wanted),
                      key=lambda d: d.worst)
        if not case.has_integers:
            right = nearest.worst <= TOLERANCE
        else:
            right = nearest.mean <= (MEAN_QUANTA if nearest.integers else MEAN_TOLERANCE)
        if not right:
            self.wrong.append("%s: outputs are %s apart, %.1e in the mean" % (
                case.name, nearest, nearest.mean))
        return "%s%s" % (nearest, "" if right else " WRONG")

    def _measure(self, case, path, graph, threads):
        self._library.set_threads(threads)
        kiln = kiln_model.Kiln(self._library, path, case, graph)
        peers = self._open_peers(case, threads)
        apart = self._difference(case, kiln, peers)  # outputs of the first runs
        count = multiply_adds.count(graph)
        clock = rounds.PROCESSOR if self._arguments.processor_time else rounds.WALL
        measurement = rounds.measure(kiln, peers, 2.0 * count, self._library.peak_flops,
                                     self._arguments.rounds, self._arguments.seconds, clock)
        kiln.close()
        return table.Row(case.name, case.kind, threads, count, measurement, apart)

    def add(self, name, make):
        try:
            case = make()
            path = kiln_model.compile_model(self._arguments.compiler, case, self._folder,
                                            self._arguments.compile_option)
            graph = kiln_model.graph_text(self._arguments.compiler, case)
        except (RuntimeError, ValueError, OSError) as error:
            self.notes.append("%s, not measured: %s" % (name, error))
            return
        for threads in self._arguments.threads:
            row = self._measure(case, path, graph, threads)
            table.print_row(row, [peer.name for peer in self._arguments.peers])
            self.rows.append(row)
        if case.model.is_relative_to(self._folder):
            case.model.unlink()
        if not self._arguments.keep:
            path.unlink()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True, help="the command kiln")
    parser.add_argument("--runner", required=True, help="the library of compiled_model.cc")
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("KILN_SHARED_DATA"),
                        help="folder of models; default: $KILN_SHARED_DATA")
    parser.add_argument("--only", default="*", help="models whose names match one of these "
                        "patterns, separated by commas; int8 is *int8*")
    parser.add_argument("--list", action="store_true", help="print the names, measure nothing")
    parser.add_argument("--peers", default=",".join(p.name for p in peer_table.PEERS),
                        help="beside which Kiln is measured; default: %(default)s")
    parser.add_argument("--threads", default="1", help="1,2: numbers of threads to measure with")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="per turn")
    parser.add_argument("--processor-time", action="store_true", help="count this process's time on "
                        "its CPU, on a machine that others use; with one thread")
    parser.add_argument("--keep", type=pathlib.Path, help="folder that the libraries stay in")
    parser.add_argument("--compile-option", action="append", default=[],
                        help="one more word for kiln compile")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the models are, with --data or KILN_SHARED_DATA")
    by_name = {peer.name: peer for peer in peer_table.PEERS}
    unknown = [name for name in arguments.peers.split(",") if name not in by_name]
    if unknown:
        parser.error("--peers %s: wanted some of %s" % (unknown[0], ", ".join(by_name)))
    arguments.peers = [by_name[name] for name in arguments.peers.split(",")]
    arguments.threads = [int(count) for count in arguments.threads.split(",")]
    if arguments.processor_time and arguments.threads != [1]:
        parser.error("--processor-time goes with --threads 1")
    return arguments


def main():
    arguments = parse_arguments()
    patterns = ["*%s*" % word for word in arguments.only.split(",") if word]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        cases = {name: make for name, make in model_cases.all_cases(arguments.data, folder).items()
                 if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)}
        if not cases:
            sys.exit("--only %s: no model has such a name; --list prints them" % arguments.only)
        if arguments.list:
            print("\n".join(cases))
            return
        print("%s, %s, %d CPUs; %s; %d rounds of %.2f s%s\n" % (
            datetime.date.today(), cpu_name(), os.cpu_count(),
            ", ".join("%s %s" % (p.name, p.version) for p in arguments.peers), arguments.rounds,
            arguments.seconds, " of processor time" if arguments.processor_time else ""))
        session = Session(arguments, folder)
        table.print_head([peer.name for peer in arguments.peers])
        for name, make in cases.items():
            session.add(name, make)
    for threads in arguments.threads:
        table.print_summary(session.rows, threads)
    print("\n" + "\n".join(session.notes + session.wrong))
    sys.exit(1 if session.wrong else 0)


if __name__ == "__main__":
    main()
