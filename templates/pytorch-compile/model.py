"""A small convolutional network as a function of its weights, of operations that torch.compile makes kernels of by
itself.

A convolution is nine shifted pictures, and a matrix product is a product and a sum: PyTorch would call its libraries
for either one.
"""

import torch
from torch.nn import functional as F


def weights(seed: int) -> list[torch.Tensor]:
    """Kernels and bias of the convolution, weights and bias of the last layer; on the CPU."""
    make = torch.Generator().manual_seed(seed)
    return [
        torch.randn(8, 9, generator=make) * 0.3,
        torch.zeros(8),
        torch.randn(128, 10, generator=make) * 0.1,
        torch.zeros(10),
    ]


def scores(parameters: list[torch.Tensor], images: torch.Tensor) -> torch.Tensor:
    """Images (N, 8, 8) to one score for each of the ten digits (N, 10)."""
    kernels, bias, last, last_bias = parameters
    padded = F.pad(images, (1, 1, 1, 1))
    shifted = torch.stack([padded[:, i : i + 8, j : j + 8] for i in range(3) for j in range(3)], 1)
    hidden = (shifted.unsqueeze(1) * kernels[None, :, :, None, None]).sum(2) + bias[None, :, None, None]
    pooled = F.relu(hidden).reshape(-1, 8, 4, 2, 4, 2).amax((3, 5)).reshape(-1, 128)
    return (pooled.unsqueeze(2) * last.unsqueeze(0)).sum(1) + last_bias


def loss(parameters: list[torch.Tensor], images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores(parameters, images), labels)
