"""The kept inputs of the fuzz targets: an archive a target, native/test/fuzz/corpus/TARGET.zip, or a folder where the
inputs have names that tests know.

    fuzz_corpus.py TARGET FILE...      adds inputs, each under the hash of its bytes
"""

import hashlib
import os
import shutil
import sys
import zipfile
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent.parent / "native" / "test" / "fuzz" / "corpus"


def unpack(target, folder):
    """Puts the kept inputs of that target into the folder, which it makes."""
    if (CORPUS / target).is_dir():
        shutil.copytree(CORPUS / target, folder)
        return
    with zipfile.ZipFile(CORPUS / f"{target}.zip") as archive:
        archive.extractall(folder)


def pack(target, inputs):
    """Name to bytes. The same inputs always make the same archive."""
    new = CORPUS / f"{target}.zip.new"
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(inputs.items()):
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    os.replace(new, CORPUS / f"{target}.zip")


def main(target, *files):
    with zipfile.ZipFile(CORPUS / f"{target}.zip") as archive:
        inputs = {name: archive.read(name) for name in archive.namelist()}
    for file in files:
        data = Path(file).read_bytes()
        inputs[hashlib.sha1(data).hexdigest()] = data
    pack(target, inputs)


if __name__ == "__main__":
    main(*sys.argv[1:])
