# SPDX-License-Identifier: Apache-2.0
"""The preloaded node from outside: Python clients, versions, several processes, configuration, what is left behind."""
import errno
import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PRELOAD = os.environ["NPU_SHIM_PRELOAD"]
GOLDEN = pathlib.Path(os.environ["NPU_GOLDEN_DIR"])
CLIENT = pathlib.Path(__file__).with_name("node_client.py")
SMALL, CHAIN = "conv_i8_1x1_32x8x8_32", "chain3_i8_kick_32x11x9_128_40"


def environment(**variables):
    """The environment of a client; `variables` without their prefix."""
    values = {key: value for key, value in os.environ.items() if not key.startswith("ROCKET_NODE_")}
    values.update(LD_PRELOAD=PRELOAD, ROCKET_NODE_THREADS="1", ROCKET_NODE_HANG_MS="50")
    values.setdefault("ASAN_OPTIONS", "detect_leaks=0")  # the interpreter's own
    values.update({"ROCKET_NODE_" + key: value for key, value in variables.items()})
    return values


def start(case, *mode, **variables):
    return subprocess.Popen([sys.executable, str(CLIENT), str(GOLDEN / case), *mode], env=environment(**variables),
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process):
    """(exit code, standard output, standard error)"""
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


class PythonClient(unittest.TestCase):
    def report(self, case, *mode, **variables):
        code, out, err = finish(start(case, *mode, **variables))
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_golden_output_at_every_version(self):
        for version in ("0.0", "1.1", "1.5"):
            with self.subTest(version):
                report = self.report(SMALL, VERSION=version)
                self.assertEqual(report, {"version": [int(part) for part in version.split(".")], "different": 0})

    def test_a_chain_in_one_kick_and_in_three(self):
        for version in ("0.0", "1.1"):
            self.assertEqual(self.report(CHAIN, VERSION=version)["different"], 0)

    def test_strict_modes_accept_a_correct_client(self):
        self.assertEqual(self.report(SMALL, STRICT="all", ABORT="all")["different"], 0)

    def test_four_processes_at_once(self):
        processes = [start(SMALL) for _ in range(4)]
        for process in processes:
            code, out, err = finish(process)
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["different"], 0)

    def test_a_forked_child_gets_eio_and_the_parent_goes_on(self):
        report = self.report(SMALL, "fork")
        self.assertEqual(report["child_errno"], errno.EIO)
        self.assertEqual(report["different_after"], 0)

    def test_a_timeout_is_logged(self):
        code, _, err = finish(start("neg_dst_unmapped"))
        self.assertEqual(code, 0, err)
        self.assertIn("Page fault at 0xc0de0000 of type write", err)
        self.assertIn("NPU job timed out", err)

    def test_the_log_goes_where_it_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "kernel.log"
            _, _, err = finish(start("neg_dst_unmapped", LOG=str(log)))
            self.assertEqual(err, "")
            self.assertIn("NPU job timed out", log.read_text(encoding="utf-8"))

    def test_a_malformed_job_aborts_on_the_stock_kernel(self):
        code, _, err = finish(start(SMALL, "malformed"))
        self.assertNotEqual(code, 0)
        self.assertIn("THE REAL KERNEL WOULD CRASH HERE", err)

    def test_a_malformed_job_is_dropped_or_refused_where_asked(self):
        self.assertEqual(finish(start(SMALL, "malformed", ABORT="none"))[0], 0)
        code, _, err = finish(start(SMALL, "malformed", VERSION="1.1"))
        self.assertEqual(code, 1)
        self.assertIn("Invalid argument", err)

    def test_a_wrong_variable_is_named(self):
        for name, value in (("VERSION", "3.0"), ("STRICT", "warm"), ("FAULT", "burn=1"), ("CORES", "9"), ("CHIP", "rk1"),
                            ("TIMEOUT_MS", "soon"), ("ABORT", "never"), ("SIM", "quick"), ("BATCH", "yes")):
            with self.subTest(name):
                code, _, err = finish(start(SMALL, **{name: value}))
                self.assertNotEqual(code, 0)
                self.assertIn("Invalid argument", err)
                self.assertIn(value, err)

    def test_injected_faults_reach_the_client(self):
        self.assertIn("Cannot allocate memory", finish(start(SMALL, FAULT="enomem=2"))[2])
        self.assertIn("No such device", finish(start(SMALL, FAULT="gone=4"))[2])
        self.assertGreater(self.report(SMALL, FAULT="drop=1")["different"], 0)

    def test_nothing_is_left_in_the_temporary_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            script = "import glob; assert glob.glob('/dev/accel/*') == ['/dev/accel/accel0']"
            subprocess.run([sys.executable, "-c", script], env=dict(environment(), TMPDIR=folder), check=True)
            self.assertEqual(glob.glob(folder + "/*"), [])


if __name__ == "__main__":
    unittest.main()
