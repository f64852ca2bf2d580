"""What is trained: a network, an optimizer, and one batch of made-up data that stays on the device, so that nothing but
computing and communicating is timed.
"""

from dataclasses import dataclass

import torch
from torch import nn

import gpt
import resnet

CLASSES = 1000


@dataclass(frozen=True)
class Size:
    """How much of it. `batch` is a rank's and step's; `length` is the side of an image in pixels, or the tokens of a
    sequence.
    """

    batch: int
    length: int
    warm_up: int
    windows: int
    steps: int


# By what --size and --model say. `small` is for CPUs: ResNet-50 is the same network on smaller images, the GPT a
# smaller one.
SIZES = {
    "small": {
        "resnet50": Size(batch=4, length=64, warm_up=5, windows=3, steps=3),
        "gpt": Size(batch=2, length=128, warm_up=5, windows=3, steps=3),
    },
    "full": {
        "resnet50": Size(batch=64, length=224, warm_up=20, windows=10, steps=10),
        "gpt": Size(batch=8, length=1024, warm_up=20, windows=10, steps=10),
    },
}


@dataclass
class Workload:
    network: nn.Module
    inputs: torch.Tensor
    targets: torch.Tensor
    unit: str  # what is counted: images or tokens
    count: int  # of them a rank and step

    def optimizer(self, parameters) -> torch.optim.Optimizer:
        """What each of these networks is known to be trained with; the rates are small enough for any batch."""
        if self.unit == "images":
            return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=1e-4)
        return torch.optim.AdamW(parameters, lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)

    def loss(self, scores: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(scores.flatten(0, -2), self.targets.flatten())


def build(model: str, size: str, batch: int, length: int, device: torch.device, rank: int) -> Workload:
    """The network is the same on every rank, the data is each rank's own. Raises ValueError for a length the model
    cannot have.
    """
    torch.manual_seed(0)
    with device:
        network = resnet.build(CLASSES) if model == "resnet50" else gpt.Gpt(shape_of(size, length))
        torch.manual_seed(1 + rank)
        if model == "resnet50":
            network = network.to(memory_format=torch.channels_last)
            images = torch.randn(batch, 3, length, length).to(memory_format=torch.channels_last)
            return Workload(network, images, torch.randint(CLASSES, (batch,)), "images", batch)
        tokens = torch.randint(network.tokens.num_embeddings, (batch, length + 1))
        return Workload(network, tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), "tokens", batch * length)


def shape_of(size: str, length: int) -> gpt.Shape:
    shape = gpt.GPT2 if size == "full" else gpt.SMALL
    if length > shape.context:
        raise ValueError(f"the {size} GPT has a context of {shape.context} tokens, not {length}")
    return shape
