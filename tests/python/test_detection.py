# SPDX-License-Identifier: Apache-2.0
"""Decoding of detectors, their labels, and the detect command."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import small_models
from PIL import Image
from small_models import run_cli

from rocket_npu import (UserError, detect_command, detection, draw, host, inputs, labels,
                        library)
from rocket_npu import model as tflite

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("NPU_SHARED_DIR") or ROOT.parent / "shared")
NANODET = SHARED / "models" / "tflite" / "nanodet_g_416_coco_int8.tflite"
SSD = SHARED / "models" / "tflite" / "ssd_mobilenet_v2_300_int8_postprocess.tflite"
PORTRAIT = SHARED / "models" / "pictures" / "grace_hopper.jpg"
SIM = ("--option", "device=sim", "--option", "quiet=1")


def details(*shapes):
    return [{"name": f"out{k}", "shape": list(shape)} for k, shape in enumerate(shapes)]


class Faces(unittest.TestCase):
    def setUp(self):
        self.offsets = np.zeros((1, 896, 16), np.float32)
        self.logits = np.full((1, 896, 1), -12, np.float32)

    def set(self, anchor, logit, x, y, side):
        """A square face centred at (x, y) seen by an anchor; all points in the centre."""
        centre = (np.array([x, y]) - detection.face_anchors()[anchor]) * 128
        self.offsets[0, anchor] = np.tile(centre, 8)
        self.offsets[0, anchor, 2:4] = side * 128
        self.logits[0, anchor, 0] = logit

    def decode(self):
        detector = detection.detector_of(details((1, 896, 16), (1, 896, 1)), (128, 128))
        self.assertEqual(detector.kind, "faces")
        return detector.decode([self.offsets, self.logits], 0.5)

    def test_anchors(self):
        found = detection.face_anchors()
        self.assertEqual(found.shape, (896, 2))
        self.assertEqual(found[3].tolist(), [1.5 / 16, 0.5 / 16])  # two a cell, x first
        self.assertEqual(found[512 + 6 * 8].tolist(), [0.5 / 8, 1.5 / 8])

    def test_one_face(self):
        self.set(680, 2.0, 0.5, 0.375, 0.25)
        (face,) = self.decode()
        self.assertEqual(face.anchor, 680)
        self.assertAlmostEqual(face.score, 1 / (1 + np.exp(-2)), places=6)
        np.testing.assert_allclose(face.box, [0.375, 0.25, 0.625, 0.5], atol=1e-6)
        np.testing.assert_allclose(face.points, np.tile([0.5, 0.375], (6, 1)), atol=1e-6)

    def test_boxes_that_overlap_are_averaged_by_score(self):
        self.set(680, 20.0, 0.50, 0.4, 0.4)
        self.set(681, 20.0, 0.54, 0.4, 0.4)
        self.set(10, 1.0, 0.1, 0.1, 0.1)
        first, second = self.decode()
        np.testing.assert_allclose(first.box, [0.32, 0.2, 0.72, 0.6], atol=1e-6)
        self.assertEqual(second.anchor, 10)

    def test_nobody(self):
        self.assertEqual(self.decode(), [])

    def test_overlap(self):
        self.assertAlmostEqual(detection.overlap((0, 0, 2, 1), (1, 0, 3, 1)), 1 / 3)
        self.assertEqual(detection.overlap((0, 0, 1, 1), (1, 0, 2, 1)), 0.0)


class NanoDet(unittest.TestCase):
    """A 64 x 32 input: 8x4 cells of stride 8, 4x2 of 16, 2x1 of 32: 42 rows."""

    def setUp(self):
        self.detector = detection.detector_of(details((1, 42, 80), (1, 42, 44)), (32, 64))
        self.scores = np.zeros((1, 42, 80), np.float32)
        self.sides = np.zeros((1, 42, 44), np.float32)

    def put(self, row, kind, score, bins):
        """All weight on one bin for each of left, top, right, bottom."""
        self.scores[0, row, kind] = score
        self.sides[0, row] = -50
        for side, bin_number in enumerate(bins):
            self.sides[0, row, 11 * side + bin_number] = 50

    def test_strides_bins_and_centres(self):
        self.put(32 + 4 + 1, 16, 0.8, (1, 0, 2, 1))  # stride 16, column 1, row 1: centre (24, 24)
        (found,) = self.detector.decode([self.scores, self.sides], 0.4)
        self.assertEqual((found.index, found.name), (16, "dog"))
        self.assertAlmostEqual(found.score, 0.8, places=6)
        np.testing.assert_allclose(found.box * [64, 32, 64, 32], [8, 24, 56, 32], atol=1e-6)

    def test_the_order_of_the_outputs_does_not_matter(self):
        self.put(0, 3, 0.9, (0, 0, 1, 1))
        swapped = detection.detector_of(details((1, 42, 44), (1, 42, 80)), (32, 64))
        a = self.detector.decode([self.scores, self.sides], 0.4)
        b = swapped.decode([self.sides, self.scores], 0.4)
        self.assertEqual([item.box.tolist() for item in a], [item.box.tolist() for item in b])

    def test_suppression_is_by_class(self):
        self.put(9, 0, 0.9, (1, 1, 1, 1))
        self.put(10, 0, 0.8, (2, 1, 0, 1))  # the same box from the next cell
        self.put(11, 1, 0.7, (3, 1, 0, 1))  # another class
        found = self.detector.decode([self.scores, self.sides], 0.4)
        self.assertEqual([(item.index, item.anchor) for item in found], [(0, 9), (1, 11)])


class PostProcess(unittest.TestCase):
    def test_box_order_count_and_categories(self):
        shapes = details((1, 5, 4), (1, 5), (1, 5), (1,))
        detector = detection.detector_of(shapes, (300, 300))
        boxes = np.zeros((1, 5, 4), np.float32)
        boxes[0, 0], boxes[0, 1] = (0.1, 0.2, 0.3, 0.4), (0, 0, 1, 1)
        classes = np.array([[0, 89, 5, 5, 5]], np.float32)
        scores = np.array([[0.5, 0.7, 0.9, 0.9, 0.9]], np.float32)
        found = detector.decode([boxes, classes, scores, np.array([2], np.float32)], 0.4)
        self.assertEqual([item.name for item in found], ["toothbrush", "person"])
        np.testing.assert_allclose(found[1].box, [0.2, 0.1, 0.4, 0.3], atol=1e-6)


class Detectors(unittest.TestCase):
    def test_an_unknown_model_says_what_is_known(self):
        for shapes in (((1, 1000),), ((1, 42, 80), (1, 41, 44)), ((1, 896, 16), (1, 896, 2))):
            with self.subTest(shapes), self.assertRaisesRegex(UserError, "no known detector"):
                detection.detector_of(details(*shapes), (32, 64))

    def test_categories_have_gaps(self):
        self.assertEqual(len(labels.COCO_80), 80)
        self.assertEqual(len(labels.COCO_90), 90)
        names = {0: "person", 12: "stop sign", 16: "cat", 89: "toothbrush"}
        self.assertEqual({k: labels.COCO_90[k] for k in names}, names)
        self.assertEqual(labels.name_of(labels.COCO_90, 11), "class 11")
        self.assertEqual(labels.name_of(labels.COCO_90, -1), "class -1")


class Labels(unittest.TestCase):
    def load(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "labels.txt"
            path.write_text(text)
            return labels.load(path)

    def test_forms(self):
        self.assertEqual(self.load("cat\n\ndog\n\n"), {0: "cat", 1: "", 2: "dog"})
        self.assertEqual(self.load("0  person\n17: hot dog\n"), {0: "person", 17: "hot dog"})
        self.assertEqual(self.load("2 cats\nhot dog\n"), {0: "2 cats", 1: "hot dog"})
        with self.assertRaisesRegex(UserError, "no names"):
            self.load("\n")
        with self.assertRaisesRegex(UserError, "cannot read labels"):
            labels.load("/nonexistent/labels.txt")


class Drawing(unittest.TestCase):
    def test_boxes_of_any_kind_can_be_drawn(self):
        picture = Image.new("RGB", (90, 60))
        wild = [detection.Detection(3, "car", 0.5, np.array(box))
                for box in ((-1, -1, 2, 2), (0.9, 0.9, 0.1, 0.1), (0.5, 0.5, 0.5, 0.5))]
        image = draw.annotate(picture, wild, "caption")
        self.assertEqual(image.size, (720, 480))
        self.assertNotEqual(draw.colour_of(0), draw.colour_of(1))

    def test_where_drawings_go(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            one = detect_command.drawing_paths(str(place / "a.png"), ["x/p.jpg"])
            self.assertEqual(one, [place / "a.png"])
            many = detect_command.drawing_paths(str(place / "out"), ["a/p.jpg", "b/p.jpg", "q.png"])
            self.assertEqual([path.name for path in many], ["p-0.jpg", "p-1.jpg", "q.jpg"])
            (place / "file").write_text("")
            with self.assertRaisesRegex(UserError, "need a folder"):
                detect_command.drawing_paths(str(place / "file"), ["a.jpg", "b.jpg"])


class DetectCommand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        library.find()

    def test_nanodet_through_the_delegate(self):
        with tempfile.TemporaryDirectory() as folder:
            drawing, report = pathlib.Path(folder, "out.png"), pathlib.Path(folder, "out.json")
            code, out, err = run_cli("detect", NANODET, PORTRAIT, *SIM, "--draw", drawing,
                                     "--json", report)
            self.assertEqual(code, 0, err)
            content = json.loads(report.read_text())
            with Image.open(drawing) as image:
                self.assertEqual(image.size[0], 720)
        found = content["pictures"][0]["detections"]
        self.assertEqual(found[0]["name"], "person")
        self.assertGreater(found[0]["score"], 0.7)
        self.assertIn("tie", [item["name"] for item in found])
        self.assertEqual(content["claimed"], content["offered"])
        self.assertRegex(out, r"person +0\.8")

    def test_the_model_sets_own_check(self):
        """Each of its 23 objects is compared with the best overlapping one of its class. Two of the
        CPU's own kernel sets (reference, and optimised without XNNPACK) lose one of them, so one
        may be lost here; what `exact` loses must be what the reference kernels lose."""
        for numerics in ("chip", "exact"):
            arguments = [sys.executable, SHARED / "models" / "detect.py", "--check", "--delegate",
                         library.find(), "--option", "device=sim", "--option", "quiet=1",
                         "--option", f"numerics.requant={numerics}"]
            done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True,
                                  timeout=120, check=False)
            with self.subTest(numerics):
                self.assertEqual(len(done.stdout.splitlines()), 23, done.stdout + done.stderr)
                self.assertLessEqual(done.stdout.count("FAIL"), 1, done.stdout)

    def test_exact_detections_are_those_of_the_reference_kernels(self):
        reference = host.Runner(str(NANODET), "ref")
        exact = host.Runner(str(NANODET), "ref", library.find(), {
            "device": "sim", "quiet": "1", "numerics.requant": "exact"})
        for path in sorted(PORTRAIT.parent.glob("*.jpg")):
            square = inputs.square(inputs.open_picture(path), 416, 416)
            wanted, found = reference.run([square[None]]), exact.run([square[None]])
            for a, b in zip(wanted, found):
                np.testing.assert_array_equal(a, b, str(path))

    def test_chip_finds_every_object_of_the_model_sets_table(self):
        runner = host.Runner(str(NANODET), "ref", library.find(), {"device": "sim", "quiet": "1"})
        detector = detection.detector_of(runner.outputs, (416, 416))
        table = json.loads(NANODET.with_suffix(".detections.json").read_text())["pictures"]
        missing = []
        for name, row in table.items():
            path = PORTRAIT.with_name(f"{name}.jpg")
            square = inputs.square(inputs.open_picture(path), 416, 416)
            outputs = [detection.real(values, item)
                       for values, item in zip(runner.run([square[None]]), runner.outputs)]
            found = detector.decode(outputs, 0.15)
            for want in row["found"]:
                if not any(item.name == want["cls"] and abs(item.score - want["float"]) <= 0.15 and
                           detection.overlap(item.box * 416, want["box"]) > 0.5 for item in found):
                    missing.append((name, want["cls"], want["float"]))
        self.assertLessEqual(len(missing), 1, missing)

    def test_bad_input_is_one_line(self):
        cases = {
            ("detect", NANODET, "/nonexistent.jpg"): "cannot read picture",
            ("detect", NANODET, PORTRAIT, "--threshold", 1): "--threshold must be",
            ("detect", "/nonexistent.tflite", PORTRAIT): "cannot read model",
        }
        for arguments, text in cases.items():
            with self.subTest(text):
                code, _, err = run_cli(*arguments, *SIM)
                self.assertEqual(code, 2)
                self.assertRegex(err, f"^rocket_npu: error: .*{text}")
                self.assertEqual(err.count("\n"), 1, err)


class CutPostprocess(unittest.TestCase):
    def test_boxes_and_scores_become_the_outputs(self):
        model = tflite.load_file(SSD)
        count = len(tflite.operators(model))
        tflite.cut_postprocess(model)
        self.assertEqual(len(tflite.operators(model)), count - 1)
        shapes = [tflite.shape_of(tflite.tensor(model, int(k))) for k in model.subgraphs[0].outputs]
        self.assertEqual(shapes, [[1, 1917, 4], [1, 1917, 91]])

    def test_nothing_to_cut_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = small_models.write(small_models.add_model(), pathlib.Path(folder) / "m.tflite")
            code, _, err = run_cli("compare", path, "--random", 1, *SIM, "--cut-postprocess")
        self.assertEqual(code, 2)
        self.assertIn("has no TFLite_Detection_PostProcess to cut", err)


if __name__ == "__main__":
    unittest.main()
