"""A real restic for tests, and a repository that is there already: to make one takes a second."""

import atexit
import functools
import os
import shutil
import stat
import subprocess
import tempfile
from unittest import mock

from flexrack_node.base.stored import write
from flexrack_node.history import control, restic, verbs
from flexrack_node.history.folder import HistoryFolder
from sync_support import SyncCase

KEY = "key of tests"


@functools.cache
def restic_of_tests():
    return os.environ.get("FLEXRACK_TEST_RESTIC") or shutil.which("restic")


@functools.cache
def repository_of_tests():
    folder = tempfile.mkdtemp(prefix="flexrack-restic-")
    atexit.register(shutil.rmtree, folder)
    with open(os.path.join(folder, "key"), "w") as file:
        file.write(KEY)
    repository = os.path.join(folder, "repository")
    subprocess.run(
        [restic_of_tests(), "init"],
        check=True,
        stdout=subprocess.DEVNULL,
        env={
            **os.environ,
            "RESTIC_PASSWORD_FILE": file.name,
            "RESTIC_REPOSITORY": repository,
            "RESTIC_CACHE_DIR": folder,
        },
    )
    return repository


def picture(folder):
    """Everything of a tree that a restore brings back."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in (*folders, *files):
            at = os.path.join(path, name)
            info = os.lstat(at)
            what = (
                os.readlink(at)
                if stat.S_ISLNK(info.st_mode)
                else open(at, "rb").read()
                if stat.S_ISREG(info.st_mode)
                else ""
            )
            found[os.path.relpath(at, folder)] = (
                info.st_mode,
                0 if stat.S_ISDIR(info.st_mode) else info.st_mtime_ns,
                what,
            )
    return found


class HistoryCase(SyncCase):
    def setUp(self):
        super().setUp()
        os.environ["FLEXRACK_REBOOT"] = "stay"
        self.addCleanup(os.environ.pop, "FLEXRACK_REBOOT")
        patch = mock.patch.object(restic, "find", lambda _root: restic_of_tests())
        patch.start()
        self.addCleanup(patch.stop)
        self.history = HistoryFolder(self.root, "p")

    def on(self, exclude=(), largest=None):
        """As history.on does it, but for the service."""
        self.history.make()
        self.history.key.write_text(KEY)
        shutil.copytree(repository_of_tests(), self.history.repository)
        write(
            "history.settings", self.history.settings_file, {"every": 600, "exclude": list(exclude), "largest": largest}
        )

    def save(self):
        return control.save({"project": "p"}, self.channel())

    def restore(self, **more):
        return verbs.restore({"project": "p", "in_place": False, **more}, self.channel())

    def check(self):
        restic.Restic(self.history).run("--no-lock", "check", "--read-data")
