"""Profiles some steps of a rank with torch.profiler, as FLEXRACK_PROFILE ("SKIP:STEPS") says. Imported when torch.optim
is, and only in a run that wants it.

A step is a step of an optimizer. After SKIP of them, the last of which warms the profiler up, STEPS are recorded; the
trace (Chrome's format, gzip) is beside the progress file, rank-R.trace.json.gz. A program that ends before leaves what
there is. An error of ours is written to rank-R.trace.error, and the training goes on.
"""

import atexit
import os


class StepProfiler:
    def __init__(self, order, progress_path):
        """`order`: SKIP:STEPS, at least 2 and 1."""
        skip, steps = order.split(":")
        self._skip, self._steps = int(skip), int(steps)
        self._path = progress_path[: -len(".progress")] + ".trace"
        self._profiler = None
        self._is_over = False

    def stepped(self):
        """After each step of the process that tells. Between the first step and the last of SKIP, torch's profiler
        counts and records nothing.
        """
        if self._is_over:
            return
        try:
            if self._profiler is None:
                self._start()
            else:
                self._profiler.step()
        except Exception as error:
            self._fail(error)

    def _start(self):
        import torch.profiler

        schedule = torch.profiler.schedule(wait=self._skip - 2, warmup=1, active=self._steps, repeat=1)
        self._profiler = torch.profiler.profile(schedule=schedule, on_trace_ready=self._write)
        self._profiler.start()
        atexit.register(self._end)

    def _write(self, profiler):
        self._is_over = True
        partial = self._path + ".partial.json.gz"
        old = os.umask(0o077)
        try:
            profiler.export_chrome_trace(partial)
        finally:
            os.umask(old)
        os.replace(partial, self._path + ".json.gz")

    def _end(self):
        """The program ends: what has been recorded until now is better than nothing."""
        if self._is_over:
            return
        try:
            self._profiler.stop()
        except Exception as error:
            self._fail(error)

    def _fail(self, error):
        self._is_over = True
        try:
            with open(self._path + ".error", "w") as file:
                file.write(f"{type(error).__name__}: {error}\n")
        except OSError:
            pass
