"""The one error type of the node program; it travels to the caller as data."""

from typing import Optional


class NodeError(Exception):
    """Carries a code of flexrack's error table (src/lib/base/error-codes.ts), a message, a hint and plain details."""

    def __init__(self, code: str, message: str, hint: Optional[str] = None, **details: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details
