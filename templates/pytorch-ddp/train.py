"""Trains the digits classifier on every rank torchrun starts. Logs to MLflow from rank 0; resumes from the last
checkpoint.
"""

import argparse
import logging
import os
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

import data
import model

# flexrack gives every run a folder of its own, kept over restarts. When it starts the ranks again, FLEXRACK_CHECKPOINT
# names the newest whole checkpoint, which it has brought here.
OUTPUTS = Path(os.environ.get("FLEXRACK_OUTPUTS", "."))
CHECKPOINT = OUTPUTS / "checkpoints" / "last.pt"
RESUME = Path(os.environ.get("FLEXRACK_CHECKPOINT", CHECKPOINT))


def main() -> None:
    options = read_options()
    device = start_process_group()
    torch.manual_seed(options.seed)
    mlflow = join_tracked_run({**vars(options), "world_size": dist.get_world_size(), "device": device.type})

    train_set, test_set = data.load()
    sampler = DistributedSampler(train_set, seed=options.seed)
    batches = DataLoader(train_set, batch_size=options.batch_size, sampler=sampler)
    network = DistributedDataParallel(
        model.build().to(device), device_ids=[device.index] if device.type == "cuda" else None
    )
    optimizer = torch.optim.AdamW(network.parameters(), lr=options.learning_rate)
    first_epoch = resume(network, optimizer, device)

    for epoch in range(first_epoch, options.epochs):
        sampler.set_epoch(epoch)  # another shuffle every epoch, the same on all ranks
        loss = train_epoch(network, batches, optimizer, device)
        accuracy = evaluate(network, test_set, device)
        if dist.get_rank() == 0:
            save_checkpoint(network, optimizer, epoch)
            print(f"epoch {epoch + 1}/{options.epochs}  loss {loss:.4f}  test accuracy {accuracy:.4f}", flush=True)
            if mlflow:
                mlflow.log_metrics({"loss": loss, "test_accuracy": accuracy}, step=epoch)

    if dist.get_rank() == 0:
        export(network.module, OUTPUTS / "model.onnx")
        if mlflow:
            mlflow.end_run()
    dist.barrier()
    dist.destroy_process_group()


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=32, help="images a rank and step")
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def start_process_group() -> torch.device:
    """nccl where there are GPUs, gloo on CPUs; torchrun has set RANK, WORLD_SIZE and MASTER_ADDR."""
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        dist.init_process_group("nccl")
        return device
    dist.init_process_group("gloo")
    return torch.device("cpu")


def join_tracked_run(params: dict):
    """MLflow's client on rank 0 of a tracked run, None elsewhere: importing it takes longer than an epoch."""
    if "MLFLOW_TRACKING_URI" not in os.environ or dist.get_rank() != 0:
        return None
    import mlflow

    mlflow.start_run()  # joins the run that flexrack made: MLFLOW_RUN_ID names it
    if os.environ.get("FLEXRACK_ATTEMPT", "1") == "1":
        mlflow.log_params(params)
    return mlflow


def train_epoch(
    network: nn.Module, batches: DataLoader, optimizer: torch.optim.Optimizer, device: torch.device
) -> float:
    """Mean loss over all ranks."""
    network.train()
    total = torch.zeros(2, device=device)  # sum of losses, number of images
    for images, labels in batches:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        total += torch.stack([loss.detach() * len(labels), torch.tensor(float(len(labels)), device=device)])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


@torch.no_grad()
def evaluate(network: DistributedDataParallel, test_set, device: torch.device) -> float:
    """Share of test digits that are recognised. Every rank takes each world-size-th image, so that none counts twice."""
    network.eval()
    images, labels = test_set.tensors
    mine = slice(dist.get_rank(), None, dist.get_world_size())
    right = (network.module(images[mine].to(device)).argmax(1) == labels[mine].to(device)).sum().float()
    dist.all_reduce(right)
    return right.item() / len(labels)


def save_checkpoint(network: DistributedDataParallel, optimizer: torch.optim.Optimizer, epoch: int) -> None:
    """Written beside and renamed: a checkpoint is whole or not there."""
    CHECKPOINT.parent.mkdir(parents=True, exist_ok=True)
    partial = CHECKPOINT.with_suffix(".partial")
    torch.save({"epoch": epoch, "model": network.module.state_dict(), "optimizer": optimizer.state_dict()}, partial)
    partial.replace(CHECKPOINT)


def resume(network: DistributedDataParallel, optimizer: torch.optim.Optimizer, device: torch.device) -> int:
    """The epoch to start with. Rank 0 reads the checkpoint and sends it to the others: without flexrack their nodes may
    not have it.
    """
    found = [
        torch.load(RESUME, map_location="cpu", weights_only=True) if dist.get_rank() == 0 and RESUME.exists() else None
    ]
    dist.broadcast_object_list(found, src=0, device=device)
    state = found[0]
    if state is None:
        return 0
    network.module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    if dist.get_rank() == 0:
        print(f"resumed after epoch {state['epoch'] + 1}", flush=True)
    return state["epoch"] + 1


def export(network: nn.Module, path: Path) -> None:
    """ONNX with a free batch size: input `image` (N, 1, 8, 8) float32, output `scores` (N, 10) float32."""
    network = network.cpu().eval()
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it tells of torchvision operators that are not used here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        program = torch.onnx.export(
            network,
            (torch.zeros(2, 1, 8, 8),),
            dynamo=True,
            verbose=False,
            input_names=["image"],
            output_names=["scores"],
            dynamic_shapes=({0: torch.export.Dim("batch")},),
        )
    program.save(str(path))
    print(f"wrote {path.name} ({path.stat().st_size // 1024} KiB)", flush=True)


if __name__ == "__main__":
    main()
