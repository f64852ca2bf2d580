"""A GPT as in Radford et al., "Language Models are Unsupervised Multitask Learners" (GPT-2, 2019), section 2.3.

That is the decoder of Vaswani et al. (arXiv:1706.03762) with the normalisation moved to the input of each part, GELU
(arXiv:1606.08415) in its tanh form, and the matrix that embeds tokens used again to score them (Press and Wolf,
arXiv:1608.05859).
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    context: int
    layers: int
    heads: int
    width: int

    def parameters(self) -> int:
        """How many there are: embeddings of tokens and positions, 12 w^2 + 13 w a layer, and the last normalisation."""
        return (
            (self.vocabulary + self.context) * self.width
            + self.layers * (12 * self.width**2 + 13 * self.width)
            + 2 * self.width
        )


# The smallest model of the paper: 124,439,808 parameters.
GPT2 = Shape(vocabulary=50257, context=1024, layers=12, heads=12, width=768)
SMALL = Shape(vocabulary=2048, context=256, layers=4, heads=4, width=256)


class Gpt(nn.Module):
    """Tokens (N, T) int64 in, T at most the context; a score for each possible next token (N, T, vocabulary) out."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.context, shape.width)
        self.layers = nn.Sequential(*(Layer(shape) for _ in range(shape.layers)))
        self.norm = nn.LayerNorm(shape.width)
        for name, parameter in self.named_parameters():
            # each layer adds to the stream twice; what it adds begins smaller the more layers there are
            if parameter.dim() == 2:
                nn.init.normal_(
                    parameter, std=0.02 / math.sqrt(2 * shape.layers) if name.endswith("out.weight") else 0.02
                )
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        stream = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        return functional.linear(self.norm(self.layers(stream)), self.tokens.weight)


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attend = nn.Sequential(nn.LayerNorm(shape.width), Attention(shape.width, shape.heads))
        self.think = nn.Sequential(nn.LayerNorm(shape.width), Perceptron(shape.width))

    def forward(self, stream: torch.Tensor) -> torch.Tensor:
        stream = stream + self.attend(stream)
        return stream + self.think(stream)


class Attention(nn.Module):
    """Each position looks at itself and those before it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, stream: torch.Tensor) -> torch.Tensor:
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.inputs(stream).chunk(3, dim=-1)
        )
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(seen.transpose(1, 2).flatten(2))


class Perceptron(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inputs = nn.Linear(width, 4 * width)
        self.out = nn.Linear(4 * width, width)

    def forward(self, stream: torch.Tensor) -> torch.Tensor:
        return self.out(functional.gelu(self.inputs(stream), approximate="tanh"))
