"""python3 serving/agent.py ROOT ENVIRONMENTS: asks the head which of the servers prepared on this node are to run, and
starts and ends them. The service's supervisor keeps it running.

Nobody calls it: it asks, and its question is held until there is something new. While the head is away everything stays
as it is. It touches services alone that were prepared for that (`on_demand`).
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Dict, Optional, cast

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.channel import Channel
from flexrack_node.base.stored import read, write
from flexrack_node.run.upstream import tls_context
from flexrack_node.serving.control import folder
from flexrack_node.serving.gpu_use import leased_by_servers
from flexrack_node.serving.head_link import HeadAway, HeadLink
from flexrack_node.serving.servers import Servers

if TYPE_CHECKING:
    from flexrack_node.schema.serving import AgentAnswer, AgentNote, AgentQuestion, AgentSettings, ServerReport

WAIT_SECONDS = 8.0
_TICK = 0.1
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0  # the head is not asked more often while it is away
_REFUSED_PAUSE = 60.0


class Agent:
    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.place = folder(channel.root)
        self.settings = cast("AgentSettings", read("serving.settings", self.place / "settings.json"))
        self.servers = Servers(channel)
        self.ending = threading.Event()
        self._note: AgentNote = {"at": time.time(), "problem": "it has not been asked yet", "refused": False}
        self._told: Dict[str, ServerReport] = {}

    def run(self) -> int:
        """Until it is ended: one thread asks and waits, this one looks after the servers and reports.

        Orders are taken by the thread that asks, alone: of two answers on two connections nobody knows which is the
        newer one. What a report changes is in that thread's answer, which comes at once.
        """
        threading.Thread(target=self._listen, name="listen", daemon=True).start()
        reporting = HeadLink(self.settings)
        pause = 0.0
        while not self.ending.wait(_TICK):
            self.servers.look()
            pause = max(0.0, pause - _TICK)
            now = self.servers.reports()
            if now == self._told or pause > 0:
                continue
            try:
                reporting.follow(self.settings)
                reporting.ask(self._question(0.0, None))
                self._told = now
            except HeadAway:
                pause = 1.0  # the other thread tells it
        return 0

    def _listen(self) -> None:
        link = HeadLink(self.settings)
        pause, seen = _FIRST_PAUSE, None
        while not self.ending.is_set():
            try:
                link.follow(self.settings)
                answer = link.ask(self._question(WAIT_SECONDS, seen))
                self._take(answer)
                seen, pause = answer["seen"], _FIRST_PAUSE
                self._tell(None, False)
            except HeadAway as error:
                self._tell(str(error), error.refused)
                seen = None
                self.ending.wait(_REFUSED_PAUSE if error.refused else pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    def _question(self, wait: float, seen: Optional[str]) -> "AgentQuestion":
        gpus = leased_by_servers(self.channel.root)
        return {"seen": seen, "wait": wait, "services": self.servers.reports(), "ca": self.settings["ca"], "gpus": gpus}

    def _take(self, answer: "AgentAnswer") -> None:
        self.servers.want({one["service"]: one["on"] for one in answer["places"]})
        ca = answer.get("ca")
        if not ca or self.settings["ca"] is None:
            return
        settings: AgentSettings = {**self.settings, "ca": ca}
        try:
            tls_context(ca)
            write("serving.settings", self.place / "settings.json", settings)
        except (OSError, ValueError):  # no certificates, or a full disk: the next answer has them again
            return
        self.settings = settings

    def _tell(self, problem: Optional[str], refused: bool) -> None:
        if (self._note["problem"], self._note["refused"]) == (problem, refused):
            return
        print(
            f"[flexrack] {'the head answers' if problem is None else f'the head is not asked: {problem}'}", flush=True
        )
        self._note = {"at": time.time(), "problem": problem, "refused": refused}
        try:
            write("serving.note", self.place / "note.json", self._note)
        except OSError:
            pass  # the disk is full: the log may have it


def main() -> int:
    os.umask(0o077)
    agent = Agent(Channel(Path(sys.argv[1]), Path(sys.argv[2]), sys.stdin.buffer))

    def end(_number: int, _frame: Optional[FrameType]) -> None:
        agent.ending.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    return agent.run()


if __name__ == "__main__":
    sys.exit(main())
