# SPDX-License-Identifier: Apache-2.0
"""The demonstration's networks as float32 TFLite models.

EfficientNet-Lite0 is built from the arrays of a PyTorch file, with the batch normalizations folded
into the convolutions; BlazeFace is a float16 TFLite model whose weights are widened and whose
activations are fused.
"""

import copy

import ai_edge_litert.schema_py_generated as schema
import numpy as np

from rocket_npu import model as tflite

_NONE = schema.ActivationFunctionType.NONE
_RELU = schema.ActivationFunctionType.RELU
_RELU6 = schema.ActivationFunctionType.RELU6
_BATCH_NORM_EPSILON = 1e-3
# (expansion, output channels, repeats, stride, kernel) of the seven stages.
_STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)


class _EfficientNet:
    """Appends layers to a model, taking their arrays from the state dictionary."""

    def __init__(self, arrays):
        self.arrays = arrays
        self.model = tflite.empty("EfficientNet-Lite0")

    def runtime(self, name, shape):
        return tflite.add_tensor(self.model, name, shape, np.float32)

    def constant(self, name, values, dtype=np.float32):
        return tflite.add_tensor(self.model, name, np.shape(values), dtype, values=values)

    def shape(self, tensor):
        return tflite.shape_of(tflite.tensor(self.model, tensor))

    def folded(self, convolution, norm):
        """(weights, bias) of a convolution followed by a batch normalization."""
        part = {key: self.arrays[f"{norm}.{key}"].astype(np.float64) for key in
                ("weight", "bias", "running_mean", "running_var")}
        gain = part["weight"] / np.sqrt(part["running_var"] + _BATCH_NORM_EPSILON)
        weights = self.arrays[f"{convolution}.weight"] * gain[:, None, None, None]
        return weights, part["bias"] - part["running_mean"] * gain

    def convolution(self, source, name, norm, stride, activation, depthwise=False):
        """CONV_2D or DEPTHWISE_CONV_2D with SAME padding."""
        weights, bias = self.folded(name, norm)
        # OIHW -> OHWI; depthwise O1HW -> 1HWO.
        weights = weights.transpose((1, 2, 3, 0) if depthwise else (0, 2, 3, 1))
        options = schema.DepthwiseConv2DOptionsT() if depthwise else schema.Conv2DOptionsT()
        options.padding = schema.Padding.SAME
        options.strideH = options.strideW = stride
        options.dilationHFactor = options.dilationWFactor = 1
        options.fusedActivationFunction = activation
        if depthwise:
            options.depthMultiplier = 1
        _, height, width, _ = self.shape(source)
        output = self.runtime(name, [1, -(-height // stride), -(-width // stride), bias.size])
        inputs = [source, self.constant(f"{name}.weight", weights),
                  self.constant(f"{name}.bias", bias)]
        kind = "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D"
        tflite.add_operator(self.model, kind, 3, inputs, [output], options)
        return output

    def block(self, source, number, expansion, stride):
        """An inverted residual block."""
        name, value = f"_blocks.{number}", source
        if expansion != 1:
            value = self.convolution(value, f"{name}._expand_conv", f"{name}._bn0", 1, _RELU6)
        value = self.convolution(
            value, f"{name}._depthwise_conv", f"{name}._bn1", stride, _RELU6, depthwise=True
        )
        value = self.convolution(value, f"{name}._project_conv", f"{name}._bn2", 1, _NONE)
        if stride != 1 or self.shape(source) != self.shape(value):
            return value
        output = self.runtime(f"{name}.add", self.shape(value))
        options = schema.AddOptionsT()
        tflite.add_operator(self.model, "ADD", 2, [source, value], [output], options)
        return output

    def head(self, source):
        value = self.convolution(source, "_conv_head", "_bn1", 1, _RELU6)
        mean = self.runtime("mean", [1, self.shape(value)[3]])
        axes = self.constant("mean.axes", np.array([1, 2], np.int32), np.int32)
        options = schema.ReducerOptionsT()
        tflite.add_operator(self.model, "MEAN", 2, [value, axes], [mean], options)
        weights, bias = self.arrays["_fc.weight"], self.arrays["_fc.bias"]
        logits = self.runtime("logits", [1, bias.size])
        inputs = [mean, self.constant("_fc.weight", weights), self.constant("_fc.bias", bias)]
        options = schema.FullyConnectedOptionsT()
        tflite.add_operator(self.model, "FULLY_CONNECTED", 4, inputs, [logits], options)
        output = self.runtime("probabilities", [1, bias.size])
        options = schema.SoftmaxOptionsT()
        options.beta = 1.0
        tflite.add_operator(self.model, "SOFTMAX", 2, [logits], [output], options)
        return output


def efficientnet_lite0(arrays):
    """{name: array} of the PyTorch file -> float ModelT; input (byte - 127) / 128, RGB."""
    net = _EfficientNet(arrays)
    source = net.runtime("image", [1, 224, 224, 3])
    value = net.convolution(source, "_conv_stem", "_bn0", 2, _RELU6)
    number = 0
    for expansion, channels, repeats, stride, kernel in _STAGES:
        for repeat in range(repeats):
            value = net.block(value, number, expansion, stride if repeat == 0 else 1)
            assert net.shape(value)[3] == channels
            assert net.arrays[f"_blocks.{number}._depthwise_conv.weight"].shape[3] == kernel
            number += 1
    tflite.set_ends(net.model, [source], [net.head(value)])
    return net.model


def widen_and_fuse(content, name):
    """A float16 TFLite model -> float32 ModelT without DEQUANTIZE and with fused RELU."""
    model = tflite.load(content, name)
    _fold_dequantize(model)
    _fuse_relu(model)
    return model


def _fold_dequantize(model):
    """DEQUANTIZE of a float16 constant becomes a float32 constant."""
    kept = []
    for operator in tflite.operators(model):
        values = tflite.constant(model, int(operator.inputs[0]))
        if tflite.operator_name(model, operator) != "DEQUANTIZE" or values is None:
            kept.append(operator)
            continue
        item = tflite.tensor(model, int(operator.outputs[0]))
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(values.astype(np.float32).tobytes(), np.uint8)
        model.buffers.append(buffer)
        item.buffer = len(model.buffers) - 1
    model.subgraphs[0].operators = kept


def _fuse_relu(model):
    """A RELU that alone reads a convolution or an addition becomes its fused activation."""
    graph = model.subgraphs[0]
    producer = {int(op.outputs[0]): op for op in graph.operators}
    readers = {}
    for operator in graph.operators:
        for index in operator.inputs:
            readers[int(index)] = readers.get(int(index), 0) + 1
    kept = []
    for operator in graph.operators:
        before = producer.get(int(operator.inputs[0]))
        fusable = (
            tflite.operator_name(model, operator) == "RELU"
            and before is not None
            and readers[int(operator.inputs[0])] == 1
            and tflite.operator_name(model, before) in ("CONV_2D", "DEPTHWISE_CONV_2D", "ADD")
            and before.builtinOptions.fusedActivationFunction == _NONE
        )
        if not fusable:
            kept.append(operator)
            continue
        before.builtinOptions = copy.copy(before.builtinOptions)
        before.builtinOptions.fusedActivationFunction = _RELU
        before.outputs = operator.outputs
    graph.operators = kept
