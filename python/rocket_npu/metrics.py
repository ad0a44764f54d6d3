# SPDX-License-Identifier: Apache-2.0
"""How far two tensors are apart."""

import numpy as np


def difference(reference, candidate):
    """|candidate - reference| for each element, in counts (int64) or real units (float64).

    Two NaNs are equal, a NaN and a number are infinitely far apart. The shapes must be equal.
    """
    if reference.shape != candidate.shape or reference.dtype != candidate.dtype:
        raise ValueError(
            f"{candidate.dtype}{list(candidate.shape)} against "
            f"{reference.dtype}{list(reference.shape)}"
        )
    if reference.dtype.kind != "f":
        return np.abs(candidate.astype(np.int64) - reference.astype(np.int64))
    a, b = reference.astype(np.float64), candidate.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))  # covers equal infinities
    with np.errstate(invalid="ignore"):
        distance = np.abs(a - b)
    distance[np.isnan(distance)] = np.inf
    distance[same] = 0.0
    return distance


class Tally:
    """Differences of one output over any number of samples."""

    def __init__(self, name, dtype):
        self.name = name
        self.dtype = np.dtype(dtype)
        self.unit = "real" if self.dtype.kind == "f" else "counts"
        self._max = 0
        self._sum = 0.0
        self._elements = 0
        self._different = 0
        self._reference_top, self._candidate_top = [], []

    def add(self, reference, candidate):
        distance = difference(reference, candidate)
        if distance.size == 0:
            return
        self._max = max(self._max, distance.max().item())
        self._sum += float(distance.sum())
        self._elements += distance.size
        self._different += int(np.count_nonzero(distance))
        self._reference_top.append(int(reference.argmax()))
        self._candidate_top.append(int(candidate.argmax()))

    @property
    def max(self):
        return self._max

    @property
    def mean(self):
        return self._sum / self._elements if self._elements else 0.0

    @property
    def share(self):
        return self._different / self._elements if self._elements else 0.0

    def top1(self):
        """Index of the largest element of each sample, in the reference and in the candidate."""
        pairs = list(zip(self._reference_top, self._candidate_top))
        return {
            "reference": self._reference_top,
            "delegate": self._candidate_top,
            "equal": sum(a == b for a, b in pairs),
            "of": len(pairs),
        }

    def report(self):
        """The fields of the comparison's JSON; an infinite difference is the text "inf"."""
        return {
            "name": self.name,
            "dtype": self.dtype.name,
            "unit": self.unit,
            "max": json_number(self.max),
            "mean": json_number(self.mean),
            "share": self.share,
            "top1": self.top1(),
        }


def json_number(value):
    return value if np.isfinite(value) else "inf"
