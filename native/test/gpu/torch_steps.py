"""Training steps of PyTorch as it comes, a ResNet-like and a GPT-like model, in fp32 and bf16 and compiled where that
works. Prints one JSON line a case: {"case", "milliseconds": a step, median, "loss": the last, "note"}. The same seeds
everywhere, so that losses can be compared.
"""

import json
import os
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

DEVICE = os.environ.get("FLEXRACK_TORCH_DEVICE", "cuda")
STEPS, WARM = 20, 5


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.around = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        y = functional.relu(self.first_norm(self.first(x)))
        return functional.relu(self.second_norm(self.second(y)) + self.around(x))


class ResNet(nn.Module):
    """Four stages of two blocks over pictures of 64 by 64."""

    def __init__(self, width=64, classes=100):
        super().__init__()
        sizes = [width, width, 2 * width, 4 * width, 8 * width]
        blocks = [
            Block(sizes[i + half] if half == 0 else sizes[i + 1], sizes[i + 1], 2 if half == 0 and i > 0 else 1)
            for i in range(4)
            for half in (0, 1)
        ]
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, 1, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, classes)
        )

    def forward(self, x):
        return self.body(x)

    def batch(self, size):
        return torch.randn(size, 3, 64, 64, device=DEVICE), torch.randint(100, (size,), device=DEVICE)


class GPT(nn.Module):
    """As GPT-2 small, 86 million parameters in its layers."""

    def __init__(self, layers=12, width=768, heads=12, words=8192, length=256):
        super().__init__()
        self.words, self.length = words, length
        self.embedding, self.position = nn.Embedding(words, width), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        y = self.body(
            self.embedding(x) + self.position(torch.arange(x.shape[1], device=x.device)), mask=mask, is_causal=True
        )
        return self.head(y).flatten(0, 1)

    def batch(self, size):
        words = torch.randint(self.words, (size, self.length + 1), device=DEVICE)
        return words[:, :-1].contiguous(), words[:, 1:].flatten()


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def train(make, size, dtype, is_compiled):
    """(milliseconds a step, last loss)"""
    torch.manual_seed(0)
    model = make().to(DEVICE)
    step_model = torch.compile(model) if is_compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    inputs, targets = model.batch(size)
    times, loss = [], None
    for step in range(WARM + STEPS):
        start = time.perf_counter()
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=dtype == "bf16"):
            loss = functional.cross_entropy(step_model(inputs).float(), targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        wait()
        if step >= WARM:
            times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times), loss.item()


def cases(is_small):
    models = {
        "ResNet": (lambda: ResNet(8 if is_small else 64), 4 if is_small else 64),
        "GPT": (lambda: GPT(2, 64, 4, 512, 32) if is_small else GPT(), 2 if is_small else 8),
        "tiny GPT": (lambda: GPT(2, 64, 4, 512, 32), 8),
    }
    for name, (make, size) in models.items():
        for dtype in ("fp32", "bf16"):
            yield f"{name}, {dtype}", make, size, dtype, False
    yield "GPT, bf16, torch.compile", *models["GPT"], "bf16", True


def main():
    torch.backends.cudnn.benchmark = False
    for name, make, size, dtype, is_compiled in cases("small" in sys.argv[1:]):
        try:
            milliseconds, loss = train(make, size, dtype, is_compiled)
            print(
                json.dumps({"case": name, "milliseconds": round(milliseconds, 4), "loss": loss, "note": ""}), flush=True
            )
        except Exception as error:  # what fails natively too is told beside what does not
            print(
                json.dumps(
                    {"case": name, "milliseconds": None, "loss": None, "note": f"{type(error).__name__}: {error}"[:300]}
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
