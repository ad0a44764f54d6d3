# SPDX-License-Identifier: Apache-2.0
"""Signals and the end of a process, as Python programs meet them; C programs are in tests/hosts."""

import signal
import subprocess
import sys
import unittest

from delegate_case import HERE, needs_models, op_model

CONV = "conv_i8_3x3_same"

# Runs until SIGINT comes, then shows that the interpreter has not suffered.
LONG_RUN = """
import sys
import numpy as np
from delegate_case import Runner, op_inputs
model, name = sys.argv[1:]
runner = Runner(model, {"device": "sim", "claim": "all", "quiet": "1"})
first = runner.run(op_inputs(name))
print("ready", flush=True)
runs = 0
try:
    while True:
        runner.run(op_inputs(name))
        runs += 1
except KeyboardInterrupt:
    pass
same = all(np.array_equal(a, b) for a, b in zip(runner.run(op_inputs(name)), first))
print(f"interrupted {runs > 0} same {same}", flush=True)
"""

# Ends by an exception with an interpreter, a delegate and a running thread alive.
RAISES = """
import sys, threading
from delegate_case import Runner, op_inputs
model, name = sys.argv[1:]
runner = Runner(model, {"device": "sim", "claim": "all", "quiet": "1", "threads": "4"})
runner.run(op_inputs(name))
other = Runner(model, delegate=runner.delegate)
threading.Thread(target=lambda: [other.run(op_inputs(name)) for _ in range(50)], daemon=True).start()
raise SystemExit(7)
"""


@needs_models
class Processes(unittest.TestCase):
    def start(self, script):
        return subprocess.Popen([sys.executable, "-c", script, op_model(CONV), CONV], cwd=HERE, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_sigint_ends_a_long_run_and_nothing_else(self):
        with self.start(LONG_RUN) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            try:
                process.communicate(timeout=1)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("interrupted True same True", out)

    def test_sigterm_ends_it_at_once(self):
        with self.start(LONG_RUN) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.terminate()
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_exit_with_everything_alive_and_a_thread_running(self):
        for _ in range(3):
            with self.start(RAISES) as process:
                _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 7, err)
            self.assertEqual(err, "")


if __name__ == "__main__":
    unittest.main()
