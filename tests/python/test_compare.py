# SPDX-License-Identifier: Apache-2.0
"""The command line without the delegate, and the search for the first bad layer."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np
import small_models
from small_models import run_cli

from rocket_npu import cli, compare, host, inputs, metrics
from rocket_npu import model as tflite

_KEYS = ["format", "model", "sha256", "host", "reference", "cut_postprocess", "options",
         "inputs", "claimed", "offered", "outputs"]


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = small_models.write(small_models.add_model(), self.folder / "add.tflite")
        self.report = self.folder / "report.json"

    def compare(self, *more):
        return run_cli("compare", self.model, "--random", 3, "--delegate", "none", *more)

    def test_report(self):
        code, out, _ = self.compare("--json", self.report, "--option", "device=sim")
        content = json.loads(self.report.read_text())
        self.assertEqual(code, 0)
        self.assertEqual(list(content), _KEYS)
        self.assertEqual(content["options"], {"device": "sim"})
        self.assertEqual(len(content["inputs"]), 3)
        (output,) = content["outputs"]
        self.assertEqual(list(output), ["name", "dtype", "unit", "max", "mean", "share", "top1"])
        # .05 + .05 -> .1 has ties, on which XNNPACK rounds up and the reference away from zero.
        self.assertEqual((output["unit"], output["max"], output["dtype"]), ("counts", 1, "int8"))
        self.assertTrue(0.05 < output["share"] < 0.4)
        self.assertIn("max 1", out)

    def test_exit_code_follows_the_bound(self):
        self.assertEqual(self.compare("--max-diff", 1)[0], 0)
        code, _, err = self.compare("--max-diff", 0)
        self.assertEqual((code, err), (1, "beyond 0: output y\n"))

    def test_json_on_stdout_is_only_json(self):
        code, out, _ = self.compare("--json", "-")
        self.assertEqual((code, json.loads(out)["format"]), (0, 1))

    def test_layers_without_a_delegate_have_no_verdict(self):
        code, _, _ = self.compare("--layers", "--json", self.report)
        (row,) = json.loads(self.report.read_text())["layers"]
        self.assertEqual((code, row["op"], row["max"], row["within"]), (0, "ADD", 1, None))

    def test_run_saves_the_outputs(self):
        saved = self.folder / "out.npz"
        code, out, _ = run_cli("run", self.model, "--random", 1, "--delegate", "none",
                               "--iterations", 2, "--save", saved, "--json", self.report)
        self.assertEqual((code, np.load(saved)["output0"].shape), (0, (1, 4, 4, 8)))
        content = json.loads(self.report.read_text())
        self.assertEqual(len(content["samples"][0]["milliseconds"]), 2)
        self.assertIn("median", out)
        code, out, _ = run_cli("run", self.model, "--random", 1, "--delegate", "none",
                               "--json", "-")
        self.assertEqual((code, json.loads(out)["modelled_us"]), (0, 0.0))

    def test_errors_are_one_line_and_exit_2(self):
        damaged = self.folder / "damaged.tflite"
        damaged.write_bytes(b"\0\0\0\0TFL3" + bytes(range(64)))
        for arguments, message in (
            (("compare", self.model, "--delegate", "none"), "no input"),
            (("compare", self.model, "--random", 1, "--input", "x.npy"), "exclude each other"),
            (("compare", "/nowhere", "--random", 1, "--delegate", "none"), "cannot read model"),
            (("compare", damaged, "--random", 1, "--delegate", "none"), "cannot load the model"),
            (("compare", self.model, "--random", 1, "--delegate", "/nowhere"), "no delegate"),
            (("compare", self.model, "--random", 0, "--delegate", "none"), "1 or more"),
            (("compare", self.model, "--random", 1, "--option", "x"), "not KEY=VALUE"),
            (("compare", self.model, "--random", 1, "--threads", 0), "--threads"),
            (("compare", self.model, "--random", 1, "--threads", 10**11), "--threads"),
            (("compare", self.model, "--random", 10**20, "--delegate", "none"), "--random"),
            (("run", self.model, "--random", 1, "--seed", -5, "--delegate", "none"), "--seed"),
            (("compare", self.model, "--random", 1, "--delegate", "none", "--json", "/no/file"),
             "cannot write /no/file"),
            (("run", self.model, "--random", 1, "--delegate", "none", "--iterations", 0),
             "--iterations"),
            (("compare", self.model, "--reference", "xnn"), "invalid choice"),
            (("compare",), "required: MODEL"),
            (("verify",), "invalid choice"),
        ):
            with self.subTest(arguments=arguments):
                code, out, err = run_cli(*arguments)
                self.assertEqual((code, out), (2, ""))
                self.assertRegex(err, f"error: .*{message}")
                self.assertEqual(err.count("\n"), 1)

    def test_a_library_that_is_no_delegate(self):
        library = self.folder / "lib.so"
        library.write_bytes(b"not a library")
        code, _, err = run_cli("compare", self.model, "--random", 1, "--delegate", library)
        self.assertEqual(code, 2)
        self.assertRegex(err, "^rocket_npu: error: cannot load the delegate: .*lib.so.*\n$")

    def test_messages_name_the_file(self):
        for name, content, message in (("no.tflite", None, "cannot read model .*no.tflite: No such"),
                                       ("a.tflite", b"text", "cannot load the model .*a.tflite: ")):
            path = self.folder / name
            if content:
                path.write_bytes(content)
            for command in ("run", "compare"):
                code, _, err = run_cli(command, path, "--random", 1, "--delegate", "none")
                self.assertEqual((code, err.count("\n")), (2, 1))
                self.assertRegex(err, message)

    def test_the_terminal_shows_progress_and_a_pipe_does_not(self):
        steps = []
        compare.compare(self.model, lambda details: inputs.random_samples(2, 1, details), None, {},
                        layers=True, progress=steps.append)
        self.assertEqual(steps, ["loading the model", "sample 1 of 2", "sample 2 of 2", "layer 1 of 1", ""])
        self.assertEqual(self.compare()[2], "")

    def test_a_missing_package_is_named(self):
        found = subprocess.run(
            [sys.executable, "-S", "-m", "rocket_npu", "--version"], capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(pathlib.Path(host.__file__).parents[1])},
            check=False)
        self.assertEqual((found.returncode, found.stderr.count("\n")), (2, 1))
        self.assertRegex(found.stderr, "error: .* has no module 'numpy': use build/venv/bin/python")


class WrongDelegate(host.Runner):
    """Claims every node; adds 2 to the result of a lone ADD."""

    def __init__(self, model, resolver="ref", library=None, options=None, threads=1, keep=False):
        super().__init__(model, resolver, threads=threads, keep=keep)
        self.delegated, self.options = library is not None, options
        self.single = isinstance(model, bytes)
        loaded = tflite.load(model) if self.single else tflite.load_file(model)
        self.names = [tflite.operator_name(loaded, op) for op in tflite.operators(loaded)]

    def run(self, inputs):
        outputs = super().run(inputs)
        if self.delegated and self.single and self.names == ["ADD"]:
            outputs[0] = np.clip(outputs[0].astype(int) + 2, -128, 127).astype(np.int8)
        return outputs

    def explain(self):
        if not self.delegated:
            return None
        nodes = [{"index": k, "op": name, "claimed": True, "route": "npu", "bound_counts": 1}
                 for k, name in enumerate(self.names)]
        count = len(nodes)
        return host.Explain({"summary": {"claimed": count, "offered": count}, "nodes": nodes})


class Hint(unittest.TestCase):
    def test_outputs_beyond_a_count_are_explained(self):
        tally = metrics.Tally("y", np.int8)
        tally.add(np.array([1], np.int8), np.array([4], np.int8))
        for claimed, options, said in ((2, {}, True), (0, {}, False),
                                       (2, {"numerics.requant": "exact"}, False)):
            content = {"claimed": claimed, "offered": 2, "options": options, "inputs": [{}],
                       "reference": "ref", "cut_postprocess": False}
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                cli._print_comparison(compare.Comparison(content, [tally], None, None, True))
            self.assertEqual("--layers judges each layer alone" in text.getvalue(), said)


class Layers(unittest.TestCase):
    def test_the_first_layer_beyond_its_bound_is_named(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(host, "Runner", WrongDelegate), \
                mock.patch("rocket_npu.library.find", lambda explicit=None: "lib.so"):
            path = small_models.write(small_models.convolution_model(),
                                      pathlib.Path(folder) / "m.tflite")
            report = pathlib.Path(folder) / "r.json"
            code, out, err = run_cli("compare", path, "--random", 1, "--layers", "--json", report)
            content = json.loads(report.read_text())
        self.assertEqual(code, 1)
        self.assertEqual(content["outputs"][0]["max"], 0)  # only the lone node is wrong
        self.assertEqual((content["claimed"], content["offered"]), (2, 2))
        rows = content["layers"]
        self.assertEqual([row["within"] for row in rows], [True, False])
        self.assertEqual((rows[1]["max"], rows[1]["bound"]), (2, 1))
        self.assertIn("layers within their bound: 1 of 2 claimed\n", out)
        self.assertIn("first layer beyond its bound: node 1 ADD", err)

    def test_each_layer_is_claimed_alone_and_quietly(self):
        found = compare.layer_options({"device": "sim", "explain": "x", "claim": "auto"})
        self.assertEqual(found, {"device": "sim", "claim": "all", "quiet": "1", "verify": "off"})
        self.assertEqual(compare.layer_options({"verify": "first"})["verify"], "first")


if __name__ == "__main__":
    unittest.main()
