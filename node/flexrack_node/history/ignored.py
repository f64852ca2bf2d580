"""Patterns as .gitignore has them, for paths of the node: gitignore(5). Bytes that are no UTF-8 are in names as Python
has them (surrogates).
"""

import re
from typing import List, Optional, Pattern, Tuple

# (matches, is for folders alone, excludes)
Rule = Tuple[Pattern[str], bool, bool]


def rules_of(lines: List[str]) -> List[Rule]:
    """In their order; what is no pattern is left out."""
    found = []
    for line in lines:
        text = line.rstrip("\r\n")
        text = re.sub(r"(?<!\\) +$", "", text)
        if not text or text.startswith("#"):
            continue
        excludes = not text.startswith("!")
        text = text[0 if excludes else 1 :]
        folders = text.endswith("/")
        text = text.rstrip("/") if folders else text
        anchored = "/" in text
        text = text.lstrip("/")
        try:
            body = translated(text)
            found.append((re.compile(body if anchored else f"(?:.*/)?{body}", re.DOTALL), folders, excludes))
        except re.error:
            continue
    return found


def decision(rules: List[Rule], path: str, is_folder: bool) -> Optional[bool]:
    """Whether the last rule that matches excludes the path, which is relative to the rules' folder; None where none
    says anything.
    """
    for pattern, folders, excludes in reversed(rules):
        if (is_folder or not folders) and pattern.fullmatch(path):
            return excludes
    return None


def translated(text: str) -> str:
    out, at = "", 0
    while at < len(text):
        one = text[at]
        if text.startswith("**/", at) and (at == 0 or text[at - 1] == "/"):
            out, at = out + "(?:.*/)?", at + 3
        elif text[at:] == "**" and at > 0 and text[at - 1] == "/":
            out, at = out + ".+", at + 2
        elif one == "*":
            out, at = out + "[^/]*", at + 1
            while at < len(text) and text[at] == "*":
                at += 1
        elif one == "?":
            out, at = out + "[^/]", at + 1
        elif one == "[":
            end = text.find("]", at + 2 if text[at + 1 : at + 2] not in ("!", "^") else at + 3)
            if end == -1:
                out, at = out + re.escape(one), at + 1
                continue
            inner = text[at + 1 : end]
            negated = inner[:1] in ("!", "^")
            inner = re.sub(r"([\[\]&~|^])", r"\\\1", inner[1 if negated else 0 :].replace("\\\\", "\\"))
            out, at = out + f"(?!/)[{'^' if negated else ''}{inner}]", end + 1
        elif one == "\\" and at + 1 < len(text):
            out, at = out + re.escape(text[at + 1]), at + 2
        else:
            out, at = out + re.escape(one), at + 1
    return out
