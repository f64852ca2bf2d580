"""JAX: XLA makes PTX of every kernel, products by Triton. Values beside those of its CPU, and an MLP trained on both.

XLA assembles PTX by libraries in its wheel, to machine code. It is told to run ptxas instead, and where: a folder whose
ptxas gives PTX on as it is. It asks CUPTI for a version, which wants tables of the driver for profilers; and it looks
for a device file of NVIDIA's before it asks the driver for a GPU.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import nvidia
from stops import Tour

folder = tempfile.TemporaryDirectory(prefix="jax-")
root = Path(folder.name)
(root / "bin").mkdir()
(root / "bin" / "ptxas").symlink_to(os.environ["TRITON_PTXAS_PATH"])
(root / "nvvm").symlink_to(next(Path(one) / "cu13" / "nvvm" for one in nvidia.__path__))
os.environ |= {
    "CUDA_ROOT": str(root),
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "JAX_PLATFORMS": "cuda,cpu",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    # Nothing is timed to choose between kernels: a GPU in software says nothing of that.
    "XLA_FLAGS": "--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false --xla_gpu_autotune_level=0",
}
import jax  # noqa: E402  (after it is told)
import jax.numpy as jnp  # noqa: E402
from jax._src import hardware_utils  # noqa: E402

hardware_utils._NVIDIA_GPU_DEVICES = ["/dev/null"]
jax.config.update("jax_default_matmul_precision", "highest")
GPU, CPU = jax.devices("cuda")[0], jax.devices("cpu")[0]
random, tour = np.random.default_rng(0), Tour()


def on(device, function, *given):
    return jax.tree.map(np.asarray, jax.jit(function)(*[jax.device_put(one, device) for one in given]))


def stop(name, function, *given, within=1e-5):
    tour.stop(name, on(GPU, function, *given), on(CPU, function, *given), within)


tour.says("it is on the GPU", GPU.device_kind.startswith("Flexrack"), GPU.device_kind)
x, y = random.standard_normal((64, 48)).astype(np.float32), random.standard_normal((48, 80)).astype(np.float32)
stop("element-wise", lambda a: jnp.tanh(a) * 2 + jnp.exp(-a * a), x)
stop("sums and largest", lambda a: a.sum(1) + a.max(1), x)
stop("softmax", jax.nn.softmax, x)
stop("a @ b", jnp.matmul, x, y)
stop(
    "half precision, a @ b",
    lambda a, b: jnp.matmul(a.astype(jnp.float16), b.astype(jnp.float16)).astype(jnp.float32),
    x,
    y,
    within=2e-3,
)
stop("sort", lambda a: jnp.sort(a.ravel()), x, within=0)
stop("running sum", lambda a: jnp.cumsum(a, 1), x)
stop("histogram by scatter", lambda a: jnp.zeros(10, jnp.int32).at[a].add(1), random.integers(0, 10, 500), within=0)
stop(
    "random numbers", lambda key: jax.random.normal(jax.random.wrap_key_data(key), (500,)), np.array([1, 2], np.uint32)
)


def loss(weights, images, labels):
    a, b, c, d = weights
    scores = jax.nn.gelu(images @ a + b) @ c + d
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1))


def train(device):
    key = np.random.default_rng(1)
    shapes = [(16, 24), (24,), (24, 4), (4,)]
    weights = [jax.device_put((key.standard_normal(shape) * 0.3).astype(np.float32), device) for shape in shapes]
    batch = [
        jax.device_put(one, device)
        for one in (key.standard_normal((32, 16)).astype(np.float32), key.integers(0, 4, 32))
    ]
    step = jax.jit(jax.value_and_grad(loss))
    losses = []
    for _ in range(6):
        value, gradients = step(weights, *batch)
        weights = [one - np.float32(0.5) * gradient for one, gradient in zip(weights, gradients)]
        losses.append(float(value))
    return losses, np.concatenate([np.asarray(one).ravel() for one in weights])


gpu, cpu = train(GPU), train(CPU)
tour.stop("MLP, losses of 6 steps", gpu[0], cpu[0], 1e-5)
tour.says("MLP learns", cpu[0][-1] < cpu[0][0], str(cpu[0]))
tour.stop("MLP, weights after them", gpu[1], cpu[1], 1e-4)
tour.end()
