#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the delegate makes of whole networks, one JSON line a run, and a table at the end.

For each quantized network of the model set and each numerics setting: nodes claimed and offered,
partitions, submits, kicks, host steps and what splits the submits; arena and weight bytes; modelled
milliseconds with one kick a task and with chained kicks (a model, never a measurement); wall
seconds; the difference from BUILTIN_REF end to end (a detector's post-process cut); and the layers
beyond their proven bound, each given the reference's own input (none, or the run fails).

Usage: PYTHONPATH=python bench/networks.py [--models DIR] [--requant chip,exact] [--option K=V] [NAME ...]
"""

import argparse
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from rocket_npu import UserError, compare, host, library, metrics  # noqa: E402
from rocket_npu import model as tflite  # noqa: E402


class Sample:
    def __init__(self, tensors):
        self.tensors = tensors


def networks(models):
    """Names of the int8 and uint8 networks."""
    names = (n.removesuffix(".tflite") for n in sorted(os.listdir(models)) if n.endswith(".tflite"))
    return [name for name in names if "_int8" in name or "_uint8" in name]


def sample_of(models, details):
    """The first usual picture of the model set for this size, as bytes or as bytes minus 128."""
    _, height, width, _ = details["shape"]
    pictures = np.load(os.path.join(models, "inputs", f"{height}x{width}.npz"))
    name = next(n for n in ("grace_hopper", "astronaut", *pictures.files) if n in pictures.files)
    picture = pictures[name].astype(np.int16)[None]
    shift = 128 if details["dtype"] == np.int8 else 0
    return Sample([(picture - shift).astype(details["dtype"])])


def source_of(path):
    """The model, without its post-process operation if it has one."""
    try:
        return tflite.dump(tflite.cut_postprocess(tflite.load_file(path), path))
    except UserError:
        return path


def best(values):
    """Index of the largest score; the best anchor of a detector's score tensor."""
    return int(np.argmax(values))


def differences(wanted, got):
    rows = []
    for a, b in zip(wanted, got):
        tally = metrics.Tally("output", a.dtype)
        tally.add(a, b)
        rows.append({key: tally.report()[key] for key in ("max", "mean", "share", "unit")}
                    | {"best": [best(a), best(b)]})
    return rows


def splits_of(explain):
    """{operation: how often the host computes it between two submits}."""
    total = {}
    for partition in explain.partitions:
        for op, count in partition["splits"].items():
            total[op] = total.get(op, 0) + count
    return total


def declines_of(explain):
    return sorted({f"{node['op']} [{node['reason']}]: {node['text']}"
                   for node in explain.nodes if not node["claimed"]})


def measure(models, name, requant, plugin, options):
    path = os.path.join(models, name + ".tflite")
    source = source_of(path)
    options = {"device": "sim", "verify": "first", "quiet": "1", **options,
               "numerics.requant": requant}
    whole = host.Runner(path, "ref", plugin, options).explain()
    runner = host.Runner(source, "ref", plugin, options)
    sample = sample_of(models, runner.inputs[0])
    wanted = host.Runner(source, "ref").run(sample.tensors)
    first, seconds = runner.time(sample.tensors, 4)
    explain = runner.explain()
    layers = compare.compare_layers(source, sample, plugin, options)
    claimed = [row for row in layers if row["claimed"]]
    row = {"model": name, "requant": requant, **whole.summary, "declined": declines_of(whole),
           "splits": splits_of(explain)}
    for key in ("arena_bytes", "weight_bytes", "host_steps", "layout_steps", "chained_kicks"):
        row[key] = sum(partition[key] for partition in explain.partitions)
    for key in ("modelled", "modelled_chained"):
        row[f"{key}_ms"] = round(sum(p[f"{key}_us"] for p in explain.partitions) / 1e3, 3)
    row["wall_s"] = {"first_with_verify": round(seconds[0], 3), "best": round(min(seconds), 3)}
    row["outputs"] = differences(wanted, first)
    row["layers"] = {"compared": len(claimed),
                     "max_counts": max((r["max"] for r in claimed), default=0),
                     "beyond_bound": [r["index"] for r in claimed if r["within"] is False]}
    return row


def table(rows):
    """The figures of all runs as Markdown."""
    lines = ["| model | setting | claimed/offered | partitions | submits | kicks (chained) | host steps "
             "| end to end | layers: max counts | wall s, best (first, verified) "
             "| modelled ms (chained) |",
             "|" + "---|" * 11]
    for row in rows:
        ends = ", ".join(f"{o['max']:g} {o['unit']}" for o in row["outputs"])
        lines.append(
            f"| {row['model']} | {row['requant']} | {row['claimed']}/{row['offered']} "
            f"| {row['partitions']} | {row['submits']} | {row['kicks']} ({row['chained_kicks']}) "
            f"| {row['host_steps']} | {ends} "
            f"| {row['layers']['compared']}: {row['layers']['max_counts']:g} "
            f"| {row['wall_s']['best']} ({row['wall_s']['first_with_verify']}) "
            f"| {row['modelled_ms']} ({row['modelled_chained_ms']}) |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default=os.path.join(
        os.environ.get("NPU_SHARED_DIR", "../shared"), "models", "tflite"))
    parser.add_argument("--requant", default="chip,exact")
    parser.add_argument("--delegate", help="path of libtflite_rocket.so")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE",
                        help="an option of the delegate (default device=sim)")
    parser.add_argument("names", nargs="*", help="default: every int8 and uint8 network")
    args = parser.parse_args()
    plugin = library.find(args.delegate)
    options = library.parse_options(args.option)
    rows = []
    for name in args.names or networks(args.models):
        for requant in args.requant.split(","):
            rows.append(measure(args.models, name, requant, plugin, options))
            print(json.dumps(rows[-1]), flush=True)
    print("\n" + table(rows))
    return 1 if any(row["layers"]["beyond_bound"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
