"""
What an ONNX file says it is: operator sets, inputs and outputs, read off its protocol buffer without any library.

So a file is refused before an engine sees it. The layout is that of `onnx.proto` (ONNX IR, ModelProto); weights and
nodes are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from doseflow.errors import ModelWrong

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MODEL_GRAPH, _MODEL_OPSET = 7, 8
_OPSET_DOMAIN, _OPSET_VERSION = 1, 2
_GRAPH_INITIALISER, _GRAPH_INPUT, _GRAPH_OUTPUT = 5, 11, 12
_TENSOR_DATA_LOCATION, _EXTERNAL = 14, 1
_VALUE_NAME, _VALUE_TYPE = 1, 2
_ELEMENT_TYPES = {1: "float32", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64"}


@dataclass(frozen=True)
class TensorSpec:
    """An input or output: a free axis by its name, a fixed one by its size."""

    dtype: str
    axes: tuple[str | int, ...]


@dataclass(frozen=True)
class OnnxHeader:
    """Operator sets by domain ("" is the standard one), inputs and outputs by name."""

    opsets: dict[str, int]
    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]
    has_external_weights: bool


def read_header(model: bytes, file_name: str = "model.onnx") -> OnnxHeader:
    """
    Read the header of an ONNX file.

    Raises
    ------
    ModelWrong
        It is no ONNX file, or one that is cut off.
    """
    try:
        return _header(memoryview(model))
    except (IndexError, ValueError, UnicodeDecodeError) as error:
        raise ModelWrong(f"{file_name}: must be an ONNX file: {error}") from error


def _header(model: memoryview) -> OnnxHeader:
    opsets: dict[str, int] = {}
    graph: memoryview | None = None
    for field, value in _fields(model):
        if field == _MODEL_GRAPH:
            graph = _message(value)
        elif field == _MODEL_OPSET:
            told = dict(_fields(_message(value)))
            opsets[_text(told.get(_OPSET_DOMAIN, memoryview(b"")))] = _number(told.get(_OPSET_VERSION, 0))
    if graph is None:
        raise ValueError("it has no graph")
    inputs: dict[str, TensorSpec] = {}
    outputs: dict[str, TensorSpec] = {}
    has_external = False
    for field, value in _fields(graph):
        if field in (_GRAPH_INPUT, _GRAPH_OUTPUT):
            name, spec = _value_info(_message(value))
            (inputs if field == _GRAPH_INPUT else outputs)[name] = spec
        elif field == _GRAPH_INITIALISER:
            has_external |= dict(_fields(_message(value))).get(_TENSOR_DATA_LOCATION) == _EXTERNAL
    return OnnxHeader(opsets, inputs, outputs, has_external)


def _value_info(data: memoryview) -> tuple[str, TensorSpec]:
    told = dict(_fields(data))
    # ValueInfoProto.type (2) holds tensor_type (1), which holds elem_type (1) and shape (2), which holds dims (1).
    tensor = dict(_fields(_message(dict(_fields(_message(told[_VALUE_TYPE]))).get(1, memoryview(b"")))))
    dims = _fields(_message(tensor[2])) if 2 in tensor else ()
    axes = tuple(_axis(_message(dim)) for field, dim in dims if field == 1)
    number = _number(tensor.get(1, 0))
    return _text(told[_VALUE_NAME]), TensorSpec(_ELEMENT_TYPES.get(number, f"type {number}"), axes)


def _axis(data: memoryview) -> str | int:
    told = dict(_fields(data))
    return _number(told[1]) if 1 in told else _text(told.get(2, memoryview(b"?")))


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview | int]]:
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        kind = key & 7
        if kind == _VARINT:
            number, place = _varint(data, place)
            yield key >> 3, number
            continue
        if kind not in (_BYTES, _FIXED64, _FIXED32):
            raise ValueError(f"byte {place} begins no field")
        size, place = _varint(data, place) if kind == _BYTES else ({_FIXED64: 8, _FIXED32: 4}[kind], place)
        if place + size > len(data):
            raise ValueError("it ends too early")
        yield key >> 3, data[place : place + size]
        place += size


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise ValueError("it ends too early")
        byte, place = data[place], place + 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
    raise ValueError(f"byte {place} begins no number")


def _message(value: memoryview | int) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number stands where a part should")
    return value


def _number(value: memoryview | int) -> int:
    if not isinstance(value, int):
        raise ValueError("a part stands where a number should")
    return value


def _text(value: memoryview | int) -> str:
    return bytes(_message(value)).decode()
