"""The ResNet-50 of template pytorch-bench under torch.compile: steps of training beside the CPU's, eager, and how long
a step takes.

    torch_resnet_tour.py [BATCH [LENGTH [STEPS]]]    images a step, their side in pixels (4 and 64: `--size small`), steps

PyTorch gives convolutions to cuDNN, whose kernels are machine code for cards that are: here they are patches and
matrix products, which Triton's templates compute. All else is the template's own.
"""

import json
import sys
import time
from pathlib import Path

import torch
import torch._inductor.config as inductor
import torch.nn.functional as F
from stops import Tour
from torch import nn
from torch._inductor.runtime import benchmarking
from torch._inductor.select_algorithm import add_preprocessing_fn

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "templates" / "pytorch-bench"))
import workload  # noqa: E402  (after the path)

inductor.compile_threads = 1
inductor.deterministic = True
inductor.joint_graph_constant_folding = False
inductor.shape_padding = False
inductor.max_autotune_gemm, inductor.max_autotune_gemm_backends = True, "TRITON"
# The nine pictures of a convolution of 3x3 become patches in one kernel.
inductor.max_pointwise_cat_inputs = 9
# Nothing is timed to choose between kernels; of a template's settings the first is taken.
type(benchmarking.benchmarker).benchmark_gpu = lambda *_, **__: 1.0
add_preprocessing_fn(lambda choices: choices[:1])
tour = Tour()
GPU = torch.device("cuda")


class Products(nn.Module):
    """A convolution without bias as a matrix product of its patches."""

    def __init__(self, of: nn.Conv2d) -> None:
        super().__init__()
        self.weight, self.kernel, self.stride, self.padding = of.weight, of.kernel_size[0], of.stride[0], of.padding[0]

    def forward(self, x):
        kernel, stride = self.kernel, self.stride
        x = F.pad(x, [self.padding] * 4)
        high, wide = ((side - kernel) // stride + 1 for side in x.shape[2:])
        if kernel > 3:  # images, of which nobody wants a gradient: a view
            patches = x.unfold(2, kernel, stride).unfold(3, kernel, stride).permute(0, 2, 3, 4, 5, 1)
        else:
            patches = torch.cat(
                [
                    x[:, :, i : i + stride * (high - 1) + 1 : stride, j : j + stride * (wide - 1) + 1 : stride]
                    for i in range(kernel)
                    for j in range(kernel)
                ],
                1,
            ).permute(0, 2, 3, 1)
        weights = self.weight.permute(2, 3, 1, 0).reshape(-1, self.weight.shape[0])
        out = patches.reshape(-1, weights.shape[0]) @ weights
        return out.reshape(x.shape[0], high, wide, -1).permute(0, 3, 1, 2)


def as_products(network):
    for name, child in network.named_children():
        if isinstance(child, nn.Conv2d):
            setattr(network, name, Products(child))
        else:
            as_products(child)
    return network


def train(work, steps, compiled, device):
    """Losses, the weights after them, and the seconds of each step, its compilation included."""
    network, inputs, targets = work.network.to(device), work.inputs.to(device), work.targets.to(device)
    optimizer = work.optimizer(network.parameters())
    loss_of = compiled(lambda: F.cross_entropy(network(inputs), targets))
    advance = compiled(optimizer.step)
    one = torch.ones(()).to(device)
    losses, seconds = [], []
    for number in range(steps):
        began = time.monotonic()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of()
        loss.backward(one)
        advance()
        losses.append(float(loss.detach().cpu()))
        seconds.append(time.monotonic() - began)
        print(f"{device} step {number + 1}: {losses[-1]:.6f}, {seconds[-1]:.1f} s", file=sys.stderr, flush=True)
    return losses, torch.cat([one.detach().cpu().flatten() for one in network.parameters()]), seconds


batch, length, steps = [*map(int, sys.argv[1:]), *(4, 64, 3)[len(sys.argv) - 1 :]]


def made():
    return workload.build("resnet50", "small", batch, length, torch.device("cpu"), 0)


cpu = train(made(), steps, lambda function: function, "cpu")
work = made()
as_products(work.network)
gpu = train(work, steps, lambda function: torch.compile(function, dynamic=False), GPU)
tour.stop(f"ResNet-50, losses of {steps} steps", gpu[0], cpu[0], 1e-4)
tour.says("ResNet-50 learns", cpu[0][-1] < cpu[0][0], str(cpu[0]))
tour.stop("ResNet-50, weights after them", gpu[1].numpy(), cpu[1].numpy(), 1e-3)
print(json.dumps({"stop": "seconds of each step", "batch": batch, "length": length, "seconds": gpu[2]}), flush=True)
tour.end()
