#!/bin/sh
# Makes the .ptx files anew from the .cu files beside them, by nvcc 13. Paths of files are cut to names: they differ
# from machine to machine.
set -e
cd "$(dirname "$0")"
for source in *.cu; do
  lines=
  [ "$source" = services.cu ] && lines=-lineinfo
  "${NVCC:-nvcc}" -ptx -arch=compute_75 $lines -diag-suppress 550 "$source" -o "${source%.cu}.ptx"
  sed -i -E 's|^(\s*\.file\s+[0-9]+\s+")[^"]*/|\1|' "${source%.cu}.ptx"
done
