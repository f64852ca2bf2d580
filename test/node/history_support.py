"""A real restic for tests, and a repository that is there already: to make one takes a second."""
import atexit
import functools
import os
import shutil
import subprocess
import tempfile

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
    subprocess.run([restic_of_tests(), "init"], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "RESTIC_PASSWORD_FILE": file.name, "RESTIC_REPOSITORY": repository, "RESTIC_CACHE_DIR": folder})
    return repository
