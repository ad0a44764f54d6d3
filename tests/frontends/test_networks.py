# SPDX-License-Identifier: Apache-2.0
"""Networks, whole, detectors without their post-process: claims, statistics and outputs against the reference kernels' stored ones."""

import json
import sys
import time
import unittest

import numpy as np
from delegate_case import MODELS, ROOT, Runner, counts_apart, needs_models
from test_corrupt import edited

sys.path.insert(0, str(ROOT / "python"))
from rocket_npu import model as tflite  # noqa: E402

# The largest difference from the reference kernels that numerics.requant=chip may show, for each output: about what XNNPACK
# shows on the same model (the table of the model set). One count a layer grows with depth, most where weights are random.
NETWORKS = {
    "mobilenet_v1_1.0_224_int8": [18],
    "mobilenet_v2_1.0_224_int8": [18],
    "efficientnet_lite0_224_imagenet_int8": [4],
    "mediapipe_face_short_range_int8": [40, 164],
    "nanodet_g_416_coco_int8": [16, 10],
    "mobilenet_v1_1.0_224_uint8": [18],
    "ssd_mobilenet_v2_300_uint8_postprocess": [30, 110],
}
# Outputs whose largest entry is the answer: the class, or the score of the best anchor. Trained weights only.
ANSWERS = {"efficientnet_lite0_224_imagenet_int8": 0, "mediapipe_face_short_range_int8": 1}


def prepared(pixels, how):
    """The model's input for one picture, by the preprocessing column of the model table."""
    if how == "i8":
        return (pixels.astype(np.int16) - 128).astype(np.int8)[None]
    return pixels[None]


def source(row):
    """The model for an interpreter and the keys of its stored outputs; what enters a post-process is stored by name."""
    path = MODELS / row["file"]
    if "_postprocess" not in row["file"]:
        return str(path), [f"ref{index}" for index in range(len(row["outputs"]))]
    return tflite.dump(tflite.cut_postprocess(tflite.load_file(str(path)))), ["ref_boxes", "ref_scores"]


def layers(graph):
    """The outputs of all operators."""
    return [index for operator in graph.operators for index in operator.outputs]


def rows():
    with open(MODELS / "index.json", encoding="utf-8") as file:
        table = {row["file"]: row for row in json.load(file)}
    return [table[f"{name}.tflite"] for name in NETWORKS]


@needs_models
class Networks(unittest.TestCase):
    def run_network(self, row, requant):
        """Of the first sample: differences of each output in counts, places of its largest entry (ours, expected), explain."""
        content, keys = source(row)
        options = {"device": "sim", "quiet": "1", "numerics.requant": requant}
        start = time.monotonic()
        runner = Runner(content, options)
        loaded = time.monotonic()
        sample = row["samples"][0]
        pictures = np.load(MODELS / "inputs" / "{}x{}.npz".format(*row["input_size"]))
        outputs = runner.run([prepared(pictures[sample], row["preprocess"])])
        ran = time.monotonic()
        stored = np.load((MODELS / row["file"]).with_suffix(".npz"))
        apart, answers = [], []
        for key, output in zip(keys, outputs, strict=True):
            expected = stored[f"{sample}.{key}"]
            step = -(-output.size // max(1, expected.size))
            got = output.ravel()[::step].astype(np.int64)
            apart.append(np.abs(got - expected.ravel().astype(np.int64)))
            answers.append((int(got.argmax()), int(expected.argmax())))
        explain = runner.close()
        summary, parts = explain["summary"], explain["partitions"]
        print(
            f"\n{row['file']} {requant}: claimed {summary['claimed']}/{summary['offered']} in {summary['partitions']}, "
            f"{summary['kicks']} kicks, {summary['submits']} submits, "
            f"arena {sum(p['arena_bytes'] for p in parts)}, weights {sum(p['weight_bytes'] for p in parts)} bytes, "
            f"modelled {sum(p['modelled_us'] for p in parts) / 1000:.2f} ms; "
            f"load {loaded - start:.1f} s, run {ran - loaded:.1f} s; "
            + "; ".join(f"output {i}: max {a.max()}, {(a != 0).mean():.2%} differ" for i, a in enumerate(apart))
        )
        return apart, answers, explain

    def check(self, requant, limits):
        for row in rows():
            with self.subTest(network=row["file"], requant=requant):
                apart, answers, explain = self.run_network(row, requant)
                name = row["file"].removesuffix(".tflite")
                declined = [f"{n['op']}: {n['text']}" for n in explain["nodes"] if not n["claimed"]]
                self.assertEqual(declined, [])
                for key in ("verify_mismatches", "device_failures", "host_runs"):
                    self.assertEqual(explain["run"][key], 0, key)
                for differences, limit in zip(apart, limits(name), strict=True):
                    self.assertLessEqual(differences.max(), limit)
                if name in ANSWERS:
                    self.assertEqual(*answers[ANSWERS[name]])
                self.assertLessEqual(max(n["bound_counts"] for n in explain["nodes"]), 1)

    def test_exact_is_equal_to_the_reference_kernels(self):
        self.check("exact", lambda name: [0] * len(NETWORKS[name]))

    def test_chip_differs_by_no_more_than_two_cpu_configurations_do(self):
        self.check("chip", NETWORKS.get)

    def test_every_layer_at_once(self):
        """All layers are outputs, so every tensor is read inside its partition and outside."""
        for name, picture, sample, how, count in (
            ("small_cnn_96_int8", "96x96", "astronaut", "i8", 50),
            ("mobilenet_v1_1.0_224_uint8", "224x224", "cat", "u8", 30),
        ):
            with self.subTest(network=name):
                pixels = np.load(MODELS / "inputs" / f"{picture}.npz")[sample]
                self.check_layers(name, [prepared(pixels, how)], count)

    def check_layers(self, name, inputs, count):
        path = MODELS / f"{name}.tflite"
        data = edited(path, lambda graph, model: setattr(graph, "outputs", layers(graph)))
        expected = Runner(data).run(inputs)
        runner = Runner(data, {"device": "sim", "quiet": "1", "claim": "all", "numerics.requant": "exact"})
        summary = runner.explain()["summary"]
        self.assertGreater(summary["claimed"], 0.9 * summary["offered"])
        self.assertGreater(len(expected), count)
        for index, (got, wanted) in enumerate(zip(runner.run(inputs), expected, strict=True)):
            self.assertEqual(counts_apart(got, wanted), 0, f"layer {index}")


if __name__ == "__main__":
    unittest.main()
