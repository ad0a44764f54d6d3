# SPDX-License-Identifier: Apache-2.0
"""Arithmetic operations with random shapes and quantization, against the interpreter's own reference kernels.

Every case is one node, claimed by `claim=all`, and must equal BUILTIN_REF in every element, under `exact` and (where no
NPU takes part) under `chip` alike. Scales come from three families: ordinary ones, ones that make ties, and far ones.
"""

import sys
import unittest

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from delegate_case import ROOT, Runner, counts_apart

sys.path.insert(0, str(ROOT / "python"))
from rocket_npu import model as tflite  # noqa: E402

EXACT = {"device": "sim", "claim": "all", "quiet": "1", "numerics.requant": "exact"}
TYPES = (np.int8, np.uint8)


def options(kind, **fields):
    item = getattr(schema, f"{kind}OptionsT")()
    for name, value in fields.items():
        setattr(item, name, value)
    return item


class Tensor:
    """One operand: constant when `values` are given."""

    def __init__(self, shape, dtype, scale=None, zero_point=0, values=None, axis=0):
        self.shape, self.dtype, self.values = list(shape), dtype, values
        self.quantization = None if scale is None else tflite.quantization(scale, zero_point, axis)

    def add(self, model, name):
        return tflite.add_tensor(model, name, self.shape, self.dtype, self.quantization, self.values)


def single(op, version, inputs, output, op_options=None):
    """The bytes of a model of one node; None is an absent input."""
    model = tflite.empty(op)
    indices = [-1 if t is None else t.add(model, f"in{i}") for i, t in enumerate(inputs)]
    out = output.add(model, "out")
    tflite.add_operator(model, op, version, indices, [out], op_options)
    run_time = [i for i, t in zip(indices, inputs, strict=True) if t is not None and t.values is None]
    tflite.set_ends(model, run_time, [out])
    return tflite.dump(model)


class Random:
    """Shapes, scales, zero points and bytes of one seed."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def scale(self):
        family = self.generator.integers(0, 3)
        if family == 0:
            return np.float32(self.generator.uniform(0.002, 0.1))
        if family == 1:
            return np.float32(self.generator.integers(1, 12) / self.generator.choice([8, 10, 16, 20, 50]))
        return np.float32(2.0 ** self.generator.uniform(-9, 3))

    def zero_point(self, dtype):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return int(self.generator.choice([low, high, (low + high + 1) // 2, self.generator.integers(low, high + 1)]))

    def values(self, shape, dtype):
        info = np.iinfo(dtype)
        values = self.generator.integers(info.min, info.max + 1, shape).astype(dtype)
        flat = values.reshape(-1)
        if flat.size > 2:  # the ends are always there
            flat[0], flat[-1] = info.min, info.max
        return values

    def tensor(self, shape, dtype, **fixed):
        fields = {"scale": self.scale(), "zero_point": self.zero_point(dtype), **fixed}
        return Tensor(shape, dtype, **fields)

    def shape(self, rank, elements=4000):
        extents = [int(self.generator.choice([1, 2, 3, 5, 16, 17, 33])) for _ in range(rank)]
        while np.prod(extents) > elements:
            extents[int(np.argmax(extents))] = 2
        return extents

    def broadcast_pair(self):
        """Two shapes and the one they broadcast to."""
        rank = int(self.generator.integers(1, 7))
        out = self.shape(rank)
        first = [1 if self.generator.random() < 0.3 else n for n in out]
        second = [n if a == 1 or self.generator.random() < 0.6 else 1 for n, a in zip(out, first, strict=True)]
        cut = int(self.generator.integers(0, rank + 1))
        while cut and any(n != 1 for n in second[:cut]):
            cut -= 1
        first, second = first, second[cut:]
        if self.generator.random() < 0.5 and len(second) == rank:
            first, second = second, first
        return first, second, [int(n) for n in np.broadcast_shapes(tuple(first), tuple(second))]


class Case(unittest.TestCase):
    def check(self, content, inputs, resolver="ref"):
        expected = Runner(content, resolver=resolver).run(inputs)[0]
        runner = Runner(content, EXACT, resolver)
        node = runner.explain()["nodes"][0]
        self.assertTrue(node["claimed"], node)
        self.assertEqual(counts_apart(runner.run(inputs)[0], expected), 0)

    def declined(self, content, reason, resolver="plain"):
        node = Runner(content, EXACT, resolver).explain()["nodes"][0]
        self.assertFalse(node["claimed"])
        self.assertEqual(node["reason"], reason)


class Binary(Case):
    def random_cases(self, op, kind, count, activations=(0, 1, 2, 3), nonzero=False, types=TYPES):
        for seed in range(count):
            random = Random(seed)
            dtype = types[seed % len(types)]
            shapes = random.broadcast_pair()
            a, b, out = (random.tensor(shape, dtype) for shape in shapes)
            values = [random.values(shape, dtype) for shape in shapes[:2]]
            if nonzero:  # the result of a division by zero is undefined
                zero = int(b.quantization.zeroPoint[0])
                values[1][values[1] == zero] = zero + 1 if zero < np.iinfo(dtype).max else zero - 1
            constant = random.generator.integers(0, 3)  # 0 or 1: this operand; else none
            for number, tensor in enumerate((a, b)):
                if number == constant:
                    tensor.values = values[number]
            fields = {"fusedActivationFunction": activations[seed % len(activations)]} if activations else {}
            content = single(op, 2, [a, b], out, options(kind, **fields))
            run_time = [v for number, v in enumerate(values) if number != constant]
            with self.subTest(op=op, seed=seed, shapes=shapes, type=dtype.__name__):
                self.check(content, run_time)

    def test_add(self):
        self.random_cases("ADD", "Add", 24)

    def test_sub(self):
        self.random_cases("SUB", "Sub", 24)

    def test_mul(self):
        self.random_cases("MUL", "Mul", 24)

    def test_div(self):
        self.random_cases("DIV", "Div", 40, nonzero=True)

    def test_maximum_and_minimum(self):
        for op in ("MAXIMUM", "MINIMUM"):
            self.random_cases(op, "MaximumMinimum", 16, activations=())

    def test_scalars_of_rank_0(self):
        for dtype in TYPES:
            for op, kind in (("ADD", "Add"), ("MUL", "Mul"), ("SUB", "Sub"), ("DIV", "Div")):
                random = Random(7)
                a, out = (random.tensor([1, 3, 5, 17], dtype) for _ in range(2))
                scalar = random.tensor([], dtype, zero_point=10, values=np.asarray(33, dtype))
                content = single(op, 2, [a, scalar], out, options(kind))
                with self.subTest(op=op, type=dtype.__name__):
                    self.check(content, [random.values(a.shape, dtype)])


class Prelu(Case):
    def test_slopes_of_every_shape(self):
        for seed in range(24):
            random = Random(seed)
            dtype = TYPES[seed % len(TYPES)]
            shape = [1, *random.shape(3)]
            slopes = [shape[-1:], [1, 1, shape[-1]], [1], shape[1:], [shape[1], 1, 1]][seed % 5]
            alpha = random.tensor(slopes, dtype, values=random.values(slopes, dtype))
            content = single("PRELU", 1, [random.tensor(shape, dtype), alpha], random.tensor(shape, dtype))
            with self.subTest(seed=seed, shape=shape, slopes=slopes, type=dtype.__name__):
                self.check(content, [random.values(shape, dtype)])


class Unary(Case):
    def bytes_of(self, dtype):
        info = np.iinfo(dtype)
        return np.arange(info.min, info.max + 1).astype(dtype)[None]

    def random_cases(self, op, count, types, resolver="ref", op_options=None, **fixed):
        for seed in range(count):
            random = Random(seed)
            dtype = types[seed % len(types)]
            version = 1 if op in ("RELU_N1_TO_1", "RELU_0_TO_1", "ELU", "HARD_SWISH") else 2
            content = single(op, version, [random.tensor([1, 256], dtype, **fixed.get("given", {}))],
                             random.tensor([1, 256], dtype, **fixed.get("out", {})), op_options)
            with self.subTest(op=op, seed=seed, type=dtype.__name__):
                self.check(content, [self.bytes_of(dtype)], resolver)

    def test_rectifiers(self):
        for op in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"):
            self.random_cases(op, 16, TYPES)

    def test_leaky_relu_tanh_and_logistic(self):
        self.random_cases("LEAKY_RELU", 16, TYPES, op_options=options("LeakyRelu", alpha=0.13))
        self.random_cases("TANH", 16, TYPES)
        for dtype in TYPES:
            low = np.iinfo(dtype).min
            fixed = {"scale": 1 / 256, "zero_point": low}
            self.random_cases("LOGISTIC", 8, (dtype,), out=fixed)

    def test_hard_swish(self):
        for scale in (0.01, 0.05, 0.125):
            self.random_cases("HARD_SWISH", 8, TYPES, given={"scale": scale}, out={"scale": scale})

    def test_quantize_between_bytes(self):
        for seed in range(32):
            random = Random(seed)
            source, target = TYPES[seed % 2], TYPES[seed // 2 % 2]
            content = single("QUANTIZE", 2, [random.tensor([1, 256], source)], random.tensor([1, 256], target))
            with self.subTest(seed=seed, source=source.__name__, target=target.__name__):
                self.check(content, [self.bytes_of(source)])

    def test_quantize_from_and_dequantize_to_float(self):
        for seed in range(16):
            random = Random(seed)
            dtype = TYPES[seed % 2]
            tensor = random.tensor([1, 256], dtype)
            content = single("QUANTIZE", 1, [Tensor([1, 256], np.float32)], tensor)
            scale = tensor.quantization.scale[0]
            values = random.generator.uniform(-200, 200, [1, 256]).astype(np.float32)
            values[0, ::2] = np.round(values[0, ::2]) + 0.5  # ties, where the scale divides exactly
            content_back = single("DEQUANTIZE", 2, [tensor], Tensor([1, 256], np.float32))
            with self.subTest(seed=seed, type=dtype.__name__):
                self.check(content, [values * scale])
                self.check(content_back, [self.bytes_of(dtype)])

    def test_elu(self):
        # BUILTIN_REF has no ELU.
        self.random_cases("ELU", 12, (np.int8,), "plain")

    def test_exp(self):
        self.random_cases("EXP", 12, (np.int8,), given={"scale": 0.03})

    def test_abs(self):
        self.random_cases("ABS", 16, (np.int8,))
        self.random_cases("ABS", 8, (np.int8,), given={"scale": 0.5}, out={"scale": 0.5})

    def test_rsqrt(self):
        self.random_cases("RSQRT", 24, (np.int8,), given={"zero_point": -128})

    def test_rsqrt_of_negative_values_stays_with_tflite(self):
        tensors = [Tensor([4], np.int8, 0.1, 0), Tensor([4], np.int8, 0.1, 0)]
        self.declined(single("RSQRT", 2, tensors[:1], tensors[1]), "quant.range")

    def test_exponentials_beyond_int32_stay_with_tflite(self):
        tensors = [Tensor([4], np.int8, 1.0, -128), Tensor([4], np.int8, 0.1, 0)]
        self.declined(single("EXP", 2, tensors[:1], tensors[1]), "quant.range")


class Reduce(Case):
    def random_cases(self, op, count, types=TYPES, rescale=False):
        for seed in range(count):
            random = Random(seed)
            dtype = types[seed % len(types)]
            rank = int(random.generator.integers(1, 6))
            shape = random.shape(rank)
            axes = random.generator.choice(rank, random.generator.integers(1, rank + 1), replace=False)
            axes = [int(axis) - rank if random.generator.random() < 0.3 else int(axis) for axis in axes]
            keep = bool(seed % 2)
            folded = {axis % rank for axis in axes}
            out = [1 if i in folded else n for i, n in enumerate(shape) if keep or i not in folded]
            scale, zero = random.scale(), random.zero_point(dtype)
            x = random.tensor(shape, dtype, scale=scale, zero_point=zero)
            y = random.tensor(out, dtype) if rescale else Tensor(out, dtype, scale, zero)
            axis = Tensor([len(axes)], np.int32, values=np.asarray(axes, np.int32))
            content = single(op, 2, [x, axis], y, options("Reducer", keepDims=keep))
            with self.subTest(op=op, seed=seed, shape=shape, axes=axes, type=dtype.__name__):
                self.check(content, [random.values(shape, dtype)])

    def test_reduce_max_and_min(self):
        for op in ("REDUCE_MAX", "REDUCE_MIN"):
            self.random_cases(op, 16)

    def test_mean(self):
        self.random_cases("MEAN", 32, rescale=True)
        self.random_cases("MEAN", 8)

    def test_sum(self):
        self.random_cases("SUM", 16, (np.uint8,), rescale=True)
        self.random_cases("SUM", 8, (np.uint8,))

    def test_sum_of_int8_stays_with_tflite(self):
        axis = Tensor([1], np.int32, values=np.asarray([0], np.int32))
        tensors = [Tensor([4], np.int8, 0.1, 0), axis]
        content = single("SUM", 2, tensors, Tensor([], np.int8, 0.1, 0), options("Reducer"))
        self.declined(content, "type.only_uint8")


class Rows(Case):
    def random_cases(self, op, kind, count, out_scale, out_zero, **fields):
        for seed in range(count):
            random = Random(seed)
            dtype = TYPES[seed % len(TYPES)]
            shape = [*random.shape(int(random.generator.integers(0, 5)), 300), int(random.generator.integers(1, 60))]
            low = np.iinfo(dtype).min
            y = Tensor(shape, dtype, out_scale, low + out_zero)
            some = {name: value(random) for name, value in fields.items()}
            content = single(op, 2, [random.tensor(shape, dtype), ], y, kind and options(kind, **some))
            values = random.values(shape, dtype)
            if seed % 3 == 0:
                values[...] = int(random.generator.integers(low, low + 256))  # all equal
            with self.subTest(op=op, seed=seed, shape=shape, type=dtype.__name__, **some):
                self.check(content, [values])

    def test_softmax(self):
        betas = (0.125, 0.5, 1.0, 1.5, 2.0, 10.0)
        self.random_cases("SOFTMAX", "Softmax", 36, 1 / 256, 0, beta=lambda r: float(r.generator.choice(betas)))

    def test_log_softmax(self):
        self.random_cases("LOG_SOFTMAX", None, 48, 16 / 256, 255)

    def test_l2_normalization(self):
        self.random_cases("L2_NORMALIZATION", "L2Norm", 48, 1 / 128, 128)

    def test_long_rows(self):
        for op, kind, out in (
            ("SOFTMAX", "Softmax", (1 / 256, 0)),
            ("LOG_SOFTMAX", None, (16 / 256, 255)),
            ("L2_NORMALIZATION", "L2Norm", (1 / 128, 128)),
        ):
            for dtype in TYPES:
                low = np.iinfo(dtype).min
                shape = [2, 4095]
                y = Tensor(shape, dtype, out[0], low + out[1])
                fields = {"beta": 1.0} if op == "SOFTMAX" else {}
                # The reference SOFTMAX aborts where the exponentials add up to 512 or more.
                content = single(op, 2, [Tensor(shape, dtype, 0.1, low)], y, kind and options(kind, **fields))
                with self.subTest(op=op, type=dtype.__name__):
                    self.check(content, [Random(1).values(shape, dtype)])


class TransposeConv(Case):
    def test_windows_strides_and_bias(self):
        for seed in range(80):
            random = Random(seed)
            generator = random.generator
            dtype = np.uint8 if seed % 4 == 3 else np.int8
            kh, kw, sh, sw = (int(generator.integers(1, limit)) for limit in (6, 6, 4, 4))
            ih, iw, ic, oc = (int(generator.integers(1, limit)) for limit in (7, 7, 20, 20))
            same = bool(seed % 2)
            oh, ow = (ih * sh, iw * sw) if same else ((ih - 1) * sh + kh, (iw - 1) * sw + kw)
            if same and sh > 1:  # any extent that the convolution would shrink to ih
                oh -= int(generator.integers(0, sh))
            per_axis = dtype == np.int8 and seed // 4 % 2 == 0
            count = oc if per_axis else 1
            x_scale, y_scale = random.scale(), random.scale() * 4
            w_scales = generator.uniform(0.002, 0.02, count).astype(np.float32)
            batch = 3 if seed % 5 == 0 else 1
            out = [batch, oh, ow, oc]
            x = Tensor([batch, ih, iw, ic], dtype, x_scale, random.zero_point(dtype))
            weights = random.values((oc, kh, kw, ic), dtype)
            w_zero = random.zero_point(dtype) if dtype == np.uint8 else 0
            inputs = [
                Tensor([4], np.int32, values=np.asarray(out, np.int32)),
                Tensor(weights.shape, dtype, w_scales, [w_zero] * count, weights, 0),
                x,
            ]
            if seed % 3:
                bias = generator.integers(-3000, 3000, oc).astype(np.int32)
                scales = (np.float64(x_scale) * w_scales).astype(np.float32)
                inputs.append(Tensor([oc], np.int32, scales, [0] * count, bias))
            fields = {"padding": 0 if same else 1, "strideH": sh, "strideW": sw}
            activation = (0, 1, 2, 3)[seed % 4 if dtype == np.int8 else 0]
            version = 4 if activation else 3 if len(inputs) == 4 else 2
            if activation:
                fields["fusedActivationFunction"] = activation
            y = Tensor(out, dtype, y_scale, random.zero_point(dtype))
            content = single("TRANSPOSE_CONV", version, inputs, y, options("TransposeConv", **fields))
            with self.subTest(seed=seed, kernel=(kh, kw), strides=(sh, sw), same=same, out=out, type=dtype.__name__):
                self.check(content, [random.values(x.shape, dtype)])


class Weighted(Case):
    """FULLY_CONNECTED and DEPTHWISE_CONV_2D in their rarer forms, on the simulated NPU too."""

    def check_both(self, content, inputs):
        self.check(content, inputs)
        runner = Runner(content, {**EXACT, "numerics.requant": "chip"})
        bound = runner.explain()["nodes"][0]["bound_counts"]
        expected = Runner(content).run(inputs)[0]
        self.assertLessEqual(counts_apart(runner.run(inputs)[0], expected), bound)

    def filter_and_bias(self, random, dtype, shape, channels, axis, x_scale, per_axis, with_bias):
        count = channels if per_axis else 1
        w_scales = random.generator.uniform(0.002, 0.02, count).astype(np.float32)
        w_zero = random.zero_point(dtype) if dtype == np.uint8 else 0
        operands = [Tensor(shape, dtype, w_scales, [w_zero] * count, random.values(shape, dtype), axis)]
        if with_bias:
            scales = (np.float64(x_scale) * w_scales).astype(np.float32)
            bias = random.generator.integers(-3000, 3000, channels).astype(np.int32)
            operands.append(Tensor([channels], np.int32, scales, [0] * count, bias))
        return operands

    def test_fully_connected(self):
        for seed in range(32):
            random = Random(seed)
            dtype = TYPES[seed % 2]
            keep, per_axis = bool(seed // 2 % 2), dtype == np.int8 and seed // 4 % 2 == 0
            rows, depth, channels = (int(random.generator.integers(1, n)) for n in (9, 90, 40))
            lead = [1, rows] if keep else [rows]
            x = Tensor([*lead, depth], dtype, random.scale(), random.zero_point(dtype))
            scale = float(x.quantization.scale[0])
            weights = self.filter_and_bias(random, dtype, [channels, depth], channels, 0, scale, per_axis, seed % 3)
            y = Tensor([*lead, channels], dtype, random.scale() * 8, random.zero_point(dtype))
            some = {"keepNumDims": keep, "fusedActivationFunction": seed // 8 % 4}
            content = single("FULLY_CONNECTED", 5, [x, *weights], y, options("FullyConnected", **some))
            with self.subTest(seed=seed, x=x.shape, channels=channels, type=dtype.__name__, **some):
                self.check_both(content, [random.values(x.shape, dtype)])

    def test_depthwise_with_a_channel_multiplier(self):
        for seed in range(24):
            random = Random(seed)
            dtype = TYPES[seed % 2]
            size, kernel, multiplier = (int(random.generator.integers(*ends)) for ends in ((3, 9), (1, 4), (2, 6)))
            channels = (1, 3, 17, 40)[seed // 2 % 4]
            per_axis = dtype == np.int8 and seed // 4 % 2 == 0
            x = Tensor([1, size, size, channels], dtype, random.scale(), random.zero_point(dtype))
            total, scale = channels * multiplier, float(x.quantization.scale[0])
            shape = [1, kernel, kernel, total]
            weights = self.filter_and_bias(random, dtype, shape, total, 3, scale, per_axis, True)
            y = Tensor([1, size, size, total], dtype, random.scale() * 4, random.zero_point(dtype))
            some = {"strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
            some |= {"depthMultiplier": multiplier, "fusedActivationFunction": seed // 8 % 4}
            content = single("DEPTHWISE_CONV_2D", 3, [x, *weights], y, options("DepthwiseConv2D", **some))
            with self.subTest(seed=seed, x=x.shape, kernel=kernel, type=dtype.__name__, **some):
                self.check_both(content, [random.values(x.shape, dtype)])


class Pools(Case):
    def test_padding_and_activations(self):
        for seed in range(24):
            random = Random(seed)
            dtype = TYPES[seed % 2]
            limits = ((3, 12), (3, 12), (1, 40), (1, 4), (1, 4), (1, 4), (1, 4))
            height, width, channels, kh, kw, sh, sw = (int(random.generator.integers(*ends)) for ends in limits)
            same = bool(seed // 2 % 2)
            out = [
                -(-n // s) if same else (n - k) // s + 1 for n, k, s in ((height, kh, sh), (width, kw, sw))
            ]
            scale, zero = random.scale(), random.zero_point(dtype)
            x = Tensor([1, height, width, channels], dtype, scale, zero)
            y = Tensor([1, *out, channels], dtype, scale, zero)
            some = {"padding": 0 if same else 1, "strideH": sh, "strideW": sw, "filterHeight": kh, "filterWidth": kw}
            some["fusedActivationFunction"] = seed // 4 % 4
            for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
                content = single(op, 2, [x], y, options("Pool2D", **some))
                with self.subTest(op=op, seed=seed, x=x.shape, type=dtype.__name__, **some):
                    self.check(content, [random.values(x.shape, dtype)])


if __name__ == "__main__":
    unittest.main()
