"""run.dashboard: where a Ray cluster's dashboard is, while the run lives."""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict
from unittest.mock import Mock, patch

from flexrack_node.base.errors import NodeError
from flexrack_node.rank.packaged import ray_token
from flexrack_node.run.files import RunFolder
from flexrack_node.runs.dashboard import dashboard

SPEC: Dict[str, Any] = {"run": "digits-1", "launcher": "ray", "gang": {"secret": "5ec2e7"}}


class DashboardTest(unittest.TestCase):
    def setUp(self) -> None:
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.folder = RunFolder(Path(temp.name))
        self.view = Mock(folder=self.folder)
        self.view.members.return_value = [self.folder]
        patched = patch("flexrack_node.runs.dashboard.open_view", return_value=self.view)
        patched.start()
        self.addCleanup(patched.stop)
        self.write(SPEC, attempt=2)

    def write(self, spec: Dict[str, Any], attempt: int) -> None:
        (self.folder.path / "spec.json").write_text(json.dumps(spec))
        self.folder.attempt(1).mkdir(parents=True, exist_ok=True)
        self.folder.attempt(attempt).mkdir(parents=True, exist_ok=True)
        (self.folder.attempt(attempt) / "ray.json").write_text(
            json.dumps({"address": "192.0.2.10:1", "dashboard": 8265})
        )

    def ask(self) -> Dict[str, Any]:
        return dashboard({"run": "digits-1"}, Mock())

    def test_it_is_that_of_the_newest_attempt_with_its_token(self) -> None:
        self.assertEqual(self.ask(), {"host": "127.0.0.1", "port": 8265, "token": ray_token(SPEC, 2)})

    def test_under_slurm_it_is_at_the_address_of_the_node_that_has_the_head(self) -> None:
        spec = {**SPEC, "scheduler": "slurm", "address": "192.0.2.10"}
        self.write(spec, attempt=2)
        other = RunFolder(self.folder.path / "members" / "1")
        other.path.mkdir(parents=True)
        (other.path / "spec.json").write_text(json.dumps({**spec, "address": "192.0.2.11"}))
        self.view.members.return_value = [other, self.folder]
        self.assertEqual(self.ask(), {"host": "192.0.2.10", "port": 8265, "token": ray_token(spec, 2)})

    def test_a_run_that_is_over_has_none(self) -> None:
        self.view.is_live.return_value = False
        with self.assertRaisesRegex(NodeError, "has no dashboard here"):
            self.ask()

    def test_nor_has_one_of_another_launcher_or_a_node_without_the_head(self) -> None:
        self.write({**SPEC, "launcher": "torchrun"}, attempt=2)
        self.assertRaises(NodeError, self.ask)
        self.write(SPEC, attempt=2)
        (self.folder.attempt(2) / "ray.json").unlink()
        self.assertRaises(NodeError, self.ask)


if __name__ == "__main__":
    unittest.main()
