"""What pip on this node is told by its configuration files and by PIP_*, said to uv, which reads neither.

Facts: pip's documentation, topics "Configuration" and "Environment variables"; uv's "Environment variables".
"""

import configparser
import json
import os
import ssl
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import unquote, urlsplit

# Of no meaning for a new environment, or for how it is filled.
IRRELEVANT = {
    "break-system-packages",
    "cache-dir",
    "compile",
    "debug",
    "default-timeout",
    "disable-pip-version-check",
    "exists-action",
    "force-reinstall",
    "format",
    "ignore-installed",
    "log",
    "no-clean",
    "no-color",
    "no-compile",
    "no-input",
    "no-python-version-warning",
    "no-warn-conflicts",
    "no-warn-script-location",
    "prefix",
    "progress-bar",
    "python",
    "quiet",
    "report",
    "require-virtualenv",
    "resume-retries",
    "root-user-action",
    "target",
    "upgrade",
    "upgrade-strategy",
    "user",
    "verbose",
    "config-file",
    "use-feature",
    "use-deprecated",
}


# Where packages come from: an option of pip, and where else an account may have said the same.
PLACES = {
    "index-url": ("pypi-url", "UV_DEFAULT_INDEX", "UV_INDEX_URL"),
    "extra-index-url": ("UV_INDEX", "UV_EXTRA_INDEX_URL"),
    "find-links": ("UV_FIND_LINKS",),
    "trusted-host": ("UV_INSECURE_HOST",),
}
# Where uv gets Pythons from: below it everything lies as in the releases of python-build-standalone.
MIRROR = "UV_PYTHON_INSTALL_MIRROR"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "PIP_PROXY")


class Translation:
    """`env`: for uv. `args`: words of `uv pip install`. `constraints`: files. `told`: sentences on what could not be
    said to uv.
    """

    def __init__(self) -> None:
        self.env: Dict[str, str] = {}
        self.args: List[str] = []
        self.constraints: List[str] = []
        self.told: List[str] = []


def read(env: Mapping[str, str], prefix: str = sys.prefix) -> Dict[str, str]:
    """What `pip install` here would be told, by the long names of its options; as pip does it, a later place wins."""
    found: Dict[str, str] = {}
    own: Dict[str, str] = {}  # of `install`, which win over those of all commands
    for file in files(env, prefix):
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (OSError, UnicodeDecodeError, configparser.Error):
            continue  # pip itself will not start with it; uv can
        for section, into in (("global", found), ("install", own)):
            if parser.has_section(section):
                into.update({key.replace("_", "-"): value for key, value in parser.items(section) if value})
    found.update(own)
    for key, value in env.items():
        if key.startswith("PIP_") and value and key != "PIP_CONFIG_FILE":
            found[key[4:].lower().replace("_", "-")] = value
    return found


def through_caller(
    download: Mapping[str, Any], env: Mapping[str, str], prefix: str = sys.prefix
) -> Dict[str, Optional[str]]:
    """Variables for pip, uv and what they start: everything goes through the caller's proxy. They hold its secret, so
    they are for environments of processes only. None: not set.
    """
    found: Dict[str, Optional[str]] = dict.fromkeys(PROXIES, str(download["proxy"]))
    settings = dict(download["settings"])
    mirror = settings.pop("python-install-mirror", None)
    if mirror and (download.get("instead") or not (env.get(MIRROR) or env.get("UV_ASTRAL_MIRROR_URL"))):
        found[MIRROR] = str(mirror)
    if download.get("instead"):
        kept = (MIRROR, "UV_PYTHON_DOWNLOADS_JSON_URL")  # the latter says hashes, not where from
        found.update(
            {
                key: None
                for key in env
                if (key.startswith(("PIP_", "UV_")) and key not in kept) or key.lower() == "no_proxy"
            }
        )
        found.update({"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "PIP_PROXY": str(download["proxy"])})
        found.update({f"PIP_{key.upper().replace('-', '_')}": str(value) for key, value in settings.items()})
        return found
    own = {**read(env, prefix), **env}
    for key, value in settings.items():
        if key in PLACES and not any(own.get(name) for name in (key, *PLACES[key])):
            found[f"PIP_{key.upper().replace('-', '_')}"] = str(value)
    return found


def files(env: Mapping[str, str], prefix: str) -> List[Path]:
    """pip's configuration files, the weakest first."""
    own = env.get("PIP_CONFIG_FILE")
    if own == os.devnull:
        return []
    home = Path(env.get("HOME") or os.path.expanduser("~"))
    system = [Path(one) / "pip" / "pip.conf" for one in (env.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":") if one]
    places = [*reversed(system), Path("/etc/pip.conf")]
    if not (own and os.path.exists(own)):
        places += [
            home / ".pip" / "pip.conf",
            Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf",
        ]
    places.append(Path(prefix) / "pip.conf")
    return places + ([Path(own)] if own else [])


def translate(settings: Mapping[str, str], env: Mapping[str, str], requirements: str = "") -> Translation:
    """`env`: of this process; what it says to uv itself stays. `requirements`: their options count more, as with pip."""
    out = Translation()
    rest = dict(settings)
    for key, value in _options_in(requirements, out).items():
        rest[key] = f"{rest.get(key, '')} {value}".strip() if key == "trusted-host" else value
    for key in [*rest]:
        if key in IRRELEVANT:
            del rest[key]

    def take(key: str) -> str:
        return rest.pop(key, "")

    def put(name: str, value: str) -> None:
        if value and name not in env:
            out.env[name] = value

    def pick(key: str) -> List[str]:
        return take(key).split()

    index = take("index-url") or take("pypi-url")
    if not _names_an_index(requirements):
        put("UV_DEFAULT_INDEX", index)
    put("UV_INDEX", " ".join(pick("extra-index-url")))
    put("UV_INDEX_STRATEGY", "unsafe-best-match")  # pip takes the best of all indexes
    put("UV_FIND_LINKS", ",".join(_usable_links(pick("find-links"), out)))
    put("UV_HTTP_TIMEOUT", _whole(take("timeout") or settings.get("default-timeout", "")))
    put("UV_HTTP_RETRIES", _whole(take("retries")))
    put("UV_INSECURE_HOST", " ".join(pick("trusted-host")))
    out.constraints = [*env.get("UV_CONSTRAINT", "").split(), *pick("constraint")]
    put("UV_BUILD_CONSTRAINT", " ".join(pick("build-constraint")))
    put("SSL_CLIENT_CERT", take("client-cert"))
    cert = take("cert") or env.get("REQUESTS_CA_BUNDLE", "") or env.get("CURL_CA_BUNDLE", "")
    put("SSL_CERT_FILE", cert)
    if not cert and "SSL_CERT_FILE" not in env and ssl.get_default_verify_paths().cafile:
        put("UV_SYSTEM_CERTS", "1")
    proxy = take("proxy")
    if proxy:
        out.env.update(
            dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), proxy)
        )
    for key, words in (
        ("no-index", ["--no-index"]),
        ("no-deps", ["--no-deps"]),
        ("require-hashes", ["--require-hashes"]),
        ("pre", ["--prerelease", "allow"]),
        ("no-cache-dir", ["--no-cache"]),
    ):
        if _is_true(take(key)):
            out.args += words
    for key, option in (("no-binary", "--no-binary"), ("only-binary", "--only-binary")):
        for name in take(key).replace(",", " ").split():
            out.args += [option, name]
    keyring = take("keyring-provider")
    if keyring == "subprocess":
        put("UV_KEYRING_PROVIDER", "subprocess")
    elif keyring not in ("", "auto", "disabled"):
        rest["keyring-provider"] = keyring
    out.told += [
        f"pip's setting {key} has no counterpart in uv and does not count" for key in sorted(rest) if rest[key]
    ]
    return out


def _options_in(requirements: str, out: Translation) -> Dict[str, str]:
    """Options that uv passes over in a requirements file."""
    found: Dict[str, str] = {}
    for line in requirements.splitlines():
        text = line.strip()
        if not text.startswith("--"):
            continue
        name, _, value = text[2:].partition("=") if "=" in text.split()[0] else text[2:].partition(" ")
        if name in ("pre", "require-hashes"):
            found[name] = "1"
        elif name == "trusted-host":
            found[name] = f"{found.get(name, '')} {value.strip()}".strip()
        elif name in ("prefer-binary", "use-feature"):
            out.told.append(f"--{name} in the requirements has no counterpart in uv and does not count")
    return found


def _names_an_index(requirements: str) -> bool:
    return any(
        line.strip().startswith(("-i ", "-i=", "--index-url", "--pypi-url")) for line in requirements.splitlines()
    )


def _usable_links(links: List[str], out: Translation) -> List[str]:
    """pip passes over a folder that is not there, and takes a page in a file, too."""
    usable = []
    for link in links:
        if link.startswith(("http://", "https://")):
            usable.append(link)
            continue
        path = Path(unquote(urlsplit(link).path) if link.startswith("file:") else os.path.expanduser(link))
        if path.is_dir():
            usable.append(str(path))
        else:
            why = "uv reads folders and web pages only" if path.exists() else "there is no such folder"
            out.told.append(f"pip's setting find-links names {path}, which does not count: {why}")
    return usable


def _whole(value: str) -> str:
    try:
        return str(max(1, int(float(value)))) if value else ""
    except ValueError:
        return ""


def _is_true(value: str) -> bool:
    return value.strip().lower() in ("1", "y", "yes", "t", "true", "on")


if __name__ == "__main__":  # the command line asks what pip is told on its own machine
    json.dump(read(os.environ), sys.stdout)
