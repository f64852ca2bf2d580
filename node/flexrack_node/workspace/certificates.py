"""Authorities that the caller trusts, for what one call starts here."""

import os
import ssl
from pathlib import Path
from typing import Any, Dict, Mapping

from flexrack_node.workspace import pip_settings


def trusted(download: Mapping[str, Any], env: Mapping[str, str]) -> Dict[str, str]:
    """Variables for uv, pip and ourselves that name those of this node and the caller's, together. In memory: nothing
    is left of them.
    """
    text = download.get("certificates")
    if not text:
        return {}
    own = (
        env.get("SSL_CERT_FILE")
        or pip_settings.read(env).get("cert")
        or env.get("REQUESTS_CA_BUNDLE")
        or ssl.get_default_verify_paths().cafile
    )
    try:
        before = Path(own).read_text(encoding="utf-8", errors="replace") if own else ""
    except OSError:
        before = ""
    memory = os.memfd_create("flexrack-certificates")
    with os.fdopen(memory, "w", closefd=False) as file:
        file.write(f"{before}\n{text}\n")
    place = f"/proc/{os.getpid()}/fd/{memory}"
    return {"SSL_CERT_FILE": place, "PIP_CERT": place, "REQUESTS_CA_BUNDLE": place}
