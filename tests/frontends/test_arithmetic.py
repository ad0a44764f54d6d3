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
            version = 1 if op in ("RELU_N1_TO_1", "RELU_0_TO_1", "ELU") else 2
            content = single(op, version, [random.tensor([1, 256], dtype, **fixed.get("given", {}))],
                             random.tensor([1, 256], dtype, **fixed.get("out", {})), op_options)
            with self.subTest(op=op, seed=seed, type=dtype.__name__):
                self.check(content, [self.bytes_of(dtype)], resolver)

    def test_rectifiers(self):
        for op in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"):
            self.random_cases(op, 16, TYPES)

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


if __name__ == "__main__":
    unittest.main()
