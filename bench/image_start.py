"""Starts /bin/true bare, after Python alone, and in an image by each runtime that works here, in turns. -> {case: {ms,
cpu}}, medians as JSON; `cpu`: of all its processes.

python3 image_start.py ROUNDS
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List

sys.path.append(str(Path(__file__).resolve().parents[1] / "test" / "node"))

from image_support import ImageRoot, base_layer, digest  # noqa: E402  (after the path)

from flexrack_node.image import engines, flat  # noqa: E402
from flexrack_node.image.enter import enter_words  # noqa: E402


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as temp:
        image = ImageRoot(Path(temp, "root"))
        code = str(image.root / "workspaces" / "p" / "code")
        cases: Dict[str, List[str]] = {"bare": ["/bin/true"], "python": [sys.executable, "-I", "-S", "-c", "0"]}
        layer = base_layer()

        def words(name: str, **more: object) -> List[str]:
            order = {
                "image": name,
                "read": [],
                "write": [code],
                "gpus": [],
                "cwd": code,
                "path": [],
                "keep": [],
                **more,
            }
            return enter_words(image.root, image.environments, order, ["/bin/true"])

        plain = image.add(layer)
        cases["image"], cases["sandbox"] = words(plain), words(plain, isolate={"network": "host"})
        for name, engine in engines.ENGINES.items():
            program = engine.find()
            if program and engine.works(program):
                one = digest(name.encode())
                image.store.keep(one, "made:up", [digest(layer)], {"env": {}}, name)
                engines.make_flat(image.store, one, [digest(layer)])
                cases[name] = words(one)
        print(json.dumps(measured(cases, rounds)))
        flat.remove(str(image.root))


def measured(cases: Dict[str, List[str]], rounds: int) -> Dict[str, Dict[str, float]]:
    found: Dict[str, List[List[float]]] = {name: [[], []] for name in cases}
    for turn in range(-1, rounds):
        for name, argv in cases.items():
            before, began = used(), time.perf_counter()
            subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, env={**os.environ, "HOME": "/home/somebody"})
            took, cpu = time.perf_counter() - began, used() - before
            if turn >= 0:
                found[name][0].append(took * 1000)
                found[name][1].append(cpu * 1000)
    return {
        name: {"ms": statistics.median(times), "cpu": statistics.median(cpus)} for name, (times, cpus) in found.items()
    }


def used() -> float:
    """Seconds of processor time of what has ended."""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]))
