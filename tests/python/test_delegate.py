# SPDX-License-Identifier: Apache-2.0
"""The module with the real delegate on the simulated NPU. Needs a build."""

import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import small_models
from small_models import run_cli

from rocket_npu import host, library

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("NPU_SHARED_DIR") or ROOT.parent / "shared")
MODELS = SHARED / "models" / "tflite"
SIM = ("--option", "device=sim", "--option", "claim=all", "--option", "quiet=1")


class SmallModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        library.find()  # without a build every test of this class fails with its message

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report = self.folder / "report.json"
        self.model = small_models.write(small_models.convolution_model(), self.folder / "m.tflite")

    def compare(self, *more):
        code, out, err = run_cli("compare", self.model, "--random", 2, *SIM, "--json",
                                 self.report, *more)
        content = json.loads(self.report.read_text()) if self.report.exists() else {}
        return code, content, out + err

    def test_chip_is_within_its_bound_layer_by_layer(self):
        code, content, text = self.compare("--layers")
        self.assertEqual(code, 0, text)
        self.assertEqual((content["claimed"], content["offered"]), (2, 2))
        rows = content["layers"]
        self.assertEqual([(row["claimed"], row["within"]) for row in rows], [(True, True)] * 2)
        self.assertLessEqual(rows[0]["bound"], 1)
        self.assertEqual(rows[1]["bound"], 0)
        self.assertRegex(rows[0]["route"], "^npu-int8")

    def test_exact_is_exact(self):
        code, content, text = self.compare("--layers", "--max-diff", 0,
                                           "--option", "numerics.requant=exact")
        self.assertEqual(code, 0, text)
        self.assertEqual((content["claimed"], content["outputs"][0]["max"]), (2, 0))
        self.assertEqual([row["bound"] for row in content["layers"]], [0, 0])

    def test_an_npu_that_computes_nothing_is_not_taken_for_a_good_one(self):
        null = ("--random", 2, "--option", "device=null", "--option", "claim=all", "--option",
                "quiet=1", "--json", self.report)
        code, _, err = run_cli("compare", self.model, *null)
        content = json.loads(self.report.read_text())
        self.assertEqual((code, content["outputs"][0]["max"]), (1, 0))  # the host's results
        self.assertEqual((content["run"]["runs"], content["run"]["host_runs"]), (2, 2))
        self.assertIn("not the NPU's results: 2 of 2 runs left the NPU for the host", err)
        code, _, _ = run_cli("compare", self.model, "--layers", *null)
        row = json.loads(self.report.read_text())["layers"][0]
        self.assertEqual((code, row["within"]), (1, False))
        self.assertGreater(row["max"], 1)
        code, _, err = run_cli("run", self.model, *null)
        self.assertEqual((code, json.loads(self.report.read_text())["run"]["host_runs"]), (0, 2))
        self.assertIn("2 of 2 runs left the NPU", err)

    def test_every_reference_works(self):
        for reference in host.RESOLVERS:
            code, content, text = self.compare("--reference", reference)
            self.assertEqual((code, content["claimed"]), (0, 2), text)

    def test_configuration_errors_arrive_in_one_line(self):
        for options, message in (
            (("--option", "strict=1", "--option", "colour=red"), "colour"),
            (("--option", "numerics.requant=sideways", "--option", "strict=1"), "sideways"),
        ):
            code, _, text = self.compare(*options)
            self.assertEqual(code, 2)
            self.assertRegex(text, f"error: cannot load the delegate: .*{message}")
            self.assertEqual(text.count("\n"), 1, text)

    def test_the_explain_file_of_the_environment_is_written(self):
        explain = self.folder / "explain.json"
        with mock.patch.dict(os.environ, ROCKET_EXPLAIN=str(explain)):
            self.compare("--layers")
        self.assertEqual(json.loads(explain.read_text())["summary"]["nodes"], 2)

    def test_no_device_claims_nothing(self):
        code, out, _ = run_cli("run", self.model, "--random", 1, "--option", "device=none")
        self.assertEqual(code, 0)
        self.assertIn("claimed 0 of 2 nodes", out)


class RealModel(unittest.TestCase):
    @unittest.skipUnless(SHARED.is_dir(), "needs the shared models")
    def test_face_detector_is_exact(self):
        code, out, err = run_cli(
            "compare", MODELS / "mediapipe_face_short_range_int8.tflite", "--input",
            MODELS / "inputs" / "128x128.npz", "--sample", "grace_hopper", "--option",
            "device=sim", "--option", "quiet=1", "--option", "numerics.requant=exact",
            "--max-diff", 0)
        self.assertEqual(code, 0, out + err)
        self.assertRegex(out, r"claimed [5-9]\d of \d+ nodes")
        self.assertIn("top-1 equal 1/1", out)


if __name__ == "__main__":
    unittest.main()
