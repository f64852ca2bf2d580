"""Trains the digits of scikit-learn's set with kernels that torch.compile makes, on whatever GPU there is; --device cpu
compares.
"""

import argparse
import time

import torch
from sklearn.datasets import load_digits

import model


def main() -> None:
    options = read_options()
    device = torch.device(options.device)
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        is_software = name.startswith("Flexrack Simulated GPU")
        print(
            f"GPU: {name}"
            + (
                ", which is SOFTWARE: it computes on the CPU, and says nothing of how fast a card is"
                if is_software
                else ""
            ),
            flush=True,
        )
        prepare_compiler(is_software)
        print(
            "Compiling the training step: a minute or more, seconds where the compiler kept it from before", flush=True
        )

    def step(parameters, images, labels):
        gradients, value = torch.func.grad_and_value(model.loss)(parameters, images, labels)
        return value, [one - options.learning_rate * gradient for one, gradient in zip(parameters, gradients)]

    run, read = (
        (step, model.scores)
        if device.type == "cpu"
        else (torch.compile(step, dynamic=False), torch.compile(model.scores, dynamic=False))
    )
    digits = load_digits()
    images, labels = torch.tensor(digits.images / 16.0, dtype=torch.float32), torch.tensor(digits.target)
    test = slice(1536, 1792)
    parameters = [one.to(device) for one in model.weights(options.seed)]
    began = time.monotonic()
    for epoch in range(options.epochs):
        losses = []
        for at in range(0, 1536, options.batch_size):
            batch = slice(at, at + options.batch_size)
            value, parameters = run(parameters, images[batch].to(device), labels[batch].to(device))
            losses.append(value)
        mean = torch.stack([one.cpu() for one in losses]).mean().item()
        right = (read(parameters, images[test].to(device)).cpu().argmax(1) == labels[test]).float().mean().item()
        print(
            f"epoch {epoch + 1}/{options.epochs}  loss {mean:.6f}  test accuracy {right:.4f}  {time.monotonic() - began:.0f} s",
            flush=True,
        )


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda", help="cuda, or cpu to compare")
    return parser.parse_args()


def prepare_compiler(is_software: bool) -> None:
    """On a GPU in software nothing is timed to choose between kernels, and nothing computed ahead: PyTorch's own
    kernels, which it has none of, would take part.
    """
    if is_software:
        import torch._inductor.config as inductor
        from torch._inductor.runtime import benchmarking

        inductor.compile_threads = 1
        inductor.joint_graph_constant_folding = False
        type(benchmarking.benchmarker).benchmark_gpu = lambda *_, **__: 1.0


if __name__ == "__main__":
    main()
