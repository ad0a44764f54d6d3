# SPDX-License-Identifier: Apache-2.0
"""Every int8 and uint8 single-operator model of the model set through the delegate on the simulator.

exact: equal to the stored outputs of TFLite's reference kernels. chip: at most one count from them where the NPU computes,
equal where the host does.
"""

import sys
import unittest

from delegate_case import LIBRARY, MODELS, ROOT, needs_models

sys.path.insert(0, str(ROOT / "tests" / "models"))
import run_models  # noqa: E402

@needs_models
class SingleOperators(unittest.TestCase):
    def check(self, requant, options=None):
        """Runs every case, prints the report, fails with the list of what is wrong."""
        options = options or {"device": "sim"}
        cases = run_models.all_cases(MODELS)
        results = run_models.run_all(cases, options, requant, library=LIBRARY, models=MODELS)
        print("\n" + run_models.text_of(results, requant))
        self.assertEqual([r for r in results if r["outcome"] == "failed"], [])
        for result in results:
            if result["outcome"] == "declined":
                # An operation this version does not have; none is declined for another reason.
                self.assertEqual(result["reason"], "op.unsupported", result)
                self.assertIn(result["op"], result["text"])
        self.assertGreater(run_models.tally(results)["passed"], 250)

    def test_exact_is_equal_to_the_reference_kernels(self):
        self.check("exact")

    def test_chip_is_within_its_bound(self):
        self.check("chip")


class Runner(unittest.TestCase):
    """What the runner says of models that do not pass."""

    def results(self, **particulars):
        return [{"name": "add_i8", "op": "ADD", "type": "int8", **particulars}]

    def test_reports_declined_and_failed_models(self):
        declined = run_models.text_of(self.results(outcome="declined", reason="op.no", text="not today"), "exact")
        self.assertIn("exact: 0 of 1 passed, 0 failed, 1 declined", declined)
        self.assertIn("declined add_i8: op.no: not today", declined)
        failed = run_models.text_of(self.results(outcome="failed", text="2 from the reference", counts=2, route="host"), "chip")
        self.assertIn("chip: 0 of 1 passed, 1 failed, 0 declined", failed)
        self.assertIn("failed add_i8: 2 from the reference", failed)
        self.assertIn("at most 2 apart", failed)

    @needs_models
    def test_wrong_numbers_and_no_device_are_seen(self):
        case = next(c for c in run_models.all_cases(MODELS) if c["op"] == "CONV_2D")
        # A device that computes nothing cannot pass.
        null = {"device": "null", "claim": "all", "quiet": "1", "verify": "off"}
        self.assertEqual(run_models.run_case(case, null, LIBRARY, MODELS)["outcome"], "failed")
        none = {"device": "none", "claim": "all", "quiet": "1"}
        result = run_models.run_case(case, none, LIBRARY, MODELS)
        self.assertEqual((result["outcome"], result["reason"]), ("declined", "device.none"))

    def test_says_when_there_are_no_models(self):
        self.assertEqual(run_models.main(["--models", "/nonexistent"]), 2)


if __name__ == "__main__":
    unittest.main()
