"""Steps of data-parallel training, and how long they take."""

import contextlib
import statistics
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from workload import Workload


class Training:
    """A network on every rank, kept alike by averaging the gradients."""

    def __init__(self, work: Workload, device: torch.device, precision: str) -> None:
        self.work, self.device, self.precision = work, device, precision
        self.network = DistributedDataParallel(
            work.network, device_ids=[device.index] if device.type == "cuda" else None
        )
        self.optimizer = work.optimizer(self.network.parameters())

    def backward(self, together: bool = True) -> torch.Tensor:
        """Gradients of the batch: averaged over the ranks, or this rank's own. Returns the loss of this rank."""
        self.optimizer.zero_grad(set_to_none=True)
        with contextlib.nullcontext() if together else self.network.no_sync():
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
                loss = self.work.loss(self.network(self.work.inputs))
            loss.backward()
        return loss.detach()

    def step(self, together: bool = True) -> torch.Tensor:
        loss = self.backward(together)
        self.optimizer.step()
        return loss

    def time(self, steps: int, together: bool) -> float:
        """Seconds that so many steps take this rank. All ranks begin at once; the clock is read when the device has
        nothing left to do.
        """
        dist.all_reduce(torch.zeros(1, device=self.device))
        self._finish()
        started = time.perf_counter()
        for _ in range(steps):
            self.step(together)
        self._finish()
        return time.perf_counter() - started

    def gradient_difference(self) -> float:
        """By how much the gradients of any rank differ from those of rank 0, as a part of the largest of those. 0: they
        are equal.
        """
        worst = torch.zeros(2, device=self.device)  # difference, gradient of rank 0
        for parameter in self.network.parameters():
            first = parameter.grad.clone()
            dist.broadcast(first, src=0)
            worst = torch.maximum(worst, torch.stack([(parameter.grad - first).abs().max(), first.abs().max()]).float())
        dist.all_reduce(worst, dist.ReduceOp.MAX)
        return (worst[0] / worst[1]).item()

    def mean(self, value: torch.Tensor) -> float:
        """Mean over the ranks."""
        total = value.clone().float()
        dist.all_reduce(total)
        return total.item() / dist.get_world_size()

    def _finish(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def communication_share(together: list[float], alone: list[float]) -> float:
    """The part of a step that goes away when the ranks do not average gradients: communication that computing does not
    hide, and waiting for the slowest rank. `alone` is empty where there is one rank only, which has nobody to talk to.
    """
    return max(0.0, 1 - statistics.median(alone) / statistics.median(together)) if alone else 0.0
