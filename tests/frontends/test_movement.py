# SPDX-License-Identifier: Apache-2.0
"""Operations that move data, and small batches, on random shapes and parameters.

Each model has one node, is built here and compared byte for byte with the interpreter's own reference kernels. What the
interpreter itself refuses proves nothing and is left out; what this delegate declines must be on the list of the test.
"""

import sys
import unittest

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from delegate_case import LIBRARY, ROOT, Runner

sys.path.insert(0, str(ROOT / "python"))
from rocket_npu import model as tflite  # noqa: E402

EXACT = {"device": "sim", "claim": "all", "quiet": "1", "numerics.requant": "exact"}
TYPES = (np.int8, np.uint8)


class Node:
    """A model of one node: operands are added in the node's order."""

    def __init__(self, op, kind, version=2, scale=0.05):
        self.op, self.kind, self.version = op, kind, version
        self.quantization = tflite.quantization(scale, 3 if kind == np.int8 else 131)
        self.model = tflite.empty(op)
        self.inputs, self.run_time, self.outputs = [], [], []

    def _add(self, name, shape, kind, quantization, data=None):
        return tflite.add_tensor(self.model, name, list(shape), kind, quantization, data)

    def input(self, shape):
        self.inputs.append(self._add(f"x{len(self.inputs)}", shape, self.kind, self.quantization))
        self.run_time.append(self.inputs[-1])
        return self

    def constant(self, values, kind=np.int32, quantization=None):
        values = np.asarray(values, kind)
        self.inputs.append(self._add(f"c{len(self.inputs)}", values.shape, kind, quantization, values))
        return self

    def output(self, shape, quantization=None):
        name = f"y{len(self.outputs)}"
        self.outputs.append(self._add(name, shape, self.kind, quantization or self.quantization))
        return self

    def content(self, options=None):
        tflite.add_operator(self.model, self.op, self.version, self.inputs, self.outputs, options)
        tflite.set_ends(self.model, self.run_time, self.outputs)
        return tflite.dump(self.model)


def random_bytes(generator, shape, kind):
    limits = np.iinfo(kind)
    return generator.integers(limits.min, limits.max + 1, shape).astype(kind)


class Case(unittest.TestCase):
    def setUp(self):
        self.generator = np.random.default_rng(len(self.id()))
        self.compared = 0
        self.declined = []

    def shape(self, ranks=(1, 5), largest=7):
        rank = self.generator.integers(ranks[0], ranks[1] + 1)
        return [int(e) for e in self.generator.integers(1, largest + 1, rank)]

    def check(self, content, shapes, kind, label, resolver="ref"):
        """Equal to the reference, unless the interpreter refuses the node or this delegate declines it."""
        inputs = [random_bytes(self.generator, shape, kind) for shape in shapes]
        try:
            runner = Runner(content, EXACT, resolver)
        except RuntimeError:
            return
        node = runner.explain()["nodes"][0]
        if not node["claimed"]:
            # The reference does not run either: some forms make it read behind its tensors.
            self.declined.append((label, node["reason"], node["text"]))
            return
        got = runner.run(inputs)
        expected = Runner(content, resolver=resolver).run(inputs)
        self.assertEqual(len(got), len(expected), label)
        for mine, theirs in zip(got, expected):
            np.testing.assert_array_equal(mine, theirs, str(label))
        self.compared += 1

    def expect(self, at_least, declines=()):
        self.assertGreaterEqual(self.compared, at_least)
        self.assertEqual([d for d in self.declined if d[1] not in declines], [])


class Movement(Case):
    def test_slice(self):
        for round_number in range(60):
            kind, shape = TYPES[round_number % 2], self.shape()
            begin = [int(self.generator.integers(0, e)) for e in shape]
            size = [int(self.generator.integers(1, e - b + 1)) for e, b in zip(shape, begin)]
            given = [-1 if self.generator.random() < 0.2 and b + s == e else s
                     for s, b, e in zip(size, begin, shape)]
            index = (np.int32, np.int64)[round_number // 2 % 2]
            node = Node("SLICE", kind).input(shape).constant(begin, index).constant(given, index).output(size)
            self.check(node.content(schema.SliceOptionsT()), [shape], kind, (shape, begin, given))
        self.expect(55)

    def strided(self, round_number, offset):
        kind, shape = TYPES[round_number % 2], self.shape((1, 4))
        entries = int(self.generator.integers(1, len(shape) + 2))
        options = schema.StridedSliceOptionsT()
        masks = [int(self.generator.integers(0, 2**entries)) if self.generator.random() < 0.4 else 0 for _ in range(5)]
        options.beginMask, options.endMask, _, options.newAxisMask, options.shrinkAxisMask = masks
        if self.generator.random() < 0.4:
            options.ellipsisMask = 1 << int(self.generator.integers(0, entries))
        options.offset = offset
        begin, end, strides = [], [], []
        for _ in range(entries):
            a, b = sorted(int(v) for v in self.generator.integers(-8, 9, 2))
            step = int(self.generator.integers(1, 4))
            backwards = self.generator.random() < 0.4
            begin.append(b if backwards else a)
            end.append((a - b if backwards else b - a) if offset else (a if backwards else b))
            strides.append(-step if backwards else step)
        node = Node("STRIDED_SLICE", kind, 8 if offset else 4).input(shape)
        node.constant(begin).constant(end).constant(strides)
        probe = node.output([1] * 5)
        return kind, shape, probe, options, (shape, begin, end, strides, masks, options.ellipsisMask, offset)

    def test_strided_slice(self):
        if "asan" in LIBRARY:
            return  # the interpreter sizes some of these forms by memory nobody wrote, which the sanitizer fills
        for round_number in range(700):
            kind, shape, node, options, label = self.strided(round_number, round_number % 5 == 0)
            # No reference kernel is registered for the version that has `offset`; the ordinary one copies bytes, too.
            self.check(node.content(options), [shape], kind, label, "plain" if options.offset else "ref")
        # Empty results, and forms whose extents the interpreter does not define.
        self.expect(250, ("slice.range", "shape.empty", "shape.mismatch"))

    def entry(self, what, extent):
        """begin, end, stride of one entry, and whether begin and end are masked."""
        step = int(self.generator.integers(1, 4))
        low, high = sorted(int(v) for v in self.generator.choice(extent + 1, 2, replace=False))
        negative = int(self.generator.integers(0, 2)) * extent  # counted from the end
        masked = self.generator.random() < 0.2, self.generator.random() < 0.2
        if what == "forward":
            return low - negative, high, step, *masked
        if what == "backward":
            return high - 1 - negative, low - 1 if low > 0 else -extent - 1, -step, *masked
        if what == "shrink":
            return low - negative, high, 1, False, False
        return 0, 0, 1, False, False

    def test_strided_slice_as_converters_write_it(self):
        for round_number in range(200):
            kind, shape = TYPES[round_number % 2], self.shape((1, 4))
            entries = self.generator.choice(["forward", "backward", "shrink"], len(shape)).tolist()
            axes = list(range(len(shape)))
            if self.generator.random() < 0.5:
                first, last = sorted(self.generator.choice(len(shape) + 1, 2, replace=False))
                entries[first:last] = axes[first:last] = ["ellipsis"]
            if round_number % 3 == 0:
                place = int(self.generator.integers(0, len(entries) + 1))
                entries.insert(place, "new")
                axes.insert(place, "new")
            elif "ellipsis" not in entries and self.generator.random() < 0.3:
                entries.append("ellipsis")  # of no axes
                axes.append("ellipsis")
            offset = round_number % 4 == 0 and set(entries) == {"forward"}
            options, rows = schema.StridedSliceOptionsT(), []
            for i, (what, axis) in enumerate(zip(entries, axes)):
                *row, begin_masked, end_masked = self.entry(what, 1 if isinstance(axis, str) else shape[axis])
                if offset and what == "forward":  # the interpreter confuses `offset` with all else
                    row = [row[0] % shape[axis], row[1] - row[0] % shape[axis], row[2]]
                    row[1], begin_masked, end_masked = max(row[1], 1), False, False
                rows.append(row)
                options.beginMask |= begin_masked << i
                options.endMask |= end_masked << i
                options.ellipsisMask |= (what == "ellipsis") << i
                options.newAxisMask |= (what == "new") << i
                options.shrinkAxisMask |= (what == "shrink") << i
            options.offset = offset
            node = Node("STRIDED_SLICE", kind, 8 if offset else 4).input(shape)
            for values in zip(*rows):
                node.constant(values)
            label = (shape, entries, rows, vars(options))
            self.check(node.output([1]).content(options), [shape], kind, label, "plain" if offset else "ref")
        self.expect(180)

    def test_split(self):
        for round_number in range(40):
            kind, shape = TYPES[round_number % 2], self.shape()
            axis = int(self.generator.integers(-len(shape), len(shape)))
            parts = int(self.generator.integers(1, 5))
            part = list(shape)
            shape[axis] *= parts
            node = Node("SPLIT", kind).constant(axis).input(shape)
            for _ in range(parts):
                node.output(part)
            options = schema.SplitOptionsT()
            options.numSplits = parts
            self.check(node.content(options), [shape], kind, (shape, axis, parts))
        self.expect(40)

    def test_split_v(self):
        for round_number in range(40):
            kind, shape = TYPES[round_number % 2], self.shape()
            axis = int(self.generator.integers(-len(shape), len(shape)))
            sizes = [int(s) for s in self.generator.integers(1, 5, self.generator.integers(1, 4))]
            shape[axis] = sum(sizes)
            given = list(sizes)
            if round_number % 3 == 0:
                given[int(self.generator.integers(0, len(sizes)))] = -1
            node = Node("SPLIT_V", kind).input(shape).constant(given).constant(axis)
            for size in sizes:
                part = list(shape)
                part[axis] = size
                node.output(part)
            options = schema.SplitVOptionsT()
            options.numSplits = len(sizes)
            self.check(node.content(options), [shape], kind, (shape, axis, given))
        self.expect(40)

    def test_pads(self):
        for round_number in range(80):
            kind, shape = TYPES[round_number % 2], self.shape()
            paddings = self.generator.integers(0, 4, (len(shape), 2))
            out = [int(e + p.sum()) for e, p in zip(shape, paddings)]
            filled = round_number // 2 % 2 == 1
            node = Node("PADV2" if filled else "PAD", kind).input(shape)
            node.constant(paddings, (np.int32, np.int64)[round_number // 4 % 2])
            if filled:
                node.constant(random_bytes(self.generator, [], kind), kind, node.quantization)
            node.output(out)
            options = schema.PadV2OptionsT() if filled else schema.PadOptionsT()
            self.check(node.content(options), [shape], kind, (shape, paddings.tolist(), filled))
        self.expect(76)

    def test_mirror_pad(self):
        for round_number in range(80):
            kind, shape = TYPES[round_number % 2], self.shape()
            options = schema.MirrorPadOptionsT()
            options.mode = round_number // 2 % 2
            most = [e if options.mode == schema.MirrorPadMode.SYMMETRIC else e - 1 for e in shape]
            paddings = np.array([self.generator.integers(0, m + 1, 2) for m in most])
            out = [int(e + p.sum()) for e, p in zip(shape, paddings)]
            node = Node("MIRROR_PAD", kind).input(shape)
            node.constant(paddings, (np.int32, np.int64)[round_number // 4 % 2]).output(out)
            self.check(node.content(options), [shape], kind, (shape, paddings.tolist(), options.mode))
        self.expect(76)

    def test_transpose(self):
        shapes = [self.shape((1, 6), 5) for _ in range(50)] + [[1, 40, 50, 33], [70, 90], [1, 3, 64, 100]]
        for number, shape in enumerate(shapes):
            kind = TYPES[number % 2]
            permutation = self.generator.permutation(len(shape))
            node = Node("TRANSPOSE", kind, 4).input(shape).constant(permutation)
            node.output([shape[i] for i in permutation])
            self.check(node.content(schema.TransposeOptionsT()), [shape], kind, (shape, permutation.tolist()))
        self.expect(50)

    def test_reshapes(self):
        for round_number in range(30):
            kind, shape = TYPES[round_number % 2], self.shape((1, 4))
            flat = int(np.prod(shape))
            options = schema.ReshapeOptionsT()
            options.newShape = [flat]
            node = Node("RESHAPE", kind, 1).input(shape)
            given = [[flat], [-1], [1, flat, 1], [flat, 1, -1]][round_number % 4]
            node.constant(given).output([flat if e == -1 and len(given) == 1 else abs(e) for e in given])
            self.check(node.content(options), [shape], kind, ("reshape", shape, given))
            axis = int(self.generator.integers(-len(shape) - 1, len(shape) + 1))
            longer = list(np.expand_dims(np.empty(shape), axis).shape)
            node = Node("EXPAND_DIMS", kind, 1).input(shape).constant(axis).output(longer)
            self.check(node.content(schema.ExpandDimsOptionsT()), [shape], kind, ("expand", shape, axis))
            options = schema.SqueezeOptionsT()
            options.squeezeDims = [axis]
            node = Node("SQUEEZE", kind, 1).input(longer).output(shape)
            self.check(node.content(options), [longer], kind, ("squeeze", longer, axis))
        self.expect(88)

    def test_concatenation_on_every_axis(self):
        for round_number in range(60):
            kind, shape = TYPES[round_number % 2], self.shape()
            axis = int(self.generator.integers(-len(shape), len(shape)))
            extents = [int(e) for e in self.generator.integers(1, 20, self.generator.integers(1, 5))]
            parts = []
            for extent in extents:
                parts.append(list(shape))
                parts[-1][axis] = extent
            whole = list(shape)
            whole[axis] = sum(extents)
            node = Node("CONCATENATION", kind)
            for part in parts:
                node.input(part)
            options = schema.ConcatenationOptionsT()
            options.axis = axis
            self.check(node.output(whole).content(options), parts, kind, (parts, axis))
        self.expect(60)

    def resize(self, op, options_type, forms, at_least):
        for round_number in range(100):
            kind = TYPES[round_number % 2]
            shape = [int(e) for e in self.generator.integers(1, 12, 4)]
            shape[0] = 1 + round_number // 4 % 3
            size = [int(e) for e in self.generator.integers(1, 24, 2)]
            options = options_type()
            options.alignCorners, options.halfPixelCenters = forms[round_number // 2 % len(forms)]
            node = Node(op, kind, 3).input(shape).constant(size).output([shape[0], *size, shape[3]])
            label = (op, shape, size, options.alignCorners, options.halfPixelCenters)
            self.check(node.content(options), [shape], kind, label)
        self.expect(at_least)

    def test_resize_nearest_neighbor(self):
        forms = ((False, False), (True, False), (False, True), (True, True))
        self.resize("RESIZE_NEAREST_NEIGHBOR", schema.ResizeNearestNeighborOptionsT, forms, 95)

    def test_resize_bilinear(self):
        forms = ((False, False), (True, False), (False, True))
        self.resize("RESIZE_BILINEAR", schema.ResizeBilinearOptionsT, forms, 95)


class Batches(Case):
    """Two or three images at a time: the host computes them one after the other."""

    def window(self, options_type, kernel, pool=False):
        options = options_type()
        options.padding = int(self.generator.integers(0, 2))
        options.strideH, options.strideW = (int(s) for s in self.generator.integers(1, 3, 2))
        if pool:
            options.filterHeight, options.filterWidth = kernel
        elif hasattr(options, "dilationHFactor"):
            options.dilationHFactor = options.dilationWFactor = 1
        return options

    def output_extents(self, shape, kernel, options):
        strides = options.strideH, options.strideW
        if options.padding == schema.Padding.SAME:
            return [-(-e // s) for e, s in zip(shape[1:3], strides)]
        return [(e - k) // s + 1 for e, k, s in zip(shape[1:3], kernel, strides)]

    def weights(self, node, shape, axis, channels):
        """A filter and a bias; one scale for each channel where the type has it."""
        per_axis = node.kind == np.int8
        scales = self.generator.uniform(0.002, 0.02, channels if per_axis else 1).astype(np.float32)
        zeros = [0] * channels if per_axis else [121]
        node.constant(random_bytes(self.generator, shape, node.kind), node.kind,
                      tflite.quantization(scales, zeros, axis))
        bias = self.generator.integers(-2000, 2000, channels)
        bias_scales = (scales.astype(np.float64) * 0.05).astype(np.float32)
        return bias, tflite.quantization(bias_scales, [0] * len(scales))

    def images(self, round_number):
        shape = [2 + round_number % 2, *(int(e) for e in self.generator.integers(4, 9, 2)), (3, 16, 21)[round_number % 3]]
        return TYPES[round_number // 2 % 2], shape, [int(k) for k in self.generator.integers(1, 4, 2)]

    def test_convolutions(self):
        for round_number in range(24):
            kind, shape, kernel = self.images(round_number)
            depthwise = round_number // 4 % 2 == 1
            options = self.window(schema.DepthwiseConv2DOptionsT if depthwise else schema.Conv2DOptionsT, kernel)
            if depthwise:
                options.depthMultiplier = 1
            op, channels = ("DEPTHWISE_CONV_2D", shape[3]) if depthwise else ("CONV_2D", 10)
            node = Node(op, kind, 3).input(shape)
            filter_shape = [1, *kernel, channels] if depthwise else [channels, *kernel, shape[3]]
            bias, quantization = self.weights(node, filter_shape, 3 if depthwise else 0, channels)
            node.constant(bias, np.int32, quantization)
            out = [shape[0], *self.output_extents(shape, kernel, options), channels]
            content = node.output(out, tflite.quantization(0.4, 5 if kind == np.int8 else 133)).content(options)
            self.check(content, [shape], kind, (op, shape, kernel, vars(options)))
        self.expect(24)

    def test_transposed_convolutions(self):
        for round_number in range(12):
            kind, shape, kernel = self.images(round_number)
            options = self.window(schema.TransposeConvOptionsT, kernel)
            options.padding = schema.Padding.SAME
            out = [shape[0], shape[1] * options.strideH, shape[2] * options.strideW, 6]
            node = Node("TRANSPOSE_CONV", kind, 3).constant(out)
            bias, quantization = self.weights(node, [6, *kernel, shape[3]], 0, 6)
            node.input(shape).constant(bias, np.int32, quantization)
            content = node.output(out, tflite.quantization(0.4, 5 if kind == np.int8 else 133)).content(options)
            self.check(content, [shape], kind, (shape, kernel, vars(options)))
        self.expect(6)

    def test_pools(self):
        for round_number in range(24):
            kind, shape, kernel = self.images(round_number)
            options = self.window(schema.Pool2DOptionsT, kernel, pool=True)
            op = ("AVERAGE_POOL_2D", "MAX_POOL_2D")[round_number // 4 % 2]
            out = [shape[0], *self.output_extents(shape, kernel, options), shape[3]]
            content = Node(op, kind).input(shape).output(out).content(options)
            self.check(content, [shape], kind, (op, shape, kernel, vars(options)))
        self.expect(24)


if __name__ == "__main__":
    unittest.main()
