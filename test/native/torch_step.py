"""What test_cuda_torch.py runs with the Python of a stock PyTorch: what works without any kernel's result, then
training steps. The kernels of the wheels are machine code, which a GPU in software launches and does not compute: so no
value that a kernel made is looked at. One JSON line at the end: what the client sent and waited for in each part
(FLEXRACK_TRACE), empty where there is no trace.
"""

import json
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from traces import counted, messages, round_trips

trace = os.environ.get("FLEXRACK_TRACE")
parts = {}


class part:
    """Counts what the client sends within."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        torch.cuda.synchronize()
        self.start = os.path.getsize(trace) if trace else 0

    def __exit__(self, *_):
        if not trace:
            return
        with open(trace) as file:
            file.seek(self.start)
            lines = counted(file.read())
        parts[self.name] = {
            "messages": messages(lines),
            "round trips": round_trips(lines),
            "launches": lines.count(("send", "Launch")),
        }


def copies():
    data = torch.arange(1 << 20, dtype=torch.float32)
    there = data.cuda()
    assert torch.equal(there.cpu(), data)
    pinned = data.pin_memory()
    assert pinned.is_pinned()
    stream = torch.cuda.Stream()
    back = torch.empty_like(data).pin_memory()
    with torch.cuda.stream(stream):
        back.copy_(pinned.to("cuda", non_blocking=True), non_blocking=True)
    stream.synchronize()
    assert torch.equal(back, data)
    halves = data.view(1024, 1024)[:, :512].contiguous()
    assert torch.equal(halves.cuda().cpu(), halves)
    assert torch.cuda.memory_allocated() > 0
    del there
    torch.cuda.empty_cache()


def events():
    first, second = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    torch.empty(1 << 20, device="cuda").zero_()
    second.record()
    second.synchronize()
    assert first.elapsed_time(second) >= 0 and first.query()


def batches():
    data = TensorDataset(torch.arange(64, dtype=torch.float32).view(32, 2), torch.arange(32))
    # Workers are children by fork, which the driver does not follow: they only make batches.
    for number, (values, labels) in enumerate(DataLoader(data, batch_size=8, pin_memory=True, num_workers=2)):
        there = values.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
        assert torch.equal(there[0].cpu(), data.tensors[0][8 * number : 8 * number + 8])
        assert torch.equal(there[1].cpu(), data.tensors[1][8 * number : 8 * number + 8])


def train(model, shape, name):
    """Four steps; the last is what is counted: by then everything is loaded and allocated."""
    torch.manual_seed(1)
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(4):
        with part(name):
            optimizer.zero_grad()
            loss = model(torch.ones(shape, device="cuda")).square().mean()
            loss.backward()
            optimizer.step()
            loss.item()


assert torch.cuda.is_available()
print(torch.cuda.device_count(), torch.cuda.get_device_name(0), torch.cuda.get_device_capability(0))
copies()
events()
batches()
train(
    nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    ),
    (4, 3, 16, 16),
    "convolutions",
)
train(nn.Sequential(nn.LayerNorm(64), nn.GELU(), nn.Dropout(0.1), nn.Softmax(dim=-1)), (32, 64), "without matrices")
print(json.dumps(parts))
