"""Real programs, unchanged: what is run natively and remotely side by side, and what of their output has to be equal."""

import re

# Whose device it is differs, and a program that measures says so beside its figures; fine-grained SVM is not offered
# over a wire.
NAMED = re.compile(r"platform|Device #\d+ from|fine-grained", re.IGNORECASE)
# What a device that is elsewhere cannot be is not offered (native/test/conformance/infos.cpp), and whose platform it is
# differs.
DIFFERENT = re.compile(
    r"PLATFORM|#DEVICES|EXTENSIONS|EXECUTION_CAPABILITIES|HOST_UNIFIED|SVM_CAPABILITIES|COMMAND_BUFFER|ICD|^\s*$"
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def facts(text):
    """clinfo --raw: every parameter and its value, without the platform's tag before it."""
    lines = [re.sub(r"^\[[^\]]*\]\s*", "", line.strip()) for line in text.split("\n")]
    return sorted(re.sub(r"\s+", " ", line) for line in lines if line.startswith("CL_") and not DIFFERENT.search(line))


def measured(text):
    """A benchmark's lines with its figures taken out: what it could do, not how fast."""
    return [
        re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "#", COLOUR.sub("", line)).strip()
        for line in text.split("\n")
        if not NAMED.search(line)
    ]


def verdicts(text):
    """A tuner's: how many kernels it tried, and what came of each, its reference included."""
    found = [
        re.sub(r"\x1b\[[0-9;]*m", "", line).split("|")[-2].strip()
        for line in text.split("\n")
        if line.startswith("|") and "status" not in line
    ]
    return {verdict: found.count(verdict) for verdict in set(found)}


def as_is(text):
    return text


def tuner(name, *words):
    return (f"CLBlast's tuner of {name}", [f"clblast_tuner_{name}", *words, "-runs", "1"], verdicts)


# Name, command, what is compared. Small ones run in the tests; all of them in the bench.
SMALL = [
    ("clinfo", ["clinfo", "--raw"], facts),
    ("clpeak, latency", ["clpeak", "--kernel-latency"], measured),
    tuner("xaxpy", "-fraction", "16"),
]
LARGE = [
    (
        "clpeak, compute and global memory",
        ["clpeak", "--kernel-latency", "--global-bandwidth", "--compute-sp", "--compute-integer"],
        measured,
    ),
    *(
        tuner(name, "-fraction", fraction)
        for name, fraction in {
            "xaxpy": "2",
            "xdot": "1",
            "xger": "16",
            "xgemv": "16",
            "copy_fast": "4",
            "copy_pad": "16",
            "transpose_fast": "4",
            "transpose_pad": "8",
            "invert": "1",
            "xgemm_direct": "256",
            "xgemm": "8192",
        }.items()
    ),
]
