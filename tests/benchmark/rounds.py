# SPDX-License-Identifier: Apache-2.0
"""Rounds in which all runners of a case take turns, and the resulting figures."""

import dataclasses
import itertools
import statistics
import time

from tests.benchmark.environment import np

# Clocks. Processor time is the time that all threads of the process spend on a CPU.
WALL = time.perf_counter
PROCESSOR = time.process_time

SETTLE_SECONDS = 0.02  # until the previous runner's threads have stopped spinning
SAMPLE_SECONDS = 50e-6  # minimum time between two readings of the clock
WARM_UP = 0.2  # fraction of a turn


@dataclasses.dataclass
class Measurement:
    seconds: dict  # by the runner's name: the median over the rounds
    ratios: dict  # by the peer's name: the median over the rounds of Kiln's time divided by the peer's
    peak_flops: float  # median of the peaks measured next to Kiln, in operations per second
    part_of_peak: float  # median over the rounds of Kiln's rate, for `flops` operations, divided by the peak


def _timed(run, count, clock):
    begin = clock()
    for _ in itertools.repeat(None, count):
        run()
    return clock() - begin


def seconds_per_run(run, budget, clock):
    """Returns the median of samples for about `budget` seconds, after a warm-up. A sample is one
    run, or as many runs as are needed to be long compared with the clock's resolution."""
    run()
    end = clock() + budget * WARM_UP
    one = _timed(run, 1, clock)
    while clock() < end:
        one = min(one, _timed(run, 1, clock))
    count = max(1, round(SAMPLE_SECONDS / one))
    samples = []
    spent = 0.0
    while spent < budget or len(samples) < 3:
        samples.append(_timed(run, count, clock))
        spent += samples[-1]
    return statistics.median(samples) / count


def measure(kiln, peers, flops, peak, rounds, budget, clock):
    """Measures all runners. `peak()` is called right before and right after Kiln. Each round begins
    with another runner."""
    times = {runner.name: [] for runner in (kiln, *peers)}
    peaks, parts = [], []
    order = [kiln, *peers]
    for _ in range(rounds):
        for runner in order:
            time.sleep(SETTLE_SECONDS)
            before = peak() if runner is kiln else None
            seconds = seconds_per_run(runner.run, budget, clock)
            times[runner.name].append(seconds)
            if runner is kiln:
                peaks.append((before + peak()) / 2)
                parts.append(flops / seconds / peaks[-1])
        order.append(order.pop(0))
    ours = times[kiln.name]
    ratios = {peer.name: statistics.median(a / b for a, b in zip(ours, times[peer.name]))
              for peer in peers}
    return Measurement({name: statistics.median(values) for name, values in times.items()}, ratios,
                       statistics.median(peaks), statistics.median(parts))


@dataclasses.dataclass
class Difference:
    worst: float  # relative to the output's largest value; for integers in quanta
    mean: float
    integers: bool

    def __str__(self):
        if not self.integers:
            return "%.1e" % self.worst
        return "1 quantum" if self.worst == 1 else "%d quanta" % self.worst


def difference(found, wanted):
    """Returns the largest difference among all outputs."""
    result = Difference(0, 0, all(np.issubdtype(b.dtype, np.integer) for b in wanted))
    for a, b in zip(found, wanted):
        apart = np.abs(a.astype(np.float64) - b)
        scale = 1 if result.integers else max(float(np.abs(b).max(initial=0)), 1e-30)
        result.worst = max(result.worst, float(apart.max(initial=0)) / scale)
        result.mean = max(result.mean, float(apart.mean()) / scale if apart.size else 0)
    return result
