"""The door before TensorBoard, which has no login and answers any Host: who has the token gets a cookie, and who has
that gets in.

The cookie is for the board's own path alone: a browser gives cookies to all ports of a host, and other accounts may
listen on them.
"""

import hmac
import time
from http.cookies import CookieError, SimpleCookie
from typing import Any, Callable, Dict, Iterable, List, Tuple
from urllib.parse import parse_qs

# under another one a page of somebody else's would be asking (DNS rebinding)
_NAMES = {"127.0.0.1", "localhost", "[::1]"}
_COOKIE = "flexrack_board"

Headers = List[Tuple[str, str]]
Start = Callable[..., Any]


class Door:
    """A WSGI application. `used`: when somebody was let in last, by the monotonic clock."""

    def __init__(self, app: Callable[[Dict[str, Any], Start], Iterable[bytes]], token: str, prefix: str) -> None:
        self.app, self.token, self.prefix = app, token, prefix
        self.used = time.monotonic()

    def __call__(self, environ: Dict[str, Any], start: Start) -> Iterable[bytes]:
        host = str(environ.get("HTTP_HOST", ""))
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "80")
        if name not in _NAMES or not port.isdigit():
            return answer(start, "403 Forbidden", "This name does not lead here.")
        given = parse_qs(environ.get("QUERY_STRING", "")).get("token", [""])[0]
        if given:
            if not self.is_token(given):
                return answer(start, "401 Unauthorized", "The token is not the one of this board.")
            cookie = f"{_COOKIE}={self.token}; Path={self.prefix}/; HttpOnly; SameSite=Strict"
            headers = [("Location", f"{self.prefix}/"), ("Set-Cookie", cookie), ("Referrer-Policy", "no-referrer")]
            return answer(start, "303 See Other", "", headers)
        if not self.is_token(cookie_of(str(environ.get("HTTP_COOKIE", "")))):
            return answer(start, "401 Unauthorized", "Open the address that `flexrack runs tensorboard` prints.")
        self.used = time.monotonic()
        try:
            return self.app(environ, start)
        finally:
            self.used = time.monotonic()

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


def cookie_of(text: str) -> str:
    try:
        morsel = SimpleCookie(text).get(_COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def answer(start: Start, status: str, text: str, headers: "Headers" = []) -> List[bytes]:  # noqa: B006 (it is not changed)
    body = f"{text}\n".encode() if text else b""
    start(
        status,
        [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            *headers,
        ],
    )
    return [body]
