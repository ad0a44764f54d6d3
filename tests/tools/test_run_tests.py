# SPDX-License-Identifier: Apache-2.0
"""How tools/run_tests counts."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_script():
    loader = importlib.machinery.SourceFileLoader("run_tests", str(ROOT / "tools/run_tests"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    loader.exec_module(module)
    return module


class CountsTest(unittest.TestCase):
    def setUp(self):
        self.script = load_script()
        self.counts = self.script.Counts()

    def test_googletest_report(self):
        cases = [{"name": "A", "result": "COMPLETED"}, {"name": "B", "result": "SKIPPED"},
                 {"name": "C", "result": "COMPLETED", "failures": [{"failure": "x"}]},
                 {"name": "D", "result": "SUPPRESSED"}]
        failed = self.script.add_gtest_report({"testsuites": [{"name": "S", "testsuite": cases}]}, self.counts)
        self.assertEqual(failed, 1)
        self.assertEqual(self.counts.line(), "1 passed, 1 failed, 1 skipped")
        self.assertEqual((self.counts.failed, self.counts.skipped), (["S.C"], ["S.B"]))

    def test_unittest_output(self):
        text = ("test_a (test_x.T.test_a) ... ok\ntest_b (test_x.T.test_b) ... skipped 'no data'\n"
                "\n----\nRan 2 tests in 0.1s\n\nOK (skipped=1)\n")
        self.assertTrue(self.script.add_unittest_output(text, self.counts))
        self.assertEqual(self.counts.line(), "1 passed, 0 failed, 1 skipped")
        self.assertEqual(self.counts.skipped, ["test_b (test_x.T.test_b)"])

    def test_other_output_is_one_case(self):
        self.assertFalse(self.script.add_unittest_output("all good\n", self.counts))


if __name__ == "__main__":
    unittest.main()
