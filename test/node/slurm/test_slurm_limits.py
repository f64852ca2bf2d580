"""What is read of Slurm's limits; programs that stand for sacctmgr and sshare print what those of Slurm 22.05 do."""

import getpass
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from flexrack_node.slurm.limits import limits

USER = getpass.getuser()
ASSOCIATIONS = (
    "vision||normal,long|gres/gpu=8||||||||20|\nnlp|gpu|normal||gres/gpu=6000||||||||2-00:00:00\nhalf a line\n"
)
SHARES = f"root||1.000000|0.000000|\n vision||0.500000|0.300000|0.6\n  vision|{USER}|0.250000|0.125000|0.700000\n  nlp|{USER}|parent|inf|\n"


class LimitsTest(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.folder = Path(temp.name)

    def program(self, name, text, status=0, stream=1):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\ncat >&{stream} <<'EOF'\n{text}EOF\nexit {status}\n")
        path.chmod(0o755)

    def read(self):
        return limits({"bin": str(self.folder)}, SimpleNamespace(root=self.folder))

    def test_limits_that_are_set_and_the_users_own_shares(self):
        self.program("sacctmgr", ASSOCIATIONS)
        self.program("sshare", SHARES)
        found = self.read()
        self.assertEqual((found["user"], found["problem"]), (USER, None))
        self.assertEqual(
            found["associations"],
            [
                {
                    "account": "vision",
                    "partition": None,
                    "qos": ["normal", "long"],
                    "limits": {"GrpTRES": "gres/gpu=8", "MaxSubmit": "20"},
                },
                {
                    "account": "nlp",
                    "partition": "gpu",
                    "qos": ["normal"],
                    "limits": {"GrpTRESMins": "gres/gpu=6000", "MaxWall": "2-00:00:00"},
                },
            ],
        )
        self.assertEqual(
            found["shares"],
            [
                {"account": "vision", "share": 0.25, "used": 0.125, "fair_share": 0.7},
                {"account": "nlp", "share": None, "used": None, "fair_share": None},
            ],
        )

    def test_a_cluster_that_keeps_no_accounts_says_so(self):
        self.program("sacctmgr", "You are not running a supported accounting_storage plugin\n", 1, 2)
        found = self.read()
        self.assertEqual(found["problem"], "sacctmgr: You are not running a supported accounting_storage plugin")
        self.assertEqual((found["associations"], found["shares"]), ([], []))

    def test_a_program_that_is_missing_is_named(self):
        self.assertIn("sacctmgr", self.read()["problem"])


if __name__ == "__main__":
    unittest.main()
