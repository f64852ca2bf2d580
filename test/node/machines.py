"""Captured machines of test/fixtures/machines: what the node program makes of them. Run as a program, it writes each
one's facts.json anew.
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "node"))

from flexrack_node.facts.gpus import parse_query, placed
from flexrack_node.facts.infiniband import infiniband_ports
from flexrack_node.facts.nics import nics
from flexrack_node.facts.numa import numa_nodes, sockets
from flexrack_node.facts.wiring import links

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "machines"
MACHINES = sorted(path.name for path in FOLDER.iterdir())


def text_of(name, file):
    path = FOLDER / name / file
    return path.read_text() if path.exists() else None


def grow(text, root):
    """A tree from its lines: `path: content` (\\n for a new line), `path -> target`, `path/`."""
    for line in filter(None, text.splitlines()):
        path, link, target = line.partition(" -> ")
        if link:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)
            if "/driver" in path:
                (root / path).parent.joinpath(target).mkdir(parents=True, exist_ok=True)
            continue
        if line.endswith("/"):
            (root / line).mkdir(parents=True, exist_ok=True)
            continue
        path, _, content = line.partition(": ") if ": " in line else line.partition(":")
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content.replace("\\n", "\n") + "\n")


def facts_of(name):
    """What node.facts says of the machine's parts and wiring. Without a captured tree nothing is known of nodes and
    cards.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        tree = text_of(name, "tree.txt")
        grow(tree or "", root)
        gpus = [placed(root, row.gpu) for row in parse_query(text_of(name, "gpus.csv") or "")]
        counts = sockets(root)
        numa, ports, cards = (
            numa_nodes(root) if tree and "system/node" in tree else [],
            infiniband_ports(root),
            nics(root),
        )
        wired = links(gpus, ports, cards, sum(1 for node in numa if node["cpus"]), text_of(name, "topo.txt"), root)
        return {
            "cpu": counts._asdict() if counts else {},
            "numa": numa,
            "nics": cards,
            "infiniband": ports,
            "gpus": gpus,
            "links": wired,
        }


def written(facts):
    """JSON with a line for each thing in a list."""
    lines = [
        f"  {json.dumps(key)}: "
        + (
            json.dumps(value)
            if not isinstance(value, list) or not value
            else "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"
        )
        for key, value in facts.items()
        if key != "links"
    ]
    wired = facts["links"]
    rows = ",\n      ".join(map(json.dumps, wired["matrix"]))
    lines.append(
        f'  "links": {{\n    "source": {json.dumps(wired["source"])},\n    "devices": {json.dumps(wired["devices"])},\n    "matrix": [\n      {rows}\n    ],\n    "affinity": {json.dumps(wired["affinity"])}\n  }}'
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    for machine in MACHINES:
        (FOLDER / machine / "facts.json").write_text(written(facts_of(machine)))
