"""The caller's proxy, as this node's own proxy (workspace/package_proxy.py) uses it: for what it looks into itself, and for
what it only passes on.
"""

import base64
import netrc
import os
import selectors
import socket
import ssl
import urllib.request
from typing import Any, Mapping, Optional
from urllib.parse import unquote, urlsplit

from flexrack_node.workspace import pip_settings

PASSED_ON = ("accept", "authorization", "user-agent")
PATIENCE_SECONDS = 120


class Upstream:
    def __init__(self, download: Mapping[str, Any]) -> None:
        """`download`: the caller's way, as an environment gets it."""
        own = {**pip_settings.read(os.environ), **download["settings"]}
        parts = urlsplit(download["proxy"])
        self.place = (str(parts.hostname), int(parts.port or 0))
        self.proof = self._basic(unquote(parts.username or ""), unquote(parts.password or ""))
        self._trusted = own.get("trusted-host", "").split()
        certificates = own.get("cert") or os.environ.get("SSL_CERT_FILE")
        proxies = urllib.request.ProxyHandler({"http": download["proxy"], "https": download["proxy"]})
        self._checked = urllib.request.build_opener(
            proxies, urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=certificates or None))
        )
        self._unchecked = urllib.request.build_opener(
            proxies, urllib.request.HTTPSHandler(context=ssl._create_unverified_context())
        )

    def open(self, url: str, headers: Mapping[str, str], timeout: Optional[float] = PATIENCE_SECONDS) -> Any:
        """Raises urllib.error.HTTPError, OSError."""
        parts = urlsplit(url)
        kept = {key: value for key, value in headers.items() if key.lower() in PASSED_ON}
        if not any(key.lower() == "authorization" for key in kept):
            kept.update(self._from_netrc(str(parts.hostname)))
        trusted = parts.hostname in self._trusted or f"{parts.hostname}:{parts.port}" in self._trusted
        return (self._unchecked if trusted else self._checked).open(
            urllib.request.Request(url, headers=kept), timeout=timeout
        )

    def proof_of(self, secret: str) -> str:
        return self._basic("flexrack", secret)

    def _from_netrc(self, host: str) -> Mapping[str, str]:
        try:
            found = netrc.netrc(os.environ.get("NETRC")).authenticators(host)
        except (OSError, netrc.NetrcParseError):
            return {}
        return {"Authorization": self._basic(found[0], found[2] or "")} if found else {}

    def _basic(self, user: str, password: str) -> str:
        return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def relay(handler: Any, upstream: Upstream) -> None:
    """The request as it came, to the caller's proxy, and then all that is said, either way."""
    with socket.create_connection(upstream.place, PATIENCE_SECONDS) as far:
        kept = [
            f"{key}: {value}\r\n"
            for key, value in handler.headers.items()
            if key.lower() not in ("proxy-authorization", "proxy-connection", "connection")
        ]
        head = f"{handler.command} {handler.path} HTTP/1.1\r\n{''.join(kept)}Proxy-Authorization: {upstream.proof}\r\nConnection: close\r\n\r\n"
        far.sendall(head.encode("latin-1"))
        near = handler.connection
        handler.close_connection = True
        with selectors.DefaultSelector() as selector:
            selector.register(near, selectors.EVENT_READ, far)
            selector.register(far, selectors.EVENT_READ, near)
            while selector.select(PATIENCE_SECONDS):
                for key, _ in selector.select(0):
                    data = key.fileobj.recv(1 << 16)  # type: ignore[union-attr]
                    if not data:
                        return
                    key.data.sendall(data)
