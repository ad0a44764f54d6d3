# SPDX-License-Identifier: Apache-2.0
"""Each rule of tools/check_tree has a sample that breaks it and a twin that does not."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
sys.path.insert(0, str(ROOT / "tools"))

from tree_checks import figures, rules, source  # noqa: E402


def load_script():
    """tools/check_tree as a module; it has no .py in its name."""
    loader = importlib.machinery.SourceFileLoader("check_tree", str(ROOT / "tools/check_tree"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_tree", loader))
    loader.exec_module(module)
    return module


class CheckTreeTest(unittest.TestCase):
    def rules(self, files):
        """The set of rules that a tree of {path: text} breaks."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(text, bytes):
                    path.write_bytes(text)
                else:
                    path.write_text(text)
            tree = source.Tree(folder)
            return {f.rule for f in rules.all_findings(tree, source.functions(tree))}

    def breaks(self, rule, path, body):
        self.assertEqual(self.rules({path: SPDX + body}), {rule}, body)

    def passes(self, path, body):
        self.assertEqual(self.rules({path: SPDX + body}), set(), body)

    def test_include_direction(self):
        self.breaks("include", "src/base/a.cc", '#include "src/ir/graph.h"\n')
        self.breaks("include", "src/sim/a.cc", '#include "src/layout/pack.h"\n')
        self.breaks("include", "src/sim/a.cc", '#include "src/encode/conv.h"\n')
        self.breaks("include", "src/device/null_device.cc", '#include "src/sim/simulator.h"\n')
        self.breaks("include", "src/encode/a.cc", '#include "src/device/device.h"\n')
        self.breaks("include", "src/newfolder/a.cc", '#include "src/base/log.h"\n')
        self.passes("src/device/sim_device.cc", '#include "src/sim/simulator.h"\n')
        self.passes("src/host/a.cc", '#include "src/ir/graph.h"\n#include "npu/status.h"\n')

    def test_oracle_is_independent(self):
        for layer in ("arith", "layout", "sim", "encode"):
            self.breaks("include", "tests/oracle/a.cc", f'#include "src/{layer}/x.h"\n')
        self.passes("tests/oracle/a.cc", '#include "src/base/checked.h"\n')

    def test_include_by_path_from_the_root(self):
        self.breaks("include", "src/base/a.cc", '#include "log.h"\n')
        self.breaks("include", "src/base/a.cc", '#include "../ir/graph.h"\n')

    def test_slow_headers_stay_out_of_headers(self):
        self.breaks("include", "src/base/a.h", "#include <nlohmann/json.hpp>\n")
        self.passes("src/base/a.cc", "#include <nlohmann/json.hpp>\n")

    def test_file_size(self):
        self.breaks("file-size", "src/base/a.cc", "\n" * 600)
        self.passes("src/base/a.cc", "\n" * 599)

    def test_function_size(self):
        self.breaks("function-size", "src/base/a.cc", "void F() {\n" + "  G();\n" * 79 + "}\n")
        self.passes("src/base/a.cc", "void F() {\n" + "  G();\n" * 78 + "}\n")
        self.breaks("function-size", "src/base/a.cc",
                    "A::A(int x)\n    : b_{x}, c_(x) {\n" + "  G();\n" * 79 + "}\n")
        self.breaks("function-size", "src/base/a.cc",
                    "struct A {\n  void F() const {\n" + "  if (x) { G(); }\n" * 79 + "  }\n};\n")
        self.breaks("function-size", "tests/a.cc", "TEST(A, B) {\n" + "  G({1, 2});\n" * 79 + "}\n")

    def test_function_size_python(self):
        self.assertEqual(self.rules({"a.py": "#" + SPDX[2:] + "def f():\n" + "    g()\n" * 80}), {"function-size"})

    def test_environment(self):
        self.breaks("environment", "src/plan/a.cc", 'void F() {\n  auto x = std::getenv("A");\n}\n')
        self.passes("src/frontends/common/a.cc", 'void F() { std::getenv("A"); }\n')
        self.passes("src/plan/a.cc", "// never getenv here\n")

    def test_mutable_static(self):
        for body in ("static int counter = 0;\n", "int counter = 0;\n", "namespace a {\nstd::mutex lock;\n}\n",
                     "void F() {\n  static std::map<int, int> cache;\n}\n", "thread_local int x = 0;\n",
                     "const char* name = nullptr;\n", "void F() {\n  static int x(3);\n}\n",
                     "struct A {\n  static int x;\n};\n", "static std::vector<int> cache{1, 2};\n",
                     "std::atomic<int> g{0};\n"):
            self.breaks("mutable-static", "src/plan/a.cc", body)

    def test_constants_are_no_mutable_statics(self):
        for body in ("constexpr int kA = 0;\n", "static const Foo kA = Bar();\n", "const char* const kA = nullptr;\n",
                     "static void F(int x) {\n  int y = x;\n  G(y);\n}\n", "int F(const char* p);\n",
                     "void F() {\n  static constexpr int kA[] = {1, 2};\n}\n", "struct A {\n  int x = 0;\n};\n",
                     "struct A {\n  static A Make(int x);\n};\n", "using A = int;\n", "extern \"C\" {\nint F(int);\n}\n",
                     "template <typename T>\nconstexpr T kZero{};\n", "const std::array<int, 2> kA = {1, 2};\n",
                     "static_assert(sizeof(int) == 4);\n", "enum class E { kA, kB };\n", "struct A;\n",
                     "inline constexpr std::string_view kA = \"a\";\n", "A& A::operator=(A&& other) = default;\n"):
            self.passes("src/plan/a.cc", body)

    def test_hex_literal_in_encode(self):
        self.breaks("hex-literal", "src/encode/rk3588/a.cc", "constexpr int kA = 0x1000;\n")
        self.passes("src/encode/rk3588/a.cc", "constexpr int kA = 0xFFF;  // not 0x1000\n")
        self.passes("src/sim/a.cc", "constexpr int kA = 0x1000;\n")

    def test_chip_name(self):
        self.breaks("chip-name", "src/plan/a.cc", 'bool F(A x) { return x.chip == "rk3588"; }\n')
        self.breaks("chip-name", "src/plan/a.cc", "bool F(A x) { return x.id != chip::Id::kRk3588; }\n")
        self.breaks("chip-name", "apps/a.cc", "int F(A x) { switch (x) { case Id::kRk3576: return 1; } }\n")
        self.passes("src/chip/a.cc", 'bool F(A x) { return x.chip == "rk3588"; }\n')
        self.passes("src/plan/a.cc", 'A F() { return Find("rk3588"); }\n')

    def test_header_comment(self):
        self.breaks("header-comment", "src/plan/a.h", "namespace a {\n\nint F(int x);\n}\n")
        self.breaks("header-comment", "include/npu/a.h", "namespace a {\n\ninline int F() { return 1; }\n}\n")
        self.breaks("header-comment", "src/plan/a.h", "namespace a {\n\ntemplate <class T>\nT F(T x);\n}\n")
        self.breaks("header-comment", "src/plan/a.h", "class A {\n public:\n  int x() const;\n};\n")
        self.passes("src/plan/a.h", "// Twice x.\nint F(int x);\nint G(int x);\n\nclass A;\n")
        self.passes("src/plan/a.h", "// What it is.\n#ifndef A_\n#define A_\n\nclass A {\n int x();\n};\n#endif\n")
        self.passes("src/plan/a.h", "// What it is.\nclass A {\n public:\n  int x() const;\n};\n")

    def test_op_list(self):
        row = SPDX + 'NPU_OP("CONV_2D", Conv2d)\n'
        test, document = SPDX + "TEST(Conv2d, A) {}\n", "| `CONV_2D` | yes |\n"
        listed = {"src/ops/op_list.inc": row}
        self.assertEqual(self.rules(listed | {"docs/operators.md": document}), {"op-list"})
        self.assertEqual(self.rules(listed | {"tests/unit/ops/a_test.cc": test}), {"op-list"})
        self.assertEqual(self.rules(listed | {"tests/unit/ops/a_test.cc": test, "docs/operators.md": document}), set())

    def test_golden_needs_a_sidecar(self):
        self.assertEqual(self.rules({"tests/golden/a/data.bin": b"\0"}), {"golden"})
        self.assertEqual(self.rules({"tests/golden/a/data.bin": b"\0", "tests/golden/a/case.json": "{}"}), set())

    def test_marker_needs_an_issue_number(self):
        marker = "TO" + "DO"
        self.breaks("marker", "src/base/a.cc", f"// {marker}: later\n")
        self.passes("src/base/a.cc", f"// {marker}(#12): later\n")

    def test_machine_path(self):
        self.breaks("machine-path", "src/base/a.cc", "// see /wo" + "rk/x\n")
        self.assertEqual(self.rules({"docs/a.md": "see /wo" + "rk/x\n"}), {"machine-path"})
        self.passes("src/base/a.cc", "// home/work/x\n")

    def test_licence_line(self):
        self.assertEqual(self.rules({"src/base/a.cc": "int F();\n"}), {"licence-line"})
        self.assertEqual(self.rules({"tools/x": "#!/usr/bin/env bash\necho\n"}), {"licence-line"})
        self.assertEqual(self.rules({"tools/x": "#!/usr/bin/env bash\n#" + SPDX[2:]}), set())

    def test_strings_and_comments_do_not_confuse_the_braces(self):
        body = 'const char* const kA = "{";  // }\nvoid F() {\n  G(\'{\', R"(})", 1\'000);\n}\n'
        found = list(source.cxx_functions("a.cc", source.blank_out(body)))
        self.assertEqual([(f.name, f.first, f.last) for f in found], [("F", 2, 4)])

    def test_function_names(self):
        body = ("Result<A> B::C(int x) const noexcept {\n}\nTEST(D, E) {\n}\n"
                "template <typename T>\nT F(T x = T{}) {\n}\n")
        found = list(source.cxx_functions("a.cc", source.blank_out(body)))
        self.assertEqual([(f.name, f.lines) for f in found], [("B::C", 2), ("D.E", 2), ("F", 3)])

    def test_duplication_counts_runs_of_six_lines(self):
        run = [(n, f"statement_number_{n}();") for n in range(6)]
        other = [(n, f"something_else_{n}();") for n in range(6)]
        found = figures.Duplication({"a": run + other, "b": run})
        self.assertEqual((found.copied, found.total), (12, 18))
        self.assertEqual(figures.Duplication({"a": run[:5], "b": run[:5]}).copied, 0)

    def test_allow_list(self):
        check = load_script()
        finding = rules.Finding("function-size", "a.cc", 1, "F has 90 lines")
        entry = ("function-size", "a.cc", "F", 3)
        self.assertEqual(check.apply_allow_list([finding], [entry], "allow"), [])
        unused = check.apply_allow_list([], [entry], "allow")
        self.assertEqual([f.rule for f in unused], ["allow-list"])
        self.assertEqual(check.apply_allow_list([finding], [("hex-literal", "a.cc", "", 3)], "allow")[1], finding)


if __name__ == "__main__":
    unittest.main()
