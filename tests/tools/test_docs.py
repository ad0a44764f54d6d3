# SPDX-License-Identifier: Apache-2.0
"""What the documents point at exists."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def documents():
    skipped = {ROOT / "build", ROOT / ".git"}
    return [p for p in ROOT.rglob("*.md") if not skipped.intersection(p.parents)]


class DocumentsTest(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for path in documents():
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text()):
                self.assertTrue((path.parent / target).exists(), f"{path.relative_to(ROOT)}: {target}")

    def test_make_targets_exist(self):
        targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
        for path in documents():
            for target in re.findall(r"(?:^|`)make ([a-z0-9-]+)\b", path.read_text(), re.M):
                self.assertIn(target, targets, path.relative_to(ROOT))

    def test_named_paths_exist(self):
        for path in documents():
            for name in re.findall(r"`((?:src|tools|tests|docs|chips|cmake|bench|demo)/[\w./-]+)`", path.read_text()):
                self.assertTrue((ROOT / name).exists(), f"{path.relative_to(ROOT)}: {name}")

    def test_every_route_is_explained(self):
        sources = [p for layer in ("encode", "plan") for p in (ROOT / "src" / layer).rglob("*.cc")]
        routes = set(re.findall(r'"(npu-[a-z0-9-]+|host-cube)"', "".join(p.read_text() for p in sources)))
        self.assertLessEqual({"npu-int8", "npu-elementwise", "host-cube"}, routes)
        for name in ("docs/options.md", "demo/measure.py"):
            text = (ROOT / name).read_text()
            for route in routes:
                self.assertRegex(text, f'[`"]{route}[`"]', name)

    def test_every_layer_has_a_readme(self):
        for folder in sorted((ROOT / "src").iterdir()):
            if folder.is_dir() and any(folder.iterdir()):
                self.assertTrue((folder / "README.md").exists(), folder.name)


if __name__ == "__main__":
    unittest.main()
