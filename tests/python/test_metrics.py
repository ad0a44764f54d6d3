# SPDX-License-Identifier: Apache-2.0
"""Differences of tensors."""

import math
import unittest

import numpy as np

from rocket_npu import metrics


def tally(reference, candidate):
    result = metrics.Tally("y", reference.dtype)
    result.add(reference, candidate)
    return result


class IntegerDifferences(unittest.TestCase):
    def test_extremes_do_not_wrap(self):
        low, high = np.array([-128], np.int8), np.array([127], np.int8)
        self.assertEqual(tally(low, high).max, 255)
        self.assertEqual(tally(np.array([0], np.uint8), np.array([255], np.uint8)).max, 255)

    def test_int32_extremes_do_not_wrap(self):
        a, b = np.array([-(2**31)], np.int32), np.array([2**31 - 1], np.int32)
        self.assertEqual(tally(a, b).max, 2**32 - 1)

    def test_mean_and_share_count_every_element(self):
        result = tally(np.array([1, 2, 3, 4], np.int8), np.array([1, 5, 3, 3], np.int8))
        self.assertEqual((result.max, result.mean, result.share), (3, 1.0, 0.5))
        self.assertEqual(result.unit, "counts")

    def test_samples_are_joined(self):
        result = tally(np.array([1, 2], np.int8), np.array([1, 2], np.int8))
        result.add(np.array([9, 0], np.int8), np.array([0, 9], np.int8))
        self.assertEqual((result.max, result.mean, result.share), (9, 4.5, 0.5))
        expected = {"reference": [1, 0], "delegate": [1, 1], "equal": 1, "of": 2}
        self.assertEqual(result.top1(), expected)


class FloatDifferences(unittest.TestCase):
    def test_real_units(self):
        result = tally(np.array([0.5, 1.0], np.float32), np.array([0.5, 1.25], np.float32))
        self.assertEqual((result.max, result.share, result.unit), (0.25, 0.5, "real"))

    def test_equal_nans_and_infinities_are_no_difference(self):
        values = np.array([math.nan, math.inf, -math.inf], np.float32)
        self.assertEqual(tally(values, values.copy()).max, 0.0)

    def test_nan_against_a_number_is_infinite_and_valid_json(self):
        result = tally(np.array([1.0], np.float32), np.array([math.nan], np.float32))
        self.assertEqual(result.max, math.inf)
        self.assertEqual(result.report()["max"], "inf")


class Shapes(unittest.TestCase):
    def test_different_shapes_or_types_are_an_error(self):
        with self.assertRaises(ValueError):
            metrics.difference(np.zeros(3, np.int8), np.zeros(4, np.int8))
        with self.assertRaises(ValueError):
            metrics.difference(np.zeros(3, np.int8), np.zeros(3, np.uint8))

    def test_empty_tensors(self):
        result = tally(np.zeros(0, np.int8), np.zeros(0, np.int8))
        self.assertEqual((result.max, result.mean, result.share), (0, 0.0, 0.0))


if __name__ == "__main__":
    unittest.main()
