# SPDX-License-Identifier: Apache-2.0
"""Scales that put many results exactly between two counts, against the interpreter's own reference kernels.

Ordinary scales hardly ever hit a tie, so that a wrong product of scales or a wrong rounding stays unseen in networks.
"""

import sys
import unittest

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from delegate_case import ROOT, Runner, counts_apart

sys.path.insert(0, str(ROOT / "python"))
from rocket_npu import model as tflite  # noqa: E402

EXACT = {"device": "sim", "claim": "all", "quiet": "1", "numerics.requant": "exact"}
ALL_BYTES = np.arange(-128, 128, dtype=np.int8)
# 1/6, 1/10, 1/14 ...: the 31-bit multiplier lies below the factor, and below every tie.
DIVISORS = (2, 3, 6, 10, 12, 14, 20, 22, 30, 50, 70, 100)


def convolution(op, scales, per_channel, generator, dtype=np.int8):
    """1x1 convolution, depthwise or fully connected on 400 pixels of 3 channels; the bytes of the model.

    uint8 has asymmetric weights.
    """
    x_scale, w_scale, y_scale = scales
    model = tflite.empty(op)
    depthwise, dense = op == "DEPTHWISE_CONV_2D", op == "FULLY_CONNECTED"
    count = 3 if per_channel else 1
    middle, w_zero = (0, 0) if dtype == np.int8 else (128, int(generator.integers(5, 250)))
    shape = [400, 3] if dense else [1, 20, 20, 3]
    filter_shape = [3, 3] if dense else [1, 1, 1, 3] if depthwise else [3, 1, 1, 3]
    x = tflite.add_tensor(model, "x", shape, dtype, tflite.quantization(x_scale, middle))
    y = tflite.add_tensor(model, "y", shape, dtype, tflite.quantization(y_scale, middle))
    w_quantization = tflite.quantization([w_scale] * count, [w_zero] * count, 3 if depthwise else 0)
    weights = w_zero + generator.integers(-5, 6, filter_shape)
    w = tflite.add_tensor(model, "w", filter_shape, dtype, w_quantization, weights)
    b_scale = np.float32(x_scale) * np.float32(w_scale)
    b_quantization = tflite.quantization([b_scale] * count, [0] * count)
    b = tflite.add_tensor(model, "b", [3], np.int32, b_quantization, generator.integers(-99, 99, 3))
    if dense:
        options, version = schema.FullyConnectedOptionsT(), 4
    else:
        options, version = (schema.DepthwiseConv2DOptionsT() if depthwise else schema.Conv2DOptionsT()), 3
        options.strideH = options.strideW = options.dilationHFactor = options.dilationWFactor = 1
        if depthwise:
            options.depthMultiplier = 1
    tflite.add_operator(model, op, version, [x, w, b], [y], options)
    tflite.set_ends(model, [x], [y])
    return tflite.dump(model), shape


class Ties(unittest.TestCase):
    def check(self, content, inputs):
        expected = Runner(content).run(inputs)[0]
        for requant, bound in (("exact", 0), ("chip", 1)):
            runner = Runner(content, {**EXACT, "numerics.requant": requant})
            self.assertTrue(runner.explain()["nodes"][0]["claimed"])
            self.assertLessEqual(counts_apart(runner.run(inputs)[0], expected), bound, requant)

    def test_convolutions_with_scales_of_small_integers(self):
        generator = np.random.default_rng(1)
        for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            for per_channel in (False, True):
                for divisor in DIVISORS:
                    with self.subTest(op=op, per_channel=per_channel, divisor=divisor):
                        content, shape = convolution(op, (0.5, 0.25, divisor / 8), per_channel, generator)
                        self.check(content, [generator.integers(-128, 128, shape).astype(np.int8)])

    def test_convolutions_whose_product_of_scales_is_rounded(self):
        generator = np.random.default_rng(2)
        for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            for number in range(40):
                x_scale, w_scale = (np.float32(v) for v in 2.0 ** generator.uniform(-8, 0, 2))
                y_scale = x_scale * w_scale * np.float32(generator.choice(DIVISORS))
                with self.subTest(op=op, scales=(x_scale, w_scale, y_scale)):
                    scales = (x_scale, w_scale, y_scale)
                    content, shape = convolution(op, scales, number % 2 == 1, generator)
                    self.check(content, [generator.integers(-128, 128, shape).astype(np.int8)])

    def test_uint8_convolutions(self):
        generator = np.random.default_rng(3)
        for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            for number in range(40):
                x_scale, w_scale = (np.float32(v) for v in 2.0 ** generator.uniform(-8, 0, 2))
                if number < len(DIVISORS):
                    scales = (0.5, 0.25, DIVISORS[number] / 8)
                else:
                    scales = (x_scale, w_scale, x_scale * w_scale * np.float32(generator.choice(DIVISORS)))
                with self.subTest(op=op, scales=scales):
                    content, shape = convolution(op, scales, False, generator, np.uint8)
                    self.check(content, [generator.integers(0, 256, shape).astype(np.uint8)])

    def test_leaky_relu_with_slopes_of_both_signs(self):
        for slope in (-2, -0.75, -0.5, -0.375, -0.25, -0.1, 0.1, 0.25, 0.5, 1.5):
            with self.subTest(slope=slope):
                model = tflite.empty("leaky")
                x, y = (
                    tflite.add_tensor(model, name, [1, 256], np.int8, tflite.quantization(0.1, 3))
                    for name in "xy"
                )
                options = schema.LeakyReluOptionsT()
                options.alpha = slope
                tflite.add_operator(model, "LEAKY_RELU", 2, [x], [y], options)
                tflite.set_ends(model, [x], [y])
                self.check(tflite.dump(model), [ALL_BYTES[None]])


if __name__ == "__main__":
    unittest.main()
