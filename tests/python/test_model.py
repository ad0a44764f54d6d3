# SPDX-License-Identifier: Apache-2.0
"""Reading models and cutting single nodes out of them."""

import unittest

import numpy as np
import small_models

from rocket_npu import UserError, host
from rocket_npu import model as tflite


class Read(unittest.TestCase):
    def test_what_was_written(self):
        again = tflite.load(tflite.dump(small_models.convolution_model()))
        names = [tflite.operator_name(again, op) for op in tflite.operators(again)]
        self.assertEqual(names, ["CONV_2D", "ADD"])
        self.assertEqual(tflite.constant(again, 3).shape, (32, 3, 3, 16))
        self.assertIsNone(tflite.constant(again, 0))

    def test_refused(self):
        content = tflite.dump(small_models.add_model())
        with self.assertRaisesRegex(UserError, "m.tflite is not a .tflite file"):
            tflite.load(b"hello, world", "m.tflite")
        with self.assertRaisesRegex(UserError, "damaged|no subgraph"):
            tflite.load(content[:60], "m.tflite")
        with self.assertRaisesRegex(UserError, "cannot read model /nowhere"):
            tflite.load_file("/nowhere")


class Cut(unittest.TestCase):
    def test_each_node_gives_the_whole_models_values(self):
        model = small_models.convolution_model()
        whole = host.Runner(tflite.dump(model), "ref", keep=True)
        x = np.random.default_rng(2).integers(-128, 128, (1, 8, 8, 16), np.int8)
        whole.run([x])
        for node in range(2):
            content, sources, results = tflite.cut(model, node)
            single = host.Runner(content, "ref")
            found = single.run([whole.tensor(index) for index in sources])
            for index, values in zip(results, found):
                np.testing.assert_array_equal(values, whole.tensor(index))
        self.assertGreater(len(np.unique(whole.tensor(2))), 100)  # the test is not about zeros

    def test_an_input_used_twice_is_one_input(self):
        content, sources, _ = tflite.cut(small_models.convolution_model(), 1)
        self.assertEqual(sources, [1])
        self.assertEqual(len(host.Runner(content).inputs), 1)

    def test_constants_come_along(self):
        content, sources, _ = tflite.cut(small_models.convolution_model(), 0)
        self.assertEqual(sources, [0])
        single = tflite.load(content)
        self.assertEqual(len(tflite.operators(single)), 1)
        self.assertTrue(tflite.is_constant(single, 1))

    def test_the_whole_model_is_left_as_it_was(self):
        model = small_models.convolution_model()
        before = tflite.dump(model)
        tflite.cut(model, 1)
        self.assertEqual(tflite.dump(model), before)

    def test_state_cannot_be_cut_out(self):
        model = small_models.convolution_model()
        tflite.tensor(model, 1).isVariable = True
        with self.assertRaisesRegex(UserError, "keeps state"):
            tflite.cut(model, 1)


if __name__ == "__main__":
    unittest.main()
