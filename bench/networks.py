#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the delegate makes of whole networks on the simulated NPU, one JSON line a run.

For each network and numerics setting: nodes claimed and offered, kicks, submits, arena and weight
bytes, modelled milliseconds (a model, never a measurement), wall seconds, the difference from
BUILTIN_REF end to end, and the layers beyond their proven bound (none, or the run fails).

Usage: PYTHONPATH=python bench/networks.py [--models DIR] [--requant chip,exact] [NAME ...]
"""

import argparse
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from rocket_npu import compare, host, library, metrics  # noqa: E402

NETWORKS = (
    "efficientnet_lite0_224_imagenet_int8",
    "mobilenet_v1_1.0_224_int8",
    "mobilenet_v2_1.0_224_int8",
    "mediapipe_face_short_range_int8",
    "nanodet_g_416_coco_int8",
)


class Sample:
    def __init__(self, tensors):
        self.tensors = tensors


def sample_of(models, details):
    """The portrait of the model set, as bytes or as bytes minus 128."""
    _, height, width, _ = details["shape"]
    pictures = np.load(os.path.join(models, "inputs", f"{height}x{width}.npz"))
    picture = pictures["grace_hopper"].astype(np.int16)[None]
    shift = 128 if details["dtype"] == np.int8 else 0
    return Sample([(picture - shift).astype(details["dtype"])])


def best(values):
    """Index of the largest score; the best anchor of a detector's score tensor."""
    return int(np.argmax(values))


def differences(wanted, got):
    rows = []
    for a, b in zip(wanted, got):
        tally = metrics.Tally("output", a.dtype)
        tally.add(a, b)
        rows.append({key: tally.report()[key] for key in ("max", "mean", "share")}
                    | {"best": [best(a), best(b)]})
    return rows


def measure(models, name, requant, plugin):
    path = os.path.join(models, name + ".tflite")
    reference = host.Runner(path, "ref")
    options = {"device": "sim", "numerics.requant": requant, "verify": "first", "quiet": "1"}
    runner = host.Runner(path, "ref", plugin, options)
    sample = sample_of(models, runner.inputs[0])
    first, seconds = runner.time(sample.tensors, 4)
    explain = runner.explain()
    layers = compare.compare_layers(path, sample, plugin, options)
    claimed = [row for row in layers if row["claimed"]]
    row = {"model": name, "requant": requant, **explain.summary}
    row["arena_bytes"] = sum(p["arena_bytes"] for p in explain.partitions)
    row["weight_bytes"] = sum(p["weight_bytes"] for p in explain.partitions)
    row["modelled_ms"] = round(explain.modelled_us() / 1e3, 3)
    row["wall_s"] = {"first_with_verify": round(seconds[0], 3), "best": round(min(seconds), 3)}
    row["outputs"] = differences(reference.run(sample.tensors), first)
    row["layers"] = {"compared": len(claimed),
                     "max_counts": max((r["max"] for r in claimed), default=0),
                     "beyond_bound": [r["index"] for r in claimed if r["within"] is False]}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default=os.path.join(
        os.environ.get("NPU_SHARED_DIR", "../shared"), "models", "tflite"))
    parser.add_argument("--requant", default="chip,exact")
    parser.add_argument("--delegate", help="path of libtflite_rocket.so")
    parser.add_argument("names", nargs="*", default=NETWORKS)
    args = parser.parse_args()
    plugin = library.find(args.delegate)
    bad = 0
    for name in args.names or NETWORKS:
        for requant in args.requant.split(","):
            row = measure(args.models, name, requant, plugin)
            print(json.dumps(row), flush=True)
            bad += len(row["layers"]["beyond_bound"])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
