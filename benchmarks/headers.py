#!/usr/bin/env python3
"""Measures what xtensor's headers would cost in an operation's file: CPU seconds of one compiler, medians.

Usage: benchmarks/headers.py [--build BUILD] [--times N] [FILE]

FILE (autograd/ops/softmax.cpp) is compiled as the build does it, with xtensor's headers before it, and with an
expression in it as well, in turns and without ccache. CPU seconds depend little on what else the machine does.
"""

import argparse
import json
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = "".join(f"#include <xtensor/{name}.hpp>\n" for name in ("xarray", "xmath", "xnoalias", "xtensor"))
EXPRESSION = """
void rows_softmax(const xt::xtensor<float, 2>& x, xt::xtensor<float, 2>& y) {
  const auto at_once = xt::keep_dims | xt::evaluation_strategy::immediate;
  xt::noalias(y) = xt::exp(x - xt::amax(x, {1}, at_once));
  y /= xt::sum(y, {1}, at_once);
}
"""


def compile_command(build, file):
    """The build's own command for the file in float32, without ccache."""
    ninja = "/usr/bin/ninja" if os.path.exists("/usr/bin/ninja") else "ninja"
    database = json.loads(subprocess.run([ninja, "-C", str(build), "-t", "compdb"], stdout=subprocess.PIPE, check=True,
                                         text=True).stdout)
    for entry in database:
        if (build / entry["file"]).resolve() == file and "-DHEED_REAL=f32" in entry["command"]:
            words = shlex.split(entry["command"])
            return [word for word in words[:words.index("-o")] if word != "ccache" and not word.startswith("-M")
                    and not word.endswith((".d", ".o"))]
    sys.exit(f"{file} is not compiled by the build in {build}")


def cpu_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, env=dict(os.environ, CCACHE_DISABLE="1"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=ROOT / "autograd" / "ops" / "softmax.cpp")
    options = parser.parse_args()
    build, file = options.build.resolve(), options.file.resolve()
    command = compile_command(build, file)
    text = file.read_text(encoding="utf-8")
    kinds = {"as it is": text, "with xtensor's headers": HEADERS + text,
             "with an expression, too": HEADERS + text + EXPRESSION}
    seconds = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.times):
            for number, (kind, source) in enumerate(kinds.items()):
                copy = pathlib.Path(folder) / f"{number}.cpp"
                copy.write_text(source, encoding="utf-8")
                seconds[kind].append(cpu_seconds([*command, "-o", f"{folder}/object.o", "-c", str(copy)], build))
    least = statistics.median(seconds["as it is"])
    print(f"CPU seconds for {file.name}, medians of {options.times}")
    for kind, all_of_kind in seconds.items():
        median = statistics.median(all_of_kind)
        print(f"  {kind:<26}{median:5.2f}{median / least:8.2f}x")


main()
