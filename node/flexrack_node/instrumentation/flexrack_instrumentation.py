"""Tells of a rank from inside its own Python, into the file that FLEXRACK_PROGRESS names (flexrack_layout.py), without
system calls and without any change to its program. Also lets a signal, FLEXRACK_STACKS_SIGNAL, write the stacks of all
threads to FLEXRACK_STACKS.

It must never harm the program: the first error of its own is written beside the file (rank-R.progress.error) and ends
the telling. Whatever is imported here is imported in every Python process of the rank: built-in modules only.
"""

import mmap
import os
import sys
from time import monotonic, time

import flexrack_layout as layout

_HOOKS = {  # module: function of flexrack_instrumentation_torch that is given it once it is imported
    "torch.optim.optimizer": "watch_optimizers",
    "torch.utils.data.dataloader": "watch_loaders",
    "torch.distributed.distributed_c10d": "watch_collectives",
    "torch.nn.parallel.distributed": "watch_ddp",
}
_progress = None


def begin():
    """Called once, when Python starts."""
    global _progress
    path = os.environ.get("FLEXRACK_PROGRESS")
    if not path:
        return
    _register_stacks()
    _progress = Progress(path)
    _progress.open()
    sys.meta_path.insert(0, _Finder())
    os.register_at_fork(after_in_child=_progress.forked)


class Progress:
    """The writer. Its methods are called from the hooks; after an error, or where another process of the rank tells,
    they do nothing.
    """

    def __init__(self, path):
        self.path = path
        self.f64 = self.u64 = self.raw = None
        self.is_ours = False  # this process is the one that tells
        self._requested = False  # whether it may be
        self._depth = 0
        self._began = 0.0
        self._waited = 0.0  # seconds in collectives since the last step
        self._stepped = 0.0
        self._stride = 1
        self._samples = self._tokens = 0  # of batches since the last step

    def open(self):
        """Maps the file. The rank's first Python takes it at once, so that it is known to live."""
        fd = os.open(self.path, os.O_RDWR)
        try:
            mapped = memoryview(mmap.mmap(fd, layout.SIZE))
        finally:
            os.close(fd)
        if bytes(mapped[:8]) != layout.MAGIC:
            raise ValueError("not a progress file of ours")
        self.raw, self.f64, self.u64 = mapped, mapped.cast("d"), mapped.cast("Q")
        if self.u64[1] == layout.VERSION and self.u64[layout.PID] == 0:
            self._take()

    def forked(self):
        """A child of a fork has its parent's memory; it may only tell where its parent has nothing to tell (a
        launcher).
        """
        self.is_ours = self._requested = False
        self._depth = 0

    def may(self):
        """Called at an event where `is_ours` is false: a rank may be a launcher or a shell script, whose child trains."""
        if self._requested or self.u64 is None:
            return False
        self._requested = True
        pid = self.u64[layout.PID]
        has_reported = self.u64[layout.STEPS] or self.u64[layout.BATCHES] or self.u64[layout.COLLECTIVES]
        if pid in (0, os.getpid()) or not _exists(pid) or not has_reported:
            self._take()
        return self.is_ours

    def step(self):
        """An optimizer's step is done."""
        if not self.is_ours and not self.may():
            return
        f64, u64, now, at = self.f64, self.u64, monotonic(), time()
        count = u64[layout.STEPS]
        if count:
            took = now - self._stepped
            # Of a collective that goes on in another thread, this step has the part until now.
            own = took - self._waited - (now - max(self._began, self._stepped) if self._depth else 0.0)
            if (count - 1) % self._stride == 0:
                self._keep((count - 1) // self._stride, took, own)
            f64[layout.STEP_SECONDS] += took
            f64[layout.OWN_SECONDS] += own
        else:
            f64[layout.FIRST_STEP_AT] = at
        self._stepped, self._waited = now, 0.0
        u64[layout.SAMPLES] += self._samples
        u64[layout.TOKENS] += self._tokens
        self._samples = self._tokens = 0
        f64[layout.STEP_AT] = at
        u64[layout.STEPS] = count + 1
        f64[layout.UPDATED_AT] = at

    def _keep(self, slot, took, own):
        """Where all places are taken, every second one is given up, so that what is kept always stands for the whole
        run.
        """
        f64 = self.f64
        if slot == layout.KEPT:
            slot //= 2
            for kept in range(slot):
                f64[layout.DURATIONS + kept] = f64[layout.DURATIONS + 2 * kept]
                f64[layout.OWN + kept] = f64[layout.OWN + 2 * kept]
            self._stride *= 2
            self.u64[layout.STRIDE] = self._stride
        f64[layout.DURATIONS + slot] = took
        f64[layout.OWN + slot] = own

    def wait_for_batch(self):
        """Before a data loader's next: what batch_came is to be given."""
        if self.is_ours or self.may():
            self.f64[layout.DATA_SINCE] = time()
        return monotonic()

    def batch_came(self, since, samples, tokens, is_training):
        """`since` from wait_for_batch; samples 0 at the end of an epoch, or where they cannot be counted."""
        if not self.is_ours:
            return
        f64, u64, at = self.f64, self.u64, time()
        f64[layout.DATA_WAIT] += monotonic() - since
        u64[layout.BATCHES] += 1
        if is_training:
            self._samples += samples
            self._tokens += tokens
        else:
            u64[layout.EVALUATED] += 1
        f64[layout.BATCH_AT] = at
        f64[layout.UPDATED_AT] = at
        f64[layout.DATA_SINCE] = 0.0

    def no_batch(self):
        """The loader is at its end, or failed."""
        if self.is_ours:
            self.f64[layout.DATA_SINCE] = 0.0

    def collective_begins(self, name):
        """`name`: 32 bytes. One inside another (barrier's all_reduce) is a part of it."""
        self._depth += 1
        if self._depth > 1 or not (self.is_ours or self.may()):
            return
        at = time()
        self._began = monotonic()
        self.raw[layout.NAME * 8 : layout.NAME * 8 + layout.NAME_BYTES] = name
        self.f64[layout.COLLECTIVE_AT] = at
        self.u64[layout.COLLECTIVES] += 1
        self.f64[layout.UPDATED_AT] = at

    def collective_ends(self):
        self._depth -= 1
        if self._depth or not self.is_ours:
            return
        now = monotonic()
        self._waited += now - max(self._began, self._stepped)
        self.f64[layout.COLLECTIVE_SECONDS] += now - self._began
        self.u64[layout.COLLECTIVES_DONE] = self.u64[layout.COLLECTIVES]
        self.f64[layout.UPDATED_AT] = time()

    def fail(self, error):
        """The first error of ours ends the telling."""
        self.u64, self.is_ours, self._requested = None, False, True
        try:
            import traceback

            with open(self.path + ".error", "a") as file:
                file.write("".join(traceback.format_exception(type(error), error, error.__traceback__)))
        except Exception:
            pass

    def _take(self):
        """From here on this process tells; what one before has told is over."""
        pid = os.getpid()
        self.raw[16 : layout.SIZE] = bytes(layout.SIZE - 16)
        self._stride = self.u64[layout.STRIDE] = 1
        self.u64[layout.PID] = pid
        self.f64[layout.STARTED_AT] = self.f64[layout.UPDATED_AT] = time()
        self.is_ours = True


class _Finder:
    """Sees the import of the modules that are watched, and lets the ordinary finders do it."""

    def find_spec(self, name, path=None, target=None):
        hook = _HOOKS.pop(name, None)
        if hook is None:
            return None
        try:
            for finder in sys.meta_path:
                spec = None if finder is self else finder.find_spec(name, path, target)
                if spec is not None:
                    break
            else:
                return None
            if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                _call_after(spec.loader, hook)
            return spec
        except Exception as error:
            _progress.fail(error)
            return None
        finally:
            if not _HOOKS and self in sys.meta_path:
                sys.meta_path.remove(self)


def _call_after(loader, hook):
    """Replaces exec_module of this one loader object, which is the module's own."""
    original = loader.exec_module

    def exec_module(module):
        original(module)
        try:
            import flexrack_instrumentation_torch

            getattr(flexrack_instrumentation_torch, hook)(module, _progress)
        except Exception as error:
            _progress.fail(error)

    loader.exec_module = exec_module


def _register_stacks():
    """The signal has no handler in a program that did not choose it; whoever sends it looks first whether there is one."""
    path, number = os.environ.get("FLEXRACK_STACKS"), os.environ.get("FLEXRACK_STACKS_SIGNAL")
    if not path or not number:
        return
    import faulthandler

    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    if fd < 3:  # the program closed its own; those numbers are not ours to take
        os.close(fd)
        return
    faulthandler.register(int(number), file=fd, all_threads=True)


def _exists(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False
    except OSError:
        return True
