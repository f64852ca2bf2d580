"""When a kernel and the server of notebooks are ended, and what is told of it. The whole of it with a real server:
test/integration/notebook.test.ts.
"""

import datetime
import io
import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.short_socket import LONGEST as LONGEST_SOCKET
from flexrack_node.notebook import control, idle
from flexrack_node.notebook.folder import NotebookFolder, runtime_of
from flexrack_node.workspace.folder import WorkspaceFolder

AT = datetime.datetime(2026, 3, 4, 5, 6, 7, 250000, tzinfo=datetime.timezone.utc).timestamp()
KERNEL = "3f2c6c9a-6f51-4b5e-9d0e-0c4b1f0f9a11"
TEXT = "2026-03-04T05:06:07.250000Z"


def kernel(state="idle", **more):
    return {"id": KERNEL, "name": "python3", "last_activity": TEXT, "execution_state": state, **more}


class IdleTest(unittest.TestCase):
    def test_a_kernel_that_does_nothing_ends_and_one_at_work_does_not(self):
        sessions = [{"path": "a.ipynb", "kernel": {"id": KERNEL}}, {"path": "b", "kernel": None}]
        [shown] = idle.kernels_of([kernel()], sessions, 60)
        self.assertEqual(
            shown,
            {
                "id": KERNEL,
                "kernel": "python3",
                "notebook": "a.ipynb",
                "state": "idle",
                "active_at": AT,
                "ends_at": AT + 60,
            },
        )
        self.assertEqual([idle.overdue([shown], AT + 59), idle.overdue([shown], AT + 60)], [[], [shown]])
        for state, seconds in (("busy", 60), ("idle", 0)):
            [shown] = idle.kernels_of([kernel(state)], [], seconds)
            self.assertIsNone(shown["ends_at"])
            self.assertEqual(idle.overdue([shown], AT + 1e9), [])
        self.assertEqual(idle.kernels_of([kernel("starting")], [], 60)[0]["ends_at"], AT + 60)

    def test_what_a_server_says_of_itself_is_not_believed(self):
        """In a sandbox whoever writes cells can make it say anything."""
        for name in ("../../etc", "", None, 3, "x" * 99):
            with self.assertRaises((ValueError, AttributeError, TypeError)):
                idle.kernels_of([{**kernel(), "id": name}], [], 60)
        sessions = [{"path": "a\x1b]0;x\x07.ipynb", "kernel": {"id": KERNEL}}]
        self.assertEqual(idle.kernels_of([kernel("a\nb")], sessions, 60)[0]["notebook"], "a?]0;x?.ipynb")
        self.assertEqual(idle.kernels_of([kernel("a\nb")], sessions, 60)[0]["state"], "a?b")

    def test_the_server_ends_once_nobody_uses_anything_of_it(self):
        status = {"started": "2026-03-04T05:00:00Z", "last_activity": TEXT}
        self.assertEqual(idle.server_end(status, [], 0, 7200, None), {"at": AT + 7200, "why": "nobody used it for 2 h"})
        for kernels, terminals, seconds in (([kernel()], 0, 60), ([], 1, 60), ([], 0, 0)):
            self.assertEqual(idle.server_end(status, kernels, terminals, seconds, None), {"at": None, "why": None})
        self.assertEqual(idle.server_end(status, [kernel("busy")], 0, 60, AT + 5)["at"], AT + 5)
        self.assertEqual(idle.server_end(status, [], 0, 60, AT + 90)["at"], AT + 60)

    def test_times_for_people(self):
        self.assertEqual(
            [idle.duration(one) for one in (7200, 90 * 60, 60, 10, 2.5)], ["2 h", "90 min", "1 min", "10 s", "2.5 s"]
        )


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.base = Path(tempfile.mkdtemp(prefix="fx-"))
        self.addCleanup(shutil.rmtree, self.base)

    def notebook(self, root):
        WorkspaceFolder(root, "digits").make(root)
        place = NotebookFolder(root, "digits")
        place.make()
        return place

    def test_the_token_has_no_line_end_and_nobody_else_gets_at_it(self):
        place = self.notebook(self.base)
        token = place.token.read_text()
        self.assertRegex(token, r"\A[0-9a-f]{48}\Z")
        self.assertEqual(place.token.stat().st_mode & 0o777, 0o600)
        runtime = Path(runtime_of(str(place.socket())))
        runtime.chmod(0o755)
        place.make()
        self.assertEqual(
            {one.stat().st_mode & 0o777 for one in (place.path, runtime, place.config, place.data)}, {0o700}
        )
        self.assertEqual(place.token.read_text(), token)

    def test_a_socket_has_a_short_path_whatever_the_root(self):
        self.assertEqual(self.notebook(self.base).socket().parent, self.base / "s")
        deep = self.base / ("x" * 100)
        deep.mkdir()
        self.addCleanup(lambda: shutil.rmtree(runtime_of(str(NotebookFolder(deep, "digits").socket()))))
        for root in (self.base, deep):
            gone = self.notebook(root)
            for one in (gone.socket(), gone.grants()):
                one.write_text("")
            gone.links().mkdir()
            self.assertTrue(
                control.remove({"project": "digits"}, Channel(root, root / "environments", io.BytesIO()))["removed"]
            )
            self.assertEqual(list(gone.socket().parent.glob(f"{gone.socket().name}*")), [])
        first, other = self.notebook(deep).socket(), NotebookFolder(deep, "other").socket()
        self.assertEqual(first.parent, Path(f"/tmp/flexrack-{os.geteuid()}"))
        self.assertLessEqual(len(str(first)), LONGEST_SOCKET)
        self.assertNotEqual(first, other)
        self.assertEqual(first.parent.stat().st_mode & 0o777, 0o700)

    def test_what_jupyter_is_told_is_in_files_and_the_kernel_is_the_projects_python(self):
        self.notebook(self.base)
        side = self.base / "side"
        (side / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
        request = {"project": "digits", "server": "/server", "side": str(side), "environment": "/own", "idle": 60}
        channel = Channel(self.base, self.base / "environments", io.BytesIO())
        answer = control.prepare(request, channel)
        place = NotebookFolder(self.base, "digits")
        self.assertEqual(answer["argv"][-2:], [str(self.base), "digits"])
        self.assertNotIn(place.token.read_text(), " ".join(answer["argv"]))
        spec = (place.kernels / "kernels" / "python3" / "kernel.json").read_text()
        self.assertIn('"/own/bin/python"', spec)
        self.assertIn("kernel.py", spec)
        self.assertIn(str(side / "lib" / "python3.11" / "site-packages"), spec)
        self.assertFalse((place.kernels / "kernels" / "gpu").exists())
        gpus = {
            "count": 1,
            "share": {"whole": True},
            "cap": False,
            "api": "cuda",
            "owner": "me",
            "purpose": "notebook digits on a",
            "keeper": "k",
            "icd": None,
            "libraries": {},
            "text": "1 GPU",
        }
        isolate = {"network": "none"}
        control.prepare({**request, "gpus": gpus, "isolate": isolate}, channel)
        order = json.loads(place.settings.read_text())["order"]
        self.assertEqual(order["write"], [str(place.workspace.code), str(place.data)])
        self.assertEqual([order["isolate"], order["gpus"]], [isolate, []])
        for kept in (place.path, place.settings, place.socket(), self.base / "gpu", self.base):
            self.assertNotIn(str(kept), [*order["read"], *order["write"], *(one[0] for one in order["over"])])
        self.assertIn("ask_gpus.py", (place.kernels / "kernels" / "gpu" / "kernel.json").read_text())
        control.prepare({**request, "gpus": gpus}, channel)
        self.assertNotIn("order", json.loads(place.settings.read_text()))
        self.assertIn("with_gpus.py", (place.kernels / "kernels" / "gpu" / "kernel.json").read_text())
        control.prepare(request, channel)
        self.assertFalse((place.kernels / "kernels" / "gpu").exists())
        with self.assertRaises(NodeError) as caught:
            control.prepare({**request, "project": "nothing"}, channel)
        self.assertEqual(caught.exception.code, "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
