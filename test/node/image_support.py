"""Layers and images for tests, made of files of this machine."""
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from typing import Any, Dict, List, Optional, Tuple, Union

PROGRAMS = ("/bin/sh", "/bin/cat", "/bin/ls", "/usr/bin/id", "/bin/sleep", "/bin/touch", "/usr/bin/env", "/bin/mkdir", "/bin/rm", "/bin/kill", "/bin/true", "/usr/bin/test")


class LayerTar:
    """Entries one after the other, as hostile as is wanted."""

    def __init__(self) -> None:
        self.buffer = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.buffer, mode="w", format=tarfile.PAX_FORMAT)

    def add(self, name: str, content: Union[bytes, str] = b"", mode: int = 0o644, kind: bytes = tarfile.REGTYPE, link: str = "", **more: Any) -> "LayerTar":
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


def libraries(program: str) -> List[str]:
    said = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(?:=> )?(/\S+) \(0x", said)))


def base_layer(programs: Tuple[str, ...] = PROGRAMS, more: Optional[Dict[str, str]] = None) -> bytes:
    """A small system: a shell, a few programs and their libraries, with an /etc/os-release of its own."""
    layer = LayerTar()
    for folder in ("bin", "etc", "tmp", "proc", "dev", "sys", "usr", "usr/bin"):
        layer.folder(folder, 0o1777 if folder == "tmp" else 0o755)
    files = {real for program in programs for real in libraries(program)}
    for path in sorted(files | set(programs)):
        with open(os.path.realpath(path), "rb") as file:
            layer.add(path.lstrip("/"), file.read(), mode=0o755)
    layer.add("etc/os-release", 'NAME="Test image"\nID=testimage\n').add("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n").add("etc/group", "root:x:0:\n")
    for name, text in (more or {}).items():
        layer.add(name, text)
    return layer.bytes()


def python_layer() -> bytes:
    """This machine's own Python of Debian, without what tests do not need, for an image that has the base layer below."""
    layer = LayerTar()
    version = subprocess.run(["/usr/bin/python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True).stdout.strip()
    done = {path for program in PROGRAMS for path in libraries(program)}
    layer.folder("usr/lib")
    root = f"/usr/lib/python{version}"
    skipped = ("__pycache__", "test", "tests", "idlelib", "tkinter", "lib2to3", "pydoc_data", "turtledemo", "dist-packages", f"config-{version}-x86_64-linux-gnu")
    files = [f"/usr/bin/python{version}"]
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if one not in skipped)
        layer.folder(folder.lstrip("/"))
        files += [os.path.join(folder, name) for name in sorted(names)]
    for wheel in sorted(os.listdir("/usr/share/python-wheels")) if os.path.isdir("/usr/share/python-wheels") else []:
        files.append(f"/usr/share/python-wheels/{wheel}")
    needed = {real for path in files if ".so" in path or path.startswith("/usr/bin/") for real in libraries(path)}
    for path in [*files, *sorted(needed - done)]:
        if os.path.isfile(path):
            with open(os.path.realpath(path), "rb") as file:
                layer.add(path.lstrip("/"), file.read(), mode=0o755 if path.startswith("/usr/bin/") or ".so" in path else 0o644)
    layer.symlink("usr/bin/python3", f"python{version}")
    return layer.bytes()


def layout(folder: str, layers: List[bytes], tag: str = "latest", env: Optional[List[str]] = None, machine: str = "amd64") -> str:
    """Writes an OCI image layout, or adds an image to one. -> digest of the manifest."""
    def blob(data: bytes) -> Dict[str, Any]:
        os.makedirs(f"{folder}/blobs/sha256", exist_ok=True)
        with open(f"{folder}/blobs/sha256/{digest(data)[7:]}", "wb") as file:
            file.write(data)
        return {"digest": digest(data), "size": len(data)}
    config = json.dumps({"architecture": machine, "os": "linux", "config": {"Env": env or []}, "rootfs": {"type": "layers", "diff_ids": [digest(one) for one in layers]}}).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", **blob(config)},
        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **blob(packed(one))} for one in layers],
    }).encode()
    index: Dict[str, Any] = {"schemaVersion": 2, "manifests": []}
    if os.path.exists(f"{folder}/index.json"):
        with open(f"{folder}/index.json") as file:
            index = json.load(file)
    index["manifests"] = [one for one in index["manifests"] if one["annotations"]["org.opencontainers.image.ref.name"] != tag]
    index["manifests"].append({"mediaType": "application/vnd.oci.image.manifest.v1+json", **blob(manifest), "annotations": {"org.opencontainers.image.ref.name": tag}})
    for name, text in (("index.json", json.dumps(index)), ("oci-layout", '{"imageLayoutVersion": "1.0.0"}')):
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    return digest(manifest)


if __name__ == "__main__":  # FOLDER [python]: a layout with the images `base`, and with `python` also `python`; prints their digests
    base = base_layer()
    made = {"base": layout(sys.argv[1], [base], "base", ["GREETING=from the image", "PATH=/usr/bin:/bin"])}
    if "python" in sys.argv[2:]:
        made["python"] = layout(sys.argv[1], [base, python_layer()], "python", ["PATH=/usr/bin:/bin"])
    print(json.dumps(made))
