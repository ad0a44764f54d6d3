# SPDX-License-Identifier: Apache-2.0
"""Finding the library and reading options."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

from rocket_npu import UserError, library


class Options(unittest.TestCase):
    def test_key_and_value(self):
        found = library.parse_options(["device=sim", "explain=a=b.json", "quiet="])
        self.assertEqual(found, {"device": "sim", "explain": "a=b.json", "quiet": ""})

    def test_refused(self):
        for texts, message in (
            (["device"], "option 'device' is not KEY=VALUE"),
            (["=sim"], "option '=sim' is not KEY=VALUE"),
            (["device=sim", "device=auto"], "option 'device' is given twice"),
        ):
            with self.assertRaisesRegex(UserError, message):
                library.parse_options(texts)


class Find(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / library.LIBRARY_NAME
        self.path.touch()

    def test_named(self):
        self.assertEqual(library.find(str(self.path)), self.path.resolve())

    def test_by_environment(self):
        with mock.patch.dict(os.environ, {library.LIBRARY_VARIABLE: str(self.path)}):
            self.assertEqual(library.find(), self.path.resolve())

    def test_a_named_library_that_is_missing_is_an_error(self):
        with self.assertRaisesRegex(UserError, "no delegate library at /nowhere .from --delegate"):
            library.find("/nowhere")
        with mock.patch.dict(os.environ, {library.LIBRARY_VARIABLE: "/nowhere"}):
            with self.assertRaisesRegex(UserError, "ROCKET_NPU_LIBRARY"):
                library.find()

    def test_places_in_order(self):
        with mock.patch.object(library, "candidates", lambda: [self.path / "no", self.path]):
            with mock.patch.dict(os.environ, {library.LIBRARY_VARIABLE: ""}):
                self.assertEqual(library.find(), self.path)

    def test_nothing_found_says_what_to_do(self):
        with mock.patch.object(library, "candidates", lambda: []):
            with mock.patch.dict(os.environ, {library.LIBRARY_VARIABLE: ""}):
                with self.assertRaisesRegex(UserError, "build it with `make`"):
                    library.find()


if __name__ == "__main__":
    unittest.main()
