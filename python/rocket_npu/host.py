# SPDX-License-Identifier: Apache-2.0
"""Runs a model in the stock interpreter, with or without the delegate."""

import ctypes
import importlib.metadata
import json
import os
import platform
import shutil
import tempfile
import time
import weakref

import ai_edge_litert.interpreter as litert

from rocket_npu import UserError

RESOLVERS = {
    "ref": litert.OpResolverType.BUILTIN_REF,
    "plain": litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "default": litert.OpResolverType.AUTO,
}
_DYNAMIC = (
    "the model has tensors of dynamic size, which a delegate cannot take: "
    "fix its input shapes when converting it"
)


def host_name():
    """ "ai-edge-litert 2.3.0, CPython 3.11.2, x86_64"."""
    version = importlib.metadata.version("ai-edge-litert")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"ai-edge-litert {version}, {python}, {platform.machine()}"


def one_line(error):
    """The text of an exception on one line."""
    return " ".join(str(error).split())


def _readable(path):
    """The path of a file that can be opened; the interpreter's own message is hard to read."""
    try:
        with open(path, "rb"):
            return path
    except OSError as error:
        raise UserError(f"cannot read model {path}: {error.strerror}") from error


class Explain:
    """The delegate's account of a model (explain=FILE.json, format 1)."""

    def __init__(self, content):
        self.content = content
        summary = content.get("summary", {})
        self.claimed = int(summary.get("claimed", 0))
        self.offered = int(summary.get("offered", summary.get("nodes", 0)))
        self.summary = summary
        self.partitions = content.get("partitions", [])
        self.nodes = content.get("nodes", [])
        self.run = content.get("run", {})  # only when the interpreter has ended

    def left_npu(self):
        """Why runs were computed on the host in the NPU's place, or an empty text."""
        count = int(self.run.get("host_runs", 0))
        if not count:
            return ""
        wrong = int(self.run.get("verify_mismatches", 0))
        why = (f"verify=first found {wrong} wrong elements" if wrong
               else f"{int(self.run.get('device_failures', 0))} jobs failed")
        return f"{count} of {int(self.run.get('runs', 0))} runs left the NPU for the host: {why}"

    def node(self, index):
        return next((node for node in self.nodes if node.get("index") == index), {})

    def modelled_us(self):
        return sum(float(part.get("modelled_us", 0.0)) for part in self.partitions)


class Runner:
    """One interpreter. `model` is a path or the bytes of a .tflite file.

    With `library` the delegate is loaded with `options`; its explain file is always asked for.
    Raises UserError with one line of text when the model or the delegate cannot be loaded.
    """

    def __init__(self, model, resolver="ref", library=None, options=None, threads=1, keep=False):
        self._delegate = None
        self._explain_path = None
        arguments = {
            "experimental_op_resolver_type": RESOLVERS[resolver],
            "num_threads": threads,
            "experimental_preserve_all_tensors": keep,
        }
        if isinstance(model, (bytes, bytearray)):
            arguments["model_content"] = bytes(model)
        else:
            arguments["model_path"] = _readable(str(model))
        if library is not None:
            self._delegate = self._load_delegate(library, dict(options or {}))
            arguments["experimental_delegates"] = [self._delegate]
        start = time.perf_counter()
        try:
            self.interpreter = litert.Interpreter(**arguments)
            self.interpreter.allocate_tensors()
        except (ValueError, RuntimeError, OSError) as error:
            text = one_line(error) or (_DYNAMIC if library is not None else "no reason given")
            if resolver == "ref" and "Didn't find op" in text:
                text += " (the reference kernels lack it; the optimised ones, `plain`, may not)"
            name = f" {model}" if isinstance(model, (str, os.PathLike)) else ""
            raise UserError(f"cannot load the model{name}: {text}") from error
        self.load_seconds = time.perf_counter() - start
        self.inputs = self.interpreter.get_input_details()
        self.outputs = self.interpreter.get_output_details()

    def _load_delegate(self, library, options):
        if "explain" not in options:
            folder = tempfile.mkdtemp(prefix="rocket_npu_")
            weakref.finalize(self, shutil.rmtree, folder, True)
            options["explain"] = os.path.join(folder, "explain.json")
        self._explain_path = options["explain"]
        try:
            # The interpreter's Delegate complains about itself when the library does not load.
            ctypes.CDLL(str(library))
            return litert.load_delegate(str(library), options)
        except (ValueError, OSError, AttributeError) as error:
            raise UserError(f"cannot load the delegate: {one_line(error)}") from error

    def run(self, inputs):
        """One inference; returns the outputs as a list of arrays (copies)."""
        for details, values in zip(self.inputs, inputs):
            self.interpreter.set_tensor(details["index"], values)
        try:
            self.interpreter.invoke()
        except (ValueError, RuntimeError) as error:
            raise UserError(f"the inference failed: {one_line(error)}") from error
        return [self.interpreter.get_tensor(details["index"]) for details in self.outputs]

    def time(self, inputs, iterations):
        """(outputs, seconds of each inference)."""
        seconds, outputs = [], []
        for _ in range(iterations):
            start = time.perf_counter()
            outputs = self.run(inputs)
            seconds.append(time.perf_counter() - start)
        return outputs, seconds

    def tensor(self, index):
        """Any tensor of the model; needs keep=True."""
        return self.interpreter.get_tensor(index)

    def explain(self):
        """The delegate's account, or None without a delegate."""
        if self._explain_path is None:
            return None
        try:
            with open(self._explain_path, encoding="utf-8") as file:
                return Explain(json.load(file))
        except (OSError, ValueError) as error:
            raise UserError(f"no usable explain file from the delegate: {one_line(error)}") from error

    def finish(self):
        """Ends the interpreter; the account now also tells how the inferences went."""
        self.interpreter = None
        self._delegate = None
        return self.explain()
