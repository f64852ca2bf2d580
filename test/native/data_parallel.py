"""A linear model learns on the first so many CUDA devices of this process, a part of every batch on each, in streams and
events alone. The parts are the same however many devices there are, and are added in one order, so are the losses: to
the last bit. Argument: how many. Prints the losses of the steps in JSON, as hexadecimal numbers.
"""

import ctypes
import json
import random
import sys

PARTS, SAMPLES, FEATURES, STEPS, RATE = 64, 8, 16, 12, 0.05
PTX = """
.version 7.0
.target sm_70
.address_size 64
// Thread j of a block of FEATURES: its part of the gradient, of all samples of the part; behind it the part's loss.
.visible .entry part(.param .u64 inputs, .param .u64 wanted, .param .u64 weights, .param .u64 out,
                     .param .u32 samples, .param .u32 features) {
  .reg .u64 %x, %y, %w, %o, %a; .reg .u32 %n, %f, %j, %i, %k, %t; .reg .f32 %s, %g, %l, %u, %v; .reg .pred %p, %q;
  ld.param.u64 %x, [inputs]; ld.param.u64 %y, [wanted]; ld.param.u64 %w, [weights]; ld.param.u64 %o, [out];
  ld.param.u32 %n, [samples]; ld.param.u32 %f, [features];
  mov.u32 %j, %tid.x; mov.f32 %g, 0f00000000; mov.f32 %l, 0f00000000; mov.u32 %i, 0;
SAMPLE:
  mov.f32 %s, 0f00000000; mov.u32 %k, 0;
FEATURE:
  mad.lo.u32 %t, %i, %f, %k; mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %x; ld.global.f32 %u, [%a];
  mul.wide.u32 %a, %k, 4; add.u64 %a, %a, %w; ld.global.f32 %v, [%a];
  fma.rn.f32 %s, %u, %v, %s;
  add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %f; @%p bra FEATURE;
  mul.wide.u32 %a, %i, 4; add.u64 %a, %a, %y; ld.global.f32 %v, [%a];
  sub.rn.f32 %s, %s, %v;
  fma.rn.f32 %l, %s, %s, %l;
  mad.lo.u32 %t, %i, %f, %j; mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %x; ld.global.f32 %u, [%a];
  fma.rn.f32 %g, %s, %u, %g;
  add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra SAMPLE;
  mul.wide.u32 %a, %j, 4; add.u64 %a, %a, %o; st.global.f32 [%a], %g;
  setp.ne.u32 %q, %j, 0; @%q bra END;
  mul.wide.u32 %a, %f, 4; add.u64 %a, %a, %o; st.global.f32 [%a], %l;
END: ret;
}
// Thread j of FEATURES + 1: adds what all parts have there, in their order; weights go on, the last one is the loss.
.visible .entry sum(.param .u64 all, .param .u64 weights, .param .u64 loss, .param .u32 parts, .param .u32 features,
                    .param .f32 rate) {
  .reg .u64 %x, %w, %o, %a; .reg .u32 %n, %f, %j, %i, %t, %r; .reg .f32 %s, %u, %e; .reg .pred %p, %q;
  ld.param.u64 %x, [all]; ld.param.u64 %w, [weights]; ld.param.u64 %o, [loss];
  ld.param.u32 %n, [parts]; ld.param.u32 %f, [features]; ld.param.f32 %e, [rate];
  mov.u32 %j, %tid.x; mov.f32 %s, 0f00000000; mov.u32 %i, 0; add.u32 %r, %f, 1;
PART:
  mad.lo.u32 %t, %i, %r, %j; mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %x; ld.global.f32 %u, [%a];
  add.rn.f32 %s, %s, %u;
  add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra PART;
  setp.eq.u32 %q, %j, %f; @%q bra LOSS;
  mul.wide.u32 %a, %j, 4; add.u64 %a, %a, %w; ld.global.f32 %u, [%a];
  mul.rn.f32 %s, %s, %e; sub.rn.f32 %u, %u, %s; st.global.f32 [%a], %u;
  bra END;
LOSS: st.global.f32 [%o], %s;
END: ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
ROW = 4 * (FEATURES + 1)


def call(name, *words):
    if result := getattr(cuda, name)(*words):
        raise SystemExit(f"{name}: {result}")


def made(kind, name, *words):
    value = kind()
    call(name, ctypes.byref(value), *words)
    return value


def launch(function, threads, stream, *words):
    addresses = (ctypes.c_void_p * len(words))(*[ctypes.cast(ctypes.byref(word), ctypes.c_void_p) for word in words])
    call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, stream, addresses, None)


class Device:
    def __init__(self, number):
        self.context = made(ctypes.c_void_p, "cuDevicePrimaryCtxRetain", number)
        self.use()
        module = made(ctypes.c_void_p, "cuModuleLoadData", ctypes.c_char_p(PTX.encode()))
        self.part, self.sum = (made(ctypes.c_void_p, "cuModuleGetFunction", module, name) for name in (b"part", b"sum"))
        self.stream = made(ctypes.c_void_p, "cuStreamCreate", 1)
        self.event = made(ctypes.c_void_p, "cuEventCreate", 2)
        self.weights, self.own = self.room(4 * FEATURES), self.room(PARTS * ROW)

    def use(self):
        call("cuCtxSetCurrent", self.context)

    @staticmethod
    def room(size):
        return made(ctypes.c_uint64, "cuMemAlloc_v2", ctypes.c_size_t(size))

    def put(self, numbers, at=None):
        array = (ctypes.c_float * len(numbers))(*numbers)
        at = at or self.room(ctypes.sizeof(array))
        call("cuMemcpyHtoD_v2", at, array, ctypes.c_size_t(ctypes.sizeof(array)))
        return at

    def record(self):
        self.use()
        call("cuEventRecord", self.event, self.stream)

    def wait(self, other):
        self.use()
        call("cuStreamWaitEvent", self.stream, other.event, 0)

    def copy_to(self, other, source, target, size):
        """In the order of this device's stream."""
        self.use()
        call("cuMemcpyPeerAsync", target, other.context, source, self.context, ctypes.c_size_t(size), self.stream)


def at(base, offset):
    return ctypes.c_uint64(base.value + offset)


def main():
    call("cuInit", 0)
    chance = random.Random(5)
    devices = [Device(number) for number in range(int(sys.argv[1]))]
    first = devices[0]
    hidden = [chance.uniform(-1, 1) for _ in range(FEATURES)]
    for device in devices:
        device.use()
        device.put([0.0] * FEATURES, device.weights)
    batches = []
    for part in range(PARTS):
        rows = [[chance.uniform(-1, 1) for _ in range(FEATURES)] for _ in range(SAMPLES)]
        wanted = [sum(a * b for a, b in zip(row, hidden)) for row in rows]
        device = devices[part % len(devices)]
        device.use()
        batches.append((device, device.put([number for row in rows for number in row]), device.put(wanted)))
    first.use()
    gathered, losses = first.room(PARTS * ROW), first.room(4 * STEPS)
    samples, features = ctypes.c_uint32(SAMPLES), ctypes.c_uint32(FEATURES)
    rate = ctypes.c_float(RATE / (PARTS * SAMPLES) * 16)
    for step in range(STEPS):
        for part, (device, inputs, wanted) in enumerate(batches):
            device.use()
            out = at(device.own, part * ROW)
            launch(device.part, FEATURES, device.stream, inputs, wanted, device.weights, out, samples, features)
            device.copy_to(first, out, at(gathered, part * ROW), ROW)
        for device in devices:
            device.record()
            first.wait(device)
        first.use()
        parts = ctypes.c_uint32(PARTS)
        launch(
            first.sum, FEATURES + 1, first.stream, gathered, first.weights, at(losses, 4 * step), parts, features, rate
        )
        for device in devices[1:]:
            first.copy_to(device, first.weights, device.weights, 4 * FEATURES)
        first.record()
        for device in devices[1:]:
            device.wait(first)
        # A step at a time, as trainings that look at the loss are.
        first.use()
        call("cuStreamSynchronize", first.stream)
    found = (ctypes.c_float * STEPS)()
    call("cuMemcpyDtoH_v2", found, losses, ctypes.c_size_t(4 * STEPS))
    print(json.dumps([value.hex() for value in found]))


if __name__ == "__main__":
    main()
