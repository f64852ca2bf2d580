"""tinygrad: operations on its CUDA device, whose kernels it writes as PTX itself."""

import numpy as np
import tinygrad_places
from stops import Tour

tinygrad_places.tell()
from tinygrad import Device, Tensor, dtypes  # noqa: E402  (after it is told)

tour = Tour()
random = np.random.default_rng(1)
a, b = (random.standard_normal((7, 9)).astype(np.float32) for _ in range(2))
square = random.standard_normal((9, 5)).astype(np.float32)
image, filters = (
    random.standard_normal((2, 3, 8, 8)).astype(np.float32),
    random.standard_normal((4, 3, 3, 3)).astype(np.float32),
)
whole = random.integers(-50, 50, (6, 6)).astype(np.int32)


def convolved():
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, filters)


def gradient():
    x = Tensor(a, requires_grad=True)
    (x * x * x).sum().backward()
    return x.grad


def step():
    """Of stochastic gradient descent on a least-squares loss."""
    weights = Tensor(square, requires_grad=True)
    (Tensor(a) @ weights).square().sum().backward()
    return weights - 0.1 * weights.grad


OPERATIONS = {
    "add": (lambda: Tensor(a) + Tensor(b), lambda: a + b),
    "multiply and subtract": (lambda: Tensor(a) * Tensor(b) - 2.5, lambda: a * b - 2.5),
    "divide": (lambda: Tensor(a) / (Tensor(b).abs() + 1), lambda: a / (abs(b) + 1)),
    "exponential": (lambda: Tensor(a).exp(), lambda: np.exp(a)),
    "logarithm": (lambda: (Tensor(a).abs() + 1).log(), lambda: np.log(abs(a) + 1)),
    "sine": (lambda: Tensor(a).sin(), lambda: np.sin(a)),
    "square root": (lambda: Tensor(a).abs().sqrt(), lambda: np.sqrt(abs(a))),
    "greatest": (lambda: Tensor(a).maximum(Tensor(b)), lambda: np.maximum(a, b)),
    "where": (lambda: (Tensor(a) > 0).where(Tensor(a), Tensor(b)), lambda: np.where(a > 0, a, b)),
    "sum": (lambda: Tensor(a).sum(axis=1), lambda: a.sum(axis=1)),
    "maximum": (lambda: Tensor(a).max(axis=0), lambda: a.max(axis=0)),
    "softmax": (lambda: Tensor(a).softmax(), lambda: np.exp(a) / np.exp(a).sum(axis=1, keepdims=True)),
    "matrix product": (lambda: Tensor(a) @ Tensor(square), lambda: a @ square),
    "convolution": (lambda: Tensor(image).conv2d(Tensor(filters)), convolved),
    "transpose and pad": (lambda: Tensor(a).T.pad(((1, 0), (0, 2))), lambda: np.pad(a.T, ((1, 0), (0, 2)))),
    "prefix sum": (lambda: Tensor(a).cumsum(axis=1), lambda: a.cumsum(axis=1)),
    "whole numbers": (lambda: Tensor(whole) * 3 // 7 ^ 5, lambda: whole * 3 // 7 ^ 5),
    "half precision": (lambda: Tensor(a).cast(dtypes.half) * 2, lambda: a.astype(np.float16) * 2),
    "gradient": (gradient, lambda: 3 * a * a),
    "training step": (step, lambda: square - 0.2 * a.T @ (a @ square)),
}

for name, (ours, numpys) in OPERATIONS.items():
    found, right = ours().numpy(), numpys()
    tour.stop(name, found, right, 1e-3 if found.dtype == np.float16 else 1e-5)
tour.says("it is on CUDA", Device.DEFAULT == "CUDA", Device.DEFAULT)
tour.end()
