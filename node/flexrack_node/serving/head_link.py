"""The agent's way to the head: one path of it, over TLS, asked and never called."""

import json
from typing import TYPE_CHECKING, Optional

from flexrack_node.run.upstream import Away, Line, Upstream

if TYPE_CHECKING:
    from flexrack_node.schema.serving import AgentAnswer, AgentQuestion, AgentSettings

_PATH = "/flexrack/v1/agent"
_PATIENCE_SECONDS = 10.0  # beyond what the question itself waits
_LARGEST_ANSWER = 4 * 1024 * 1024


class HeadAway(Exception):
    """The head was not reached, or gave no answer of ours. `refused`: it does not know the token."""

    def __init__(self, message: str, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


class HeadLink:
    """One connection, kept while it lives; not for two threads."""

    def __init__(self, settings: "AgentSettings") -> None:
        self._settings = settings
        self._line = line_to(settings)

    def follow(self, settings: "AgentSettings") -> None:
        """Other certificates may be trusted from now on."""
        if settings is not self._settings:
            self._line.close()
            self._settings, self._line = settings, line_to(settings)

    def ask(self, question: "AgentQuestion") -> "AgentAnswer":
        """Raises HeadAway."""
        try:
            status, text = self._line.ask(_PATH, question, question["wait"] + _PATIENCE_SECONDS, _LARGEST_ANSWER)
        except Away as error:
            raise HeadAway(str(error)) from error
        if status != 200:
            raise HeadAway(f"status {status}", status in (401, 403))
        answer = parsed(text)
        if answer is None:
            raise HeadAway("an answer that is none of ours")
        return answer


def line_to(settings: "AgentSettings") -> Line:
    return Upstream(settings["url"], f"Bearer {settings['token']}", settings["ca"]).connect()


def parsed(text: bytes) -> "Optional[AgentAnswer]":
    try:
        answer: AgentAnswer = json.loads(text)
        places = answer["places"]
        is_ours = all(isinstance(one["service"], str) and isinstance(one["on"], bool) for one in places)
        is_ours = is_ours and isinstance(answer["seen"], str) and isinstance(answer.get("ca", ""), str)
        return answer if is_ours else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
