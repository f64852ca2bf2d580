"""Builds native/test/cuda/*.cu (or those of another folder) with nvcc, each with the static and with the shared runtime
library. Kept by content; a few seconds a program. Run by itself it builds all and prints where they are; `native` as an
argument: for the GPU that is here, and not PTX for any.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cuda_toolkit import toolkit

NATIVE = Path(__file__).resolve().parent.parent.parent / "native"
SOURCES = NATIVE / "test" / "cuda"
FOLDER = Path(os.environ.get("FLEXRACK_CUDA_PROGRAMS", NATIVE / "build" / "cuda"))
# PTX alone is what a device in software runs, and any newer GPU compiles at load; "native" is machine code for the GPU
# that is here.
CODE = {"ptx": ["-arch=compute_75"], "native": ["-arch=native"]}
RUNTIMES = ("static", "shared")


class Build:
    def __init__(self, code="ptx", tools=None, sources=SOURCES):
        self.tools = tools or toolkit()
        self.flags = ["-std=c++17", "-O2", *CODE[code]]
        self.folder = FOLDER / (code if sources == SOURCES else f"{code}-{sources.name}")
        headers = b"".join(path.read_bytes() for path in sorted([*SOURCES.glob("*.h"), *SOURCES.glob("parts/*.cu")]))
        self.common = hashlib.sha256(headers + repr((self.tools.version, self.flags)).encode()).hexdigest()

    def program(self, source):
        """{"static": path, "shared": path} of one source. One builds, others wait. Raises CalledProcessError after the
        compiler has said why on stderr.
        """
        with (self.folder / f"{source.stem}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self._program(source)

    def _program(self, source):
        text = source.read_text()
        stamp = hashlib.sha256((self.common + text + Path(__file__).read_text()).encode()).hexdigest()[:16]
        made = {runtime: self.folder / runtime / source.stem for runtime in RUNTIMES}
        stamp_file = self.folder / f"{source.stem}.stamp"
        if stamp_file.exists() and stamp_file.read_text() == stamp and all(path.exists() for path in made.values()):
            return made
        # Put in place when all is done: programs of an older state may be running.
        work = self.folder / f"{source.stem}.{os.getpid()}"
        for path in (work, *(path.parent for path in made.values())):
            path.mkdir(parents=True, exist_ok=True)
        objects = self.compile(source, text, work)
        for runtime, path in made.items():
            subprocess.run(self.link(objects, work, runtime), check=True)
            os.replace(work / runtime, path)
        stamp_file.write_text(stamp)
        shutil.rmtree(work)
        return made

    def compile(self, source, text, work):
        """The objects of a program. A source may begin with lines `// nvcc: options` and `// with: other sources`."""
        said = {key: words.split() for key, words in re.findall(r"^// (nvcc|with): (.*)$", text, re.MULTILINE)}
        flags = [*self.flags, *said.get("nvcc", [])]
        objects = []
        for path in [source, *(SOURCES / name for name in said.get("with", []))]:
            objects.append(work / f"{path.stem}.o")
            subprocess.run([self.tools.nvcc, *flags, "-I", NATIVE, "-c", path, "-o", objects[-1]], check=True)
        if "-rdc=true" in flags:
            subprocess.run([self.tools.nvcc, *flags, "-dlink", *objects, "-o", work / "linked.o"], check=True)
            objects += [work / "linked.o", self.tools.libraries / "libcudadevrt.a"]
        return objects

    def link(self, objects, work, runtime):
        words = ["g++", *objects, "-o", work / runtime, *driver_stub(objects[0], work)]
        libraries = self.tools.libraries
        words += (
            [libraries / "libcudart_static.a"]
            if runtime == "static"
            else [libraries / "libcudart.so.13", f"-Wl,-rpath,{libraries}"]
        )
        return [*words, "-lpthread", "-ldl", "-lrt"]


def driver_stub(program, work):
    """A program that calls the driver itself is linked to a libcuda.so.1 without contents, as to the one that a toolkit
    brings for it.
    """
    undefined = subprocess.run(["nm", "-u", program], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\s+U (cu[A-Z]\w*)$", undefined, re.MULTILINE)
    if not names:
        return []
    (work / "stub.c").write_text("".join(f"void {name}(void) {{}}\n" for name in names))
    subprocess.run(
        ["gcc", "-w", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", work / "stub.c", "-o", work / "libcuda.so"],
        check=True,
    )
    return [work / "libcuda.so"]


def build(code="ptx", names=None, tools=None, sources=SOURCES):
    """{name: {"static": path, "shared": path}} of all programs of that folder, or of those named."""
    found = [path for path in sorted(sources.glob("*.cu")) if names is None or path.stem in names]
    one = Build(code, tools, sources)
    one.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip((path.stem for path in found), pool.map(one.program, found)))


if __name__ == "__main__":
    for name, made in build("native" if "native" in sys.argv[1:] else "ptx").items():
        print(name, *made.values())
