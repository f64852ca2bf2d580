"""load.cu at work: what keeps a GPU busy for as long as a part of the run wants."""

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Load:
    """`rounds`: how long a step of it is; without, some milliseconds."""

    def __init__(self, machine, env, seconds, prefix=(), rounds=None):
        program = machine.program("load", HERE / "load.cu")
        words = [*prefix, str(program), str(seconds), "2", *([str(rounds)] if rounds else [])]
        self.process = subprocess.Popen(
            words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.began = self.process.stdout.readline().strip() == "ready"

    def finish(self, seconds):
        """(exit code, rounds of its generator, what it said); `rounds` is then how many a step had."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            return -1, 0.0, "it did not end"
        words = out.split()
        is_done = self.process.returncode == 0 and len(words) > 3
        self.rounds = int(words[3]) if is_done else None
        rounds = int(words[0]) * int(words[3]) if is_done else 0
        return self.process.returncode, rounds, (out + err).strip()[-300:]
