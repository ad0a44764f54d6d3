# SPDX-License-Identifier: Apache-2.0
"""device=rocket in the stock interpreter, on the simulated kernel node: outputs as with device=sim, also when the node fails."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from delegate_case import HERE, MODELS, Runner, needs_models, op_inputs, op_model

SHIM = os.environ.get("NPU_NODE_SHIM", "")
SMALL = ["conv_i8_3x3_same", "dwconv_i8_3x3_s2_same_even", "fc_i8_m4_relu", "conv_u8_3x3_same"]
SCRIPT = """
import json, os, sys
import numpy as np
from delegate_case import Runner
model, inputs, options, fork = sys.argv[1:]
with np.load(inputs) as file:
    values = [file[name] for name in file.files]
runner = Runner(model, json.loads(options))
outputs = [runner.run(values) for _ in range(2)]
if fork == "fork":
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        same = all(np.array_equal(a, b) for a, b in zip(runner.run(values), outputs[0]))
        os._exit(0 if same else 1)
    status = os.waitpid(child, 0)[1]
    outputs.append(runner.run(values))
if fork == "threads":  # more interpreters than cores
    import threading
    runners = [Runner(model, {**json.loads(options), "quiet": "1"}) for _ in range(4)]
    def work(one):
        outputs.extend([one.run(values) for _ in range(3)])
    threads = [threading.Thread(target=work, args=(one,)) for one in runners]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    files = [os.readlink("/proc/self/fd/" + n) for n in os.listdir("/proc/self/fd") if os.path.lexists("/proc/self/fd/" + n)]
    assert sum("rocket" in name for name in files) == 4, files  # one for each of 3 cores, one of the node's own
    runners.clear()
explain = runner.close()
print(json.dumps({"outputs": [[o.tobytes().hex() for o in run] for run in outputs], "run": explain["run"],
                  "device": explain["device"], "child": status if fork == "fork" else 0}))
"""


@needs_models
class Rocket(unittest.TestCase):
    def setUp(self):
        self.assertTrue(os.path.exists(SHIM), "NPU_NODE_SHIM must name librocket_node.so")
        self.folder = tempfile.TemporaryDirectory(prefix="npu_rocket_")
        self.addCleanup(self.folder.cleanup)

    def on_node(self, model, inputs, node=None, fork="", **options):
        """Two inferences in a process with the node: what the script printed, and its stderr."""
        path = os.path.join(self.folder.name, "inputs.npz")
        np.savez(path, *inputs)
        options = {"device": "rocket", "claim": "all", **options}
        environment = {**os.environ, "LD_PRELOAD": SHIM, "ROCKET_NODE_LOG": "none", **(node or {})}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, model, path, json.dumps(options), fork],
            capture_output=True, text=True, timeout=300, check=False, cwd=HERE, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1]), done.stderr

    def expected(self, model, inputs, device="sim"):
        options = {"device": device, "claim": "all", "quiet": "1"}
        return [o.tobytes().hex() for o in Runner(model, options).run(inputs)]

    def test_small_models_as_on_the_simulator(self):
        for name in SMALL:
            for version in ("0.0", "1.1"):
                with self.subTest(model=name, version=version):
                    inputs = op_inputs(name)
                    got, text = self.on_node(op_model(name), inputs, {"ROCKET_NODE_VERSION": version})
                    self.assertEqual(got["outputs"], [self.expected(op_model(name), inputs)] * 2, text)
                    self.assertEqual(got["device"]["provider"], "rocket")
                    self.assertEqual(got["run"]["host_runs"], 0)
                    self.assertEqual(got["run"]["verify_mismatches"], 0)

    def test_a_network_as_on_the_simulator(self):
        model = str(MODELS / "mediapipe_face_short_range_int8.tflite")
        inputs = [np.random.default_rng(7).integers(-128, 128, (1, 128, 128, 3), np.int8)]
        for version in ("0.0", "1.1"):
            with self.subTest(version=version):
                got, text = self.on_node(model, inputs, {"ROCKET_NODE_VERSION": version}, claim="auto")
                self.assertEqual(got["outputs"], [self.expected(model, inputs)] * 2, text)
                self.assertEqual(got["run"]["host_runs"], 0, text)
                if version == "1.1":
                    self.assertEqual(got["run"]["device_failures"], 0, text)

    def test_a_failing_node_falls_back_to_the_host(self):
        name = SMALL[0]
        inputs = op_inputs(name)
        got, text = self.on_node(op_model(name), inputs, {"ROCKET_NODE_FAULT": "drop=*"}, verify="off",
                                 **{"numerics.requant": "exact"})
        self.assertEqual(got["outputs"][0], got["outputs"][1])
        reference = [o.tobytes().hex() for o in Runner(op_model(name)).run(inputs)]
        self.assertEqual(got["outputs"], [reference] * 2)
        self.assertEqual(got["run"]["host_runs"], 2)
        self.assertIn("runs on the host from now on", text)

    def test_interpreters_in_threads_share_the_cores(self):
        name = SMALL[0]
        inputs = op_inputs(name)
        got, text = self.on_node(op_model(name), inputs, fork="threads")
        self.assertEqual(got["outputs"], [self.expected(op_model(name), inputs)] * 14, text)
        self.assertNotIn("runs on the host", text)

    def test_a_node_that_does_not_open_claims_nothing(self):
        name = SMALL[0]
        options = {"device": "rocket", "device.path": "/no/such/node", "claim": "all"}
        runner = Runner(op_model(name), options)
        self.assertEqual(runner.explain()["summary"]["claimed"], 0)

    def test_a_forked_child_computes_and_leaves_the_parent_alone(self):
        name = SMALL[0]
        inputs = op_inputs(name)
        got, text = self.on_node(op_model(name), inputs, fork="fork", verify="off", **{"numerics.requant": "exact"})
        self.assertEqual(got["child"], 0, text)
        self.assertEqual(got["outputs"], [got["outputs"][0]] * 3)
        self.assertEqual(got["run"]["host_runs"], 0, text)
        self.assertIn("forked", text)


if __name__ == "__main__":
    unittest.main()
