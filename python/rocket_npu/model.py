# SPDX-License-Identifier: Apache-2.0
"""Reads, cuts and writes .tflite files with the schema module of ai-edge-litert.

A model here is the object form (`ModelT`) of the schema; only subgraph 0 is looked at.
"""

import copy
import struct

import ai_edge_litert.schema_py_generated as schema
import flatbuffers
import numpy as np

from rocket_npu import UserError

_DTYPES = {
    schema.TensorType.FLOAT32: np.float32,
    schema.TensorType.FLOAT16: np.float16,
    schema.TensorType.INT32: np.int32,
    schema.TensorType.UINT8: np.uint8,
    schema.TensorType.INT64: np.int64,
    schema.TensorType.BOOL: np.bool_,
    schema.TensorType.INT16: np.int16,
    schema.TensorType.INT8: np.int8,
}
_OPERATORS = {
    number: name for name, number in vars(schema.BuiltinOperator).items() if isinstance(number, int)
}


def load(content, name="model"):
    """Bytes of a .tflite file -> ModelT. `name` is used in messages."""
    if len(content) < 8 or bytes(content[4:8]) != b"TFL3":
        raise UserError(f"{name} is not a .tflite file (no TFL3 identifier)")
    try:
        model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    except (struct.error, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{name} is damaged: {error}") from error
    if not model.subgraphs:
        raise UserError(f"{name} has no subgraph")
    return model


def load_file(path):
    try:
        with open(path, "rb") as file:
            return load(file.read(), str(path))
    except OSError as error:
        raise UserError(f"cannot read model {path}: {error.strerror}") from error


def dump(model):
    """ModelT -> bytes of a .tflite file."""
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def empty(description):
    """A model without operators: one empty buffer (index 0 means "no data"), one subgraph."""
    model = schema.ModelT()
    model.version = 3
    model.description = description
    model.operatorCodes = []
    model.buffers = [schema.BufferT()]
    graph = schema.SubGraphT()
    graph.name = "main"
    graph.tensors, graph.operators = [], []
    graph.inputs, graph.outputs = [], []
    model.subgraphs = [graph]
    return model


def operators(model):
    return model.subgraphs[0].operators


def operator_name(model, operator):
    """CONV_2D, ... ; a custom operator's own name."""
    code = model.operatorCodes[operator.opcodeIndex]
    number = max(code.builtinCode, code.deprecatedBuiltinCode)
    if number == schema.BuiltinOperator.CUSTOM:
        custom = code.customCode
        return custom.decode() if isinstance(custom, bytes) else str(custom)
    return _OPERATORS.get(number, f"operator {number}")


def operator_code(model, name, version):
    """Index of the builtin operator `name` at `version` in the model's table, added if missing."""
    number = getattr(schema.BuiltinOperator, name)
    for index, code in enumerate(model.operatorCodes):
        if code.builtinCode == number and code.version == version:
            return index
    code = schema.OperatorCodeT()
    code.builtinCode = number
    code.deprecatedBuiltinCode = min(number, 127)
    code.version = version
    model.operatorCodes.append(code)
    return len(model.operatorCodes) - 1


def tensor(model, index):
    return model.subgraphs[0].tensors[index]


def tensor_name(item):
    name = item.name
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name or "")


def shape_of(item):
    return [int(extent) for extent in item.shape] if item.shape is not None else []


def is_constant(model, index):
    data = model.buffers[tensor(model, index).buffer].data
    return data is not None and len(data) > 0


def constant(model, index):
    """The values of a constant tensor, or None for a run-time tensor."""
    if not is_constant(model, index):
        return None
    item = tensor(model, index)
    data = np.asarray(model.buffers[item.buffer].data, np.uint8)
    dtype = _DTYPES.get(item.type)
    if dtype is None:
        raise UserError(f"tensor {index} ({tensor_name(item)}) has element type {item.type}")
    return np.frombuffer(data.tobytes(), dtype).reshape(shape_of(item))


def add_tensor(model, name, shape, dtype, quantization=None, values=None):
    """Appends a tensor (constant if `values` are given) and returns its index."""
    item = schema.TensorT()
    item.name = name
    item.shape = np.asarray(shape, np.int32)
    item.type = next(key for key, value in _DTYPES.items() if value == dtype)
    item.quantization = quantization
    item.buffer = 0
    if values is not None:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(np.ascontiguousarray(values, dtype).tobytes(), np.uint8)
        model.buffers.append(buffer)
        item.buffer = len(model.buffers) - 1
    model.subgraphs[0].tensors.append(item)
    return len(model.subgraphs[0].tensors) - 1


def add_operator(model, name, version, inputs, outputs, options=None):
    """Appends an operator; `options` is the schema's options object or None."""
    operator = schema.OperatorT()
    operator.opcodeIndex = operator_code(model, name, version)
    operator.inputs = np.asarray(inputs, np.int32)
    operator.outputs = np.asarray(outputs, np.int32)
    if options is not None:
        kind = type(options).__name__[:-1]  # Conv2DOptionsT -> Conv2DOptions
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        operator.builtinOptions = options
    operators(model).append(operator)
    return operator


def set_ends(model, inputs, outputs):
    """Names the graph's inputs and outputs by tensor index."""
    graph = model.subgraphs[0]
    graph.inputs = np.asarray(inputs, np.int32)
    graph.outputs = np.asarray(outputs, np.int32)


def quantization(scales, zero_points, axis=0):
    """Affine quantization; one scale per tensor or one per index of `axis`."""
    item = schema.QuantizationParametersT()
    item.scale = np.atleast_1d(np.asarray(scales, np.float32))
    item.zeroPoint = np.atleast_1d(np.asarray(zero_points, np.int64))
    item.quantizedDimension = axis
    return item


def runtime_inputs(model, operator):
    """Tensor indices of the operator's inputs that are neither absent (-1) nor constant."""
    indices = []
    for index in operator.inputs if operator.inputs is not None else []:
        if index >= 0 and not is_constant(model, index) and int(index) not in indices:
            indices.append(int(index))
    return indices


def cut(model, node):
    """A model of its own made of one node: (bytes, run-time input tensor indices, output indices).

    The indices are those of the whole model, in the order of the cut model's inputs and outputs.
    Raises UserError for a node that keeps state, runs other subgraphs, or reads constants only.
    """
    operator = operators(model)[node]
    if operator_name(model, operator) in ("IF", "WHILE", "CALL", "CALL_ONCE"):
        raise UserError(f"node {node} runs another subgraph")
    inputs = runtime_inputs(model, operator)
    outputs = [int(index) for index in operator.outputs]
    if not inputs:
        raise UserError(f"node {node} reads constants only")
    if any(tensor(model, index).isVariable for index in inputs):
        raise UserError(f"node {node} keeps state in a variable tensor")
    single = empty(f"node {node}")
    single.operatorCodes = [model.operatorCodes[operator.opcodeIndex]]
    graph = single.subgraphs[0]
    places = {-1: -1}
    for index in [int(i) for i in operator.inputs] + outputs:
        if index in places:
            continue
        item = copy.copy(tensor(model, index))
        if is_constant(model, index):
            single.buffers.append(model.buffers[item.buffer])
            item.buffer = len(single.buffers) - 1
        else:
            item.buffer = 0
        places[index] = len(graph.tensors)
        graph.tensors.append(item)
    moved = copy.copy(operator)
    moved.opcodeIndex = 0
    moved.inputs = np.asarray([places[int(i)] for i in operator.inputs], np.int32)
    moved.outputs = np.asarray([places[i] for i in outputs], np.int32)
    graph.operators = [moved]
    set_ends(single, [places[i] for i in inputs], [places[i] for i in outputs])
    return dump(single), inputs, outputs


POSTPROCESS = "TFLite_Detection_PostProcess"


def cut_postprocess(model, name="model"):
    """The model without its detection post-process: its outputs are the boxes and scores that
    enter it (the anchors, constant, stay out). Changes and returns `model`."""
    for index, operator in enumerate(operators(model)):
        if operator_name(model, operator) != POSTPROCESS:
            continue
        graph = model.subgraphs[0]
        ends = runtime_inputs(model, operator)
        if not ends:
            raise UserError(f"{name}: {POSTPROCESS} reads constants only")
        del graph.operators[index]
        gone = {int(tensor_index) for tensor_index in operator.outputs}
        set_ends(model, graph.inputs, [int(i) for i in graph.outputs if int(i) not in gone] + ends)
        return model
    raise UserError(f"{name} has no {POSTPROCESS} to cut")
