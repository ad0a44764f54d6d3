# SPDX-License-Identifier: Apache-2.0
"""Input tensors from pictures, archives and random numbers."""

import pathlib
import tempfile
import unittest

import numpy as np
from PIL import Image

from rocket_npu import UserError, inputs


def details(shape, dtype, quantization=(0.0, 0), name="x"):
    return {"name": name, "shape": np.array(shape), "dtype": dtype, "quantization": quantization}


PICTURE = np.arange(6 * 4 * 3, dtype=np.uint8).reshape(6, 4, 3) * 3


class Preprocess(unittest.TestCase):
    def test_bytes(self):
        values = inputs.preprocess(PICTURE, "auto", details([1, 6, 4, 3], np.uint8))
        np.testing.assert_array_equal(values, PICTURE[None])

    def test_byte_minus_128(self):
        values = inputs.preprocess(PICTURE, "auto", details([1, 6, 4, 3], np.int8))
        np.testing.assert_array_equal(values[0].astype(int), PICTURE.astype(int) - 128)

    def test_float_default_is_minus_one_to_one(self):
        values = inputs.preprocess(PICTURE, "auto", details([1, 6, 4, 3], np.float32))
        self.assertEqual(values.dtype, np.float32)
        self.assertEqual(values[0, 0, 0, 0], np.float32(-1.0))

    def test_normalised_and_quantized(self):
        item = details([1, 1, 3, 1], np.int8, (0.5, 10))
        picture = np.array([[[0], [3], [255]]], np.uint8)
        values = inputs.preprocess(picture, "f:2,2", item)
        # (0-2)/2 = -1 -> 8; (3-2)/2 = 0.5 -> 11; 126.5 saturates.
        self.assertEqual(values.ravel().tolist(), [8, 11, 127])

    def test_refused(self):
        item = details([1, 6, 4, 3], np.float32)
        for rule, message in (
            ("u8", "gives uint8, the model wants float32"),
            ("bytes", "none of auto, u8, i8"),
            ("f:1", "not f:MEAN,STD"),
            ("f:0,0", "STD not 0"),
            ("f:nan,1", "must be finite"),
        ):
            with self.assertRaisesRegex(UserError, message):
                inputs.preprocess(PICTURE, rule, item)
        with self.assertRaisesRegex(UserError, "no picture fits"):
            inputs.preprocess(PICTURE, "auto", details([1, 6, 4, 3], np.int32))


class Pictures(unittest.TestCase):
    def test_centre_square(self):
        wide = np.zeros((2, 6, 3), np.uint8)
        wide[:, 2:4] = 200
        picture = inputs.square(Image.fromarray(wide), 2, 2)
        self.assertTrue((picture == 200).all())

    def test_only_rgb_models(self):
        with self.assertRaisesRegex(UserError, "no RGB picture"):
            inputs.picture_extents(details([1, 6, 4, 1], np.int8))


class Random(unittest.TestCase):
    def test_same_seed_same_numbers(self):
        item = [details([2, 5], np.int8), details([3], np.float32)]
        first, again = (inputs.random_samples(2, 7, item) for _ in range(2))
        other = inputs.random_samples(1, 8, item)
        np.testing.assert_array_equal(first[1].tensors[0], again[1].tensors[0])
        self.assertFalse((first[0].tensors[0] == other[0].tensors[0]).all())

    def test_whole_range(self):
        values = inputs.random_samples(1, 1, [details([4000], np.uint8)])[0].tensors[0]
        self.assertEqual((values.min(), values.max()), (0, 255))

    def test_count(self):
        with self.assertRaisesRegex(UserError, "1 or more"):
            inputs.random_samples(0, 1, [details([1], np.int8)])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.item = [details([1, 6, 4, 3], np.int8)]

    def path(self, name):
        return str(self.folder / name)

    def test_archive_of_pictures(self):
        np.savez(self.path("p.npz"), cat=PICTURE, dog=PICTURE[::-1])
        both = inputs.load_samples([self.path("p.npz")], self.item)
        self.assertEqual([s.source[-4:] for s in both], [":cat", ":dog"])
        one = inputs.load_samples([self.path("p.npz")], self.item, key="dog")
        self.assertEqual(len(one), 1)
        self.assertEqual(one[0].tensors[0][0, 5, 3, 2], PICTURE[0, 3, 2].astype(int) - 128)

    def test_archive_by_input_name_and_by_position(self):
        item = [details([2], np.int8, name="a"), details([3], np.int32, name="b")]
        a, b = np.array([1, 2], np.int8), np.array([3, 4, 5], np.int32)
        for names in (("a", "b"), ("input0", "input1")):
            np.savez(self.path("t.npz"), **dict(zip(names, (a, b))))
            sample = inputs.load_samples([self.path("t.npz")], item)[0]
            np.testing.assert_array_equal(sample.tensors[1], b)

    def test_one_array_for_each_input(self):
        np.save(self.path("a.npy"), np.zeros((1, 6, 4, 3), np.int8))
        sample = inputs.load_samples([self.path("a.npy")], self.item)[0]
        self.assertEqual(sample.tensors[0].shape, (1, 6, 4, 3))

    def test_picture_file(self):
        Image.fromarray(np.full((8, 12, 3), 255, np.uint8)).save(self.path("p.png"))
        sample = inputs.load_samples([self.path("p.png")], self.item)[0]
        self.assertTrue((sample.tensors[0] == 127).all())
        self.assertEqual(sample.preprocess, "i8")

    def test_refused(self):
        np.savez(self.path("p.npz"), cat=PICTURE[:, :2])
        np.save(self.path("a.npy"), np.zeros((1, 6, 4, 3), np.uint8))
        (self.folder / "bad.npz").write_bytes(b"PK nothing")
        (self.folder / "bad.png").write_bytes(b"nothing")
        (self.folder / "x.txt").touch()
        for name, key, message in (
            ("p.npz", None, r"is \[6, 2, 3\], the model wants \[1, 6, 4, 3\]"),
            ("p.npz", "dog", "has no sample 'dog', only cat"),
            ("a.npy", None, "uint8.* for input 'x', which is int8"),
            ("bad.npz", None, "cannot read"),
            ("bad.png", None, "cannot read picture"),
            ("missing.npy", None, "cannot read"),
            ("x.txt", None, "not a picture"),
        ):
            with self.subTest(name), self.assertRaisesRegex(UserError, message):
                inputs.load_samples([self.path(name)], self.item, key=key)


if __name__ == "__main__":
    unittest.main()
