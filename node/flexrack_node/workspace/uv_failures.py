"""Why uv has failed, by what it printed: the requirement of which it speaks, or the server that it did not reach."""

import re
from typing import Any, Dict, List, Optional

from flexrack_node.base.errors import NodeError
from flexrack_node.workspace.pip import line_of, redact

NOT_REACHED = r"502 Bad Gateway|error sending request|dns error|tcp connect error|Connection refused|operation timed out|tunnel error|client error \(Connect\)"


def no_python(version: str, lines: List[str]) -> NodeError:
    """Why there is no such Python."""
    text = "\n".join(lines)
    details: Dict[str, Any] = {"lines": [line for line in lines if line.strip()][-15:], "python": version}
    other = "install it there beside its own, or choose another version in workspace.python"
    mismatch = re.search(r"Hash mismatch for `([^`]+)`", text)
    if mismatch:
        return NodeError(
            "ENVIRONMENT_FAILED",
            f"{mismatch.group(1)} has another content than uv knows of it: the server, or somebody on the way, gave another file",
            "look at UV_PYTHON_INSTALL_MIRROR; nothing was installed",
            **details,
        )
    if "No download found" in text:
        return NodeError(
            "NODE_UNFIT",
            f"there is no python{version} on this node, and uv knows none that it could install",
            other,
            **details,
        )
    if re.search(NOT_REACHED, text):
        return NodeError(
            "ENVIRONMENT_FAILED",
            f"there is no python{version} on this node, and where uv would get it from cannot be reached from this node",
            f"{other}, or set UV_PYTHON_INSTALL_MIRROR on the node",
            **details,
            unreachable=True,
        )
    return NodeError(
        "ENVIRONMENT_FAILED",
        f"there is no python{version} on this node, and uv could not install it",
        other,
        **details,
    )


def no_requirements(requirements: str, told: str, lines: List[str]) -> NodeError:
    """`told`: the requirements as uv was given them."""
    requested = requirements.replace("\r\n", "\n").split("\n")
    text = "\n".join(lines)
    number = failing_line(lines, told)
    details: Dict[str, Any] = {"lines": [line for line in lines if line.strip()][-15:]}
    message = "uv could not install the requirements"
    if number:
        # of a lock file: hashes follow
        details.update(line=number, requirement=redact(requested[number - 1].strip().rstrip("\\ ")))
        message = f"uv could not install {details['requirement']} (line {number})"
    other = re.search(r"Hash mismatch for `([^`]+)`", text)
    if other:
        return NodeError(
            "ENVIRONMENT_FAILED",
            f"{redact(other.group(1))} has another content than its lock says: the package index, or somebody on the way, gave another file",
            "compare the index with the one that the lock was made from; nothing was installed",
            **{**details, "requirement": redact(other.group(1))},
        )
    if re.search(NOT_REACHED, text) and "No solution found" not in text:
        return NodeError(
            "ENVIRONMENT_FAILED",
            f"{message}: the package index cannot be reached from this node",
            "set PIP_INDEX_URL or ~/.config/pip/pip.conf on the node to an index that it reaches",
            **details,
            unreachable=True,
        )
    return NodeError("ENVIRONMENT_FAILED", message, None, **details)


def failing_line(output: List[str], requirements: str) -> Optional[int]:
    """Line (from 1) of the requirements that uv's error speaks of, by position where it gives one, else by name: the
    last one that is required.
    """
    text = "\n".join(output)
    text = text[text.find("error:") :] if "error:" in text else text
    requested = requirements.replace("\r\n", "\n").split("\n")
    at = re.search(r"requirements\.txt` at (?:position (\d+)|(\d+):\d+)", text)
    if at:
        return int(at.group(2)) if at.group(2) else requirements.encode()[: int(at.group(1))].count(b"\n") + 1
    names: List[str] = re.findall(r"`([A-Za-z0-9][A-Za-z0-9._-]*)(?:==| @ |`)", text)
    required = re.findall(
        r"(?:you require|\band) ([A-Za-z0-9][A-Za-z0-9._-]*)(?=[=<>~!,; \[]|$)",
        text.replace("you require", ". you require").replace("\n", " "),
    )
    for name in [*reversed(required), *names]:
        number = line_of(name, requested)
        if number:
            return number
    return None
