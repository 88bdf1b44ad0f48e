#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes microWakeWord's audio front end, TensorFlow Lite's microfrontend, as a model for `kiln compile`.

    micro_frontend.py --step-ms 10 -o frontend.relay

One run of the model takes one step of samples (int16 at 16 kHz) and returns the features of one window: an int8 value
per channel, which is the input of a microWakeWord model. The model keeps the samples of the window and the noise
estimate. `is_valid` is false until the first window is full. Each feature equals that of the microfrontend, because the
tables are also computed in float32.
"""

import argparse
import base64
import json
import math
import struct

FRACTION_BITS = 12  # of windows and weights
NOISE_BITS = 14
RATIO_BITS = 12  # of the gain control
DTYPES = {"int8": (0, 8, "b"), "int16": (0, 16, "h"), "uint16": (1, 16, "H"), "uint32": (1, 32, "I")}


def f32(value):
    """Rounds to the nearest float32."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def log1p(x):
    """Computes log(1 + x) for x >= 0 with the rounding of log1pf in Sun's fdlibm, the C library of microcontrollers.

    With 1 + x = (1 + f) * 2^k, the result is k log(2) plus a polynomial of s = f / (2 + f).
    """
    k, correction, f = 0, 0.0, x
    if x >= 0.41421356:
        u = f32(1 + x)
        mantissa, k = math.frexp(u)
        mantissa, k = 2 * mantissa, k - 1
        correction = f32(f32(1 - f32(u - x)) / u) if k > 0 else f32(f32(x - f32(u - 1)) / u)
        if mantissa >= math.sqrt(2):
            mantissa, k = mantissa / 2, k + 1
        f = f32(mantissa - 1)
    half_square = f32(f32(0.5 * f) * f)
    s = f32(f / f32(2 + f))
    z = f32(s * s)
    polynomial = 0.0
    for bits in (0x3E178897, 0x3E1CD04F, 0x3E3A3325, 0x3E638E29, 0x3E924925, 0x3ECCCCCD, 0x3F2AAAAB):
        polynomial = f32(struct.unpack("<f", struct.pack("<I", bits))[0] + f32(z * polynomial))
    rest = f32(s * f32(half_square + f32(z * polynomial)))
    if k == 0:
        return f32(f - f32(half_square - rest))
    low = f32(f32(k * f32(9.0580006145e-06)) + correction)
    return f32(f32(k * f32(0.69313812256)) - f32(f32(half_square - f32(rest + low)) - f))


def mel(hertz):
    return f32(1127 * log1p(f32(f32(hertz) / 700)))


def window(size):
    """Returns half a period of a squared sine."""
    step = f32(f32(f32(math.pi) * f32(2)) / f32(size))
    values = []
    for i in range(size):
        cosine = f32(math.cos(f32(step * f32(i + f32(0.5)))))
        value = f32(f32(0.5) - f32(f32(0.5) * cosine))
        values.append(math.floor(f32(f32(value * (1 << FRACTION_BITS)) + f32(0.5))))
    return values


def quantized(weight):
    return math.floor(f32(f32(weight * (1 << FRACTION_BITS)) + f32(0.5)))


def filter_bank(options, fft_length):
    """Returns the terms of the triangular filters as (pair of weights, bin, first channel)."""
    count = options.channels
    low = mel(options.lower_hertz)
    spacing = f32(f32(mel(options.upper_hertz) - low) / f32(count + 1))
    centers = [f32(low + f32(spacing * (i + 1))) for i in range(count + 1)]
    hertz_per_bin = f32(f32(0.5 * options.sample_rate) / f32(f32(fft_length // 2 + 1) - f32(1)))
    bin_index = int(f32(f32(1.5) + f32(f32(options.lower_hertz) / hertz_per_bin)))
    terms = []
    for channel, center in enumerate(centers):
        before = centers[channel - 1] if channel else low
        while True:
            position = mel(f32(bin_index * hertz_per_bin))
            if position > center:
                break
            weight = f32(f32(center - position) / f32(center - before))
            first = min(max(channel - 1, 0), count - 2)
            weights = [0, 0]
            if channel > 0:
                weights[channel - 1 - first] = quantized(weight)
            if channel < count:
                weights[channel - first] = quantized(f32(f32(1) - weight))
            terms.append((weights, bin_index, first))
            bin_index += 1
    if bin_index > fft_length // 2:
        raise SystemExit("--upper-hertz: found %g, wanted less than half of the sample rate" % options.upper_hertz)
    return terms


def gains(options, input_bits):
    """Returns the table of gains by noise level: the gains of 0 and 1, then a parabola for each length of the level in
    bits.
    """

    def gain(noise):
        level = f32(f32(noise) / f32(1 << input_bits))
        value = f32(f32(1 << options.gain_bits) * f32(f32(level + f32(options.gain_offset)) ** -f32(options.gain_strength)))
        return 32767 if value > 32767 else int(f32(value + f32(0.5)))

    table = [gain(0), gain(1)]
    for bits in range(2, 33):
        start = 1 << (bits - 1)
        end = 2 * start if bits < 32 else 2 * start - 1
        first, middle, last = (gain(noise) for noise in (start, start + start // 2, end))
        slope = 4 * (middle - first) - (last - first)
        table += [first, wrapped(slope), wrapped(last - first - slope), 0]
    return table[:125]


def wrapped(value):
    """Wraps to 16 bits, as C does."""
    return (value + 0x8000) % 0x10000 - 0x8000


class Constants:
    """The metadata section of Relay text."""

    def __init__(self):
        self.arrays = []

    def add(self, dtype, shape, values):
        code, bits, letter = DTYPES[dtype]
        data = struct.pack("<%d%s" % (len(values), letter), *values)
        head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, len(shape), code, bits, 1)
        head += struct.pack("<%dqq" % len(shape), *shape, len(data))
        self.arrays.append(base64.b64encode(head + data).decode())
        return "meta[relay.Constant][%d]" % (len(self.arrays) - 1)

    def section(self):
        nodes = [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]}]
        nodes.append({"type_key": "Array", "data": [3 + i for i in range(len(self.arrays))]})
        nodes += [{"type_key": "relay.Constant", "attrs": {"data": str(i)}} for i in range(len(self.arrays))]
        return json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": self.arrays, "attrs": {"tvm_version": "0.9.0"}}, indent=1)


def model(options):
    size = options.window_ms * options.sample_rate // 1000
    step = options.step_ms * options.sample_rate // 1000
    if not 0 < step < size <= 4096:
        raise SystemExit("found a window of %d samples and steps of %d, wanted shorter steps, and a window of at most 4096" % (size, step))
    if options.channels < 2:
        raise SystemExit("--channels: found %d, wanted 2 or more" % options.channels)
    fft_length = max(1 << (size - 1).bit_length(), 64)
    correction = fft_length.bit_length() - 1 - FRACTION_BITS // 2
    shift = options.gain_bits - correction - RATIO_BITS
    if shift < 0:
        raise SystemExit("--gain-bits: found %d, wanted at least %d" % (options.gain_bits, correction + RATIO_BITS))
    if options.smoothing_bits < correction:
        raise SystemExit("--smoothing-bits: found %d, wanted at least %d" % (options.smoothing_bits, correction))
    terms = filter_bank(options, fft_length)
    # Samples arrive in whole steps. A window begins with the oldest sample that is kept.
    steps = -(-size // step)
    kept = (steps - 1) * step
    constants = Constants()
    smoothing = [int(f32(value) * (1 << NOISE_BITS)) for value in (options.even_smoothing, options.odd_smoothing)]
    values = {
        "step": step,
        "kept": kept,
        "size": size,
        "all": kept + step,
        "steps": steps,
        "channels": options.channels,
        "fft_length": fft_length,
        "window": constants.add("int16", [size], window(size)),
        "weights": constants.add("int16", [len(terms), 2], [weight for weights, _, _ in terms for weight in weights]),
        "bins": constants.add("uint16", [len(terms)], [position for _, position, _ in terms]),
        "firsts": constants.add("uint16", [len(terms)], [first for _, _, first in terms]),
        "gains": constants.add("int16", [125], gains(options, options.smoothing_bits - correction)),
        "smoothing": smoothing,
        "rest": [(1 << NOISE_BITS) - value for value in smoothing],
        "remaining": int(f32(options.min_signal_remaining) * (1 << NOISE_BITS)),
        "smoothing_bits": options.smoothing_bits,
        "noise_bits": NOISE_BITS,
        "shift": shift,
        "correction": correction,
        "fraction_bits": FRACTION_BITS,
    }
    return TEXT.format(**values) + "\n#[metadata]\n" + constants.section() + "\n"


TEXT = """#[version = "0.0.5"]
def @main(%samples: Tensor[({step}), int16], %recent: Tensor[({kept}), int16], %noise: Tensor[({channels}), uint32], %steps: Tensor[(1), int32],
          output_tensor_names=["features", "is_valid", "recent.next", "noise.next", "steps.next"],
          state_inputs=["recent", "noise", "steps"], state_outputs=["recent.next", "noise.next", "steps.next"], state_initial=[0f, 0f, 0f]) {{
  let %all = concatenate((%recent, %samples), axis=0);
  let %window = strided_slice(%all, begin=[0], end=[{size}], strides=[1]);
  let %windowed = right_shift(multiply(cast(%window, dtype="int32"), cast({window}, dtype="int32")), {fraction_bits});
  let %scaled = signal.auto_scale(cast(%windowed, dtype="int16"));
  let %bins = cast(signal.rfft(%scaled.0, fft_length={fft_length}), dtype="int32");
  let %energy = cast(sum(multiply(%bins, %bins), axis=[1]), dtype="uint32");
  let %sums = signal.filter_bank(%energy, {weights}, {bins}, {firsts}, num_channels={channels});
  let %signal = right_shift(signal.square_root(%sums), cast(%scaled.1, dtype="uint32"));
  let %reduced = signal.spectral_subtraction(%signal, %noise, smoothing={smoothing}, one_minus_smoothing={rest}, min_signal_remaining={remaining},
                                         smoothing_bits={smoothing_bits}, fraction_bits={noise_bits});
  let %level = signal.gain_control(%reduced.0, %reduced.1, {gains}, shift={shift});
  let %log = cast(signal.log(%level, input_correction_bits={correction}, output_scale=64), dtype="int32");
  let %features = cast(clip(subtract(divide(add(multiply(%log, 256), 333), 666), 128), a_min=-128f, a_max=127f), dtype="int8");
  let %count = minimum(add(%steps, 1), {steps});
  let %is_valid = greater_equal(%count, {steps});
  (%features, %is_valid, strided_slice(%all, begin=[{step}], end=[{all}], strides=[1]), where(%is_valid, %reduced.1, %noise), %count)
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", required=True, help="the Relay text to write")
    parser.add_argument("--sample-rate", type=int, default=16000, help="in hertz")
    parser.add_argument("--window-ms", type=int, default=30, help="length of a window")
    parser.add_argument("--step-ms", type=int, default=10, help="from window to window, and of each run")
    parser.add_argument("--channels", type=int, default=40, help="features of a window")
    parser.add_argument("--lower-hertz", type=float, default=125.0, help="where the first channel begins")
    parser.add_argument("--upper-hertz", type=float, default=7500.0, help="where the last channel ends")
    parser.add_argument("--smoothing-bits", type=int, default=10, help="more bits of the estimate of noise")
    parser.add_argument("--even-smoothing", type=float, default=0.025, help="of the estimate of noise in even channels")
    parser.add_argument("--odd-smoothing", type=float, default=0.06, help="the same in odd ones")
    parser.add_argument("--min-signal-remaining", type=float, default=0.05, help="of a signal that is less its noise")
    parser.add_argument("--gain-strength", type=float, default=0.95, help="of the gain control")
    parser.add_argument("--gain-offset", type=float, default=80.0, help="of the gain control")
    parser.add_argument("--gain-bits", type=int, default=21, help="behind the point of gains")
    options = parser.parse_args()
    text = model(options)
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
