"""How fast a network card could be: asked of its driver (ETHTOOL_GLINKSETTINGS), which needs no root."""

import array
import fcntl
import socket
import struct
from typing import Dict, Optional, Tuple

SIOCETHTOOL = 0x8946
GLINKSETTINGS = 0x4C
# struct ethtool_link_settings up to link_mode_masks_nwords and the reserved words (linux/ethtool.h).
HEAD = struct.Struct("=II7Bb4B7I")
# index in HEAD of link_mode_masks_nwords, which is signed: the kernel answers the first question with minus what it
# wants
WORDS = 9

# Bits of enum ethtool_link_mode_bit_indices (linux/ethtool.h), as ranges, by Mbit/s.
MODES: Dict[int, Tuple[Tuple[int, int], ...]] = {
    10: ((0, 1), (92, 92), (99, 102)),
    100: ((2, 3), (67, 67), (90, 91)),
    1000: ((4, 5), (17, 17), (41, 41), (68, 68)),
    2500: ((15, 15), (47, 47)),
    5000: ((48, 48),),
    10_000: ((12, 12), (18, 20), (42, 46)),
    20_000: ((21, 22),),
    25_000: ((31, 33),),
    40_000: ((23, 26),),
    50_000: ((34, 35), (40, 40), (52, 56)),
    56_000: ((27, 30),),
    100_000: ((36, 39), (57, 61), (75, 79)),
    200_000: ((62, 66), (80, 84), (103, 108)),
    400_000: ((69, 73), (85, 89), (109, 114)),
    800_000: ((93, 98), (115, 120)),
}


def fastest_mode(name: str) -> Optional[int]:
    """Mbit/s of the fastest mode that the card supports; None where its driver does not say (virtual machines,
    InfiniBand).
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            words = -HEAD.unpack_from(exchange(probe, name, 0))[WORDS]
            return fastest_bit(ask_masks(probe, name, words)) if words > 0 else None
    except OSError:
        return None


def fastest_bit(supported: int) -> Optional[int]:
    """`supported`: the mask as one number, bit 0 the lowest."""
    speeds = [
        speed
        for speed, ranges in MODES.items()
        for first, last in ranges
        if supported >> first & (1 << (last - first + 1)) - 1
    ]
    return max(speeds, default=None)


def ask_masks(probe: socket.socket, name: str, words: int) -> int:
    """The mask of supported modes: the first of three, each of `words` 32-bit words."""
    return int.from_bytes(exchange(probe, name, words)[HEAD.size : HEAD.size + 4 * words], "little")


def exchange(probe: socket.socket, name: str, words: int) -> bytes:
    data = array.array("B", HEAD.pack(GLINKSETTINGS, *[0] * 8, words, *[0] * 11) + bytes(3 * 4 * max(words, 1)))
    address, _ = data.buffer_info()
    fcntl.ioctl(probe.fileno(), SIOCETHTOOL, struct.pack("16sP16x", name.encode()[:15], address))
    return data.tobytes()
