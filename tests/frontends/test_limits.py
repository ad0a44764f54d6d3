# SPDX-License-Identifier: Apache-2.0
"""What happens when the NPU's 4 GiB of addresses are full."""

import json
import os
import tempfile
import unittest

import ai_edge_litert.interpreter as litert
import numpy as np
from delegate_case import LIBRARY, Runner, needs_models, op_model, stderr_of_process
from test_corrupt import edited

CHANNELS = 64


def widen(graph, model):
    """A 1x1 convolution of 2 million pixels: 122 MiB each for input and output, lazily used."""
    operator = graph.operators[0]
    operands = [graph.tensors[index] for index in operator.inputs]
    operands[0].shape = graph.tensors[operator.outputs[0]].shape = [1, 1000, 2000, CHANNELS]
    operands[1].shape, operands[2].shape = [CHANNELS, 1, 1, CHANNELS], [CHANNELS]
    model.buffers[operands[1].buffer].data = np.ones(CHANNELS * CHANNELS, np.uint8)
    model.buffers[operands[2].buffer].data = np.zeros(4 * CHANNELS, np.uint8)


@needs_models
class AddressSpace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.explain = os.path.join(self.folder.name, "explain.json")
        self.delegate = litert.load_delegate(LIBRARY, {"device": "sim", "explain": self.explain})
        self.model = edited(op_model("conv_i8_3x3_same"), widen)

    def load(self):
        """An interpreter with the large model, and what became of its node."""
        runner = Runner(self.model, delegate=self.delegate)
        with open(self.explain, encoding="utf-8") as file:
            return runner, json.load(file)["nodes"][0]

    def test_the_model_that_does_not_fit_any_more_is_declined(self):
        runners = []
        with stderr_of_process() as stderr:
            for _ in range(20):
                runner, node = self.load()
                runners.append(runner)
                if not node["claimed"]:
                    break
        self.assertEqual(len(runners), 17)
        self.assertEqual(node["reason"], "partition.session")
        self.assertIn("out of NPU address space: 128032768 bytes asked for", node["text"])
        self.assertIn("out of NPU address space", stderr.text)
        with stderr_of_process():
            del runners[:2]
            _, node = self.load()
        self.assertTrue(node["claimed"], "the addresses of ended interpreters come back")

    def test_another_model_still_runs(self):
        with stderr_of_process():
            runners = [self.load()[0] for _ in range(17)]
            small = Runner(op_model("conv_i8_3x3_same"), delegate=self.delegate)
            with open(self.explain, encoding="utf-8") as file:
                self.assertTrue(json.load(file)["nodes"][0]["claimed"])
        self.assertEqual(len(runners), 17)
        self.assertIsNotNone(small)


if __name__ == "__main__":
    unittest.main()
