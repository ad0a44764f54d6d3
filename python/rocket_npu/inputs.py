# SPDX-License-Identifier: Apache-2.0
"""Makes a model's input tensors from pictures, archives or random numbers.

A preprocessing is written as in the model set: `u8` (the byte), `i8` (byte - 128) or
`f:MEAN,STD` ((byte - MEAN) / STD in float32, quantized when the input is).
"""

import dataclasses
import hashlib
import pathlib
import zipfile

import numpy as np

from rocket_npu import UserError

_PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".ppm")


@dataclasses.dataclass
class Sample:
    """One inference's inputs, in the order of the model's inputs."""

    source: str
    tensors: list
    preprocess: str = ""

    def report(self, details):
        tensors = [
            {
                "name": item["name"],
                "dtype": values.dtype.name,
                "shape": list(values.shape),
                "sha256": hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest(),
            }
            for item, values in zip(details, self.tensors)
        ]
        return {"source": self.source, "preprocess": self.preprocess, "tensors": tensors}


def default_preprocess(details):
    """What picture models of this input type nearly always expect."""
    kind = np.dtype(details["dtype"])
    if kind == np.uint8:
        return "u8"
    if kind == np.int8:
        return "i8"
    if kind == np.float32:
        return "f:127.5,127.5"
    raise UserError(f"input '{details['name']}' is {kind.name}: no picture fits, give an .npz")


def preprocess(picture, rule, details):
    """uint8 [H,W,C] -> the input tensor [1,H,W,C] of the model's type."""
    kind = np.dtype(details["dtype"])
    if rule == "auto":
        rule = default_preprocess(details)
    if rule == "u8":
        values = picture
    elif rule == "i8":
        values = (picture.astype(np.int16) - 128).astype(np.int8)
    elif rule.startswith("f:"):
        values = _normalise(picture, rule)
        if kind in (np.dtype(np.int8), np.dtype(np.uint8)):
            values = _quantize(values, kind, details)
    else:
        raise UserError(f"preprocessing '{rule}' is none of auto, u8, i8, f:MEAN,STD")
    if values.dtype != kind:
        raise UserError(f"preprocessing '{rule}' gives {values.dtype}, the model wants {kind}")
    return values[None]


def _normalise(picture, rule):
    try:
        mean, deviation = (np.float32(text) for text in rule[2:].split(","))
    except ValueError as error:
        raise UserError(f"preprocessing '{rule}' is not f:MEAN,STD") from error
    if not (np.isfinite(mean) and np.isfinite(deviation)) or deviation == 0:
        raise UserError(f"preprocessing '{rule}': MEAN and STD must be finite, STD not 0")
    return (picture.astype(np.float32) - mean) / deviation


def _quantize(values, kind, details):
    scale, zero_point = details["quantization"]
    if scale <= 0:
        raise UserError(f"input '{details['name']}' has no scale: use u8 or i8")
    limits = np.iinfo(kind)
    codes = np.floor(values.astype(np.float64) / scale + 0.5) + zero_point
    return np.clip(codes, limits.min, limits.max).astype(kind)


def square(picture, height, width):
    """The centre square of an RGB picture, resized bilinearly to [height, width, 3]."""
    from PIL import Image  # only pictures need Pillow

    side = min(picture.size)
    left, top = (picture.size[0] - side) // 2, (picture.size[1] - side) // 2
    crop = picture.crop((left, top, left + side, top + side))
    return np.asarray(crop.resize((width, height), Image.BILINEAR))


def open_picture(path):
    from PIL import Image

    try:
        return Image.open(path).convert("RGB")
    except OSError as error:
        raise UserError(f"cannot read picture {path}: {error.strerror or error}") from error


def picture_extents(details):
    """(height, width) of a model with one picture input."""
    shape = [int(extent) for extent in details["shape"]]
    if len(shape) != 4 or shape[0] != 1 or shape[3] != 3:
        raise UserError(f"input '{details['name']}' {shape} is no RGB picture [1,H,W,3]")
    return shape[1], shape[2]


def random_samples(count, seed, details):
    """`count` samples: integers over their whole range, floats between -1 and 1."""
    if count < 1:
        raise UserError("--random needs a count of 1 or more")
    generator = np.random.default_rng(seed)
    return [
        Sample(f"random seed {seed} number {k}", [_random_tensor(generator, d) for d in details])
        for k in range(count)
    ]


def _random_tensor(generator, details):
    kind, shape = np.dtype(details["dtype"]), tuple(details["shape"])
    if kind.kind == "f":
        return generator.uniform(-1.0, 1.0, shape).astype(kind)
    if kind.kind == "b":
        return generator.integers(0, 2, shape).astype(kind)
    limits = np.iinfo(kind)
    return generator.integers(limits.min, limits.max, shape, kind, endpoint=True)


def load_samples(paths, details, rule="auto", key=None):
    """Samples from files: pictures and .npz archives are samples, .npy files one tensor each."""
    arrays = [path for path in paths if pathlib.Path(path).suffix == ".npy"]
    if arrays:
        if len(arrays) != len(paths):
            raise UserError(".npy inputs cannot be mixed with other files")
        tensors = [_load_array(path) for path in arrays]
        return [Sample(", ".join(map(str, arrays)), _checked(tensors, details, arrays[0]))]
    samples = []
    for path in paths:
        suffix = pathlib.Path(path).suffix.lower()
        if suffix == ".npz":
            samples += _load_archive(path, details, rule, key)
        elif suffix in _PICTURES:
            picture = square(open_picture(path), *picture_extents(details[0]))
            samples.append(_picture_sample(str(path), picture, details, rule))
        else:
            raise UserError(f"input {path}: not a picture, .npz or .npy file")
    return samples


def _reason(error):
    return getattr(error, "strerror", None) or error


def _load_array(path):
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {_reason(error)}") from error


def _load_archive(path, details, rule, key):
    try:
        with np.load(path, allow_pickle=False) as archive:
            content = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise UserError(f"cannot read {path}: {_reason(error)}") from error
    names = [item["name"] for item in details]
    positions = [f"input{k}" for k in range(len(details))]
    for keys in (names, positions):
        if key is None and all(name in content for name in keys):
            return [Sample(str(path), _checked([content[name] for name in keys], details, path))]
    if key is not None and key not in content:
        raise UserError(f"{path} has no sample '{key}', only {', '.join(sorted(content))}")
    chosen = [key] if key is not None else sorted(content)
    return [_archive_sample(path, name, content[name], details, rule) for name in chosen]


def _archive_sample(path, name, values, details, rule):
    source = f"{path}:{name}"
    if values.dtype == np.uint8 and values.ndim == 3 and len(details) == 1:
        if tuple(details[0]["shape"]) != (1, *values.shape):
            want = [int(extent) for extent in details[0]["shape"]]
            raise UserError(f"{source} is {list(values.shape)}, the model wants {want}")
        return _picture_sample(source, values, details, rule)
    return Sample(source, _checked([values], details, source))


def _picture_sample(source, picture, details, rule):
    if len(details) != 1:
        raise UserError(f"{source}: a picture needs a model with one input, not {len(details)}")
    used = default_preprocess(details[0]) if rule == "auto" else rule
    return Sample(source, [preprocess(picture, used, details[0])], used)


def _checked(tensors, details, source):
    if len(tensors) != len(details):
        raise UserError(f"{source}: {len(tensors)} tensors for {len(details)} model inputs")
    for values, item in zip(tensors, details):
        want, kind = tuple(int(n) for n in item["shape"]), np.dtype(item["dtype"])
        if values.shape != want or values.dtype != kind:
            raise UserError(
                f"{source}: {values.dtype}{list(values.shape)} for input '{item['name']}', "
                f"which is {kind.name}{list(want)}"
            )
    return tensors
