#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rocket-npu dis and asm as a user runs them: dis_asm_test.py SOURCE_DIR [EMULATOR...] ROCKET_NPU."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest


def run(*args, stdin=None):
    return subprocess.run([*TOOL, *map(str, args)], input=stdin, capture_output=True, check=False)


class DisAsm(unittest.TestCase):
    def cases(self):
        shared = os.environ.get("NPU_SHARED_DIR") or SOURCE.parent / "shared"
        for root in (pathlib.Path(shared) / "golden" / "rk3588", SOURCE / "tests/golden/rk3588"):
            if root.is_dir():
                return sorted(path.parent for path in root.glob("*/case.json"))
        self.fail("no golden cases found")

    def words(self, case):
        tasks = [task for submit in json.loads((case / "case.json").read_text())["submits"]
                 for job in submit["jobs"] for task in job["tasks"]]
        return [int(word, 16) for task in tasks for word in task["words"]]

    def test_every_golden_case_round_trips(self):
        cases = self.cases()
        self.assertGreaterEqual(len(cases), 45)
        for case in cases[::4]:
            text = run("dis", case)
            self.assertEqual(text.returncode, 0, text.stderr)
            words = self.words(case)
            back = run("asm", "-", stdin=text.stdout)
            self.assertEqual(back.returncode, 0, back.stderr)
            self.assertEqual(back.stdout, struct.pack(f"<{len(words)}Q", *words), case.name)

    def test_raw_words_binary_and_hexadecimal(self):
        words = self.words(self.cases()[0])
        with tempfile.TemporaryDirectory() as folder:
            binary = pathlib.Path(folder) / "words.bin"
            binary.write_bytes(struct.pack(f"<{len(words)}Q", *words))
            text = pathlib.Path(folder) / "words.hex"
            text.write_text("# words\n" + "\n".join(f"{word:016x}" for word in words))
            first, second = run("dis", binary), run("dis", text)
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertEqual(first.stdout.split(b"\n")[1:], second.stdout.split(b"\n")[1:])
            hexadecimal = run("asm", "--hex", "-", stdin=first.stdout)
            self.assertEqual(hexadecimal.stdout.decode().split(), [f"{w:016x}" for w in words])

    def test_an_unknown_command_is_named(self):
        found = run("disassemble")
        self.assertEqual((found.returncode, found.stdout), (2, b""))
        self.assertEqual(found.stderr, b"rocket-npu: unknown command 'disassemble'; the commands are "
                                       b"dis, asm, replay, doctor, selftest\n")

    def test_replay_refuses_threads_beyond_reason(self):
        for threads in ("999999999", "-1"):
            found = run("replay", self.cases()[0], "--path", "fast", "--threads", threads)
            self.assertEqual((found.returncode, found.stdout), (2, b""))
            self.assertIn(b"--threads", found.stderr)

    def test_json_names_every_field(self):
        case = self.cases()[0]
        report = json.loads(run("dis", "--json", "--all", case).stdout)
        self.assertEqual(report["format"], 1)
        words = [word for entry in report["lists"] for word in entry["words"]]
        self.assertEqual([int(word["word"], 16) for word in words], self.words(case))
        strides = [word for word in words if word.get("register") == "CNA.CONV_CON3"]
        self.assertIn("CONV_X_STRIDE", (strides or [{"fields": {"CONV_X_STRIDE": 1}}])[0]["fields"])

    def test_refusals_name_file_and_line(self):
        wide = run("asm", "-", stdin=b"NOP\nCNA.CONV_CON3 CONV_X_STRIDE=8\n")
        self.assertEqual(wide.returncode, 1)
        self.assertIn(b"line 2: CNA.CONV_CON3.CONV_X_STRIDE: 8 does not fit 3 bits", wide.stderr)
        unknown = run("asm", "-", stdin=b"CNA.CONV_CON3 STRIDE=1\n")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn(b"has no field \"STRIDE\"", unknown.stderr)
        missing = run("dis", "no/such/file")
        self.assertEqual(missing.returncode, 2)
        self.assertIn(b"no/such/file", missing.stderr)
        odd = run("dis", "-", stdin=b"\x00\x01\x02")
        self.assertEqual(odd.returncode, 2)
        self.assertEqual(run("dis").returncode, 2)

    def test_version(self):
        self.assertRegex(run("--version").stdout.decode(), r"^rocket-npu \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    SOURCE, TOOL = pathlib.Path(sys.argv[1]), sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
