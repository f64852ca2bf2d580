"""The part of YAML that `nvidia-ctk cdi generate` writes: block mappings and lists, plain and quoted scalars, `[]` and
`{}`. Everything else is refused, not guessed at.
"""

import json
import re
from typing import Any, List, Tuple

_KEY = re.compile(r"([A-Za-z0-9_./-]+|\"[^\"]*\"|'[^']*'):(?:\s+(.*))?$")


class BadYaml(ValueError):
    """It is not of this part of YAML."""


def load(text: str) -> Any:
    """Mappings, lists and texts; numbers and truth values are texts, too."""
    lines: List[Tuple[int, str]] = []
    for raw in text.splitlines():
        if raw.strip() and not raw.lstrip().startswith("#") and raw.strip() not in ("---", "..."):
            lines.append((len(raw) - len(raw.lstrip(" ")), raw.strip()))
    value, rest = _block(lines, 0, lines[0][0] if lines else 0, 0)
    if rest != len(lines):
        raise BadYaml(lines[rest][1])
    return value


def _block(lines: List[Tuple[int, str]], at: int, indent: int, depth: int) -> Tuple[Any, int]:
    if depth > 20:
        raise BadYaml("too deep")
    if at >= len(lines):
        return None, at
    return (
        _list(lines, at, indent, depth)
        if lines[at][1].startswith("- ") or lines[at][1] == "-"
        else _mapping(lines, at, indent, depth)
    )


def _list(lines: List[Tuple[int, str]], at: int, indent: int, depth: int) -> Tuple[List[Any], int]:
    found: List[Any] = []
    while at < len(lines) and lines[at][0] == indent and (lines[at][1].startswith("- ") or lines[at][1] == "-"):
        text = lines[at][1][1:].lstrip()
        inner = indent + len(lines[at][1]) - len(text)
        if not text:
            value, at = _block(lines, at + 1, lines[at + 1][0] if at + 1 < len(lines) else 0, depth + 1)
        elif _KEY.match(text):
            lines[at] = (inner, text)
            value, at = _mapping(lines, at, inner, depth + 1)
        else:
            value, at = _scalar(text), at + 1
        found.append(value)
    return found, at


def _mapping(lines: List[Tuple[int, str]], at: int, indent: int, depth: int) -> Tuple[Any, int]:
    found = {}
    while at < len(lines) and lines[at][0] == indent:
        match = _KEY.match(lines[at][1])
        if match is None:
            raise BadYaml(lines[at][1])
        key, text = str(_scalar(match.group(1))), match.group(2)
        at += 1
        if text:
            found[key] = _scalar(text)
        elif at < len(lines) and (lines[at][0] > indent or (lines[at][0] == indent and lines[at][1].startswith("- "))):
            found[key], at = _block(lines, at, lines[at][0], depth + 1)
        else:
            found[key] = None
    return found, at


def _scalar(text: str) -> Any:
    if text in ("[]", "{}"):
        return [] if text == "[]" else {}
    if text.startswith('"'):
        return json.loads(text)
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text[:1] in "&*!|>[{%@`":
        raise BadYaml(text)
    return text
