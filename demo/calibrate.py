# SPDX-License-Identifier: Apache-2.0
"""Measures the activation ranges of the float networks on a folder of photographs.

`python demo/calibrate.py PICTURES [--work build/demo]` rewrites demo/ranges/*.json. Needed only
when a network changes; `make demo` uses the committed figures.
"""

import argparse
import json
import pathlib

import convert
import numpy as np

from rocket_npu import host, inputs
from rocket_npu import model as tflite

_CROPS = 40
_LOWEST_SCORE = -12.0  # a sigmoid below 1e-5: lower scores may saturate
_SCORE_CHANNELS = (1, 2, 6)  # the last extents of its scores


def _pictures(folder, size):
    """The centre square of every photograph, and random square crops, some mirrored."""
    sources = [inputs.open_picture(path) for path in sorted(pathlib.Path(folder).glob("*.jpg"))]
    generator = np.random.default_rng(3)
    for picture in sources:
        yield inputs.square(picture, *size)
    for number in range(_CROPS):
        picture = sources[number % len(sources)]
        side = int(min(picture.size) * generator.uniform(0.4, 1.0))
        left = int(generator.integers(0, picture.size[0] - side + 1))
        top = int(generator.integers(0, picture.size[1] - side + 1))
        crop = inputs.square(picture.crop((left, top, left + side, top + side)), *size)
        yield crop[:, ::-1] if generator.random() < 0.5 else crop


def _answers(model):
    """Tensors that are answers or become them in one step: their extremes must not saturate."""
    outputs = {int(index) for index in model.subgraphs[0].outputs}
    before = [int(index) for operator in tflite.operators(model)
              if int(operator.outputs[0]) in outputs
              for index in tflite.runtime_inputs(model, operator)]
    return outputs.union(before)


def _joined(network, model, index, lows, highs):
    """The range of one tensor from its extremes on each picture.

    BlazeFace: half-way between the extreme of all pictures and the mean extreme. Few values
    saturate, and the finer steps keep it closer to its float form than the full range does.
    """
    low, high = min(lows), max(highs)
    if network is convert.BLAZEFACE:
        if index not in _answers(model):
            low, high = (low + np.mean(lows)) / 2, (high + np.mean(highs)) / 2
        if tflite.shape_of(tflite.tensor(model, index))[-1] in _SCORE_CHANNELS:
            low = max(low, _LOWEST_SCORE)
    return min(float(low), 0.0), max(float(high), 0.0)


def measure(network, work, folder):
    """{tensor name: (low, high)} of every operator's output."""
    model = convert.float_model(network, pathlib.Path(work) / "packages")
    runner = host.Runner(tflite.dump(model), "plain", keep=True)
    indices = [int(operator.outputs[0]) for operator in tflite.operators(model)]
    extremes = {index: ([], []) for index in indices}
    for picture in _pictures(folder, inputs.picture_extents(runner.inputs[0])):
        runner.run([inputs.preprocess(picture, network.float_rule, runner.inputs[0])])
        for index, (lows, highs) in extremes.items():
            values = runner.tensor(index)
            lows.append(float(values.min()))
            highs.append(float(values.max()))
    return {tflite.tensor_name(tflite.tensor(model, index)): _joined(network, model, index, *found)
            for index, found in extremes.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures")
    parser.add_argument("--work", default="build/demo")
    options = parser.parse_args()
    used = sorted(path.name for path in pathlib.Path(options.pictures).glob("*.jpg"))
    for network in convert.NETWORKS:
        ranges = measure(network, options.work, options.pictures)
        rows = [f"  {json.dumps(name)}: [{low:.6g}, {high:.6g}]"
                for name, (low, high) in ranges.items()]
        head = f'{{\n "pictures": {json.dumps(used)},\n "crops": {_CROPS},\n "ranges": {{\n'
        text = head + ",\n".join(rows) + "\n }\n}\n"
        convert.ranges_file(network).write_text(text, encoding="utf-8")
        print(f"{convert.ranges_file(network)}: {len(rows)} ranges")


if __name__ == "__main__":
    main()
