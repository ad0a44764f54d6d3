# SPDX-License-Identifier: Apache-2.0
"""The life of a delegate as hosts really live it (tflite-delegate 1.5 and 11)."""

import gc
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import unittest

import numpy as np
from delegate_case import LIBRARY, Runner, needs_models, op_inputs, op_model, op_outputs, run_script
from delegate_case import RESOLVERS, counts_apart, litert, stderr_of_process

SIM = {"device": "sim", "claim": "all", "numerics.requant": "exact", "quiet": "1"}
CONV = "conv_i8_3x3_same"

EXIT_SCRIPT = """
import sys
import delegate_case
litert = delegate_case.litert
import numpy as np
library, model, explain = sys.argv[1:]
delegate = litert.load_delegate(library, {"device": "sim", "claim": "all", "explain": explain})
interpreter = litert.Interpreter(model, experimental_delegates=[delegate])
interpreter.allocate_tensors()
detail = interpreter.get_input_details()[0]
interpreter.set_tensor(detail["index"], np.zeros(detail["shape"], detail["dtype"]))
interpreter.invoke()
interpreter.invoke()
print("alive")
"""


class LibraryFile(unittest.TestCase):
    def symbols(self, *options):
        done = subprocess.run(["nm", "-D", *options, LIBRARY], capture_output=True, text=True, check=True)
        return [line.split()[-1] for line in done.stdout.splitlines()]

    def test_needs_no_symbol_of_the_host(self):
        undefined = self.symbols("--undefined-only")
        self.assertEqual([name for name in undefined if "TfLite" in name or "tflite" in name], [])

    def test_exports_two_names(self):
        self.assertEqual(
            sorted(self.symbols("--defined-only")),
            ["tflite_plugin_create_delegate", "tflite_plugin_destroy_delegate"],
        )

    def test_brings_its_cxx_library(self):
        if "asan" in LIBRARY or "tsan" in LIBRARY:
            return  # sanitizers come with shared libraries of their own
        done = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True)
        needed = [line for line in done.stdout.splitlines() if "NEEDED" in line]
        self.assertEqual([line for line in needed if "libstdc++" in line or "libgcc" in line], [])


@needs_models
class Lifecycle(unittest.TestCase):
    def assert_right(self, runner, name=CONV):
        for got, expected in zip(runner.run(op_inputs(name)), op_outputs(name), strict=True):
            self.assertEqual(counts_apart(got, expected), 0)

    def test_every_resolver(self):
        for resolver in RESOLVERS:
            with self.subTest(resolver=resolver):
                runner = Runner(op_model(CONV), SIM, resolver)
                self.assert_right(runner)
                self.assertEqual(runner.explain()["summary"]["claimed"], 1)

    def test_exit_with_both_alive_completes_the_explain_file(self):
        with tempfile.TemporaryDirectory() as folder:
            explain = os.path.join(folder, "explain.json")
            done = run_script(EXIT_SCRIPT, op_model(CONV), explain)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, "alive\n")
            content = json.loads(pathlib.Path(explain).read_text(encoding="utf-8"))
            self.assertEqual(content["run"]["runs"], 2)
            self.assertEqual(content["run"]["verify_mismatches"], 0)
            self.assertEqual(content["run"]["device_failures"], 0)

    def test_delete_interpreter_first(self):
        runner = Runner(op_model(CONV), SIM)
        self.assert_right(runner)
        del runner.interpreter
        gc.collect()
        del runner.delegate
        gc.collect()

    def test_delete_delegate_first(self):
        runner = Runner(op_model(CONV), SIM)
        del runner.delegate
        gc.collect()
        self.assert_right(runner)

    def test_second_allocation_changes_nothing(self):
        runner = Runner(op_model(CONV), SIM)
        self.assert_right(runner)
        runner.interpreter.allocate_tensors()
        self.assert_right(runner)

    def test_resize_compiles_again(self):
        for resolver in RESOLVERS:
            with self.subTest(resolver=resolver):
                runner = Runner(op_model(CONV), SIM, resolver)
                self.assert_right(runner)
                reference = Runner(op_model(CONV))
                detail = runner.interpreter.get_input_details()[0]
                shape = list(detail["shape"])
                shape[1], shape[2] = shape[1] + 5, shape[2] + 2
                for one in (runner, reference):
                    one.interpreter.resize_tensor_input(detail["index"], shape)
                    one.interpreter.allocate_tensors()
                values = np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)
                got, expected = runner.run([values])[0], reference.run([values])[0]
                self.assertEqual(counts_apart(got, expected), 0)
                self.assertEqual(runner.explain()["summary"]["claimed"], 1)
                self.assertEqual(runner.explain()["nodes"][0]["shapes"]["inputs"][0], shape)

    def test_two_interpreters_of_one_delegate_in_threads(self):
        delegate = litert.load_delegate(LIBRARY, SIM)
        runners = [Runner(op_model(CONV), delegate=delegate) for _ in range(2)]
        inputs, expected = op_inputs(CONV), op_outputs(CONV)
        wrong = []

        def work(runner):
            for _ in range(20):
                if any(counts_apart(g, e) for g, e in zip(runner.run(inputs), expected, strict=True)):
                    wrong.append(runner)

        threads = [threading.Thread(target=work, args=(runner,)) for runner in runners]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_first_use_from_several_threads_at_once(self):
        failures = []

        def work():
            try:
                self.assert_right(Runner(op_model(CONV), SIM))
            except Exception as error:  # a thread's exception would be lost
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_preserve_all_tensors_gives_every_node_a_partition(self):
        path = str(pathlib.Path(op_model(CONV)).parents[1] / "small_cnn_96_int8.tflite")
        whole = Runner(path, SIM).explain()["summary"]
        each = Runner(path, SIM, keep=True).explain()["summary"]
        self.assertGreater(whole["claimed"], 40)
        self.assertEqual(each["claimed"], whole["claimed"])
        if litert.__name__.startswith("ai_edge"):  # tflite-runtime 2.14 offers whole partitions
            self.assertEqual(each["partitions"], each["claimed"])
        self.assertLess(whole["partitions"], 10)

    def test_a_second_delegate_is_told_of_the_first(self):
        first, second = (litert.load_delegate(LIBRARY, {**SIM, "quiet": "0"}) for _ in range(2))
        with stderr_of_process() as stderr:
            interpreter = litert.Interpreter(op_model(CONV), experimental_delegates=[first, second])
            interpreter.allocate_tensors()
        self.assertIn("another delegate (rocket-npu) has taken 1 node before", stderr.text)
        self.assertIn("claimed 0 of 0 nodes", stderr.text)

    def test_a_forked_process_runs_and_ends_what_its_parent_made(self):
        runner = Runner(op_model(CONV), {**SIM, "threads": "4"})
        self.assert_right(runner)
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # ends a child that hangs
            code = 1
            try:
                self.assert_right(runner)
                del runner
                gc.collect()
                if "tsan" not in LIBRARY:  # it allows no new threads there
                    self.assert_right(Runner(op_model(CONV), {**SIM, "threads": "4"}))
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assert_right(runner)

    def test_a_hundred_short_lives_leave_no_file_open(self):
        def files():
            return len(os.listdir("/proc/self/fd"))

        Runner(op_model(CONV), SIM).close()
        before = files()
        for _ in range(100):
            Runner(op_model(CONV), SIM).close()
        gc.collect()
        self.assertLessEqual(files(), before)


if __name__ == "__main__":
    unittest.main()
