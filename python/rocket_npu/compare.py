# SPDX-License-Identifier: Apache-2.0
"""Compares a model with and without the delegate, as a whole and layer by layer."""

import dataclasses
import hashlib

from rocket_npu import UserError, host, metrics, model as tflite

# Options that name files or talk: each layer's run gets its own.
_PRIVATE_OPTIONS = ("explain", "profile", "record", "quiet", "claim")


@dataclasses.dataclass
class Comparison:
    """What `compare` found; `report()` is the JSON of format 1."""

    content: dict
    tallies: list
    layers: list | None = None
    explain: host.Explain | None = None
    delegated: bool = False

    def beyond(self, bound):
        """Names of the outputs farther from the reference than `bound`."""
        return [tally.name for tally in self.tallies if tally.max > bound]

    def first_layer_beyond(self):
        """The first layer that is farther from the reference than its bound, or None."""
        return next((row for row in self.layers or [] if row["within"] is False), None)

    def report(self):
        content = dict(self.content)
        content["outputs"] = [tally.report() for tally in self.tallies]
        if self.layers is not None:
            content["layers"] = self.layers
        return content


def sha256_file(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise UserError(f"cannot read model {path}: {error.strerror}") from error


def _source_of(path, cut_postprocess):
    """The path, or the bytes of the model without its post-process operation."""
    if not cut_postprocess:
        return path
    return tflite.dump(tflite.cut_postprocess(tflite.load_file(path), str(path)))


def compare(path, samples_of, library, options, reference="ref", layers=False, threads=1,
            progress=lambda text: None, cut_postprocess=False):
    """Runs the model at `path` on samples with the reference kernels and with the delegate.

    `samples_of(input details)` returns the samples. `library` None compares the default
    interpreter (XNNPACK) in place of the delegate. Nodes the delegate leaves to the host run on
    the kernels named by `reference`. `progress` is called with a line of text at each step, and
    with an empty one at the end. `cut_postprocess` compares what enters the detector's
    post-process operation, which orders by score: one count can swap two rows of its lists.
    """
    digest = sha256_file(path)
    source = _source_of(path, cut_postprocess)
    progress("loading the model")
    plain = host.Runner(source, reference, threads=threads)
    resolver = reference if library is not None else "default"
    other = host.Runner(source, resolver, library, options, threads=threads)
    samples = samples_of(plain.inputs)
    tallies = [metrics.Tally(item["name"], item["dtype"]) for item in plain.outputs]
    for number, sample in enumerate(samples):
        progress(f"sample {number + 1} of {len(samples)}")
        for tally, a, b in zip(tallies, plain.run(sample.tensors), other.run(sample.tensors)):
            tally.add(a, b)
    explain = other.finish()
    content = {
        "format": 1,
        "model": str(path),
        "sha256": digest,
        "host": host.host_name(),
        "reference": reference,
        "cut_postprocess": cut_postprocess,
        "options": dict(options),
        "inputs": [sample.report(plain.inputs) for sample in samples],
        "claimed": explain.claimed if explain else 0,
        "offered": explain.offered if explain else 0,
    }
    if explain and explain.run:
        content["run"] = explain.run
    rows = None
    if layers:
        rows = compare_layers(source, samples[0], library, options, reference, progress)
    progress("")
    return Comparison(content, tallies, rows, explain, library is not None)


def layer_options(options):
    """The user's options for a run of one node: claim it even alone, say nothing.

    Without `verify=first`, which would put the host's results in the place of wrong ones.
    """
    own = {key: value for key, value in options.items() if key not in _PRIVATE_OPTIONS}
    return {"verify": "off", **own, "claim": "all", "quiet": "1"}


def compare_layers(source, sample, library, options, reference="ref", progress=lambda text: None):
    """One row for each node: run alone with the delegate, given the reference's own inputs.

    Each node becomes a model of its own, so a difference in one layer cannot reach the next.
    Reference tensors come from the reference kernels, or from the optimised ones without default
    delegates for reference "default" (XNNPACK does not keep tensors inside its partitions).
    `source` is the path or the bytes of the model.
    """
    resolver = "plain" if reference == "default" else reference
    content = isinstance(source, (bytes, bytearray))
    model = tflite.load(source) if content else tflite.load_file(source)
    whole = host.Runner(source, resolver, keep=True)
    whole.run(sample.tensors)
    rows, count = [], len(tflite.operators(model))
    for index in range(count):
        progress(f"layer {index + 1} of {count}")
        rows.append(_compare_node(model, index, whole, resolver, library, layer_options(options)))
    return rows


def _compare_node(model, index, whole, resolver, library, options):
    operator = tflite.operators(model)[index]
    item = tflite.tensor(model, int(operator.outputs[0]))
    row = {
        "index": index,
        "op": tflite.operator_name(model, operator),
        "output": tflite.tensor_name(item),
        "shape": tflite.shape_of(item),
        "claimed": False,
        "within": None,
    }
    try:
        content, inputs, outputs = tflite.cut(model, index)
        runner = host.Runner(content, resolver if library else "default", library, options)
        results = runner.run([whole.tensor(tensor) for tensor in inputs])
        wanted = [whole.tensor(tensor) for tensor in outputs]
    except (UserError, ValueError) as error:
        return {**row, "reason": "not compared", "text": host.one_line(error)}
    tally = metrics.Tally(row["output"], results[0].dtype)
    for reference, candidate in zip(wanted, results):
        tally.add(reference, candidate)
    found = tally.report()
    row.update({key: found[key] for key in ("dtype", "unit", "max", "mean", "share")})
    explain = runner.finish()
    row = _judge(row, tally, explain.node(0) if explain else {})
    if explain and explain.left_npu():
        row.update({"within": False, "text": explain.left_npu()})
    return row


def _judge(row, tally, node):
    """Adds what the delegate says of the node: its route and bound, or why it was declined."""
    row["claimed"] = bool(node.get("claimed", False))
    if not row["claimed"]:
        row.update({key: node[key] for key in ("reason", "text") if key in node})
        return row
    row["route"] = node.get("route", "")
    if "host_reason" in node:
        row["text"] = node["host_reason"]
    row["bound"] = node.get("bound_counts", 0)
    row["within"] = tally.max <= row["bound"]
    return row
