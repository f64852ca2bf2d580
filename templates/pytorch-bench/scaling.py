"""How the benchmark scales: trains on 1, 2, ... nodes one after another, and prints a table. Runs here, not on the
nodes; needs nothing but flexrack.

    python3 scaling.py 1 2 4                        on one, two and four nodes
    python3 scaling.py 1 2 4 --on gpu=h100 -- --model gpt --precision bf16
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path


def main():
    words, script = split(sys.argv[1:])
    options = read_options(words)
    rack = ["--rack", options.rack] if options.rack else []
    results = []
    for nodes in options.nodes:
        run = train(options, nodes, rack, script)
        results.append((run, read_result(options, run, rack)))
    lines = table(results)
    print("\n" + "\n".join(lines))
    text = json.dumps([{"run": run, **result} for run, result in results], indent=2)
    Path("scaling.json").write_text(text + "\n")


def split(words):
    """What is for this program, and what after -- is for bench.py."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at:]


def read_options(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "nodes",
        type=int,
        nargs="+",
        metavar="NODES",
        help="numbers of nodes; the first is what the others are compared with",
    )
    parser.add_argument("-p", "--processes-per-node", help="as of flexrack train")
    parser.add_argument("--on", metavar="NODES", help="as of flexrack train")
    parser.add_argument("-r", "--rack", help="as of flexrack train")
    parser.add_argument("--no-tracking", action="store_true", help="as of flexrack train")
    parser.add_argument(
        "--flexrack", type=shlex.split, default=["flexrack"], help="the command, where it is not on the PATH"
    )
    return parser.parse_args(words)


def train(options, nodes, rack, script):
    """Runs to the end, shows what the ranks say, and returns the run's id. Ends this program as the command ends where
    that fails.
    """
    words = [*options.flexrack, "train", "--json", "--nodes", str(nodes), *rack]
    words += ["--processes-per-node", options.processes_per_node] if options.processes_per_node else []
    words += ["--on", options.on] if options.on else []
    words += ["--no-tracking"] if options.no_tracking else []
    run, rest = None, []
    with subprocess.Popen([*words, *script], stdout=subprocess.PIPE, text=True) as command:
        try:
            for text in command.stdout:
                said = read_line(text)
                if "text" in said:
                    print(f"{said['node']}:{said['rank']} | {said['text']}", file=sys.stderr, flush=True)
                elif "result" in said:
                    run = said["result"]["run"]
                else:
                    rest.append(text)
        except KeyboardInterrupt:  # the command has it too, and stops the run
            sys.exit(command.wait())
    if command.returncode != 0:
        show_error("".join(rest))
        sys.exit(command.returncode)
    return run


def read_line(text):
    """A rank's line and the result are an object a line; an error is an object over several lines, none of which is
    one.
    """
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def show_error(text):
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError):
        print(text, file=sys.stderr)
    else:
        print(f"{error['message']}\n{error.get('hint') or ''}".rstrip(), file=sys.stderr)


def read_result(options, run, rack):
    """bench.json of a run, from the folder that it has on its first node."""
    shown = json.loads(output([*options.flexrack, "runs", "show", run, "--json", *rack]))
    node = shown["nodes"][0]
    return json.loads(
        output(
            [
                *options.flexrack,
                "workspace",
                "exec",
                "--on",
                node,
                *rack,
                "--",
                "cat",
                f"{shown['folders'][node]}/outputs/bench.json",
            ]
        )
    )


def output(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def table(results):
    """The batch of a rank stays the same (weak scaling): twice the ranks have twice the work of a step, and efficiency
    is what is left of each rank's speed.
    """
    first = results[0][1]
    unit = f"{first['unit']}/s"
    rows = [("nodes", "ranks", unit, "per rank", "ms a step", "speed-up", "efficiency", "communication")]
    for _, one in results:
        speed, alone = one["total"]["per_second"]["median"], first["total"]["per_second"]["median"]
        speed_up = speed / alone
        rows.append(
            (
                str(one["nodes"]),
                str(one["world_size"]),
                f"{speed:,.1f}",
                f"{speed / one['world_size']:,.1f}",
                f"{one['total']['step_ms']['median']:.1f}",
                f"{speed_up:.2f}",
                f"{speed_up * first['world_size'] / one['world_size']:.0%}",
                f"{one['total']['communication']:.0%}" if one["world_size"] > 1 else "-",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]


if __name__ == "__main__":
    main()
