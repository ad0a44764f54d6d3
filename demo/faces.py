# SPDX-License-Identifier: Apache-2.0
"""Decodes the outputs of BlazeFace short range.

896 anchors: 16 x 16 cells of two, then 8 x 8 cells of six, row by row; an anchor is the centre of
its cell. The 16 values of an anchor are pixels of the 128 x 128 input: centre of the box (offset
from the anchor), width and height, then six points (offsets as well).
"""

import dataclasses

import numpy as np

SIZE = 128
POINTS = ("right eye", "left eye", "nose", "mouth", "right ear", "left ear")
_CELLS = ((16, 2), (8, 6))  # cells a side, anchors a cell
_OVERLAP = 0.3


@dataclasses.dataclass
class Face:
    """A face in fractions of the input square: box (left, top, right, bottom) and six points."""

    score: float
    box: np.ndarray
    points: np.ndarray
    anchor: int

    @property
    def width(self):
        return float(self.box[2] - self.box[0])


def anchors():
    """Centres [896, 2] as (x, y) fractions."""
    rows = []
    for side, count in _CELLS:
        y, x = np.mgrid[:side, :side]
        centres = (np.stack([x, y], axis=-1).reshape(-1, 2) + 0.5) / side
        rows.append(np.repeat(centres, count, axis=0))
    return np.concatenate(rows)


def overlap(a, b):
    """Intersection over union of two boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    common = width * height
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return float(common / (areas - common))


def decode(offsets, logits, threshold=0.5):
    """Real-valued [1,896,16] and [1,896,1] -> faces, best first.

    Boxes that overlap the best one are averaged with it, weighted by their scores.
    """
    scores = 1.0 / (1.0 + np.exp(-logits.reshape(-1).astype(np.float64)))
    values = offsets.reshape(-1, 16).astype(np.float64) / SIZE
    centres = anchors()
    middle, half = centres + values[:, 0:2], values[:, 2:4] / 2
    boxes = np.concatenate([middle - half, middle + half], axis=1)
    points = centres[:, None, :] + values[:, 4:].reshape(-1, 6, 2)
    left = [int(k) for k in np.argsort(-scores, kind="stable") if scores[k] >= threshold]
    faces = []
    while left:
        best = left[0]
        group = [k for k in left if k == best or overlap(boxes[best], boxes[k]) > _OVERLAP]
        weights = scores[group] / scores[group].sum()
        box = (boxes[group] * weights[:, None]).sum(axis=0)
        mean_points = (points[group] * weights[:, None, None]).sum(axis=0)
        faces.append(Face(float(scores[best]), box, mean_points, best))
        left = [k for k in left if k not in group]
    return faces
