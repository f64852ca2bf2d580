"""The hooks in torch. Imported when a module of torch is that they hook into; torch is imported by the program, never
from here.

Every hook calls what it hides in any case, and only then tells; an error in the telling ends the telling
(Progress.fail), never the program. `_torchdynamo_disable` is what torch.compiler.disable sets on a function: the
compiler leaves it alone.
"""

import functools
import os
import sys

import flexrack_layout as layout

_COLLECTIVES = (
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "monitored_barrier",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "init_process_group",
    "destroy_process_group",
)
_DDP = "DDP gradients"
_DEPTH = 3  # how far a batch is looked into for its first tensor


def watch_optimizers(module, progress):
    """A hook of torch's for every optimizer there is (register_optimizer_step_post_hook, torch 2.0 and newer)."""
    profiler = _profiler(progress)

    def stepped(_optimizer, _arguments, _options):
        try:
            progress.step()
        except Exception as error:
            progress.fail(error)
        if profiler is not None and progress.is_ours:
            profiler.stepped()

    stepped._torchdynamo_disable = True
    module.register_optimizer_step_post_hook(stepped)


def _profiler(progress):
    """Where the run is to be profiled."""
    order = os.environ.get("FLEXRACK_PROFILE")
    if not order:
        return None
    from flexrack_instrumentation_profile import StepProfiler

    return StepProfiler(order, progress.path)


def watch_loaders(module, progress):
    """What every iterator of a DataLoader has in common is __next__."""
    original = module._BaseDataLoaderIter.__next__
    is_training = sys.modules["torch"].is_grad_enabled

    @functools.wraps(original)
    def __next__(self):
        try:
            since = progress.wait_for_batch()
        except Exception as error:
            progress.fail(error)
            return original(self)
        try:
            batch = original(self)
        except BaseException:
            progress.no_batch()
            raise
        try:
            samples, tokens = _size(batch, _DEPTH)
            progress.batch_came(since, samples, tokens, is_training())
        except Exception as error:
            progress.fail(error)
        return batch

    __next__._torchdynamo_disable = True
    module._BaseDataLoaderIter.__next__ = __next__


def watch_collectives(module, progress):
    """The functions of torch.distributed; those that the program has from `import torch.distributed` are these, because
    it gets them after us.
    """
    for name in _COLLECTIVES:
        original = getattr(module, name, None)
        if original is not None:
            setattr(module, name, _noted(original, name, progress))
    _answer_once_there_is_a_group(module, progress)


def _answer_once_there_is_a_group(module, progress):
    original = module.init_process_group
    begun = []

    @functools.wraps(original)
    def init_process_group(*arguments, **options):
        result = original(*arguments, **options)
        if not begun and (progress.is_ours or progress.may()):
            begun.append(True)
            try:
                import flexrack_instrumentation_flight

                flexrack_instrumentation_flight.answer(progress.path)
            except Exception as error:
                progress.fail(error)
        return result

    module.init_process_group = init_process_group


def watch_ddp(module, progress):
    """DDP reduces gradients in C++ while the backward pass runs, and the backward pass does not end before they are
    there: so for us the whole backward pass of a step whose forward pass went through DDP is the collective. What of it
    is computing is not known.
    """
    ddp, engine = module.DistributedDataParallel, sys.modules["torch.autograd"]
    pending = [False]
    forward = ddp.forward

    @functools.wraps(forward)
    def noted_forward(self, *arguments, **options):
        output = forward(self, *arguments, **options)
        pending[0] = self.require_backward_grad_sync and sys.modules["torch"].is_grad_enabled()
        return output

    ddp.forward = noted_forward
    backward = engine.backward
    noted = _noted(backward, _DDP, progress)

    @functools.wraps(backward)
    def noted_backward(*arguments, **options):
        if not pending[0]:
            return backward(*arguments, **options)
        pending[0] = False
        return noted(*arguments, **options)

    engine.backward = noted_backward


def _noted(original, name, progress):
    label = name.encode()[: layout.NAME_BYTES - 1].ljust(layout.NAME_BYTES, b"\0")

    @functools.wraps(original)
    def collective(*arguments, **options):
        try:
            progress.collective_begins(label)
        except Exception as error:
            progress.fail(error)
        try:
            return original(*arguments, **options)
        finally:
            try:
                progress.collective_ends()
            except Exception as error:
                progress.fail(error)

    return collective


def _size(batch, depth):
    """(samples, tokens) by the first tensor in a batch, in lists and dicts too; (0, 0) where there is none."""
    shape = getattr(batch, "shape", None)
    if shape is not None:
        if len(shape) == 0:
            return 0, 0
        is_tokens = len(shape) == 2 and not batch.dtype.is_floating_point and not batch.dtype.is_complex
        return shape[0], shape[0] * shape[1] if is_tokens else 0
    if depth and isinstance(batch, dict):
        if "input_ids" in batch:
            return _size(batch["input_ids"], depth - 1)
        batch = list(batch.values())
    if depth and isinstance(batch, (list, tuple)):
        for one in batch:
            size = _size(one, depth - 1)
            if size[0]:
                return size
    return 0, 0
