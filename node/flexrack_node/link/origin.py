"""By what pending connections to a port are counted."""

import socket

_MAPPED = b"\0" * 10 + b"\xff\xff"  # before an IPv4 address (RFC 4291, 2.5.5.2)


def origin_of(address: str) -> bytes:
    """Of an IPv4 address all of it; of an IPv6 address the /64: whoever has one address of such a network has them all
    (RFC 6177).
    """
    try:
        six = (
            socket.inet_pton(socket.AF_INET6, address.split("%", 1)[0])
            if ":" in address
            else _MAPPED + socket.inet_pton(socket.AF_INET, address)
        )
    except OSError:
        return address.encode()
    return six[12:] if six.startswith(_MAPPED) else six[:8]
