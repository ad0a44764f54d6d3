# SPDX-License-Identifier: Apache-2.0
"""Reads the tensors of a legacy .pth file without PyTorch.

The format is four pickles (a magic number, the protocol version, sizes of the writer's types, the
state dictionary), a pickled list of storage keys, and each storage as a 64-bit element count and
its raw elements. Nothing but the handful of names below can be constructed from the pickles.
"""

import collections
import pickle
import struct

import numpy as np

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_STORAGES = {
    "FloatStorage": np.dtype("<f4"),
    "DoubleStorage": np.dtype("<f8"),
    "HalfStorage": np.dtype("<f2"),
    "LongStorage": np.dtype("<i8"),
    "IntStorage": np.dtype("<i4"),
}


class _Storage:
    """Elements that several tensors may share; filled in after the pickles are read."""

    def __init__(self, dtype, count):
        self.dtype, self.count, self.values = dtype, count, None


class _Tensor:
    def __init__(self, storage, offset, shape, strides):
        self.storage, self.offset = storage, offset
        self.shape, self.strides = shape, strides


def _rebuild_tensor(storage, offset, shape, strides, *_):
    """A strided view of a storage; it must lie inside it."""
    numbers = (offset, *shape, *strides)
    if not isinstance(storage, _Storage) or len(shape) != len(strides):
        raise pickle.UnpicklingError("a tensor is not a view of a storage")
    if any(not isinstance(number, int) or number < 0 for number in numbers):
        raise pickle.UnpicklingError("a tensor has a negative extent, stride or offset")
    last = offset + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
    if 0 not in shape and last >= storage.count:
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a file of tensors")

    def persistent_load(self, pid):
        kind, dtype, key, _, count = pid[:5]
        if kind != "storage" or not isinstance(dtype, np.dtype) or int(count) < 0:
            raise pickle.UnpicklingError("an unknown persistent object")
        return self.storages.setdefault(str(key), _Storage(dtype, int(count)))


def load(file):
    """{name: array} of the state dictionary in a binary file object.

    Raises ValueError if it is not a legacy .pth file of tensors.
    """
    try:
        return _load(file)
    except (pickle.UnpicklingError, EOFError, struct.error, TypeError, KeyError) as error:
        raise ValueError(f"not a legacy .pth file of tensors: {error}") from error


def _load(file):
    if _Unpickler(file).load() != _MAGIC or _Unpickler(file).load() != _PROTOCOL:
        raise pickle.UnpicklingError("wrong magic number or protocol")
    if not _Unpickler(file).load().get("little_endian", False):
        raise pickle.UnpicklingError("written on a big-endian machine")
    reader = _Unpickler(file)
    tensors = reader.load()
    for key in _Unpickler(file).load():
        storage = reader.storages[str(key)]
        (count,) = struct.unpack("<q", file.read(8))
        if count != storage.count:
            raise pickle.UnpicklingError(f"storage {key} holds {count}, not {storage.count}")
        data = file.read(count * storage.dtype.itemsize)
        storage.values = np.frombuffer(data, storage.dtype, count)
    return {name: _values(tensor) for name, tensor in tensors.items()
            if isinstance(tensor, _Tensor)}


def _values(tensor):
    storage = tensor.storage
    if storage.values is None:
        raise pickle.UnpicklingError("a storage is missing")
    if 0 in tensor.shape:
        return np.zeros(tensor.shape, storage.dtype)
    strides = [stride * storage.dtype.itemsize for stride in tensor.strides]
    view = np.lib.stride_tricks.as_strided(storage.values[tensor.offset :], tensor.shape, strides)
    return np.ascontiguousarray(view)
