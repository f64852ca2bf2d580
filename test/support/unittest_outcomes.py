"""What each test of a unittest suite came to: {"name", "status": "passed" | "failed" | "skipped", "why", "seconds"}.
For the runners of node/ and native/.
"""

import time
import traceback
import unittest


class Outcomes(unittest.TextTestResult):
    """What each test came to. A class or module that cannot be set up is one, too."""

    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        self.outcomes, self._began = {}, 0.0

    def startTest(self, test):
        self._began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self._note(test.id())["seconds"] = round(time.monotonic() - self._began, 1)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._note(test.id())

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._note(test.id(), "failed", told(err))

    def addError(self, test, err):
        super().addError(test, err)
        self._note(test.id(), "failed", told(err))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._note(test.id(), "failed", told(err))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._note(test.id(), "failed", "it passed, and was expected to fail")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note(test.id(), "skipped", reason)

    def _note(self, name, status="passed", why=""):
        """The worst that was said of a test stays."""
        one = self.outcomes.setdefault(name, {"name": name, "status": "passed", "why": "", "seconds": 0})
        if status != "passed" and one["status"] != "failed":
            one.update(status=status, why=(why.strip().splitlines() or [""])[-1])
        return one


def told(err):
    return "".join(traceback.format_exception_only(err[0], err[1]))
