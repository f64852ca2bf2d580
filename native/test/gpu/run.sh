#!/bin/sh
# Everything that is to be seen on a machine with a GPU: programs, copies, PyTorch, shares, and what is lost and comes
# back, natively and through the wire on this same machine. Prints one table and keeps it in
# bench/results/gpu-<machine>.{json,md}.
#
#   native/test/gpu/run.sh [--sim] [--programs FOLDER] [--torch PYTHON] [PART...]
#
# Parts are programs micro samples torch shares faults; all without.
#
# --sim: a GPU in software in place of the machine's own.
# --programs: what test/native/cuda_programs.py built elsewhere, where there is no nvcc. Else nvcc 13 is taken from the
# machine or from PyPI.
# FLEXRACK_NATIVE_BUILD: a build of the native layer; without, it is built here (native/README.md says what that needs).
# --torch, or FLEXRACK_TORCH_PYTHON: a python that has PyTorch for CUDA, its stock wheel; python3 without.
# FLEXRACK_CUDA_SAMPLES: a folder with built cuda-samples. What is left out is said at the end, with its reason.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
native=$(cd "$here/../.." && pwd)
if [ -z "${FLEXRACK_NATIVE_BUILD:-}" ]; then
  (cd "$native" && cmake --preset release >&2 && cmake --build --preset release --parallel --target \
    flexrack-gpud flexrack-lease-keeper flexrack-cuda flexrack-nvml flexrack-sim >&2)
  FLEXRACK_NATIVE_BUILD=$native/build/release
  export FLEXRACK_NATIVE_BUILD
fi
exec python3 "$here/measure.py" "$@"
