#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of the simulator beside the CPU interpreter with XNNPACK, in one run, as JSON.

Both sides take turns, round by round, so that a change of the machine's load meets both. Figures
are int8 GMAC/s of the best and of the median inference; `ratio` is simulator / interpreter.

Usage: bench/run_bench.py [--build build/release] [--rounds 5] [--threads 1,2] [--clear]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
from ai_edge_litert.interpreter import Interpreter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from conv_models import conv2d_int8  # noqa: E402

CASES = {
    "3x3": dict(height=56, width=56, in_channels=128, out_channels=128, kernel=3),
    "1x1": dict(height=28, width=28, in_channels=256, out_channels=256, kernel=1),
}
REPEATS = {"3x3": 20, "1x1": 100}


def macs(case):
    return (case["height"] * case["width"] * case["in_channels"] * case["out_channels"]
            * case["kernel"] ** 2)


class Xnnpack:
    """One convolution in the interpreter; the default delegate is XNNPACK."""

    def __init__(self, case, threads):
        self.interpreter = Interpreter(model_content=conv2d_int8(**case), num_threads=threads)
        self.interpreter.allocate_tensors()
        shape = (1, case["height"], case["width"], case["in_channels"])
        data = np.random.default_rng(2).integers(-128, 128, shape, dtype=np.int8)
        self.interpreter.set_tensor(self.interpreter.get_input_details()[0]["index"], data)

    def times_us(self, repeats):
        for _ in range(2):
            self.interpreter.invoke()
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            self.interpreter.invoke()
            times.append((time.perf_counter() - start) * 1e6)
        return times


def run_simulator(binary, name, threads, repeats, path):
    command = [binary, name, str(threads), str(repeats)] + (["clear"] if path == "clear" else [])
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def summary(case, best_us, median_us):
    return {
        "best_us": round(best_us, 1),
        "median_us": round(median_us, 1),
        "gmac_per_s": round(macs(case) / best_us / 1e3, 1),
        "median_gmac_per_s": round(macs(case) / median_us / 1e3, 1),
    }


def measure(binary, name, threads, rounds):
    case = CASES[name]
    interpreter = Xnnpack(case, threads)
    sim, cpu = [], []
    for _ in range(rounds):
        sim.append(run_simulator(binary, name, threads, REPEATS[name], "fast"))
        cpu.extend(interpreter.times_us(REPEATS[name]))
    simulator = summary(case, min(r["best_us"] for r in sim),
                        statistics.median(r["median_us"] for r in sim))
    reference = summary(case, min(cpu), statistics.median(cpu))
    return {
        "case": f"conv {name} {case['in_channels']}->{case['out_channels']} "
                f"{case['height']}x{case['width']} int8",
        "threads": threads,
        "macs": macs(case),
        "tasks": sim[0]["tasks"],
        "simulator": simulator,
        "xnnpack": reference,
        "ratio": round(simulator["gmac_per_s"] / reference["gmac_per_s"], 3),
        "median_ratio": round(
            simulator["median_gmac_per_s"] / reference["median_gmac_per_s"], 3),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--build", default=os.path.join(root, "build", "release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--clear", action="store_true", help="also time the clear path once")
    options = parser.parse_args()
    binary = os.path.join(options.build, "bin", "bench_sim_speed")
    results = [measure(binary, name, int(threads), options.rounds)
               for name in CASES for threads in options.threads.split(",")]
    report = {"format": 1, "cpus": os.cpu_count(), "results": results}
    if options.clear:
        report["clear_path"] = [run_simulator(binary, name, 1, 1, "clear") for name in CASES]
    json.dump(report, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
