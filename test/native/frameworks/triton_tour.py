"""Triton by itself: its compiler makes PTX of each kernel, which the driver is given."""

import ctypes

import numpy as np
import triton
import triton.language as tl
from driver import Driver
from stops import Tour
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

tour, driver = Tour(), Driver()
random = np.random.default_rng(0)


def run(kernel, kinds, constants, blocks, arrays, numbers=(), warps=4):
    """Compiled for capability 12.0 and launched: what is in the last of the arrays then."""
    signature = {**dict(zip(kernel.arg_names, kinds)), **{name: "constexpr" for name in constants}}
    # What its launcher finds out by itself: memory begins at a multiple of 16, which asynchronous copies need.
    aligned = {(number,): [["tt.divisibility", 16]] for number, kind in enumerate(kinds) if kind.startswith("*")}
    made = triton.compile(
        ASTSource(kernel, signature=signature, constexprs=constants, attrs=aligned),
        target=GPUTarget("cuda", 120, 32),
        options={"num_warps": warps},
    )
    places = [driver.put(one) for one in arrays]
    function = driver.load(made.asm["ptx"], made.metadata.name)
    driver.launch(
        function,
        blocks,
        32 * warps,
        made.metadata.shared,
        [*map(ctypes.c_uint64, places), *map(ctypes.c_int32, numbers)],
    )
    return driver.get(places[-1], arrays[-1]), made.asm["ptx"]


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
    row = tl.exp(row - tl.max(row, 0))
    tl.store(out + tl.program_id(0) * columns + at, row / tl.sum(row, 0), mask=at < columns)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def count(x, bins, length, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + at, mask=at < length, other=0), 1, mask=at < length)


@triton.jit
def product(a, b, out, N: tl.constexpr, K: tl.constexpr, TILE: tl.constexpr, PRECISION: tl.constexpr):
    m, n, k = (
        tl.program_id(0) * TILE + tl.arange(0, TILE),
        tl.program_id(1) * TILE + tl.arange(0, TILE),
        tl.arange(0, TILE),
    )
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for first in range(0, K, TILE):
        left = tl.load(a + m[:, None] * K + (first + k)[None, :])
        right = tl.load(b + (first + k)[:, None] * N + n[None, :])
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(out + m[:, None] * N + n[None, :], total)


def upper(array):
    """bfloat16 as numbers of 16 bits, cut off."""
    return (array.view(np.uint32) >> 16).astype(np.uint16)


def value(array):
    return ((array.astype(np.uint32) << 16).view(np.float32) if array.dtype == np.uint16 else array).astype(np.float64)


x = random.standard_normal((6, 100)).astype(np.float32)
wanted = np.exp(x - x.max(1, keepdims=True))
tour.stop(
    "softmax",
    run(softmax, ["*fp32", "*fp32", "i32"], {"BLOCK": 128}, (6, 1, 1), [x, np.zeros_like(x)], [100])[0],
    wanted / wanted.sum(1, keepdims=True),
    1e-6,
)
x = random.standard_normal((4, 256)).astype(np.float32)
tour.stop(
    "scan",
    run(scan, ["*fp32", "*fp32"], {"BLOCK": 256}, (4, 1, 1), [x, np.zeros_like(x)])[0],
    np.cumsum(x, 1, dtype=np.float64),
    1e-5,
)
numbers = random.integers(0, 10, 1000).astype(np.int32)
tour.same(
    "histogram by atomics",
    run(count, ["*i32", "*i32", "i32"], {"BLOCK": 256}, (4, 1, 1), [numbers, np.zeros(10, np.int32)], [1000])[0],
    np.bincount(numbers, minlength=10),
)
a, b = random.standard_normal((64, 96)).astype(np.float32), random.standard_normal((96, 32)).astype(np.float32)
sizes, blocks, out = {"N": 32, "K": 96, "TILE": 32, "PRECISION": "ieee"}, (2, 1, 1), np.zeros((64, 32), np.float32)
tour.stop("matrix product", run(product, ["*fp32"] * 3, sizes, blocks, [a, b, out])[0], a.astype(np.float64) @ b, 1e-6)
for name, kind, left, right, mma, within in (
    ("half precision", "*fp16", a.astype(np.float16), b.astype(np.float16), "m16n8k16.row.col.f32.f16.f16.f32", 1e-5),
    ("bfloat16", "*bf16", upper(a), upper(b), "m16n8k16.row.col.f32.bf16.bf16.f32", 1e-5),
    ("TF32", "*fp32", a, b, "m16n8k8.row.col.f32.tf32.tf32.f32", 2e-3),
):
    got, text = run(product, [kind, kind, "*fp32"], sizes | {"PRECISION": "tf32"}, blocks, [left, right, out])
    tour.says(f"{name} is computed by tensor cores", f"mma.sync.aligned.{mma}" in text)
    tour.says(f"{name}: tiles come by cp.async and ldmatrix", "cp.async" in text and "ldmatrix" in text)
    tour.stop(f"matrix product in {name}", got, value(left) @ value(right), within)
tour.end()
