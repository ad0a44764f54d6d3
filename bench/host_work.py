#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host's work in one inference, in instructions counted by callgrind, by phase, as JSON.

The device is `null`: it accepts jobs and computes nothing, so that only our own work is counted: the
layout changes into and out of the NPU's order (pack, unpack), the operations of the host (host
steps), and handing over jobs with cache maintenance (submit). Instructions are what this machine's
instruction set needs; they compare versions of the code, not machines.

Usage: PYTHONPATH=python bench/host_work.py [--models DIR] [--requant chip,exact] [NAME ...]
Needs valgrind.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from rocket_npu import library  # noqa: E402

DEFAULT = ("mobilenet_v1_1.0_224_int8", "ssd_mobilenet_v2_300_int8_postprocess")
# Functions between whose entry and return a phase counts; `all` is a whole run of the session.
PHASES = {
    "all": "*::SessionImpl::Run(*",
    "pack": "npu::layout::PackInt8(*",
    "unpack": "npu::layout::UnpackInt8(*",
    "submit": "npu::device::*::Run(*",
}
INFERENCES = 3
CHILD = """
import sys
import ai_edge_litert.interpreter as litert
library, model, requant, inferences = sys.argv[1:]
delegate = litert.load_delegate(library, {"device": "null", "verify": "off", "quiet": "1",
                                          "numerics.requant": requant})
interpreter = litert.Interpreter(
    model, experimental_delegates=[delegate],
    experimental_op_resolver_type=litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
interpreter.allocate_tensors()
for _ in range(int(inferences)):
    interpreter.invoke()
"""


def count(plugin, model, requant, functions):
    """Instructions of one inference inside `functions`."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no",
                   f"--toggle-collect={functions}",
                   f"--callgrind-out-file={os.path.join(folder, 'out')}",
                   sys.executable, "-c", CHILD, str(plugin), model, requant, str(INFERENCES)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"host_work: valgrind failed:\n{done.stderr[-2000:]}")
    return int(found.group(1)) // INFERENCES


def measure(plugin, models, name, requant):
    path = os.path.join(models, name + ".tflite")
    row = {"model": name, "requant": requant, "unit": "instructions an inference"}
    for phase, functions in PHASES.items():
        row[phase] = count(plugin, path, requant, functions)
    # Kernels call kernels, which a toggle cannot count: the rest of the run is theirs.
    row["host_steps"] = row["all"] - row["pack"] - row["unpack"] - row["submit"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--models", default=os.path.join(
        os.environ.get("NPU_SHARED_DIR", "../shared"), "models", "tflite"))
    parser.add_argument("--requant", default="chip,exact")
    parser.add_argument("--delegate", help="path of libtflite_rocket.so")
    parser.add_argument("names", nargs="*", default=DEFAULT)
    args = parser.parse_args()
    plugin = library.find(args.delegate)
    for name in args.names or DEFAULT:
        for requant in args.requant.split(","):
            print(json.dumps(measure(plugin, args.models, name, requant)), flush=True)


if __name__ == "__main__":
    main()
