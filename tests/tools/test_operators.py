# SPDX-License-Identifier: Apache-2.0
"""The table of operations is current, and its tool says what is wrong."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "gen"))
import operators  # noqa: E402


class OperatorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "src" / "ops").mkdir(parents=True)
        (self.root / "docs").mkdir()
        self.write("docs/operators.md", f"# Text\n\n{operators.HEAD}\n| old |\n\nmore\n")
        self.write("src/ops/op_list.inc", 'NPU_OP("ADD", Binary, LowerAdd, nullptr)\nNPU_OP("SUB", Binary, nullptr, nullptr)\n')
        self.write("src/ops/a.cc", "// Claims ADD, SUB: broadcasting up\n// to rank 6\n// On the NPU ADD: equal shapes\nint x;\n")

    def write(self, name, text):
        (self.root / name).write_text(text)

    def run_tool(self, *arguments):
        """(exit code, stderr)."""
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            return operators.main(["--root", str(self.root), *arguments]), err.getvalue()

    def expect_fault(self, text):
        code, err = self.run_tool()
        self.assertEqual(code, 1)
        self.assertIn(text, err)

    def test_this_tree_is_current(self):
        self.assertEqual(operators.main(["--check"]), 0)

    def test_makes_the_table(self):
        self.assertEqual(self.run_tool("--check")[0], 1)
        self.assertEqual(self.run_tool(), (0, ""))
        self.assertEqual(
            (self.root / "docs" / "operators.md").read_text(),
            f"# Text\n\n{operators.HEAD}\n|---|---|---|\n| ADD | equal shapes | broadcasting up to rank 6 |\n"
            "| SUB | no | broadcasting up to rank 6 |\n\nmore\n",
        )
        self.assertEqual(self.run_tool("--check"), (0, ""))

    def test_a_row_needs_its_texts(self):
        self.write("src/ops/b.cc", "// On the NPU SUB: something\n")
        self.expect_fault("On the NPU SUB")
        self.write("src/ops/b.cc", "// Claims MUL: something\n")
        self.expect_fault("MUL")
        self.write("src/ops/b.cc", "// Claims ADD: something\n")
        self.expect_fault("two texts")
        self.write("src/ops/b.cc", "")
        self.write("src/ops/a.cc", "// Claims SUB: broadcasting\n")
        self.expect_fault("Claims ADD")

    def test_needs_one_table(self):
        self.write("docs/operators.md", "# Text\n")
        self.expect_fault("0 times")


if __name__ == "__main__":
    unittest.main()
