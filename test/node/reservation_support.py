"""A folder of reservations and the verbs, called in this process."""

import multiprocessing
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.channel import Channel
from flexrack_node.reservation.place import open_place
from flexrack_node.verbs.reservation import listing, take

FORK = multiprocessing.get_context("fork")


class Case(unittest.TestCase):
    """A folder of reservations, and flexrack's folder of one node."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-reservation-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        environment = mock.patch.dict(os.environ, {"FLEXRACK_RESERVATIONS": str(self.shared)})
        environment.start()
        self.addCleanup(environment.stop)
        self.channel = self.node("root")
        self.place = open_place(self.channel.root)

    def node(self, name):
        return Channel(self.folder / name, self.folder / "environments", sys.stdin.buffer)

    def ask(self, lease, channel=None, exclusive=True, **parts):
        return take(
            {
                "lease": lease,
                "owner": f"{lease}@here",
                "project": "p",
                "node": "n",
                "nodes": ["n"],
                "ttl": 20,
                "wants": {"gpus": [], "slots": 1, "exclusive": exclusive},
                **parts,
            },
            channel or self.channel,
        )

    def held(self):
        return [(one["lease"], one["state"]) for one in listing(None, self.channel)["reservations"]]

    def rewrite(self, lease, **parts):
        """Changes a record from outside, as a crash, another boot or somebody hostile would."""
        record = self.place.read_own(lease, self.channel.root)
        self.place.write({**record, **parts})
