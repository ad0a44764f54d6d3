# SPDX-License-Identifier: Apache-2.0
"""The version stands in three files; they must agree."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find(path, pattern):
    match = re.search(pattern, (ROOT / path).read_text(), re.M)
    return match.group(1) if match else None


class VersionTest(unittest.TestCase):
    def test_library_module_and_change_log_agree(self):
        version = find("CMakeLists.txt", r"^project\(rocket_npu VERSION ([\d.]+)")
        self.assertIsNotNone(version)
        self.assertEqual(find("python/rocket_npu/__init__.py", r'^__version__ = "([\d.]+)"'), version)
        self.assertEqual(find("CHANGELOG.md", r"^## ([\d.]+)"), version)


if __name__ == "__main__":
    unittest.main()
