#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rocket-npu doctor and selftest as a user runs them, on this machine and through the device-node shim.

doctor_selftest_test.py SOURCE_DIR SHIM [EMULATOR...] ROCKET_NPU; SHIM is "-" where it cannot be preloaded.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


def run(*args, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    environment.update(variables)
    return subprocess.run([*TOOL, *map(str, args)], capture_output=True, text=True, check=False, cwd=SOURCE,
                          env=environment)


def through_shim(*args, version="0.0", **variables):
    return run(*args, LD_PRELOAD=SHIM, ROCKET_NODE_VERSION=version, **variables)


class Doctor(unittest.TestCase):
    def test_on_this_machine_the_exit_code_and_the_reports_agree(self):
        text, report = run("doctor"), run("doctor", "--json")
        self.assertEqual(text.stderr, "")
        found = json.loads(report.stdout)
        self.assertEqual(found["exit_code"], report.returncode)
        self.assertEqual(text.returncode, report.returncode)
        self.assertEqual(text.stdout.rstrip().splitlines()[-1], found["summary"])
        self.assertEqual(len(found["checks"]), 62)

    def test_a_tree_stands_for_another_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {"dev/accel/accel0": "EACCES\n", "proc/sys/kernel/arch": "aarch64\n",
                               "proc/device-tree/compatible": "rockchip,rk3588\0"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            found = run("doctor", "--root", root)
            self.assertEqual(found.returncode, 1, found.stdout)
            self.assertIn("Permission denied", found.stdout)
            self.assertIn("usermod -aG render", found.stdout)

    def test_what_it_cannot_read_is_an_error(self):
        self.assertEqual(run("doctor", "--root", "/nonexistent").returncode, 2)
        self.assertEqual(run("doctor", "--baseline", "/nonexistent").returncode, 2)
        self.assertEqual(run("doctor", "--root", SOURCE, "--selftest").returncode, 2)

    def test_through_the_shim_it_is_healthy(self):
        if SHIM == "-":
            return  # nothing to preload in this build
        for version in ("0.0", "1.1", "1.5"):
            found = json.loads(through_shim("doctor", "--json", version=version).stdout)
            self.assertEqual(found["health"], "healthy", found)
            verdicts = {check["id"]: check["verdict"] for check in found["checks"]}
            self.assertEqual(verdicts["D10"], "pass")
            self.assertEqual(verdicts["K01"], "warn" if version == "0.0" else "pass")
            self.assertEqual(found["machine"]["chip"], "RK3588")


class SelfTest(unittest.TestCase):
    def test_the_simulator_is_healthy(self):
        found = run("selftest", "--device", "sim", "--json", "-", "--runs", "5")
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        report = json.loads(found.stdout)
        self.assertTrue(report["healthy"])
        self.assertGreaterEqual(report["passed"], 100)
        self.assertEqual(report["failed"], 0)
        self.assertEqual({answer["answer"] for answer in report["answers"]}, {"as assumed"})

    def through_the_kernel(self, version, **variables):
        found = through_shim("selftest", "--device", "rocket", "--json", "-", "--runs", "20", version=version,
                             **variables)
        report = json.loads(found.stdout)
        return found, report, {step["id"]: step["verdict"] for step in report["steps"]}

    def test_the_kernel_driver_is_healthy_through_the_shim(self):
        if SHIM == "-":
            return
        for version in ("0.0", "1.1", "1.5"):
            found, report, steps = self.through_the_kernel(version)
            self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
            self.assertGreaterEqual(report["passed"], 80)
            self.assertEqual(report["failed"], 0)
            self.assertEqual(steps["S6"], "skipped" if version == "0.0" else "passed")
            self.assertEqual(steps["S5"], "passed")
            self.assertLessEqual({answer["answer"] for answer in report["answers"]}, {"as assumed", "not run"})
            # What an earlier job left in the core's registers must not fool the driver's own check.
            self.assertNotIn("are not used", found.stderr)

    def test_the_doctor_takes_its_findings(self):
        if SHIM == "-":
            return
        found = json.loads(through_shim("doctor", "--selftest", "--json", version="1.1").stdout)
        verdicts = {check["id"]: check["verdict"] for check in found["checks"]}
        self.assertEqual([verdicts[f"S{i}"] for i in range(1, 8)], ["pass"] * 7)
        self.assertEqual(found["summary"].split(". ")[-1], "device=auto uses this NPU.")

    def test_a_report_is_written_beside_the_text(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "board.json"
            found = run("selftest", "--device", "sim", "--case", "conv_1x1_32", "--json", file)
            self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
            self.assertEqual(json.loads(file.read_text())["passed"], 1)
            self.assertIn("Healthy: 1 cases passed", found.stdout)

    def test_without_a_device_or_golden_cases_it_says_so(self):
        self.assertEqual(run("selftest", "--device", "none").returncode, 2)
        found = run("selftest", "--device", "sim", "--golden", "/nonexistent")
        self.assertEqual(found.returncode, 2)
        self.assertIn("no golden cases", found.stderr)
        self.assertEqual(run("selftest", "--device", "null", "--case", "conv_1x1_32").returncode, 1)

    def test_it_lists_what_could_run(self):
        found = run("selftest", "--device", "sim", "--list")
        self.assertEqual(found.returncode, 0)
        self.assertIn("question  cube_mismatch (may hang)", found.stdout)


if __name__ == "__main__":
    SOURCE, SHIM, TOOL = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    unittest.main(argv=[sys.argv[0]], verbosity=2)
