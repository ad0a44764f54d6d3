# SPDX-License-Identifier: Apache-2.0
"""Every int8 and uint8 single-operator model of the model set through the delegate on the simulator.

exact: equal to the stored outputs of TFLite's reference kernels. chip: at most one count from them where the NPU computes,
equal where the host does.
"""

import collections
import json
import unittest

from delegate_case import MODELS, Runner, counts_apart, needs_models, op_inputs, op_model, op_outputs

# Operations of this version. Other single-operator models must be declined by name.
RUNS = set(
    "CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED ADD SUB MUL AVERAGE_POOL_2D MAX_POOL_2D MEAN CONCATENATION RESHAPE PAD RELU "
    "SUM REDUCE_MAX REDUCE_MIN LOG_SOFTMAX L2_NORMALIZATION TRANSPOSE_CONV DIV MAXIMUM MINIMUM PRELU RELU_0_TO_1 ELU EXP ABS RSQRT RELU_N1_TO_1 RELU6 LEAKY_RELU LOGISTIC TANH HARD_SWISH SOFTMAX RESIZE_BILINEAR QUANTIZE DEQUANTIZE".split()
)


def cases(wanted):
    """The int8 and uint8 cases whose operator is, or is not, one of ours."""
    with open(MODELS / "ops" / "index.json", encoding="utf-8") as file:
        every = json.load(file)["cases"]
    quantized = [
        case for case in every if {case[side][0]["type"] for side in ("inputs", "outputs")} & {"int8", "uint8"}
    ]
    return [case for case in quantized if (case["op"] in RUNS) == wanted]


@needs_models
class SingleOperators(unittest.TestCase):
    def check(self, requant):
        """Runs every case, prints the score of each operator, fails with the list of what is wrong."""
        options = {"device": "sim", "claim": "all", "quiet": "1", "numerics.requant": requant}
        passed, total, routes, wrong = collections.Counter(), collections.Counter(), collections.defaultdict(set), []
        for case in cases(wanted=True):
            name, op = case["name"], case["op"]
            total[op] += 1
            # ELU has no reference kernel; its model prepares only where another kernel is there.
            runner = Runner(op_model(name), options, "plain" if op == "ELU" else "ref")
            node = runner.explain()["nodes"][0]
            if not node["claimed"]:
                wrong.append(f"{name}: declined, {node['reason']}: {node['text']}")
                continue
            routes[op].add(node["route"])
            outputs = runner.run(op_inputs(name))
            apart = max(counts_apart(g, e) for g, e in zip(outputs, op_outputs(name), strict=True))
            run = runner.close()["run"]
            if run["verify_mismatches"] or run["device_failures"] or run["host_runs"]:
                wrong.append(f"{name}: the device failed: {run}")
            elif apart > node["bound_counts"]:
                wrong.append(f"{name}: {apart} counts from the reference, at most {node['bound_counts']} allowed")
            else:
                passed[op] += 1
        print(f"\n{requant}: {passed.total()} of {total.total()} passed")
        for op in sorted(total):
            print(f"  {op}: {passed[op]}/{total[op]} {' '.join(sorted(routes[op]))}")
        self.assertEqual(wrong, [])
        self.assertGreater(passed.total(), 80)

    def test_exact_is_equal_to_the_reference_kernels(self):
        self.check("exact")

    def test_chip_is_within_its_bound(self):
        self.check("chip")

    def test_other_operators_are_declined_by_name(self):
        others = cases(wanted=False)
        self.assertGreater(len(others), 20)
        for case in others:
            with self.subTest(model=case["name"]):
                # ELU has no reference kernel; the resolver does not matter for a decline.
                runner = Runner(op_model(case["name"]), {"device": "sim", "claim": "all", "quiet": "1"}, "plain")
                node = runner.explain()["nodes"][0]
                self.assertFalse(node["claimed"])
                self.assertEqual(node["reason"], "op.unsupported")
                self.assertIn(case["op"], node["text"])


if __name__ == "__main__":
    unittest.main()
