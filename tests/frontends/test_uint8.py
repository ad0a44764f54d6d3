# SPDX-License-Identifier: Apache-2.0
"""uint8 operations whose arithmetic is not that of int8, on random problems against the interpreter's own reference kernels.

exact: equal; chip: within the bound the delegate states. Convolutions have asymmetric weights, paddings, strides, dilations
and channel counts that leave padding lanes.
"""

import unittest

import numpy as np
from delegate_case import Runner, counts_apart
from test_arithmetic import Random, Tensor, options, single

SAME, VALID = 0, 1


class Uint8(unittest.TestCase):
    def check(self, content, inputs):
        """Gives the routes taken under exact and chip."""
        expected = Runner(content).run(inputs)[0]
        routes = []
        for requant in ("exact", "chip"):
            runner = Runner(content, {"device": "sim", "claim": "all", "quiet": "1", "numerics.requant": requant})
            node = runner.explain()["nodes"][0]
            self.assertTrue(node["claimed"], node)
            self.assertLessEqual(counts_apart(runner.run(inputs)[0], expected), node["bound_counts"], requant)
            self.assertLessEqual(node["bound_counts"], 0 if requant == "exact" else 1)
            run = runner.close()["run"]
            self.assertEqual([run["verify_mismatches"], run["host_runs"]], [0, 0])
            routes.append(node["route"])
        return routes

    def convolution(self, random, op, shape, filter_shape, op_options, version):
        """A model of one layer whose output fills its range."""
        pick = random.generator
        x = random.tensor(shape, np.uint8, scale=np.float32(pick.uniform(0.01, 0.1)))
        w = random.tensor(
            filter_shape,
            np.uint8,
            scale=np.float32(pick.uniform(0.001, 0.02)),
            values=random.values(filter_shape, np.uint8),
        )
        depthwise = op == "DEPTHWISE_CONV_2D"
        channels = filter_shape[3] if depthwise else filter_shape[0]
        taps = np.prod(filter_shape) // channels
        x_scale, w_scale = x.quantization.scale[0], w.quantization.scale[0]
        spread = 104.0 * 104.0 * np.sqrt(taps)  # of a sum of products of two random bytes
        bias = Tensor(
            [channels],
            np.int32,
            x_scale * w_scale,
            0,
            pick.integers(-spread, spread, channels).astype(np.int32),
        )
        y_scale = np.float32(x_scale * w_scale * spread / pick.uniform(20, 120))
        if op == "FULLY_CONNECTED":
            y_shape = [shape[0], channels]
        else:
            stride, kernel = op_options.strideH, filter_shape[1:3]
            extents = [(k - 1) * op_options.dilationHFactor + 1 for k in kernel]
            y_shape = [1, 0, 0, channels]
            for axis, extent in enumerate(extents, 1):
                used = shape[axis] if op_options.padding == SAME else shape[axis] - extent + 1
                y_shape[axis] = -(-used // stride)
        y = random.tensor(y_shape, np.uint8, scale=y_scale)
        return single(op, version, [x, w, bias], y, op_options), [random.values(shape, np.uint8)]

    def window(self, random, kind, **fields):
        pick = random.generator
        stride = int(pick.integers(1, 4))
        dilation = int(pick.integers(1, 3)) if stride == 1 else 1
        return options(
            kind,
            padding=int(pick.integers(0, 2)),
            strideH=stride,
            strideW=stride,
            dilationHFactor=dilation,
            dilationWFactor=dilation,
            fusedActivationFunction=int(pick.choice([0, 0, 1, 3])),
            **fields,
        )

    def test_convolutions_with_asymmetric_weights(self):
        seen = set()
        for seed in range(24):
            random = Random(seed)
            pick = random.generator
            kernel = [int(pick.choice([1, 3, 3, 5])), int(pick.choice([1, 2, 3]))]
            shape = [1, int(pick.integers(9, 15)), int(pick.integers(9, 15)), int(pick.choice([1, 3, 17, 32, 40]))]
            with self.subTest(seed=seed):
                content, inputs = self.convolution(
                    random, "CONV_2D", shape, [int(pick.choice([1, 8, 32, 33])), *kernel, shape[3]],
                    self.window(random, "Conv2D"), 1,
                )  # fmt: skip
                seen.update(self.check(content, inputs))
        self.assertEqual(seen & {"npu-int8", "npu-int32-host-requant"}, {"npu-int8", "npu-int32-host-requant"})

    def test_depthwise_convolutions_with_asymmetric_weights(self):
        seen = set()
        for seed in range(24):
            random = Random(100 + seed)
            pick = random.generator
            multiplier = int(pick.choice([1, 1, 1, 2]))
            shape = [1, int(pick.integers(9, 15)), int(pick.integers(9, 15)), int(pick.choice([1, 3, 32, 40, 70]))]
            with self.subTest(seed=seed):
                content, inputs = self.convolution(
                    random, "DEPTHWISE_CONV_2D", shape, [1, int(pick.choice([1, 3, 5])), 3, shape[3] * multiplier],
                    self.window(random, "DepthwiseConv2D", depthMultiplier=multiplier), 1,
                )  # fmt: skip
                seen.update(self.check(content, inputs))
        self.assertIn("npu-int8", seen)

    def test_fully_connected_with_asymmetric_weights(self):
        for seed in range(12):
            random = Random(200 + seed)
            pick = random.generator
            depth = int(pick.choice([1, 16, 33, 500]))
            with self.subTest(seed=seed):
                content, inputs = self.convolution(
                    random, "FULLY_CONNECTED", [int(pick.choice([1, 2, 5])), depth], [int(pick.choice([1, 10, 32])), depth],
                    options("FullyConnected"), 1,
                )  # fmt: skip
                self.check(content, inputs)

    def test_average_pools_of_every_small_window(self):
        for height, width in ((1, 2), (2, 2), (2, 3), (3, 3), (4, 4), (3, 6), (5, 5), (7, 7), (8, 8), (9, 10)):
            for padding in (SAME, VALID):
                with self.subTest(window=(height, width), padding=padding):
                    random = Random(height * 100 + width)
                    y_shape = [1, 12, 12, 20] if padding == SAME else [1, 13 - height, 13 - width, 20]
                    x = random.tensor([1, 12, 12, 20], np.uint8)
                    y = Tensor(y_shape, np.uint8, x.quantization.scale[0], int(x.quantization.zeroPoint[0]))
                    fields = {"padding": padding, "strideH": 1, "strideW": 1}
                    pool = options("Pool2D", filterHeight=height, filterWidth=width, **fields)
                    content = single("AVERAGE_POOL_2D", 1, [x], y, pool)
                    # Small values make sums of every remainder likely, ties among them.
                    self.check(content, [random.generator.integers(0, 4, x.shape).astype(np.uint8)])
                    self.check(content, [random.values(x.shape, np.uint8)])

    def test_concatenations_that_rescale(self):
        for seed in range(30):
            with self.subTest(seed=seed):
                random = Random(300 + seed)
                parts = [random.tensor([1, 4, 16, n], np.uint8) for n in (4, 16, 5)]
                y = random.tensor([1, 4, 16, 25], np.uint8)
                content = single("CONCATENATION", 1, parts, y, options("Concatenation", axis=3))
                every = np.arange(256, dtype=np.uint8)
                self.check(content, [np.resize(every, part.shape) for part in parts])

    def test_bilinear_resizes(self):
        for seed in range(40):
            random = Random(400 + seed)
            pick = random.generator
            height, width, rows, columns = (int(n) for n in pick.integers(1, 20, 4))
            if seed % 8 == 0:  # the factor of an optimised kernel
                rows, columns = 8 * height, 8 * width
            flags = {"alignCorners": seed % 3 == 0, "halfPixelCenters": seed % 3 == 1}
            with self.subTest(seed=seed, flags=flags):
                x = random.tensor([1, height, width, 8], np.uint8)
                y = Tensor([1, rows, columns, 8], np.uint8, x.quantization.scale[0], int(x.quantization.zeroPoint[0]))
                size = Tensor([2], np.int32, values=np.array([rows, columns], np.int32))
                content = single("RESIZE_BILINEAR", 3, [x, size], y, options("ResizeBilinear", **flags))
                self.check(content, [random.values(x.shape, np.uint8)])

    def test_quantize_between_int8_and_uint8(self):
        for seed in range(20):
            random = Random(500 + seed)
            for before, after in ((np.uint8, np.int8), (np.int8, np.uint8), (np.uint8, np.uint8)):
                with self.subTest(seed=seed, types=(before, after)):
                    x, y = random.tensor([1, 256], before), random.tensor([1, 256], after)
                    every = np.arange(256).astype(np.uint8).view(before)[None]
                    self.check(single("QUANTIZE", 2, [x], y, options("Quantize")), [every])

    def test_quantize_and_dequantize_of_float(self):
        random = Random(600)
        y = random.tensor([1, 256], np.uint8, scale=np.float32(0.03), zero_point=77)
        content = single("QUANTIZE", 1, [Tensor([1, 256], np.float32)], y, options("Quantize"))
        self.check(content, [random.generator.uniform(-4, 8, (1, 256)).astype(np.float32)])
        content = single("DEQUANTIZE", 1, [y], Tensor([1, 256], np.float32), options("Dequantize"))
        self.check(content, [np.arange(256, dtype=np.uint8)[None]])

    def test_means_and_softmax(self):
        for seed in range(12):
            random = Random(700 + seed)
            keep = seed % 2 == 1
            axes = [(1, 2), (3,), (1, 2, 3), (2,)][seed % 4]
            shape = [1, 5, 7, 18]
            y_shape = list(np.mean(np.zeros(shape), axis=axes, keepdims=keep).shape)
            with self.subTest(seed=seed):
                x = random.tensor(shape, np.uint8, scale=np.float32(0.05))
                y = random.tensor(y_shape, np.uint8, scale=np.float32(0.05 * (1 + seed / 8)))
                axis = Tensor([len(axes)], np.int32, values=np.array(axes, np.int32))
                content = single("MEAN", 1, [x, axis], y, options("Reducer", keepDims=keep))
                self.check(content, [random.values(shape, np.uint8)])
                x = random.tensor([3, 40], np.uint8, scale=np.float32(random.generator.uniform(0.01, 0.3)))
                y = Tensor([3, 40], np.uint8, np.float32(1 / 256), 0)
                content = single("SOFTMAX", 1, [x], y, options("Softmax", beta=1.0))
                self.check(content, [random.values([3, 40], np.uint8)])


if __name__ == "__main__":
    unittest.main()
