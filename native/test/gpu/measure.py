"""What run.sh runs: every part natively and through each transport, in turns, and one table of it all."""

import argparse
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path

import parts
from rack import GpuAttached, GpuDaemon, gpu_names, native_env
from results import report, slug

TRANSPORTS = ("tcp", "tls", "shm")
PARTS = {
    "programs": parts.programs,
    "micro": parts.micro,
    "samples": parts.samples,
    "torch": parts.torch,
    "shares": parts.shares,
    "faults": parts.faults,
}


def arguments():
    parser = argparse.ArgumentParser(prog="run.sh")
    parser.add_argument("--sim", action="store_true", help="a GPU in software in place of the machine's own")
    parser.add_argument("--programs", type=Path, help="programs that were built elsewhere")
    parser.add_argument(
        "--torch",
        default=os.environ.get("FLEXRACK_TORCH_PYTHON", "python3"),
        metavar="PYTHON",
        help="one that has PyTorch for CUDA",
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    given = parser.parse_args()
    unknown = [name for name in given.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return given


def main():
    given = arguments()
    backend = "sim" if given.sim else "cuda"
    names = ["simulated GPU"] if given.sim else gpu_names()
    if not names:
        print(
            "There is no GPU here that nvidia-smi knows. With --sim, one in software takes its place.", file=sys.stderr
        )
        return 2
    found = {}
    with ExitStack() as open_ends:
        # A daemon for each transport: every lease is of the whole GPU, and only one of them works at a time.
        cases = {"native": native_env(backend)}
        for transport in TRANSPORTS:
            daemon = open_ends.enter_context(GpuDaemon(backend, transport="tcp" if transport == "tcp" else "auto"))
            cases[transport] = open_ends.enter_context(GpuAttached([daemon], transport)).env
        machine = parts.Machine(backend, names[0], cases, given.programs, given.torch)
        for name in given.parts or PARTS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            found[name] = PARTS[name](machine)
            print(json.dumps(found[name]), file=sys.stderr, flush=True)
    lines = [line for part in found.values() for line in part]
    print(report(slug("sim" if given.sim else names[0]), names[0], lines))
    for one in lines:
        if one["is_left_out"]:
            print(f"!! {one['what']} was not measured: {one['note']}", file=sys.stderr)
    return 1 if any(line.get("wrong") for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
