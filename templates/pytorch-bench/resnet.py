"""ResNet-50: He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition" (arXiv:1512.03385), table 1, column
"50-layer".

Where benchmarks of ResNet-50 differ from that paper, so does this: a block that halves the image does it in its 3x3
convolution (known as v1.5), and the last normalisation of each block begins at zero, so that the block begins as the
identity (Goyal et al., arXiv:1706.02677, section 5.1).
"""

import torch
from torch import nn

# Blocks, and the width within them, of the four stages; a block puts out EXPANSION times its width.
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
EXPANSION = 4


def build(classes: int = 1000) -> nn.Module:
    """Images (N, 3, H, W) in, H and W at least 32; one score for each class (N, classes) out. 25,557,032 parameters for
    1,000 classes.
    """
    layers = [convolution(3, 64, 7, stride=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2, padding=1)]
    channels = 64
    for stage, (blocks, width) in enumerate(STAGES):
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, stride=2 if stage > 0 and block == 0 else 1))
            channels = width * EXPANSION
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolutions, added to what came in (figure 5, right); that is projected where its shape differs
    (option B).
    """

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        out = width * EXPANSION
        self.branch = nn.Sequential(
            convolution(channels, width, 1),
            nn.ReLU(inplace=True),
            convolution(width, width, 3, stride),
            nn.ReLU(inplace=True),
            convolution(width, out, 1),
        )
        nn.init.zeros_(self.branch[-1][1].weight)
        self.shortcut = convolution(channels, out, 1, stride) if stride != 1 or channels != out else nn.Identity()

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.branch(images) + self.shortcut(images))


def convolution(channels: int, out: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Convolution without bias, then batch normalisation; weights begin as in He et al., arXiv:1502.01852."""
    weights = nn.Conv2d(channels, out, kernel, stride, padding=kernel // 2, bias=False)
    nn.init.kaiming_normal_(weights.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(weights, nn.BatchNorm2d(out))
