# SPDX-License-Identifier: Apache-2.0
"""Single-operation int8 models, written with the schema module of ai-edge-litert."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema


def _quantization(scales, axis=0):
    params = schema.QuantizationParametersT()
    params.scale = [float(s) for s in scales]
    params.zeroPoint = [0] * len(scales)
    params.quantizedDimension = axis
    return params


def _tensor(name, shape, dtype, buffer, quantization):
    tensor = schema.TensorT()
    tensor.name = name
    tensor.shape = list(shape)
    tensor.type = dtype
    tensor.buffer = buffer
    tensor.quantization = quantization
    return tensor


def _buffer(array=None):
    buffer = schema.BufferT()
    if array is not None:
        buffer.data = np.frombuffer(array.tobytes(), dtype=np.uint8)
    return buffer


def conv2d_int8(height, width, in_channels, out_channels, kernel, seed=1):
    """Bytes of a model with one CONV_2D: SAME padding, stride 1, int8, weights per channel."""
    rng = np.random.default_rng(seed)
    shape = (out_channels, kernel, kernel, in_channels)
    weights = rng.integers(-127, 128, shape, dtype=np.int8)
    bias = rng.integers(-1000, 1000, (out_channels,), dtype=np.int32)
    in_scale, out_scale = 0.02, 0.5
    weight_scales = 0.005 + 0.005 * rng.random(out_channels)

    options = schema.Conv2DOptionsT()
    options.padding = schema.Padding.SAME
    options.strideH = options.strideW = 1
    options.dilationHFactor = options.dilationWFactor = 1

    operator = schema.OperatorT()
    operator.opcodeIndex = 0
    operator.inputs = [0, 1, 2]
    operator.outputs = [3]
    operator.builtinOptionsType = schema.BuiltinOptions.Conv2DOptions
    operator.builtinOptions = options

    types = schema.TensorType
    graph = schema.SubGraphT()
    graph.tensors = [
        _tensor("input", (1, height, width, in_channels), types.INT8, 0, _quantization([in_scale])),
        _tensor("weights", shape, types.INT8, 1, _quantization(weight_scales)),
        _tensor("bias", bias.shape, types.INT32, 2, _quantization(in_scale * weight_scales)),
        _tensor("output", (1, height, width, out_channels), types.INT8, 0, _quantization([out_scale])),
    ]
    graph.inputs, graph.outputs, graph.operators = [0], [3], [operator]

    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CONV_2D
    code.version = 3

    model = schema.ModelT()
    model.version = 3
    model.operatorCodes = [code]
    model.subgraphs = [graph]
    model.buffers = [_buffer(), _buffer(weights), _buffer(bias)]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())
