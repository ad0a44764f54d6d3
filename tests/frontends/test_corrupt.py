# SPDX-License-Identifier: Apache-2.0
"""Models that contradict themselves: refused by the host or declined by us with a reason, never a crash.

Each case is a process of its own, since a host may take the blow itself.
"""

import json
import os
import pathlib
import tempfile
import unittest

import flatbuffers
from ai_edge_litert import schema_py_generated as schema
from delegate_case import needs_models, op_model, run_script

SCRIPT = """
import sys
import ai_edge_litert.interpreter as litert
import numpy as np
library, model, explain = sys.argv[1:4]
delegate = litert.load_delegate(library, {"device": "sim", "claim": "all", "explain": explain})
try:
    interpreter = litert.Interpreter(model, experimental_delegates=[delegate])
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], np.zeros(detail["shape"], detail["dtype"]))
    interpreter.invoke()
    print("ran")
except (ValueError, RuntimeError) as error:
    print("refused:", " ".join(str(error).split()))
"""


def edited(path, edit):
    """The bytes of a model after `edit(graph, model)` changed it."""
    data = pathlib.Path(path).read_bytes()
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
    edit(model.subgraphs[0], model)
    builder = flatbuffers.Builder(len(data))
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def tensor(graph, position):
    """The operator's input at `position`."""
    return graph.tensors[graph.operators[0].inputs[position]]


def set_shape(position, shape):
    return lambda graph, model: setattr(tensor(graph, position), "shape", shape)


def set_quantization(position, **values):
    def edit(graph, model):
        for key, value in values.items():
            setattr(tensor(graph, position).quantization, key, value)

    return edit


def cut_weights(graph, model):
    buffer = model.buffers[tensor(graph, 1).buffer]
    buffer.data = buffer.data[: len(buffer.data) // 2]


def set_inputs(values):
    return lambda graph, model: setattr(graph.operators[0], "inputs", values)


def set_options(**values):
    def edit(graph, model):
        for key, value in values.items():
            setattr(graph.operators[0].builtinOptions, key, value)

    return edit


CASES = {
    "filter shape does not fit the input": set_shape(1, [7, 3, 3, 4]),
    "filter with a negative extent": set_shape(1, [7, -3, 3, 5]),
    "filter of rank 2": set_shape(1, [7, 45]),
    "filter of rank 9": set_shape(1, [7, 3, 3, 5, 1, 1, 1, 1, 1]),
    "huge input": set_shape(0, [1, 2**15, 2**15, 5]),
    "empty input": set_shape(0, [1, 0, 11, 5]),
    "bias of other length": set_shape(2, [6]),
    "weights cut short": cut_weights,
    "no scales for the filter": set_quantization(1, scale=[], zeroPoint=[]),
    "two scales for seven channels": set_quantization(1, scale=[0.1, 0.2], zeroPoint=[0, 0]),
    "scale zero": set_quantization(0, scale=[0.0]),
    "scale not a number": set_quantization(0, scale=[float("nan")]),
    "scale infinite": set_quantization(1, scale=[float("inf")]),
    "scale negative": set_quantization(0, scale=[-0.02]),
    "zero point out of range": set_quantization(0, zeroPoint=[300]),
    "filter zero point": set_quantization(1, zeroPoint=[5]),
    "quantized axis out of range": set_quantization(
        1, scale=[0.1] * 7, zeroPoint=[0] * 7, quantizedDimension=9
    ),
    "tensor index out of range": set_inputs([0, 1, 999]),
    "tensor index negative": set_inputs([0, -5, 2]),
    "too few operands": set_inputs([0]),
    "stride zero": set_options(strideH=0),
    "stride negative": set_options(strideW=-3),
    "dilation huge": set_options(dilationHFactor=2**30),
    "activation that convolutions do not have": set_options(fusedActivationFunction=4),
    "padding unknown": set_options(padding=9),
}


@needs_models
class CorruptModels(unittest.TestCase):
    def outcome(self, edit):
        """("refused" and the host's text) or ("declined" and our reason) or ("claimed", "")."""
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "model.tflite")
            explain = os.path.join(folder, "explain.json")
            model.write_bytes(edited(op_model("conv_i8_3x3_same"), edit))
            done = run_script(SCRIPT, str(model), explain)
            nodes = []
            if os.path.exists(explain):
                nodes = json.loads(pathlib.Path(explain).read_text(encoding="utf-8"))["nodes"]
        if nodes and not nodes[0]["claimed"]:
            return "declined", f"{nodes[0]['reason']}: {nodes[0]['text']}", done
        if done.stdout.startswith("refused"):
            return "refused", done.stdout.strip(), done
        return "claimed", done.stdout.strip(), done

    def test_the_model_runs_when_nothing_is_damaged(self):
        kind, text, done = self.outcome(lambda graph, model: None)
        self.assertEqual((kind, text), ("claimed", "ran"), done.stderr)

    def test_nothing_crashes_and_nothing_wrong_is_claimed(self):
        for name, edit in CASES.items():
            with self.subTest(case=name):
                kind, text, done = self.outcome(edit)
                print(f"  {name}: {kind}: {text[:150]}")
                self.assertIn(kind, ("refused", "declined"))
                # A host that kills the process before it asks us is not our crash.
                if kind == "declined":
                    self.assertGreaterEqual(done.returncode, 0, done.stderr)
                    self.assertRegex(text, r"^[a-z]+\.[a-z_]+: .{10,}")


if __name__ == "__main__":
    unittest.main()
