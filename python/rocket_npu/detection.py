# SPDX-License-Identifier: Apache-2.0
"""From a detector's outputs to boxes: the post-process operation, NanoDet heads, BlazeFace.

Boxes are (left, top, right, bottom) in fractions of the model's input square, best first.
"""

import dataclasses

import numpy as np

from rocket_npu import UserError, labels

_NANODET_STRIDES = (8, 16, 32)
_NANODET_BINS = 11
_NANODET_OVERLAP = 0.6
_FACE_CELLS = ((16, 2), (8, 6))  # cells a side, anchors a cell
_FACE_ANCHORS = sum(side * side * count for side, count in _FACE_CELLS)
_FACE_OVERLAP = 0.3
_KINDS = (
    "a detector here ends in TFLite_Detection_PostProcess (four outputs), in NanoDet's scores "
    "and box sides, or in BlazeFace's 896 anchors"
)


@dataclasses.dataclass
class Detection:
    """One object. `points` are landmarks [n,2], empty for most detectors."""

    index: int
    name: str
    score: float
    box: np.ndarray
    points: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 2)))
    anchor: int = -1

    @property
    def width(self):
        return float(self.box[2] - self.box[0])


def overlap(a, b):
    """Intersection over union of two boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    common = width * height
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return float(common / (areas - common))


def _nanodet_rows(height, width):
    return sum((height // stride) * (width // stride) for stride in _NANODET_STRIDES)


def _nanodet(outputs, extents, names, threshold):
    """Scores [1,N,classes] and box sides [1,N,44]: four sides of 11 bins each; a side is
    stride * sum(k * softmax(bins)[k]) from the cell's centre. Suppression a class at IoU 0.6."""
    height, width = extents
    sides, scores = sorted(outputs, key=lambda values: values.shape[-1] != 4 * _NANODET_BINS)
    centres, strides = [], []
    for stride in _NANODET_STRIDES:
        y, x = np.mgrid[: height // stride, : width // stride]
        centres.append((np.stack([x, y], axis=-1).reshape(-1, 2) + 0.5) * stride)
        strides.append(np.full(x.size, stride))
    centres, strides = np.concatenate(centres), np.concatenate(strides)
    best, classes = scores[0].max(axis=1), scores[0].argmax(axis=1)
    rows = np.flatnonzero(best > threshold)
    rows = rows[np.argsort(-best[rows], kind="stable")]
    bins = sides[0][rows].reshape(-1, 4, _NANODET_BINS).astype(np.float64)
    weights = np.exp(bins - bins.max(axis=-1, keepdims=True))
    steps = (weights * np.arange(_NANODET_BINS)).sum(-1) / weights.sum(-1)
    steps *= strides[rows, None]
    boxes = np.concatenate([centres[rows] - steps[:, :2], centres[rows] + steps[:, 2:]], axis=1)
    boxes = boxes.clip(0, [width, height, width, height]) / [width, height, width, height]
    found = []
    for row, box in zip(rows, boxes):
        kind = int(classes[row])
        if all(d.index != kind or overlap(d.box, box) < _NANODET_OVERLAP for d in found):
            found.append(Detection(kind, labels.name_of(names, kind), float(best[row]), box,
                                   anchor=int(row)))
    return found


def face_anchors():
    """Centres [896, 2] as (x, y) fractions: 16 x 16 cells of two, then 8 x 8 cells of six."""
    rows = []
    for side, count in _FACE_CELLS:
        y, x = np.mgrid[:side, :side]
        centres = (np.stack([x, y], axis=-1).reshape(-1, 2) + 0.5) / side
        rows.append(np.repeat(centres, count, axis=0))
    return np.concatenate(rows)


def _faces(outputs, extents, names, threshold):
    """Offsets [1,896,16] in pixels of the input (centre of the box from the anchor, width and
    height, six points) and logits [1,896,1]. Boxes that overlap the best one are averaged with
    it, weighted by their scores."""
    offsets, logits = sorted(outputs, key=lambda values: -values.shape[-1])
    scores = 1.0 / (1.0 + np.exp(-logits.reshape(-1).astype(np.float64)))
    values = offsets.reshape(-1, 16).astype(np.float64) / extents[0]
    centres = face_anchors()
    middle, half = centres + values[:, 0:2], values[:, 2:4] / 2
    boxes = np.concatenate([middle - half, middle + half], axis=1)
    points = centres[:, None, :] + values[:, 4:].reshape(-1, 6, 2)
    left = [int(k) for k in np.argsort(-scores, kind="stable") if scores[k] >= threshold]
    found = []
    while left:
        best = left[0]
        group = [k for k in left if k == best or overlap(boxes[best], boxes[k]) > _FACE_OVERLAP]
        weights = scores[group] / scores[group].sum()
        box = (boxes[group] * weights[:, None]).sum(axis=0)
        mean_points = (points[group] * weights[:, None, None]).sum(axis=0)
        found.append(Detection(0, labels.name_of(names, 0), float(scores[best]), box, mean_points,
                               best))
        left = [k for k in left if k not in group]
    return found


def _post_processed(outputs, extents, names, threshold):
    """Boxes [1,N,4] (top, left, bottom, right), classes, scores [1,N] and the count [1]."""
    del extents
    boxes, classes, scores, count = outputs
    found = []
    for k in range(min(int(count.ravel()[0]), scores.shape[1])):
        if scores[0, k] <= threshold:
            continue
        kind = int(classes[0, k])
        found.append(Detection(kind, labels.name_of(names, kind), float(scores[0, k]),
                               boxes[0, k][[1, 0, 3, 2]].astype(np.float64), anchor=k))
    return sorted(found, key=lambda item: -item.score)


@dataclasses.dataclass
class Detector:
    """How one model's outputs are read. `decode(real outputs, threshold)` gives Detections."""

    kind: str
    names: object
    extents: tuple
    _rule: object

    def decode(self, outputs, threshold):
        return self._rule(outputs, self.extents, self.names, threshold)


def detector_of(outputs, extents, names=None):
    """The Detector for a model with these output details and input (height, width).

    `names` replaces the class names. UserError for a model that is none of the known kinds.
    """
    shapes = [tuple(int(n) for n in item["shape"]) for item in outputs]
    lasts = sorted(shape[-1] for shape in shapes if shape)
    if len(shapes) == 4 and len(shapes[0]) == 3 and shapes[0][-1] == 4 and len(shapes[2]) == 2:
        return Detector("post-process", names or labels.COCO_90, extents, _post_processed)
    if len(shapes) == 2 and all(len(shape) == 3 for shape in shapes):
        rows = {shape[1] for shape in shapes}
        if rows == {_FACE_ANCHORS} and lasts == [1, 16] and extents[0] == extents[1]:
            return Detector("faces", names or ("face",), extents, _faces)
        if rows == {_nanodet_rows(*extents)} and 4 * _NANODET_BINS in lasts:
            return Detector("nanodet", names or labels.COCO_80, extents, _nanodet)
    raise UserError(f"no known detector: outputs {', '.join(map(str, shapes))}; {_KINDS}")


def real(values, details):
    """Codes to real numbers."""
    scale, zero_point = details["quantization"]
    if scale == 0:
        return values.astype(np.float32)
    return (values.astype(np.float32) - np.float32(zero_point)) * np.float32(scale)
