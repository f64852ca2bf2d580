"""Lines of what was measured, as a table for people and as a file beside those of the other measurements
(bench/measure.ts says its form).
"""

import json
import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent.parent.parent / "bench" / "results"
CASES = ("native", "tcp", "tls", "shm")


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def line(what, values, unit, better="lower", note="", wrong=False):
    """`values` is a number a case; a case that is missing was not measured. `wrong`: something that had to hold did
    not.
    """
    return {
        "what": what,
        "values": values,
        "unit": unit,
        "better": better,
        "note": note,
        "wrong": wrong,
        "is_left_out": False,
    }


def left_out(what, why):
    """What could not be measured here, and is said so."""
    return {**line(what, {}, "", note=f"left out: {why}"), "is_left_out": True}


def ratio(one, case):
    """How many times native: 1 is as good, less is better where less is better. None where one of both is missing."""
    native, value = one["values"].get("native"), one["values"].get(case)
    return value / native if native and value is not None else None


def shown(value, unit=""):
    return "" if value is None else f"{value:.4g}{' ' + unit if unit else ''}"


def table(lines):
    head = ["what", "native", *(f"{case}" for case in CASES[1:]), *(f"{case} × native" for case in CASES[1:]), ""]
    rows = [head, ["---", *["---:"] * 7, "---"]]
    for one in lines:
        values = [shown(one["values"].get(case), one["unit"]) for case in CASES]
        remarks = [*(["**WRONG**"] if one["wrong"] else []), *([one["note"]] if one["note"] else [])]
        rows.append(
            [
                one["what"],
                *values,
                *(shown(ratio(one, case)) for case in CASES[1:]),
                " ".join(remarks).replace("|", "/").replace("\n", " "),
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def machine(gpu):
    words = Path("/proc/cpuinfo").read_text()
    memory = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text()).group(1))
    model = re.search(r"model name\s*:\s*(.*)", words)
    try:
        node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    except OSError:
        node = ""
    load = round(os.getloadavg()[0], 1)
    return {
        "cores": os.cpu_count(),
        "processor": model.group(1) if model else platform.machine(),
        "memoryGiB": round(memory / 2**20),
        "kernel": platform.release().split("-")[0],
        "node": node,
        "platform": f"linux {platform.machine()}",
        "load": load,
        "busy": round(min(1, load / os.cpu_count()), 2),
        "gpu": gpu,
    }


def report(name, gpu, lines):
    """Writes both files; returns the table."""
    rows = []
    for one in lines:
        unit = one["unit"]
        rows += [
            {"what": f"{one['what']}, {case}", "value": value, "unit": unit}
            for case, value in one["values"].items()
            if value is not None
        ]
        rows += [
            {"what": f"{one['what']}, {case} over native", "value": round(ratio(one, case), 4), "unit": "× native"}
            for case in CASES[1:]
            if ratio(one, case) is not None
        ]
    notes = [
        f"{gpu}. Client and daemon share this machine. A ratio is remote over native: of a rate, more is better; of a time, less.",
        *(f"{one['what']}: {one['note']}" for one in lines if one["note"]),
    ]
    taken = datetime.now(timezone.utc).isoformat(timespec="seconds")
    wrong = [one["what"] for one in lines if one["wrong"]]
    result = {
        "name": f"gpu-{name}",
        "takenAt": taken,
        "machine": machine(gpu),
        "notes": notes,
        "wrong": wrong,
        "rows": rows,
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"gpu-{name}.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    skipped = "".join(
        f"\n\nLeft out: {one['what']} ({one['note'].removeprefix('left out: ')})."
        for one in lines
        if one["is_left_out"]
    )
    verdict = "Wrong: " + ", ".join(wrong) if wrong else "Nothing is wrong."
    intro = f"Taken {taken} by native/test/gpu/run.sh. {notes[0]}"
    text = f"# {gpu}\n\n{intro}\n\n{table(lines)}\n\n{verdict}{skipped}\n"
    (FOLDER / f"gpu-{name}.md").write_text(text)
    return text
