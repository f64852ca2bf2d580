"""The Open Inference Protocol v2 for a model in MLflow's format, beside MLflow's own calls.

What the model takes is in its signature (https://mlflow.org/docs/latest/ml/model/signatures/): of a table each column is
a tensor of one dimension, of tensors each is itself. What has no name there is `input-0`, `input-1`, and so on, as
MLServer has it. Of an answer each column, or each entry, is a tensor; a bare array is `output-0`.
"""

import json
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple

import mlflow
import numpy as np
import pandas as pd
from flexrack_tensors import (
    HEADER_LENGTH,
    NUMPY_OF,
    Malformed,
    Unpacker,
    chosen_coding,
    framed,
    pack,
    read_json,
    told,
)
from mlflow.exceptions import MlflowException

# MLflow's type of a column (mlflow.types.DataType) -> the protocol's
COLUMNS = {
    "boolean": "BOOL",
    "integer": "INT32",
    "long": "INT64",
    "float": "FP32",
    "double": "FP64",
    "string": "BYTES",
    "datetime": "BYTES",
}
NAME_OF = {dtype: name for name, dtype in NUMPY_OF.items()}
Answer = Tuple[int, Dict[str, str], bytes]


class Tensors:
    """Answers what is asked of the model `name` below /v2. `predict` is pyfunc's."""

    def __init__(self, model: Any, name: str, version: str) -> None:
        self._model, self._name, self._version = model, name, version
        signature = model.metadata.signature
        self._inputs = signature.inputs if signature else None
        self._outputs = signature.outputs if signature else None
        self._params = {one.name for one in signature.params} if signature and signature.params else set()
        self.base = f"/v2/models/{name}"

    def looks(self) -> Iterable[Tuple[str, Callable[[], Dict[str, Any]]]]:
        """Paths that are read, and what they answer."""
        said = {"name": "flexrack", "version": mlflow.__version__, "extensions": ["binary_tensor_data"]}
        yield "/v2", lambda: said
        for path in self.bases():
            yield path, self.metadata
            yield f"{path}/ready", dict

    def bases(self) -> List[str]:
        return [self.base, f"{self.base}/versions/{self._version}"]

    def metadata(self) -> Dict[str, Any]:
        return {
            "name": self._name,
            "versions": [self._version],
            "platform": "mlflow",
            "inputs": described(self._inputs, "input"),
            "outputs": described(self._outputs, "output"),
        }

    def infer(self, headers: Dict[str, str], body: bytes) -> Answer:
        """`headers` have lower-case names."""
        try:
            unpacker = Unpacker(headers.get("content-encoding", ""))
            plain = unpacker.unpack(body)
            unpacker.end()
            request = read_json([plain], headers.get(HEADER_LENGTH))
            given, params = self._given(request), self._own_params(request)
            try:
                said = self._model.predict(given, params=params) if params else self._model.predict(given)
            except MlflowException as error:
                raise Malformed(error.message, error.get_http_status_code()) from error
            except Exception as error:  # as MLflow's own server has it: what a model raises is about its input
                raise Malformed(f"the model cannot answer this: {type(error).__name__}: {error}") from error
            return self._answer(request, named_arrays(said), headers.get("accept-encoding", ""))
        except Malformed as error:
            return error.status, {"Content-Type": "application/json"}, json.dumps({"error": str(error)}).encode()

    def _given(self, request: Any) -> Any:
        """What the model is asked, in the form that its signature has."""
        tensors = read_inputs(request)
        if self._inputs is None:
            return next(iter(tensors.values())) if len(tensors) == 1 else tensors
        specs = dict(zip(names_of(self._inputs, "input"), self._inputs.inputs))
        for name in tensors:
            if name not in specs:
                raise Malformed(f"no input {name}; the model takes {', '.join(specs)}")
        for name, spec in specs.items():
            if name not in tensors and getattr(spec, "required", True):
                raise Malformed(f"input {name} is missing; the model takes {', '.join(specs)}")
        if self._inputs.is_tensor_spec():
            arrays = {name: tensor_of(array, specs[name], name) for name, array in tensors.items()}
            return arrays if self._inputs.has_input_names() else next(iter(arrays.values()))
        columns = {name: column_of(array, specs[name], name) for name, array in tensors.items()}
        if len({len(column) for column in columns.values()}) > 1:
            raise Malformed(f"the inputs have {', '.join(f'{len(one)}' for one in columns.values())} rows")
        if self._inputs.has_input_names():
            return pd.DataFrame({name: columns[name] for name in specs if name in columns})
        if len(columns) == 1:
            return list(next(iter(columns.values())))
        return pd.DataFrame(dict(enumerate(columns.values())))

    def _own_params(self, request: Any) -> Dict[str, Any]:
        parameters = request.get("parameters") or {}
        return {name: value for name, value in parameters.items() if name in self._params}

    def _answer(self, request: Any, arrays: Dict[str, np.ndarray], accepts: str) -> Answer:
        """Outputs that were asked for in binary stand behind the JSON, in their order."""
        wanted = {one.get("name"): one.get("parameters") for one in dicts(request.get("outputs"), "outputs")}
        for name in wanted:
            if name not in arrays:
                raise Malformed(f"no output {name}; the model gives {', '.join(arrays)}")
        whole = said_in(request.get("parameters"), "binary_data_output", False)
        outputs = (
            (
                {"name": name, "shape": list(array.shape), "datatype": NAME_OF.get(array.dtype, "BYTES")},
                array,
                said_in(wanted.get(name), "binary_data", whole),
            )
            for name, array in arrays.items()
            if name in wanted or not wanted
        )
        own_id = {"id": request["id"]} if "id" in request else {}
        head = {"model_name": self._name, "model_version": self._version, **own_id}
        headers, pieces = framed(head, outputs, lambda value: json.dumps(value).encode())
        coding = chosen_coding(accepts, pieces)
        if coding:
            return 200, {**headers, "Content-Encoding": coding}, pack(coding, pieces)
        return 200, headers, b"".join(pieces)


def names_of(schema: Any, kind: str) -> List[str]:
    return [str(one.name) if one.name is not None else f"{kind}-{index}" for index, one in enumerate(schema.inputs)]


def described(schema: Any, kind: str) -> List[Dict[str, Any]]:
    """Tensors of the metadata. What has no form in the protocol is left out."""
    found = []
    for name, spec in zip(names_of(schema, kind) if schema else [], schema.inputs if schema else []):
        if hasattr(spec, "shape"):
            found.append({"name": name, "datatype": NAME_OF.get(spec.type, "BYTES"), "shape": list(spec.shape)})
        elif type_of(spec) in COLUMNS:
            found.append({"name": name, "datatype": COLUMNS[type_of(spec)], "shape": [-1]})
    return found


def type_of(spec: Any) -> str:
    return str(getattr(spec.type, "name", spec.type))


def read_inputs(request: Any) -> Dict[str, np.ndarray]:
    """Arrays by name, in the shapes that they are said to have."""
    if not isinstance(request, dict) or not request.get("inputs"):
        raise Malformed("this is no inference request: it has no inputs")
    if not isinstance(request.get("parameters") or {}, dict):
        raise Malformed("this is no inference request: its parameters are no object")
    found = {}
    for one in dicts(request["inputs"], "inputs"):
        name, shape, datatype = one.get("name"), one.get("shape"), one.get("datatype")
        if not isinstance(name, str) or not isinstance(shape, list) or "data" not in one:
            raise Malformed("this is no inference request: an input needs name, shape, datatype and data")
        if not all(type(size) is int and size >= 0 for size in shape):
            raise Malformed(f"the shape of input {name} must be a list of whole numbers")
        dtype = np.dtype(object) if datatype == "BYTES" else NUMPY_OF.get(str(datatype))
        if dtype is None:
            raise Malformed(f"input {name} has datatype {datatype}, which is not known")
        found[name] = array_of(name, one["data"], dtype, shape)
    return found


def array_of(name: str, data: Any, dtype: Any, shape: Sequence[int]) -> np.ndarray:
    try:
        array = data if isinstance(data, np.ndarray) else np.asarray(data)
        if dtype != object and array.dtype.kind in "OUS":
            raise ValueError("it has other things than numbers")
        exact = array.astype(dtype)
        if dtype.kind in "biu" and array.dtype != dtype and not np.array_equal(exact, array):
            raise ValueError(f"a number of it is none of {NAME_OF[dtype]}")
        return exact.reshape(shape)
    except (ValueError, TypeError, OverflowError) as error:
        raise Malformed(f"input {name} is no tensor of shape {shape}: {error}") from error


def tensor_of(array: np.ndarray, spec: Any, name: str) -> np.ndarray:
    if array.dtype == spec.type or spec.type.kind in "OUS":
        return array
    if not np.can_cast(array.dtype, spec.type, "same_kind"):
        raise Malformed(
            f"input {name} has datatype {NAME_OF[array.dtype]}, expected {NAME_OF.get(spec.type, spec.type)}"
        )
    return array.astype(spec.type)


def column_of(array: np.ndarray, spec: Any, name: str) -> np.ndarray:
    """One value a row: the tensor has one dimension, or a second one of one."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise Malformed(f"input {name} is a column: its shape is [rows], not {list(array.shape)}")
    kind = type_of(spec)
    if kind not in COLUMNS:
        raise Malformed(f"input {name} is a {kind}, which no tensor carries: /invocations takes it")
    if kind == "datetime":
        try:
            return np.asarray(array.tolist(), "datetime64[ns]")
        except ValueError as error:
            raise Malformed(f"input {name} has a text that is no time: {error}") from error
    return array


def named_arrays(said: Any) -> Dict[str, np.ndarray]:
    """An answer of the model as tensors by name."""
    if isinstance(said, list) and said and all(isinstance(one, dict) for one in said):
        said = pd.DataFrame(said)
    if isinstance(said, pd.DataFrame):
        return {str(name): plain(said[name].to_numpy(), str(name)) for name in said.columns}
    if isinstance(said, dict):
        return {str(name): plain(np.asarray(value), str(name)) for name, value in said.items()}
    if isinstance(said, pd.Series):
        said = said.to_numpy()
    return {"output-0": plain(np.atleast_1d(np.asarray(said)), "output-0")}


def plain(array: np.ndarray, name: str) -> np.ndarray:
    """In a type of the protocol's: what is neither a number nor a truth goes as text."""
    if array.dtype.kind == "O":
        narrowed = pd.Series(array.reshape(-1)).infer_objects().to_numpy().reshape(array.shape)
        if narrowed.dtype.kind in "biuf":
            array = narrowed
        elif not all(isinstance(one, (str, bytes)) for one in array.reshape(-1)):
            raise Malformed(f"output {name} has things that no tensor carries: /invocations gives them", 500)
    if array.dtype.kind in "biuf" and array.dtype in NAME_OF:
        return array
    if array.dtype.kind == "M":
        return np.datetime_as_string(array).astype(object)
    if array.dtype.kind in "OUS":
        return array.astype(object)
    raise Malformed(f"output {name} is of {array.dtype}, which no tensor carries: /invocations gives it", 500)


def dicts(value: Any, what: str) -> List[Dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Malformed(f"this is no inference request: {what} is no list of objects")
    return value


def said_in(parameters: Any, name: str, otherwise: bool) -> bool:
    return told(parameters[name], name) if isinstance(parameters, dict) and name in parameters else otherwise
