"""PyTorch through torch.compile: Triton makes PTX of every kernel. Losses and weights beside those of the CPU, eager.

PyTorch's own kernels are machine code only, and a GPU in software refuses them: what is not compiled here is copied
from and to the CPU.
"""

import os
import sys
from pathlib import Path

import torch
import torch._inductor.config as inductor
import torch.nn.functional as F
from stops import Tour
from torch._inductor.runtime import benchmarking
from torch._inductor.select_algorithm import add_preprocessing_fn
from torch._inductor.utils import run_and_get_code

inductor.compile_threads = 1
inductor.deterministic = True
inductor.joint_graph_constant_folding = False
# Whether products are faster padded is found by timing, too.
inductor.shape_padding = False
# Nothing is timed to choose between kernels: a GPU in software says nothing of that, and one of PyTorch's own kernels
# would clear memory in between.
type(benchmarking.benchmarker).benchmark_gpu = lambda *_, **__: 1.0
torch.manual_seed(0)
tour = Tour()
GPU = torch.device("cuda")


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, dynamic=False)


def stop(name, function, inputs, within=1e-5):
    expected = function(*inputs)
    got = compiled(function)(*[one.to(GPU) for one in inputs])
    tour.stop(name, got.cpu().numpy(), expected.numpy(), within)


def product(x, w):
    """A matrix product of element-wise parts and sums."""
    return (x.unsqueeze(-1) * w.unsqueeze(0)).sum(1)


def element_wise():
    x, y = torch.randn(64, 48), torch.randn(64, 48)
    stop("element-wise", lambda a, b: F.gelu(a) * torch.sigmoid(b) + torch.exp(-a * a), [x, y])
    stop("sums and largest", lambda a, b: (a * b).sum(1) + a.amax(1), [x, y])
    stop("softmax", lambda a: torch.softmax(a, dim=-1), [x])
    stop("layer norm", lambda a: F.layer_norm(a, (48,)), [x])
    stop("half precision", lambda a: (a.half() * 3).float(), [x], 1e-3)


def step_of(loss, rate):
    """One step of SGD as a pure function: weights and a batch to the loss and the next weights."""

    def step(weights, *batch):
        gradients, value = torch.func.grad_and_value(loss)(weights, *batch)
        return value, [one - rate * g for one, g in zip(weights, gradients)]

    return step


def train(name, loss, parameters, batches, steps, rate, within=1e-5):
    """Losses and weights of so many steps, on the CPU and compiled on the GPU, from the same beginning."""

    def run(device, step):
        weights = [one.to(device) for one in parameters]
        losses = []
        for number in range(steps):
            value, weights = step(weights, *[one.to(device) for one in batches[number % len(batches)]])
            losses.append(float(value.cpu()))
        return losses, [one.cpu() for one in weights]

    step = step_of(loss, rate)
    cpu, gpu = run("cpu", step), run(GPU, compiled(step))
    tour.stop(f"{name}, losses of {steps} steps", gpu[0], cpu[0], within)
    tour.says(f"{name} learns", cpu[0][-1] < cpu[0][0], str(cpu[0]))
    flat = [torch.cat([one.flatten() for one in weights]).numpy() for weights in (gpu[1], cpu[1])]
    tour.stop(f"{name}, weights after them", *flat, within * 10)


def mlp():
    def loss(weights, x, y):
        a, b, c, d = weights
        return F.cross_entropy(product(F.gelu(product(x, a) + b), c) + d, y)

    batches = [(torch.randn(32, 16), torch.randint(0, 4, (32,))) for _ in range(2)]
    train(
        "MLP",
        loss,
        [torch.randn(16, 24) * 0.3, torch.zeros(24), torch.randn(24, 4) * 0.3, torch.zeros(4)],
        batches,
        6,
        0.5,
    )


def transformer():
    """One block with causal attention of two heads, on made-up text: the next byte of a sequence that repeats."""
    width, heads, length, words = 16, 2, 12, 8

    def loss(weights, tokens):
        embedding, places, q, k, v, out, up, down = weights
        x = embedding[tokens[:, :-1]] + places
        y = F.layer_norm(x, (width,))
        q, k, v = (
            product(y.reshape(-1, width), one).reshape(*y.shape[:2], heads, -1).transpose(1, 2) for one in (q, k, v)
        )
        scores = (q.unsqueeze(3) * k.unsqueeze(2)).sum(-1) / (width // heads) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        mixed = (torch.softmax(scores.masked_fill(~mask, float("-inf")), -1).unsqueeze(-1) * v.unsqueeze(2)).sum(3)
        x = x + product(mixed.transpose(1, 2).reshape(-1, width), out).reshape(x.shape)
        x = x + product(F.gelu(product(F.layer_norm(x, (width,)).reshape(-1, width), up)), down).reshape(x.shape)
        return F.cross_entropy(product(x.reshape(-1, width), embedding.t()), tokens[:, 1:].reshape(-1))

    beginning = torch.randint(0, words, (4, 1))
    tokens = (beginning + torch.arange(length + 1) * 3) % words
    shapes = [(words, width), (length, width), *[(width, width)] * 4, (width, 32), (32, width)]
    train("transformer", loss, [torch.randn(shape) * 0.2 for shape in shapes], [(tokens,)], 4, 0.3)


def digits():
    """The digits of scikit-learn's set by a small CNN: a convolution is nine shifted pictures, multiplied and summed."""
    from sklearn.datasets import load_digits

    found = load_digits()
    images, labels = torch.tensor(found.images / 16.0, dtype=torch.float32), torch.tensor(found.target)

    def convolve(x, w, b):
        padded = F.pad(x, (1, 1, 1, 1))
        shifted = torch.stack(
            [padded[:, :, i : i + x.shape[2], j : j + x.shape[3]] for i in range(3) for j in range(3)], 2
        )
        return (shifted.unsqueeze(1) * w[None, :, :, :, None, None]).sum((2, 3)) + b[None, :, None, None]

    def loss(weights, x, y):
        k, kb, w, b = weights
        hidden = F.relu(convolve(x.unsqueeze(1), k, kb)).reshape(x.shape[0], 8, 4, 2, 4, 2).amax((3, 5))
        return F.cross_entropy(product(hidden.reshape(x.shape[0], -1), w) + b, y)

    batches = [(images[i : i + 64], labels[i : i + 64]) for i in range(0, 512, 64)]
    train(
        "digits CNN",
        loss,
        [torch.randn(8, 1, 9) * 0.3, torch.zeros(8), torch.randn(128, 10) * 0.1, torch.zeros(10)],
        batches,
        16,
        0.5,
        1e-4,
    )


def written():
    """All PTX that Triton has made so far."""
    return [file.read_text() for file in Path(os.environ["TRITON_CACHE_DIR"]).rglob("*.ptx")]


def templates():
    """Matrix products by Triton's templates, fused with what follows. No library may be called; of a template's
    settings one is taken, so that none is timed: for tensor cores one of several stages. What computes, and how tiles
    get there, is looked up in the PTX.
    """
    inductor.max_autotune_gemm, inductor.max_autotune_gemm_backends = True, "TRITON"
    stages = 1
    add_preprocessing_fn(
        lambda choices: [one for one in choices if f"num_stages={stages}," in one.description][:1] or choices[:1]
    )
    whole, half, brain = torch.float32, torch.float16, torch.bfloat16
    two, three, linear = [(64, 48), (48, 80)], [(3, 32, 48), (3, 48, 40)], [(64, 48), (32, 48), (32,)]
    # Below 512 no template takes TF32.
    square, added, large = [(64, 128), (128, 64)], [(80,), (64, 128), (128, 80)], [(32, 512), (512, 512)]
    for name, function, shapes, kind, within, instruction in (
        ("a @ b by a template", torch.matmul, two, whole, 1e-5, "fma.rn.f32"),
        ("a batch of products by a template", torch.bmm, three, whole, 1e-5, "fma.rn.f32"),
        ("gelu(Linear) by a template", lambda x, w, b: F.gelu(F.linear(x, w, b)), linear, whole, 1e-5, "fma.rn.f32"),
        (
            "half precision by a template",
            torch.matmul,
            square,
            half,
            2e-3,
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        ),
        (
            "bfloat16 by a template",
            torch.matmul,
            square,
            brain,
            1e-2,
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        ),
        (
            "a batch of bfloat16 by a template",
            torch.bmm,
            [(3, 32, 128), (3, 128, 40)],
            brain,
            1e-2,
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        ),
        (
            "c + a @ b of halves by a template",
            torch.addmm,
            added,
            half,
            2e-3,
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        ),
        ("TF32 by a template", torch.matmul, large, whole, 2e-3, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ):
        torch.set_float32_matmul_precision("high" if name.startswith("TF32") else "highest")
        is_tensor = instruction.startswith("mma")
        stages = 5 if is_tensor else 1
        given = [torch.randn(shape).to(kind) for shape in shapes]
        before = len(written())
        got, code = run_and_get_code(compiled(function), *[one.to(GPU) for one in given])
        tour.stop(name, got.cpu().float().numpy(), function(*[one.float() for one in given]).numpy(), within)
        tour.says(f"{name}: it is Triton's", "triton_tem" in code[0] and "extern_kernels." not in code[0], code[0])
        made = [text for text in written() if instruction in text]
        tour.says(f"{name}: {instruction}", len(written()) > before and made)
        if is_tensor:
            tour.says(
                f"{name}: tiles by cp.async and ldmatrix",
                any("cp.async" in text and "ldmatrix" in text for text in made),
            )
    torch.set_float32_matmul_precision("highest")
    stages = 1

    def loss(weights, x, y):
        a, b, c, d = weights
        return F.cross_entropy(F.linear(F.gelu(F.linear(x, a, b)), c, d), y)

    batches = [(torch.randn(32, 16), torch.randint(0, 4, (32,))) for _ in range(2)]
    train(
        "MLP of templates",
        loss,
        [torch.randn(32, 16) * 0.3, torch.zeros(32), torch.randn(4, 32) * 0.3, torch.zeros(4)],
        batches,
        4,
        0.5,
    )


PARTS = {"element-wise": element_wise, "mlp": mlp, "transformer": transformer, "digits": digits, "templates": templates}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
    tour.end()
