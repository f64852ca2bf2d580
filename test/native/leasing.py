"""What a process leases that starts with GPUs by itself, a kernel or a model server, and the programs for it."""

from servers import BUILD

MIB = 1 << 20
LIBRARIES = {"libcuda.so.1": "libflexrack-cuda.so"}
ONE_GPU = {
    "count": 1,
    "share": {"memory": 64 * MIB},
    "cap": False,
    "api": "cuda",
    "owner": "tests",
    "text": "1 GPU",
}
DRIVERS = {"keeper": "flexrack-lease-keeper", "icd": None, "libraries": LIBRARIES}


def put_programs(root):
    """In the place of a node's programs."""
    programs = root / "gpu" / "program"
    programs.mkdir(parents=True)
    for name in (DRIVERS["keeper"], *LIBRARIES.values()):
        (programs / name).symlink_to(BUILD / name)
