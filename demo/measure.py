# SPDX-License-Identifier: Apache-2.0
"""Runs one network on one picture: on the NPU through the delegate, and on the CPU."""

import dataclasses
import pathlib

import numpy as np

from rocket_npu import detection, host, inputs, metrics


NOT_CLAIMED = "CPU interpreter"

# What the routes of the explain file mean.
ROUTES = {
    "npu-int8": "NPU, int8 in and out",
    "npu-int8-perchannel": "NPU, int8 in and out, a scale for each channel",
    "npu-int32-host-requant": "NPU for the sums, CPU for the way back to int8",
    "npu-elementwise": "NPU, post-processing unit alone",
    "npu-pool": "NPU, pooling unit alone",
    "placement": "nothing to do: the inputs are written where the result lies",
    "host-cube": "CPU, on data in the NPU's layout",
    "host": "CPU, inside the delegate's partition",
    NOT_CLAIMED: "CPU, declined by the delegate",
}


@dataclasses.dataclass
class Result:
    """What one network said, and what it took."""

    network: object
    path: pathlib.Path
    options: dict
    explain: host.Explain
    details: list  # of the outputs
    extents: tuple  # (height, width) of the input
    npu: list  # real-valued outputs through the delegate
    cpu: list  # of the CPU interpreter as people use it (XNNPACK)
    tallies: dict  # {"NPU against the reference kernels": [Tally, ...], ...}
    npu_load_seconds: float
    npu_seconds: list
    cpu_seconds: list


def _tallies(details, wanted, found):
    rows = []
    for item, a, b in zip(details, wanted, found):
        rows.append(metrics.Tally(item["name"], item["dtype"]))
        rows[-1].add(a, b)
    return rows


def measure(network, path, picture, library, options, iterations=2, threads=2):
    """A Result; the nodes the delegate leaves to the host run on the reference kernels."""
    reference = host.Runner(path, "ref")
    details = reference.outputs
    size = inputs.picture_extents(reference.inputs[0])
    tensors = [inputs.preprocess(inputs.square(picture, *size), "i8", reference.inputs[0])]
    wanted = reference.run(tensors)
    cpu_runner = host.Runner(path, "default", threads=threads)
    cpu, cpu_seconds = cpu_runner.time(tensors, 5)
    npu_runner = host.Runner(path, "ref", library, options)
    npu, npu_seconds = npu_runner.time(tensors, iterations)
    return Result(
        network=network,
        path=path,
        options=options,
        explain=npu_runner.finish(),
        details=details,
        extents=size,
        npu=[detection.real(v, item) for v, item in zip(npu, details)],
        cpu=[detection.real(v, item) for v, item in zip(cpu, details)],
        tallies={
            "NPU against the reference kernels": _tallies(details, wanted, npu),
            "NPU against the CPU interpreter": _tallies(details, cpu, npu),
            "CPU interpreter against the reference kernels": _tallies(details, wanted, cpu),
        },
        npu_load_seconds=npu_runner.load_seconds,
        npu_seconds=npu_seconds,
        cpu_seconds=cpu_seconds,
    )


def count(number, noun):
    """ "1 kick", "2 kicks"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def on_npu(explain):
    """How many nodes have work for the NPU; the other claimed ones are steps of the host."""
    return sum(1 for node in explain.nodes if node.get("claimed") and node.get("tasks", 0))


def routes(explain):
    """[(route, nodes, {operator: count}, tasks, MACs, modelled microseconds)] in plan order."""
    table = {}
    for node in explain.nodes:
        name = node.get("route", "?") if node.get("claimed") else NOT_CLAIMED
        row = table.setdefault(name, [0, {}, 0, 0, 0.0])
        row[0] += 1
        row[1][node["op"]] = row[1].get(node["op"], 0) + 1
        row[2] += int(node.get("tasks", 0))
        row[3] += int(node.get("macs", 0))
        row[4] += float(node.get("modelled_us", 0.0))
    return [(name, *row) for name, row in table.items()]


def layer_times(explain):
    """([(node, microseconds)], by MACs): the modelled time of each claimed node with NPU tasks.

    When the explain file gives none for a node, the total is shared out by MACs and `by MACs` is
    true.
    """
    nodes = [node for node in explain.nodes if node.get("claimed") and node.get("tasks", 0)]
    if any(node.get("modelled_us") for node in nodes):
        return [(node, float(node.get("modelled_us", 0.0))) for node in nodes], False
    macs = sum(int(node.get("macs", 0)) for node in nodes)
    total = explain.modelled_us()
    return [(node, total * int(node.get("macs", 0)) / max(macs, 1)) for node in nodes], True
