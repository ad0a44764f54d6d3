# SPDX-License-Identifier: Apache-2.0
"""What a user sees for options, and without a device."""

import json
import os
import pathlib
import tempfile
import unittest

from delegate_case import LIBRARY, Runner, needs_models, op_inputs, op_model, op_outputs, run_script
from delegate_case import counts_apart, litert, stderr_of_process

CONV = "conv_i8_3x3_same"

LOAD_SCRIPT = """
import sys
import delegate_case
litert = delegate_case.litert
delegate = litert.load_delegate(sys.argv[1], {})
interpreter = litert.Interpreter(sys.argv[2], experimental_delegates=[delegate])
interpreter.allocate_tensors()
"""


def load(**options):
    """(delegate or None, text of the error, stderr) for options with "." written as "__"."""
    options = {key.replace("__", "."): value for key, value in options.items()}
    with stderr_of_process() as stderr:
        try:
            delegate, text = litert.load_delegate(LIBRARY, options), ""
        except ValueError as error:
            delegate, text = None, str(error)
    return delegate, text, stderr.text


class Options(unittest.TestCase):
    def test_unknown_key_warns(self):
        delegate, _, stderr = load(devise="sim")
        self.assertIsNotNone(delegate)
        self.assertIn("[rocket] warning: unknown option 'devise' (value 'sim'); did you mean 'device'?", stderr)

    def test_unknown_key_is_an_error_under_strict(self):
        delegate, text, _ = load(devise="sim", strict=True)
        self.assertIsNone(delegate)
        self.assertIn("unknown option 'devise'", text)
        self.assertIn("Failed to load delegate from", text)

    def test_bad_value_names_the_allowed_ones(self):
        delegate, _, stderr = load(numerics__requant="double")
        self.assertIsNotNone(delegate)
        self.assertIn("option 'numerics.requant': value 'double' is not allowed (allowed: chip|exact)", stderr)
        delegate, text, _ = load(threads="many", strict=1)
        self.assertIsNone(delegate)
        self.assertIn("option 'threads': value 'many' is not allowed (allowed: 0..64)", text)

    def test_names_of_earlier_delegates(self):
        delegate, _, stderr = load(nthreads=2)
        self.assertIsNotNone(delegate)
        self.assertEqual(stderr, "")
        delegate, _, stderr = load(native_int8=True)
        self.assertIsNotNone(delegate)
        self.assertEqual(stderr.count("\n"), 1)
        self.assertIn("option 'native_int8' is of an earlier delegate and has no effect", stderr)

    def test_a_value_of_none_keeps_the_default(self):
        delegate, _, stderr = load(device=None, explain=None)
        self.assertIsNotNone(delegate)
        self.assertEqual(stderr, "")


@needs_models
class NoDevice(unittest.TestCase):
    def test_nothing_is_claimed_and_one_line_says_why(self):
        with stderr_of_process() as stderr:
            runner = Runner(op_model(CONV), {"device": "auto"})
        self.assertEqual(stderr.text.count("\n"), 1, stderr.text)
        self.assertIn("[rocket] warning: claimed 0 of 1 node: no NPU", stderr.text)
        self.assertIn("device=sim", stderr.text)
        explain = runner.explain()
        self.assertEqual(explain["summary"]["claimed"], 0)
        self.assertEqual(explain["device"]["provider"], "none")
        self.assertEqual(explain["nodes"][0]["reason"], "device.none")
        got = runner.run(op_inputs(CONV))[0]
        self.assertEqual(counts_apart(got, op_outputs(CONV)[0]), 0)

    def test_the_simulator_is_never_chosen_by_itself(self):
        for choice in ("auto", "rocket", "rknpu"):
            with self.subTest(device=choice), stderr_of_process():
                self.assertEqual(Runner(op_model(CONV), {"device": choice}).explain()["summary"]["claimed"], 0)

    def test_on_no_device_fail(self):
        delegate, text, _ = load(on_no_device="fail")
        self.assertIsNone(delegate)
        self.assertIn("no NPU", text)

    def test_device_none(self):
        with stderr_of_process() as stderr:
            runner = Runner(op_model(CONV), {"device": "none"})
        self.assertIn("device=none was asked for", stderr.text)
        self.assertEqual(runner.explain()["summary"]["claimed"], 0)


@needs_models
class Reports(unittest.TestCase):
    def test_summary_line_unless_quiet(self):
        with stderr_of_process() as stderr:
            Runner(op_model(CONV), {"device": "sim"}, "plain")
        self.assertEqual(stderr.text.count("\n"), 1, stderr.text)
        self.assertIn("[rocket] claimed 1 of 1 node in 1 partition on sim rk3588 (rocket-npu ", stderr.text)
        with stderr_of_process() as stderr:
            Runner(op_model(CONV), {"device": "sim", "quiet": True}, "plain")
        self.assertEqual(stderr.text, "")

    def test_environment_gives_defaults(self):
        environment = {"ROCKET_DEVICE": "sim", "ROCKET_CLAIM": "all", "ROCKET_VERIFY": "never"}
        done = run_script(LOAD_SCRIPT, op_model(CONV), environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("claimed 1 of 1 node in 1 partition on sim", done.stderr)
        self.assertIn("option 'ROCKET_VERIFY': value 'never' is not allowed", done.stderr)

    def test_explain_has_format_one(self):
        runner = Runner(op_model(CONV), {"device": "sim"})
        runner.run(op_inputs(CONV))
        content = runner.close()
        self.assertEqual(
            list(content), ["format", "library", "device", "options", "summary", "partitions", "nodes", "run"]
        )
        self.assertEqual(content["format"], 1)
        self.assertEqual(
            list(content["summary"]), ["nodes", "offered", "claimed", "partitions", "kicks", "submits"]
        )
        partition = content["partitions"][0]
        self.assertEqual(partition["nodes"], [0])
        self.assertGreaterEqual(partition["arena_bytes"], 0)
        for key in ("weight_bytes", "modelled_us", "kicks", "submits"):
            self.assertGreater(partition[key], 0, key)
        node = content["nodes"][0]
        self.assertEqual(node["op"], "CONV_2D")
        self.assertEqual(node["shapes"], {"inputs": [[1, 9, 11, 5], [7, 3, 3, 5], [7]], "outputs": [[1, 9, 11, 7]]})
        self.assertEqual(node["macs"], 31185)
        self.assertGreater(node["tasks"], 0)
        self.assertLessEqual(node["bound_counts"], 1)
        self.assertEqual(content["run"]["runs"], 1)
        for key in ("kicks", "submits"):
            self.assertEqual(content["run"][key], content["summary"][key], key)
        self.assertEqual(content["run"]["verify_mismatches"], 0)
        self.assertEqual(content["run"]["host_runs"], 0)

    def test_unwritable_explain_is_a_warning(self):
        with stderr_of_process() as stderr:
            runner = Runner(op_model(CONV), {"device": "sim", "explain": "/no/such/folder/x.json"})
        self.assertIn("explain: cannot create /no/such/folder/x.json", stderr.text)
        self.assertEqual(len(runner.run(op_inputs(CONV))), 1)

    def test_an_unsupported_operation_is_named(self):
        name = "floor_f32_a"
        with stderr_of_process() as stderr:
            runner = Runner(op_model(name), {"device": "sim", "claim": "all"})
        self.assertIn("declined: 1 FLOOR [op.unsupported]: FLOOR is not an operation", stderr.text)
        self.assertEqual(runner.explain()["nodes"][0]["reason"], "op.unsupported")

    def test_profile_as_json_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "profile.jsonl")
            runner = Runner(op_model(CONV), {"device": "sim", "profile": str(path)})
            runner.run(op_inputs(CONV))
            runner.run(op_inputs(CONV))
            runner.close()
            lines = path.read_text(encoding="utf-8").splitlines()
            self.assertEqual(len(lines), 1)
            self.assertEqual(json.loads(lines[0])["runs"], 2)

    def test_record_saves_jobs(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(op_model(CONV), {"device": "sim", "record": folder})
            runner.run(op_inputs(CONV))
            runner.close()
            saved = os.listdir(folder)
            self.assertGreaterEqual(len(saved), 1)
            for name in saved:
                self.assertEqual(pathlib.Path(folder, name).read_bytes()[:8], b"NPUJOB01")


if __name__ == "__main__":
    unittest.main()
