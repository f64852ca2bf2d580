"""Environments that tests of the node program make and look at."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from messages import check_files, check_lines
from places import verb_words
from waiting import LONG


class MadeEnvironments:
    """Real environments; a package of our own in a folder stands for the package index, so nothing is downloaded."""

    uv = None  # the order for it

    def setUp(self):
        self.folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="flexrack-environment-")))
        self.root = self.folder / "root"
        self.environments = self.folder / "environments"
        self.wheels = self.folder / "wheels"
        self.root.mkdir()
        self.wheels.mkdir()
        self.children = []
        self.env = {
            **os.environ,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_CONFIG_FILE": os.devnull,
        }
        for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
            self.env.pop(name, None)

    def tearDown(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()
        for folder in (self.folder, self.root):
            check_files(folder)
        shutil.rmtree(self.folder)

    def wheel(self, name, version="1.0", bytes_of_zeros=0):
        """A package with one module that says its version."""
        import zipfile

        info = f"{name}-{version}.dist-info"
        with zipfile.ZipFile(self.wheels / f"{name}-{version}-py3-none-any.whl", "w") as archive:
            archive.writestr(f"{name}.py", f"version = '{version}'\n")
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
            if bytes_of_zeros:
                archive.writestr(f"{name}.bin", bytes(bytes_of_zeros), zipfile.ZIP_DEFLATED, 1)

    def slow_source(self):
        """A package that says when it is being built, and then does not get on."""
        source = self.folder / "slow-1.0"
        source.mkdir()
        (source / "pyproject.toml").write_text(
            "[build-system]\nrequires = []\nbuild-backend = 'slow'\nbackend-path = ['.']\n"
        )
        (source / "slow.py").write_text(
            f"import time\nopen({str(self.folder / 'building')!r}, 'w').close()\ntime.sleep(600)\n"
        )
        subprocess.run(
            ["tar", "czf", str(self.wheels / "slow-1.0.tar.gz"), "-C", str(self.folder), "slow-1.0"], check=True
        )

    def start(self, verb, value):
        if verb == "environment.ensure" and self.uv:
            value = {**value, "uv": self.uv}
        child = subprocess.Popen(
            verb_words(verb, self.root, self.environments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
        )
        child.stdin.write(json.dumps(value).encode() + b"\n")
        child.stdin.close()
        child.stdin = None
        child.asked = (verb, value)
        self.children.append(child)
        return child

    def end(self, child):
        out, err = child.communicate(timeout=LONG)
        lines = [json.loads(line) for line in out.splitlines()]
        self.events = lines[:-1]
        check_lines(*child.asked, lines)
        self.assertTrue(lines, err.decode())
        return lines[-1]

    def call(self, verb, value):
        return self.end(self.start(verb, value))

    def folders(self):
        return sorted(one.name for one in self.environments.glob("[0-9a-f]*"))

    def hidden(self):
        return sorted(one.name for one in self.environments.glob(".[0-9a-f]*"))

    def processes(self):
        """What still runs with our folder on its command line."""
        found = []
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self.folder).encode() in file.read_bytes():
                    found.append(file.parent.name)
            except OSError:
                pass
        return found
