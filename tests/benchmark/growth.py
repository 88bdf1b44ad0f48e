# SPDX-License-Identifier: Apache-2.0
"""Measures the growth of a compilation's time and memory with the size of the model.

  bazel run -c opt //tests/benchmark:growth -- --nodes 1000,2000,4000 [--graphs split,concat] [-- --codegen c]

Wide and deep graphs are compiled one after the other. Printed are the seconds of processor time in
user mode, which other processes of the machine hardly change, and the peak memory. Then the same per
node, without the cost of the smallest model, and relative to the first count. Options after `--` are
passed to `kiln compile`.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

WIDTH = 16
TENSOR = f"Tensor[(1, {WIDTH}), float32]"


def weights(k):
    """Constants that differ between values of k, even after folding."""
    return f"full({1 + k / 65536}f, shape=[{WIDTH}, {WIDTH}], dtype=\"float32\")"


def names(prefix, count, suffix=""):
    return ", ".join(f"{prefix}{k}{suffix}" for k in range(count))


def split(n):
    return (f"%x: Tensor[(1, {n * WIDTH}), float32]",
            [f"split(%x, indices_or_sections={n}, axis=1)"], f"({names('%0.', n)})")


def concat(n):
    return names("%x", n, f": {TENSOR}"), [], f"concatenate(({names('%x', n)}), axis=1)"


def split_concat(n):
    lines = [f"split(%x, indices_or_sections={n}, axis=1)"]
    lines += [f"nn.relu(%0.{k})" for k in range(n)]
    parts = ", ".join(f"%{k + 1}" for k in range(n))
    return f"%x: Tensor[(1, {n * WIDTH}), float32]", lines, f"concatenate(({parts}), axis=1)"


def products(n):
    lines = []
    for k in range(n):
        lines += [weights(k), f"nn.dense({'%x' if k == 0 else f'%{2 * k - 1}'}, %{2 * k})"]
    return f"%x: {TENSOR}", lines, f"%{2 * n - 1}"


def products_sum(n):
    lines = []
    for k in range(n):
        lines += [weights(k), f"nn.dense(%x, %{2 * k})"]
    total = "%1"
    for k in range(1, n):
        lines.append(f"add({total}, %{2 * k + 1})")
        total = f"%{2 * n + k - 1}"
    return f"%x: {TENSOR}", lines, total


def products_concat(n):
    lines = []
    for k in range(n):
        lines += [weights(k), f"nn.dense(%x, %{2 * k})"]
    parts = ", ".join(f"%{2 * k + 1}" for k in range(n))
    return f"%x: {TENSOR}", lines, f"concatenate(({parts}), axis=1)"


def diamonds(n):
    lines = []
    value = "%x"
    for k in range(n):
        lines += [f"nn.relu({value})", f"sigmoid({value})", f"add(%{3 * k}, %{3 * k + 1})"]
        value = f"%{3 * k + 2}"
    return f"%x: {TENSOR}", lines, value


def chain(n):
    lines = [f"{'sigmoid' if k % 2 else 'nn.relu'}({f'%{k - 1}' if k else '%x'})" for k in range(n)]
    return f"%x: {TENSOR}", lines, f"%{n - 1}"


def fan_out(n):
    lines = [f"add(%x, {1 + k / 65536}f)" for k in range(n)]
    return f"%x: {TENSOR}", lines, f"({names('%', n)})"


def inputs_and_outputs(n):
    lines = [f"nn.relu(%x{k})" for k in range(n)]
    return names("%x", n, f": {TENSOR}"), lines, f"({names('%', n)})"


GRAPHS = {
    "split": ("split into n outputs", split),
    "concat": ("concatenation of n inputs", concat),
    "split-concat": ("split, n relu, concatenation", split_concat),
    "products": ("chain of n products", products),
    "products-sum": ("n products of one value, and their sum", products_sum),
    "products-concat": ("n products of one value, concatenated", products_concat),
    "diamonds": ("chain of n diamonds", diamonds),
    "chain": ("chain of n element-wise operators", chain),
    "fan-out": ("n operators and outputs of one value", fan_out),
    "io": ("n inputs, operators and outputs", inputs_and_outputs),
}


def model(graph, n):
    params, lines, result = GRAPHS[graph][1](n)
    body = "".join(f"  %{k} = {line};\n" for k, line in enumerate(lines))
    return f"#[version = \"0.0.5\"]\ndef @main({params}) {{\n{body}  {result}\n}}\n"


def compile_model(compiler, text, options, folder):
    """Returns the seconds in user mode and the peak memory in megabytes."""
    path = pathlib.Path(folder) / "model.relay"
    path.write_text(text)
    process = subprocess.Popen([compiler, "compile", path, "-o", pathlib.Path(folder) / "out",
                                *options], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"kiln compile failed with status {process.returncode}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True, help="the command kiln")
    parser.add_argument("--nodes", default="1000,2000,4000", help="numbers of nodes")
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="of " + ", ".join(GRAPHS))
    parser.add_argument("options", nargs="*", help="of kiln compile")
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.nodes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        base = compile_model(arguments.compiler, model("chain", 1), arguments.options, folder)
        print(f"{'graph':<42}{'n':>7}{'s':>9}{'MB':>8}{'ms/n':>9}{'kB/n':>9}{'time':>8}{'memory':>8}")
        for graph in arguments.graphs.split(","):
            first = None
            for n in counts:
                seconds, megabytes = compile_model(arguments.compiler, model(graph, n),
                                                   arguments.options, folder)
                each = [max(0.0, seconds - base[0]) * 1e3 / n,
                        max(0.0, megabytes - base[1]) * 1024 / n]
                first = first or each
                ratios = [own / of if of > 0 else 1 for own, of in zip(each, first)]
                print(f"{GRAPHS[graph][0]:<42}{n:>7}{seconds:>9.2f}{megabytes:>8.0f}"
                      f"{each[0]:>9.3f}{each[1]:>9.1f}{ratios[0]:>8.2f}{ratios[1]:>8.2f}",
                      flush=True)


if __name__ == "__main__":
    main()
