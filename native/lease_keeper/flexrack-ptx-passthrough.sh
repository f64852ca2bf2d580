#!/bin/sh
# Stands where compilers of GPU kernels look for ptxas, NVIDIA's assembler, while a command is attached to GPUs in software. It is flexrack's own and assembles
# nothing: what it is given as PTX is its output, which the driver of such a GPU takes. For a real GPU, use NVIDIA's ptxas.
#   flexrack-ptx-passthrough --version
#   flexrack-ptx-passthrough [options, which mean nothing here] FILE.ptx -o FILE
set -eu
input= output=
while [ $# -gt 0 ]; do
  case "$1" in
    --version|-V)
      # Callers look for "release M.N" and VM.N: which PTX they may write.
      echo 'flexrack-ptx-passthrough: gives PTX on to a GPU in software. This is not the ptxas of NVIDIA, and makes no machine code.'
      echo 'For PTX as of CUDA tools, release 13.0, V13.0.0'
      exit 0 ;;
    -o|--output-file) output=${2:?a file is missing behind -o}; shift ;;
    -o=*|--output-file=*) output=${1#*=} ;;
    -*) ;;
    # Options may have a word of their own: the input is what is a file.
    *) if [ -f "$1" ]; then input=$1; fi ;;
  esac
  shift
done
if [ -z "$input" ] || [ -z "$output" ]; then
  echo 'flexrack-ptx-passthrough: usage: FILE.ptx -o FILE' >&2
  exit 2
fi
# A driver reads PTX up to a zero. Callers that hand machine code over, as XLA does, put none behind it.
{ cat -- "$input"; printf '\0'; } > "$output"
