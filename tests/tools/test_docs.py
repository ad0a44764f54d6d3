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

    def test_every_layer_has_a_readme(self):
        for folder in sorted((ROOT / "src").iterdir()):
            if folder.is_dir() and any(folder.iterdir()):
                self.assertTrue((folder / "README.md").exists(), folder.name)


if __name__ == "__main__":
    unittest.main()
