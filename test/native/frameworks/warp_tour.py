"""Warp: kernels that it compiles with the NVRTC in its wheel, and its own precompiled ones."""

import os
import tempfile

import numpy as np
from stops import Tour

os.environ.setdefault("WARP_CACHE_PATH", tempfile.mkdtemp(prefix="warp-"))
import warp as wp  # noqa: E402  (after its cache is named)

wp.config.quiet = True
wp.init()
tour = Tour()
random = np.random.default_rng(0)


@wp.kernel
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + wp.sin(y[i])


@wp.kernel
def total(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    wp.atomic_add(out, 0, x[wp.tid()])


@wp.kernel
def lengths(points: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.length(wp.cross(points[i], wp.vec3(1.0, 2.0, 3.0)))


@wp.kernel
def loss(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    value = x[wp.tid()]
    wp.atomic_add(out, 0, value * value * value)


def on(device, dim, kernel, inputs, outputs):
    given = [wp.array(one, dtype=kind, device=device) if kind else one for one, kind in inputs]
    made = [wp.array(one, dtype=kind, device=device) for one, kind in outputs]
    wp.launch(kernel, dim=dim, inputs=given, outputs=made, device=device)
    return [one.numpy() for one in made]


x, y = random.standard_normal(1000).astype(np.float32), random.standard_normal(1000).astype(np.float32)
points = random.standard_normal((500, 3)).astype(np.float32)
for name, dim, kernel, inputs, outputs, within in (
    ("saxpy and sine", 1000, saxpy, [(2.5, None), (x, float)], [(y, float)], 1e-6),
    ("atomic sum", 1000, total, [(x, float)], [(np.zeros(1, np.float32), float)], 1e-4),
    ("vectors", 500, lengths, [(points, wp.vec3)], [(np.zeros(500, np.float32), float)], 1e-6),
):
    tour.stop(name, on("cuda:0", dim, kernel, inputs, outputs)[0], on("cpu", dim, kernel, inputs, outputs)[0], within)


def gradient(device):
    given = wp.array(x, dtype=float, device=device, requires_grad=True)
    out = wp.zeros(1, dtype=float, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(loss, dim=1000, inputs=[given], outputs=[out], device=device)
    tape.backward(out)
    return given.grad.numpy()


def sums(device):
    given, out = wp.array(x, dtype=float, device=device), wp.zeros(1000, dtype=float, device=device)
    wp.utils.array_scan(given, out, inclusive=True)
    keys = wp.array(np.concatenate([(x * 1000).astype(np.int32), np.zeros(1000, np.int32)]), dtype=int, device=device)
    values = wp.array(np.arange(2000, dtype=np.int32), dtype=int, device=device)
    wp.utils.radix_sort_pairs(keys, values, 1000)
    return out.numpy(), keys.numpy()[:1000]


tour.stop("gradient by its tape", gradient("cuda:0"), gradient("cpu"), 1e-6)
scanned, ordered = sums("cuda:0")
tour.stop("scan (its own kernels)", scanned, np.cumsum(x, dtype=np.float64), 1e-4)
tour.same("radix sort (its own kernels)", ordered, np.sort((x * 1000).astype(np.int32)))
tour.end()
