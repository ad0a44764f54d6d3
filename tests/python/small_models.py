# SPDX-License-Identifier: Apache-2.0
"""Small int8 models, built in memory, and running the command line in this process."""

import contextlib
import io

import ai_edge_litert.schema_py_generated as schema
import numpy as np

from rocket_npu import cli
from rocket_npu import model as tflite


def _tensor(model, name, shape, scale, zero_point):
    return tflite.add_tensor(
        model, name, shape, np.int8, tflite.quantization(scale, zero_point)
    )


def add_model(scales=(0.05, 0.05, 0.1)):
    """y = a + b on [1,4,4,8]; with these scales the CPU's kernels disagree on ties."""
    model = tflite.empty("add")
    a, b, y = (
        _tensor(model, name, [1, 4, 4, 8], scale, 0) for name, scale in zip("aby", scales)
    )
    tflite.add_operator(model, "ADD", 2, [a, b], [y], schema.AddOptionsT())
    tflite.set_ends(model, [a, b], [y])
    return model


def convolution_model(height=8, width=8):
    """3x3 convolution 16 -> 32 with SAME padding, RELU6, then x + x."""
    model = tflite.empty("convolution")
    generator = np.random.default_rng(5)
    x = _tensor(model, "x", [1, height, width, 16], 0.02, 3)
    y = _tensor(model, "y", [1, height, width, 32], 6 / 255, -128)
    z = _tensor(model, "z", [1, height, width, 32], 12 / 255, -128)
    weights = generator.integers(-127, 128, (32, 3, 3, 16), np.int8)
    scales = generator.uniform(0.002, 0.006, 32).astype(np.float32)
    zeros = np.zeros(32, np.int64)
    w = tflite.add_tensor(model, "w", weights.shape, np.int8,
                          tflite.quantization(scales, zeros, 0), weights)
    bias = generator.integers(-2000, 2000, 32, np.int32)
    b = tflite.add_tensor(model, "b", [32], np.int32,
                          tflite.quantization(scales * np.float32(0.02), zeros), bias)
    options = schema.Conv2DOptionsT()
    options.strideH = options.strideW = 1
    options.dilationHFactor = options.dilationWFactor = 1
    options.padding = schema.Padding.SAME
    options.fusedActivationFunction = schema.ActivationFunctionType.RELU6
    tflite.add_operator(model, "CONV_2D", 3, [x, w, b], [y], options)
    tflite.add_operator(model, "ADD", 2, [y, y], [z], schema.AddOptionsT())
    tflite.set_ends(model, [x], [z])
    return model


def picture_model(kind=np.int8):
    """RELU on a [1,6,4,3] picture."""
    model = tflite.empty("picture")
    quantization = tflite.quantization(1 / 128, 0 if kind == np.int8 else 128)
    x, y = (tflite.add_tensor(model, name, [1, 6, 4, 3], kind,
                              None if kind == np.float32 else quantization) for name in "xy")
    tflite.add_operator(model, "RELU", 2, [x], [y])
    tflite.set_ends(model, [x], [y])
    return model


def write(model, path):
    path.write_bytes(tflite.dump(model))
    return str(path)


def run_cli(*arguments):
    """(exit code, stdout, stderr) of a command line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
    return code, out.getvalue(), err.getvalue()
