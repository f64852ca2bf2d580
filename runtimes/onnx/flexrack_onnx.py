"""ONNX models for MLServer, on ONNX Runtime: the Open Inference Protocol's tensors in, the graph's outputs out.

Tensors come as lists of JSON or as flat arrays, and go as arrays; flexrack_binary.py has how they travel. What a caller
did wrong (unknown names, types or shapes that do not fit, numbers out of range) is answered with status
400 and a sentence; metadata comes from the graph itself, with -1 for dimensions that vary.
"""

import asyncio
import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional

import numpy as np
import onnxruntime
from mlserver import MLModel
from mlserver.errors import InferenceError
from mlserver.types import InferenceRequest, InferenceResponse, MetadataTensor, RequestInput, ResponseOutput
from mlserver.utils import get_model_uri

# ONNX Runtime's name -> (the protocol's name, numpy's)
TYPES = {
    "tensor(bool)": ("BOOL", np.bool_),
    "tensor(string)": ("BYTES", np.object_),
    "tensor(uint8)": ("UINT8", np.uint8),
    "tensor(uint16)": ("UINT16", np.uint16),
    "tensor(uint32)": ("UINT32", np.uint32),
    "tensor(uint64)": ("UINT64", np.uint64),
    "tensor(int8)": ("INT8", np.int8),
    "tensor(int16)": ("INT16", np.int16),
    "tensor(int32)": ("INT32", np.int32),
    "tensor(int64)": ("INT64", np.int64),
    "tensor(float16)": ("FP16", np.float16),
    "tensor(float)": ("FP32", np.float32),
    "tensor(double)": ("FP64", np.float64),
}
NUMPY_OF = dict(TYPES.values())
CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
ALL_ON_GPU = "session.disable_cpu_ep_fallback"
LEASE = "An endpoint gets one with `gpus:` in flexrack.yaml, and this runtime computes nowhere else"
MOST_THREADS = 4
MOST_AT_ONCE = 2  # requests inside the graph at the same time; the others wait in a queue


class OnnxModel(MLModel):
    _pool: Optional[ThreadPoolExecutor] = None

    async def load(self) -> bool:
        path = await get_model_uri(self._settings)
        extra = (self._settings.parameters.extra or {}) if self._settings.parameters else {}
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(extra.get("threads") or min(MOST_THREADS, len(os.sched_getaffinity(0))))
        options.inter_op_num_threads = 1
        # Threads that spin while idle would take the cores of the node's other servers.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = open_session(path, options, extra)
        self._dtypes = {node.name: TYPES[node.type][1] for node in self._session.get_inputs() if node.type in TYPES}
        for node in self._session.get_inputs():
            if node.type not in TYPES:
                raise ValueError(f"input {node.name} is a {node.type}, which the protocol cannot carry")
        self.inputs = [describe(node) for node in self._session.get_inputs()]
        # Sequences and maps (a classifier's ZipMap) have no form in the protocol; the tensors beside them have.
        self.outputs = [describe(node) for node in self._session.get_outputs() if node.type in TYPES]
        if not self.outputs:
            raise ValueError("no output of this model is a tensor; convert it without ZipMap")
        self._pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="onnx")
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        names = self._output_names(payload)
        given = {tensor.name for tensor in payload.inputs}
        for tensor in self.inputs or []:
            if tensor.name not in given:
                raise InferenceError(f"input {tensor.name} is missing; the model takes {', '.join(self._dtypes)}")
        feeds = {tensor.name: self._decode(tensor) for tensor in payload.inputs}
        arrays = await asyncio.get_running_loop().run_in_executor(self._pool, self._run, names, feeds)
        return InferenceResponse(
            id=payload.id,
            model_name=self.name,
            model_version=self.version,
            outputs=[encode(name, array) for name, array in zip(names, arrays)],
        )

    async def unload(self) -> bool:
        if self._pool is not None:  # MLServer also unloads what failed to load
            self._pool.shutdown(wait=True)
        return True

    def _run(self, names: List[str], feeds: Dict[str, np.ndarray]) -> List[np.ndarray]:
        try:
            return self._session.run(names, feeds)
        except Exception as error:  # ONNX Runtime's own classes; almost always shapes that do not go together
            raise InferenceError(f"the model could not compute this: {error}") from error

    def _output_names(self, payload: InferenceRequest) -> List[str]:
        known = [tensor.name for tensor in self.outputs or []]
        wanted = [output.name for output in payload.outputs or []] or known
        for name in wanted:
            if name not in known:
                raise InferenceError(f"no output {name}; the model gives {', '.join(known)}")
        return wanted

    def _decode(self, tensor: RequestInput) -> np.ndarray:
        expected = self._inputs_index.get(tensor.name)
        if expected is None:
            raise InferenceError(f"no input {tensor.name}; the model takes {', '.join(self._dtypes)}")
        datatype = tensor.datatype.value if hasattr(tensor.datatype, "value") else str(tensor.datatype)
        dtype = self._dtypes[tensor.name]
        if not np.can_cast(NUMPY_OF[datatype], dtype, "same_kind"):
            raise InferenceError(f"input {tensor.name} has datatype {datatype}, expected {describe_type(dtype)}")
        fits = len(tensor.shape) == len(expected.shape) and all(
            want in (-1, have) for want, have in zip(expected.shape, tensor.shape)
        )
        if not fits:
            raise InferenceError(
                f"input {tensor.name} has shape {tensor.shape}, expected {expected.shape} (-1: any size)"
            )
        data = getattr(tensor.data, "root", tensor.data)
        try:
            if isinstance(data, np.ndarray):
                array = data.astype(dtype, copy=False)
            else:
                array = np.array(flatten(data), dtype=object) if dtype is np.object_ else np.array(data, dtype=dtype)
            return array.reshape(tensor.shape)
        except (ValueError, TypeError, OverflowError) as error:
            raise InferenceError(
                f"the data of input {tensor.name} is not {describe_type(dtype)} of shape {tensor.shape}: {error}"
            ) from error


def open_session(path: str, options: Any, extra: Dict[str, Any]) -> Any:
    """On a GPU where this build of ONNX Runtime finds one; with `device: cuda` there or nowhere."""
    if extra.get("device") == "cuda":
        return open_on_gpu(path, options)
    wanted = extra.get("providers") or [CUDA, CPU]
    providers = [name for name in wanted if name in onnxruntime.get_available_providers()]
    return onnxruntime.InferenceSession(path, options, providers=providers)


def open_on_gpu(path: str, options: Any) -> Any:
    require_gpu()
    onnxruntime.preload_dlls()  # NVIDIA's libraries of this environment
    # What a share of a GPU has left goes to nobody who has not asked for it.
    cuda = (CUDA, {"arena_extend_strategy": "kSameAsRequested"})
    options.add_session_config_entry(ALL_ON_GPU, "1")
    try:
        session = onnxruntime.InferenceSession(path, options, providers=[cuda])
    except Exception as error:  # ONNX Runtime's own classes
        if "fallback to CPU EP has been explicitly disabled" not in str(error):
            raise
        # It leaves small sums over shapes to the CPU, and what its provider does not have.
        print(f"[flexrack] not every operator of this model is on the GPU: {error}", file=sys.stderr, flush=True)
        options.add_session_config_entry(ALL_ON_GPU, "0")
        session = onnxruntime.InferenceSession(path, options, providers=[cuda, CPU])
    # ONNX Runtime goes on without a provider that did not come up, and only logs why.
    if CUDA not in session.get_providers():
        raise RuntimeError("ONNX Runtime's CUDA provider did not come up; the lines above say why")
    return session


def require_gpu() -> None:
    """ONNX Runtime 1.22 ends with SIGSEGV where there is none, and nobody reads why."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise RuntimeError(f"found no GPU: there is no driver of CUDA ({error}). {LEASE}") from error
    count = ctypes.c_int()
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status != 0 or count.value == 0:
        raise RuntimeError(f"found no GPU: the driver of CUDA says {status}, {count.value} devices. {LEASE}")


def describe(node: Any) -> MetadataTensor:
    shape = [size if isinstance(size, int) and size >= 0 else -1 for size in node.shape or []]
    return MetadataTensor(name=node.name, datatype=TYPES[node.type][0], shape=shape)


def describe_type(dtype: Any) -> str:
    return next(name for name, known in TYPES.values() if known is dtype)


def encode(name: str, array: np.ndarray) -> ResponseOutput:
    datatype = next((kind for kind, known in TYPES.values() if np.dtype(known) == array.dtype), "BYTES")
    return ResponseOutput(name=name, shape=list(array.shape), datatype=datatype, data=array)


def flatten(data: Any) -> List[Optional[str]]:
    if isinstance(data, (list, tuple)):
        return [item for part in data for item in flatten(part)]
    return [data.decode() if isinstance(data, bytes) else data]
