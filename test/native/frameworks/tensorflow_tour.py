"""TensorFlow as its wheel is: operations one by one, products by cuBLAS, convolutions by cuDNN, and an MLP trained on
both. Values beside those of its CPU.

It opens NVIDIA's libraries by name, and does not find cuSOLVER in the folder of its own package: all are opened before.
"""

import ctypes
import os
from pathlib import Path

import numpy as np
import nvidia
from stops import Tour

os.environ |= {"TF_FORCE_GPU_ALLOW_GROWTH": "true", "TF_CPP_MIN_LOG_LEVEL": "1"}
left = sorted(file for root in nvidia.__path__ for file in Path(root).glob("*/lib/lib*.so.*"))
# Some need others: those that do not open yet are tried again behind them.
while left:
    failed = []
    for file in left:
        try:
            ctypes.CDLL(str(file), ctypes.RTLD_GLOBAL)
        except OSError:
            failed.append(file)
    if len(failed) == len(left):
        break
    left = failed
import tensorflow as tf  # noqa: E402  (after what it needs)

# float32 means all of its 24 bits.
tf.config.experimental.enable_tensor_float_32_execution(False)
random, tour = np.random.default_rng(0), Tour()


def on(device, function, *given):
    with tf.device(device):
        return function(*[tf.constant(one) for one in given])


def stop(name, function, *given, within=1e-5):
    gpu = on("/GPU:0", function, *given)
    tour.says(f"{name}: on the GPU", gpu.device.endswith("GPU:0"), gpu.device)
    tour.stop(name, gpu.numpy(), on("/CPU:0", function, *given).numpy(), within)


devices = tf.config.list_physical_devices("GPU")
if not devices:
    raise SystemExit("TensorFlow lists no GPU")
name = tf.config.experimental.get_device_details(devices[0]).get("device_name", "")
tour.says("it is on the GPU", name.startswith("Flexrack"), name)
x, y = random.standard_normal((64, 48)).astype(np.float32), random.standard_normal((48, 80)).astype(np.float32)
stop("element-wise", lambda a: tf.tanh(a) * 2 + tf.exp(-a * a), x)
stop("sums and largest", lambda a: tf.reduce_sum(a, 1) + tf.reduce_max(a, 1), x)
stop("softmax", tf.nn.softmax, x)
stop("transpose", tf.transpose, x, within=0)
stop("gather", lambda a: tf.gather(a, [7, 1, 30]), x, within=0)
stop("running sum", lambda a: tf.cumsum(a, 1), x)
stop("sort", tf.sort, x, within=0)
stop("a @ b", tf.matmul, x, y)
stop(
    "half precision, a @ b",
    lambda a, b: tf.cast(tf.matmul(tf.cast(a, tf.float16), tf.cast(b, tf.float16)), tf.float32),
    x,
    y,
    within=2e-3,
)


def convolve(device):
    """Two convolutions of several channels with what lies between them, and all gradients."""
    key = np.random.default_rng(2)
    with tf.device(device):
        shapes = [(4, 8, 8, 3), (3, 3, 3, 8), (3, 3, 8, 4)]
        images, first, second = [tf.Variable((key.standard_normal(shape) * 0.3).astype(np.float32)) for shape in shapes]
        with tf.GradientTape() as tape:
            hidden = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(images, first, 1, "SAME")), 2, 2, "SAME")
            out = tf.nn.conv2d(hidden, second, 2, "SAME")
            loss = tf.reduce_sum(out * out)
        return out.numpy(), *[one.numpy() for one in tape.gradient(loss, [images, first, second])]


for part, on_gpu, on_cpu in zip(
    ("values", "gradient of the images", "of the first weights", "of the second"),
    convolve("/GPU:0"),
    convolve("/CPU:0"),
):
    tour.stop(f"convolutions, {part}", on_gpu, on_cpu, 1e-5)


def train(device):
    key = np.random.default_rng(1)
    with tf.device(device):
        shapes = [(16, 24), (24,), (24, 4), (4,)]
        weights = [tf.Variable((key.standard_normal(shape) * 0.3).astype(np.float32)) for shape in shapes]
        given = tf.constant(key.standard_normal((32, 16)).astype(np.float32))
        labels = tf.constant(key.integers(0, 4, 32))
        losses = []
        for _ in range(6):
            with tf.GradientTape() as tape:
                a, b, c, d = weights
                scores = tf.matmul(tf.nn.relu(tf.matmul(given, a) + b), c) + d
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
            for one, gradient in zip(weights, tape.gradient(loss, weights)):
                one.assign_sub(0.5 * gradient)
            losses.append(float(loss))
        return losses, np.concatenate([one.numpy().ravel() for one in weights])


gpu, cpu = train("/GPU:0"), train("/CPU:0")
tour.stop("MLP, losses of 6 steps", gpu[0], cpu[0], 1e-5)
tour.says("MLP learns", cpu[0][-1] < cpu[0][0], str(cpu[0]))
tour.stop("MLP, weights after them", gpu[1], cpu[1], 1e-4)
tour.end()
