"""ONNX Runtime's CUDA provider with NVIDIA's cuBLAS and cuDNN, each model on the CPU too; falling back to the CPU is
forbidden.
"""

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper
from stops import Tour

ort.preload_dlls()
random = np.random.default_rng(0)
tour = Tour()


def session(model, provider):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if provider != "CPUExecutionProvider":
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return ort.InferenceSession(model, options, providers=[provider])


def stop(name, nodes, inputs, initial=(), outputs=("y",), within=1e-5):
    value = lambda label, shape: helper.make_tensor_value_info(label, TensorProto.FLOAT, shape)  # noqa: E731
    graph = helper.make_graph(
        nodes,
        name,
        [value(label, array.shape) for label, array in inputs.items()],
        [value(label, None) for label in outputs],
        [
            helper.make_tensor(
                label, TensorProto.INT64 if array.dtype == np.int64 else TensorProto.FLOAT, array.shape, array.flatten()
            )
            for label, array in initial
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    gpu, cpu = session(model, "CUDAExecutionProvider"), session(model, "CPUExecutionProvider")
    assert gpu.get_providers()[0] == "CUDAExecutionProvider", gpu.get_providers()
    for got, expected in zip(gpu.run(None, inputs), cpu.run(None, inputs)):
        tour.stop(name, got, expected, within)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


node = helper.make_node
a, b = floats(8, 16), floats(8, 16)
stop(
    "Add, Sigmoid, Erf",
    [node("Add", ["a", "b"], ["s"]), node("Sigmoid", ["s"], ["t"]), node("Erf", ["t"], ["y"])],
    {"a": a, "b": b},
)
stop("Softmax", [node("Softmax", ["a"], ["y"], axis=-1)], {"a": a})
stop(
    "LayerNormalization",
    [node("LayerNormalization", ["a", "g", "h"], ["y"], axis=-1)],
    {"a": a},
    [("g", floats(16)), ("h", floats(16))],
)
stop("ReduceMean", [node("ReduceMean", ["a"], ["y"], axes=[1], keepdims=0)], {"a": a})
stop("MatMul", [node("MatMul", ["a", "w"], ["y"])], {"a": a}, [("w", floats(16, 12))])
stop("Gemm", [node("Gemm", ["a", "w", "c"], ["y"], transB=1)], {"a": a}, [("w", floats(12, 16)), ("c", floats(12))])
stop(
    "Conv",
    [node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])],
    {"x": floats(1, 3, 8, 8)},
    [("w", floats(4, 3, 3, 3))],
)
# A small network for digits, as exporters write it.
stop(
    "digits CNN",
    [
        node("Conv", ["x", "k", "kb"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"]),
        node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", ["p"], ["f"]),
        node("Gemm", ["f", "w", "wb"], ["l"]),
        node("Softmax", ["l"], ["y"], axis=1),
    ],
    {"x": floats(4, 1, 8, 8)},
    [("k", floats(6, 1, 3, 3)), ("kb", floats(6)), ("w", floats(96, 10)), ("wb", floats(10))],
)
tour.end()
