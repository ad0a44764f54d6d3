# SPDX-License-Identifier: Apache-2.0
"""What the delegate's tests share: the library, the models, a process's stderr, interpreters."""

import contextlib
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

try:
    import ai_edge_litert.interpreter as litert
except ModuleNotFoundError:  # the older host has a Python environment of its own
    import tflite_runtime.interpreter as litert

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIBRARY = os.environ.get("NPU_DELEGATE") or str(ROOT / "build" / "release" / "lib" / "libtflite_rocket.so")
MODELS = pathlib.Path(os.environ.get("NPU_SHARED_DIR") or ROOT.parent / "shared") / "models" / "tflite"
RESOLVERS = {
    "default": litert.OpResolverType.AUTO,
    "plain": litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "ref": litert.OpResolverType.BUILTIN_REF,
}
_FOLDER = tempfile.TemporaryDirectory(prefix="npu_frontends_")
_NUMBERS = itertools.count()
# Only the missing folder is a reason to skip.
needs_models = unittest.skipUnless(MODELS.is_dir(), f"no models at {MODELS}")


class Captured:
    """What a process wrote to stderr, C and C++ included."""

    text = ""


@contextlib.contextmanager
def stderr_of_process():
    """Collects everything written to file descriptor 2."""
    captured = Captured()
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield captured
        finally:
            sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            captured.text = file.read().decode(errors="replace")


def op_model(name):
    return str(MODELS / "ops" / f"{name}.tflite")


def op_inputs(name):
    paths = sorted((MODELS / "ops").glob(f"{name}.in*.npy"))
    return [np.load(path) for path in paths]


def op_outputs(name):
    paths = sorted((MODELS / "ops").glob(f"{name}.out*.npy"))
    return [np.load(path) for path in paths]


class Runner:
    """An interpreter with the delegate (options given) or without (options None)."""

    def __init__(self, model, options=None, resolver="ref", keep=False, delegate=None):
        arguments = {
            "experimental_op_resolver_type": RESOLVERS[resolver],
            "num_threads": 1,
            "experimental_preserve_all_tensors": keep,
        }
        arguments["model_content" if isinstance(model, bytes) else "model_path"] = model
        self.explain_path = None
        if delegate is None and options is not None:
            options = {"explain": os.path.join(_FOLDER.name, f"explain-{next(_NUMBERS)}.json"), **options}
            self.explain_path = options["explain"]
            delegate = litert.load_delegate(LIBRARY, options)
        if delegate is not None:
            arguments["experimental_delegates"] = [delegate]
        self.delegate = delegate
        self.interpreter = litert.Interpreter(**arguments)
        self.interpreter.allocate_tensors()

    def run(self, inputs):
        for detail, value in zip(self.interpreter.get_input_details(), inputs, strict=True):
            self.interpreter.set_tensor(detail["index"], value)
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(d["index"]) for d in self.interpreter.get_output_details()]

    def explain(self):
        with open(self.explain_path, encoding="utf-8") as file:
            return json.load(file)

    def close(self):
        """Ends the interpreter, then gives the completed explain file."""
        self.interpreter = self.delegate = None
        return self.explain() if self.explain_path else None


def counts_apart(got, expected):
    """The largest difference in counts; shape and type must agree."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        raise AssertionError(f"{got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}")
    if got.size == 0:
        return 0
    if got.dtype.kind == "f":
        return float(np.abs(got.astype(np.float64) - expected.astype(np.float64)).max())
    return int(np.abs(got.astype(np.int64) - expected.astype(np.int64)).max())


def run_script(text, *arguments, environment=None):
    """Runs a Python program of its own, which may import this module; gives the completed process."""
    return subprocess.run(
        [sys.executable, "-c", text, LIBRARY, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE), **(environment or {})},
    )
