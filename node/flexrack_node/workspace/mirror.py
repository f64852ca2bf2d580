"""Names under which an installer asks this node's own proxy for packages, so that nodes get from each other what one of
them has downloaded.

`http://mirror.flexrack.invalid/https/pypi.org/simple/six/` is a page of that index, in which files have such names,
too: `.../file/<sha256>/https/...`. The names are the same each time, as uv's cache goes by them. No network has this
host (RFC 2606); workspace/package_proxy.py answers for it.
"""

import json
import re
from typing import Dict, List, Mapping, Optional, Tuple
from urllib.parse import urldefrag, urljoin, urlsplit

HOST = "mirror.flexrack.invalid"
BASE = f"http://{HOST}/"
DEFAULT_INDEX = "https://pypi.org/simple"
CALLER = "http://bundle.flexrack.invalid/"  # what the caller's machine gives itself; src/lib/downloads/bundled.ts
# Where uv gets archives of Pythons, the second where the first does not answer; in both the releases of
# python-build-standalone, each with a file of its hashes.
PYTHONS = (
    "https://releases.astral.sh/github/python-build-standalone/releases/download",
    "https://github.com/astral-sh/python-build-standalone/releases/download",
)
ARCHIVE = re.compile(r"(.*/)cpython-3\.[^/]+\.tar\.(?:gz|zst)")
INDEXES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
URL = re.compile(r"https?://[^\s,]+")
OPTION = re.compile(
    r"^(\s*(?:-i|-f|--index-url|--extra-index-url|--find-links|--pypi-url)[\s=]+)(https?://\S+)", re.MULTILINE
)


def mirrored(url: str) -> str:
    """Its user and password stay at the front, where uv takes them for what they are."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return f"http://{user}{at}{HOST}/{parts.scheme}/{host}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def in_environment(env: Mapping[str, str], has_config: bool, no_index: bool) -> Dict[str, str]:
    """uv's variables about indexes. `has_config`: a file of uv's own says more about them, which is asked as ever."""
    found = {key: URL.sub(lambda one: mirrored(one.group()), env[key]) for key in INDEXES if env.get(key)}
    if not (found.get("UV_DEFAULT_INDEX") or found.get("UV_INDEX_URL") or has_config or no_index):
        found["UV_DEFAULT_INDEX"] = mirrored(DEFAULT_INDEX)
    return found


def for_pythons(env: Mapping[str, str], has_config: bool) -> Dict[str, str]:
    """uv's variable about where Pythons come from. Nothing where somebody has said it in a way that is not seen here,
    or said a folder.
    """
    place = env.get("UV_PYTHON_INSTALL_MIRROR") or ("" if has_config or env.get("UV_ASTRAL_MIRROR_URL") else PYTHONS[0])
    return {"UV_PYTHON_INSTALL_MIRROR": mirrored(place).rstrip("/")} if URL.match(place) else {}


def of_caller(path: str, sha256: str) -> str:
    """A name of ours for a file of the caller's own."""
    return _name(CALLER + path, CALLER, sha256)


def python(url: str) -> List[Tuple[str, str]]:
    """Where the archive of a Python may come from, with the file that has its hash; none for any other file."""
    first = [url, url.replace(PYTHONS[0], PYTHONS[1], 1)] if url.startswith(PYTHONS[0]) else [url]
    found = [(one, ARCHIVE.fullmatch(one)) for one in first]
    return [(one, f"{there.group(1)}SHA256SUMS") for one, there in found if there]


def in_requirements(text: str) -> str:
    return OPTION.sub(lambda one: one.group(1) + mirrored(one.group(2)), text)


def plain(line: str) -> str:
    """What uv says, with the real names."""
    return re.sub(rf"http://(?:[^/\s@]*@)?{re.escape(HOST)}/(?:file/[0-9a-f]{{64}}/)?(https?)/", r"\1://", line)


def asked(url: str) -> Optional[Tuple[str, Optional[str]]]:
    """The real address of what is asked for by such a name, and the hash of its content where it is a file's; None for
    any other name.
    """
    parts = urlsplit(url)
    found = (
        re.fullmatch(r"/(?:file/([0-9a-f]{64})/)?(https?)/([^/]+)(/.*)?", parts.path)
        if parts.hostname == HOST
        else None
    )
    if not found:
        return None
    sha256, scheme, host, path = found.groups()
    return f"{scheme}://{host}{path or '/'}" + (f"?{parts.query}" if parts.query else ""), sha256


def page(body: bytes, content_type: str, url: str) -> bytes:
    """A page of an index (PEP 503, PEP 691) at `url`, with names of ours for its files."""
    if "json" in content_type:
        content = json.loads(body)
        for file in content["files"]:
            file["url"] = _name(file["url"], url, (file.get("hashes") or {}).get("sha256"))
        return json.dumps(content).encode()
    text = body.decode("utf-8", "replace")
    return re.sub(
        r"""(<a\b[^>]*?\bhref\s*=\s*)("[^"]*"|'[^']*')""",
        lambda one: one.group(1) + _link(one.group(2), url),
        text,
        flags=re.IGNORECASE,
    ).encode()


def _link(quoted: str, url: str) -> str:
    import html

    address, fragment = urldefrag(html.unescape(quoted[1:-1]))
    known = re.search(r"(?:^|&)sha256=([0-9a-fA-F]{64})", fragment)
    name = _name(address, url, known.group(1) if known else None)
    return '"' + html.escape(name + (f"#{fragment}" if fragment else "")) + '"'


def _name(address: str, url: str, sha256: Optional[str]) -> str:
    whole = urlsplit(urljoin(url, address))
    if whole.scheme not in ("http", "https"):
        return address
    middle = f"file/{sha256.lower()}/" if sha256 and re.fullmatch(r"[0-9a-fA-F]{64}", sha256) else ""
    host = whole.netloc.rpartition("@")[2]
    return f"{BASE}{middle}{whole.scheme}/{host}{whole.path}" + (f"?{whole.query}" if whole.query else "")
