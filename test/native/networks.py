"""A network namespace with one link to this machine's own, whose link can be cut. Needs root."""

import itertools
import os
import subprocess

numbers = itertools.count(os.getpid() % 200 * 16)


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


def may_make_networks():
    if os.geteuid() != 0:
        return False
    name = f"fxtry{os.getpid()}"
    made = ip("netns", "add", name, check=False).returncode == 0
    if made:
        ip("netns", "del", name)
    return made


class Network:
    """`here` is this side's address, `there` the namespace's; `prefix` runs a command inside."""

    def __init__(self):
        number = next(numbers)
        self.name, self.outer, self.inner = f"fx{os.getpid()}n{number}", f"fxo{number}", f"fxi{number}"
        subnet = f"10.213.{number % 256}"
        self.here, self.there = f"{subnet}.1", f"{subnet}.2"
        self.prefix = ["ip", "netns", "exec", self.name]
        ip("netns", "add", self.name)
        ip("link", "add", self.outer, "type", "veth", "peer", "name", self.inner, "netns", self.name)
        ip("addr", "add", f"{self.here}/24", "dev", self.outer)
        ip("-n", self.name, "addr", "add", f"{self.there}/24", "dev", self.inner)
        ip("-n", self.name, "link", "set", "lo", "up")
        ip("-n", self.name, "link", "set", self.inner, "up")
        ip("link", "set", self.outer, "up")

    def cut(self):
        """Nothing passes any more and nobody is told: on the namespace's side the route stays."""
        ip("link", "set", self.outer, "down")

    def mend(self):
        ip("link", "set", self.outer, "up")

    def close(self):
        ip("netns", "del", self.name, check=False)
        ip("link", "del", self.outer, check=False)
