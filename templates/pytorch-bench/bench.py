"""Times data-parallel training of a well-known network on made-up data: images or tokens a second, of each rank and in
total.
"""

import argparse
import json
import math
import os
import socket
from pathlib import Path

import torch
import torch.distributed as dist

import report
import workload
from measure import Training

OUTPUTS = Path(os.environ.get("FLEXRACK_OUTPUTS", "."))
# Rings of all-reduce give every rank the same bits; other algorithms may round differently.
GRADIENT_TOLERANCE = 1e-3


def main() -> None:
    options = read_options()
    device = start_process_group()
    size = options.size if options.size != "auto" else "full" if device.type == "cuda" else "small"
    default = workload.SIZES[size][options.model]
    settings = {
        "model": options.model,
        "size": size,
        "precision": choose_precision(options.precision, device),
        "batch": options.batch or default.batch,
        "length": options.length or default.length,
        "warm_up": options.warm_up or default.warm_up,
        "windows": options.windows or default.windows,
        "steps": options.steps or default.steps,
    }
    try:
        work = workload.build(options.model, size, settings["batch"], settings["length"], device, dist.get_rank())
    except ValueError as error:
        raise SystemExit(f"--length {settings['length']}: {error}")
    training = Training(work, device, settings["precision"])
    facts = {
        **settings,
        "unit": work.unit,
        "parameters": sum(one.numel() for one in work.network.parameters()),
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "world_size": dist.get_world_size(),
    }
    if dist.get_rank() == 0:
        print(report.headline(facts), flush=True)

    checks = check(training, settings["warm_up"])
    mine = {
        "rank": dist.get_rank(),
        "node": os.environ.get("FLEXRACK_NODE", socket.gethostname()),
        **take_times(training, settings),
    }
    ranks: list = [None] * dist.get_world_size()
    dist.all_gather_object(ranks, mine)
    result = report.assemble(facts, checks, ranks, work.count)
    print(report.rank_line(result, dist.get_rank()), flush=True)
    dist.barrier()
    if dist.get_rank() == 0:
        print(report.total_line(result), flush=True)
        OUTPUTS.mkdir(parents=True, exist_ok=True)
        (OUTPUTS / "bench.json").write_text(json.dumps(result, indent=2) + "\n")
        track(result)
    dist.destroy_process_group()


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["resnet50", "gpt"], default="resnet50")
    parser.add_argument(
        "--size", choices=["auto", "small", "full"], default="auto", help="auto: full on GPUs, small on CPUs"
    )
    parser.add_argument(
        "--precision",
        choices=["auto", "fp32", "bf16"],
        default="auto",
        help="auto: bf16 where the devices of all ranks have it",
    )
    parser.add_argument("--batch", type=positive, help="images or sequences a rank and step")
    parser.add_argument("--length", type=positive, help="side of an image in pixels, or tokens of a sequence")
    parser.add_argument("--warm-up", type=positive, help="steps before the clock starts")
    parser.add_argument("--windows", type=positive, help="how often it is timed")
    parser.add_argument("--steps", type=positive, help="steps in each window")
    return parser.parse_args()


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)


def start_process_group() -> torch.device:
    """nccl where there are GPUs, gloo on CPUs; torchrun has set RANK, WORLD_SIZE and MASTER_ADDR."""
    if not torch.cuda.is_available():
        dist.init_process_group("gloo")
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.backends.cudnn.benchmark = True  # shapes never change here
    # fp32 means all of its 24 bits: by default cuDNN's convolutions keep 11 of them (TF32).
    torch.backends.cudnn.conv.fp32_precision = "ieee"
    torch.backends.cuda.matmul.fp32_precision = "ieee"
    dist.init_process_group("nccl", device_id=device)
    return device


def choose_precision(requested: str, device: torch.device) -> str:
    """bf16 is for devices that multiply it themselves; all ranks take the same. Ends the rank where it is asked for and
    a device lacks it.
    """
    if device.type == "cuda":
        has = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        able = torch.cpu.get_capabilities()
        has = any(able.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    everywhere = torch.tensor(int(has), device=device)
    dist.all_reduce(everywhere, dist.ReduceOp.MIN)
    if requested == "bf16" and not everywhere.item():
        raise SystemExit(
            f"--precision bf16: {'a device of another rank' if has else 'the device of this rank'} computes without it; take --precision fp32"
        )
    return requested if requested != "auto" else "bf16" if everywhere.item() else "fp32"


def check(training: Training, steps: int) -> dict:
    """Warms up, and makes sure that what is about to be timed is training: the loss is a number, and the ranks have the
    same gradients out of different data.
    """
    losses = [training.mean(training.step()) for _ in range(steps)]
    if not math.isfinite(losses[-1]):
        raise SystemExit(f"the loss is {losses[-1]} after {steps} steps: what follows would not be training")
    together = training.gradient_difference()
    if not together <= GRADIENT_TOLERANCE:
        raise SystemExit(
            f"after averaging, gradients of the ranks differ by {together:.2g} of the largest: this is not data-parallel training"
        )
    training.backward(together=False)
    return {
        "loss": {"first": losses[0], "last": losses[-1]},
        "gradient_difference": {"together": together, "alone": training.gradient_difference()},
    }


def take_times(training: Training, settings: dict) -> dict:
    """Seconds of each window, with averaging of gradients and, where there are others, without; in turn, so that a
    machine that gets slower slows both. Steps without averaging let the ranks drift apart, which changes no time; the
    weights are thrown away.
    """
    times: dict = {"together": [], "alone": []}
    for _ in range(settings["windows"]):
        times["together"].append(training.time(settings["steps"], together=True))
        if dist.get_world_size() > 1:
            times["alone"].append(training.time(settings["steps"], together=False))
    return times


def track(result: dict) -> None:
    """Logs to the run that flexrack made, which MLFLOW_RUN_ID names."""
    if "MLFLOW_TRACKING_URI" not in os.environ:
        return
    import mlflow  # takes a second to load, which the other ranks need not spend

    with mlflow.start_run():
        mlflow.log_params(
            {
                key: result[key]
                for key in ("model", "size", "precision", "batch", "length", "device", "world_size", "nodes")
            }
        )
        mlflow.log_metrics(report.metrics(result))
        for window, value in enumerate(result["total"]["windows"]):
            mlflow.log_metric(f"window_{result['unit']}_per_second", value, step=window)


if __name__ == "__main__":
    main()
