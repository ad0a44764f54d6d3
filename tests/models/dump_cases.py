#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the operators of .tflite models, with inputs and expected outputs, as cases for op_models_test.

Sources: every single-operator model of the shared model set, and each node of some networks with the tensors
BUILTIN_REF computed for it. Writes OUT/cases.json and OUT/cases.bin (all arrays, one after the other).
Exits 77 when the shared folder does not exist.
"""
import argparse
import json
import pathlib
import sys

NETWORKS = {
    "efficientnet_lite0_224_imagenet_int8": "grace_hopper",
    "mobilenet_v1_1.0_224_int8": "grace_hopper",
    "mobilenet_v2_1.0_224_int8": "grace_hopper",
    "mediapipe_face_short_range_int8": "astronaut",
    "mediapipe_selfie_segmentation_int8": "astronaut",
    "small_cnn_96_int8": "astronaut",
    "mediapipe_face_back_int8": "astronaut",
    "nanodet_g_416_coco_int8": "grace_hopper",
    "mobilenet_v1_1.0_224_uint8": "grace_hopper",
    "ssd_mobilenet_v2_300_uint8_postprocess": "china",
}


def names_of(enumeration):
    return {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}


class Writer:
    """Collects cases; arrays go to the binary file at once."""

    def __init__(self, schema, numpy, folder):
        self.schema, self.numpy = schema, numpy
        self.types, self.operators = names_of(schema.TensorType), names_of(schema.BuiltinOperator)
        self.folder = folder
        self.binary = open(folder / "cases.bin", "wb")
        self.cases = []

    def store(self, data):
        at = self.binary.tell()
        self.binary.write(data)
        return [at, len(data)]

    def tensor(self, model, graph, index, values):
        """One tensor: its type, and its bytes as a constant or as run-time values."""
        tensor, entry = graph.tensors[index], {}
        entry["type"] = self.types[tensor.type].lower()
        entry["shape"] = [int(d) for d in tensor.shape] if tensor.shape is not None else []
        quantization = tensor.quantization
        if quantization is not None and quantization.scale is not None and len(quantization.scale):
            entry["scales"] = [float(s) for s in quantization.scale]
            entry["zero_points"] = [int(z) for z in quantization.zeroPoint]
            entry["axis"] = int(quantization.quantizedDimension)
        constant = model.buffers[tensor.buffer].data
        entry["constant"] = constant is not None and len(constant) > 0
        if entry["constant"]:
            entry["data"] = self.store(bytes(constant))
        else:
            array = self.numpy.ascontiguousarray(values[index])
            entry["shape"] = list(array.shape)
            entry["data"] = self.store(array.tobytes())
        return entry

    def node(self, name, model, position, values):
        graph = model.subgraphs[0]
        operator = graph.operators[position]
        code = model.operatorCodes[operator.opcodeIndex]
        options = {}
        if operator.builtinOptions is not None:
            options = {k: v for k, v in vars(operator.builtinOptions).items() if isinstance(v, (int, float, bool))}
        indices = [int(i) for i in list(operator.inputs) + list(operator.outputs)]
        kept = sorted({i for i in indices if i >= 0})
        self.cases.append({
            "name": name,
            "op": self.operators[max(code.builtinCode, code.deprecatedBuiltinCode)],
            "options": options,
            "inputs": [kept.index(i) if i >= 0 else -1 for i in (int(i) for i in operator.inputs)],
            "outputs": [kept.index(int(i)) for i in operator.outputs],
            "tensors": [self.tensor(model, graph, i, values) for i in kept],
        })

    def close(self):
        self.binary.close()
        (self.folder / "cases.json").write_text(json.dumps({"cases": self.cases}))


def load(schema, path):
    return schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))


def dump_operators(writer, folder):
    numpy = writer.numpy
    for case in json.loads((folder / "index.json").read_text())["cases"]:
        name = case["name"]
        model = load(writer.schema, folder / f"{name}.tflite")
        graph = model.subgraphs[0]
        values = {int(index): numpy.load(folder / f"{name}.in{k}.npy") for k, index in enumerate(graph.inputs)}
        values |= {int(index): numpy.load(folder / f"{name}.out{k}.npy") for k, index in enumerate(graph.outputs)}
        writer.node(name, model, 0, values)


def dump_network(writer, litert, folder, name, sample):
    numpy = writer.numpy
    path = folder / f"{name}.tflite"
    model = load(writer.schema, path)
    interpreter = litert.Interpreter(str(path), experimental_preserve_all_tensors=True, num_threads=1,
                                     experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    detail = interpreter.get_input_details()[0]
    picture = numpy.load(folder / "inputs" / "{}x{}.npz".format(*detail["shape"][1:3]))[sample]
    if detail["dtype"] == numpy.int8:
        picture = (picture.astype(numpy.int16) - 128).astype(numpy.int8)
    interpreter.set_tensor(detail["index"], picture[None])
    interpreter.invoke()
    graph = model.subgraphs[0]
    for position, operator in enumerate(graph.operators):
        values = {int(i): interpreter.get_tensor(int(i)) for i in list(operator.inputs) + list(operator.outputs)
                  if i >= 0 and model.buffers[graph.tensors[i].buffer].data is None}
        writer.node(f"{name}/{position}", model, position, values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    models = args.shared / "models" / "tflite"
    if not models.is_dir():
        print(f"not run: {models} does not exist")
        sys.exit(77)
    import ai_edge_litert.interpreter as litert
    import ai_edge_litert.schema_py_generated as schema
    import numpy
    args.out.mkdir(parents=True, exist_ok=True)
    writer = Writer(schema, numpy, args.out)
    dump_operators(writer, models / "ops")
    for name, sample in NETWORKS.items():
        dump_network(writer, litert, models, name, sample)
    writer.close()


if __name__ == "__main__":
    main()
