"""A program on the first device that does what it is told, a line each on standard input, and says what came of it: takes
memory of several kinds, computes in it, and checks every byte of it. It reaches the driver without a runtime library.

take BYTES     the memory: most of it in one piece, the rest in small ones and in one of a pool
compute N      N rounds of a kernel and a copy in it, each of which depends on all before
check          whether all of it is as it must be
graph N        the same rounds, out of a graph that was instantiated at the first time
hold           has its stream wait for a word
release        writes that word
give           the memory back
free           what the device says is free
"""

import array
import ctypes
import sys

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry advance(.param .u64 values, .param .u32 count, .param .u32 add)
{
  .reg .pred %p;
  .reg .b32 %i, %n, %t, %s, %v, %a;
  .reg .b64 %at, %base;
  ld.param.u64 %base, [values];
  ld.param.u32 %n, [count];
  ld.param.u32 %a, [add];
  mov.u32 %i, %ctaid.x;
  mov.u32 %s, %ntid.x;
  mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, %s, %t;
  setp.ge.u32 %p, %i, %n;
  @%p bra done;
  mul.wide.u32 %at, %i, 4;
  add.u64 %at, %base, %at;
  ld.global.u32 %v, [%at];
  mad.lo.u32 %v, %v, 3, %a;
  st.global.u32 [%at], %v;
done:
  ret;
}
"""
WORDS = 4096  # that a round computes with
SMALL, PIECES, POOLED = 1000, 16, 1 << 16
MASK, NOT_READY = 0xFFFFFFFF, 600
cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *values):
    status = getattr(cuda, name)(*values)
    if status != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(status, ctypes.byref(text))
        raise RuntimeError(f"{(text.value or b'?').decode()} in {name}")


class Turns:
    def __init__(self):
        call("cuInit", 0)
        self.context, self.stream, self.other = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.word = ctypes.c_uint64()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        call("cuCtxSetCurrent", self.context)
        module, self.kernel = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), PTX)
        call("cuModuleGetFunction", ctypes.byref(self.kernel), module, b"advance")
        for stream in (self.stream, self.other):
            call("cuStreamCreate", ctypes.byref(stream), 1)
        self.pieces, self.round, self.value, self.graph = [], 0, 1, None

    def take(self, size):
        sizes = [size - SMALL * PIECES - POOLED, *[SMALL] * PIECES]
        for one in sizes:
            self.pieces.append([ctypes.c_uint64(), one // 4 * 4, one])
            call("cuMemAlloc_v2", ctypes.byref(self.pieces[-1][0]), ctypes.c_size_t(one))
        self.pieces.append([ctypes.c_uint64(), POOLED, POOLED])
        call("cuMemAllocAsync", ctypes.byref(self.pieces[-1][0]), ctypes.c_size_t(POOLED), self.stream)
        for number, (at, room, _) in enumerate(self.pieces):
            call("cuMemsetD32Async", at, ctypes.c_uint32(number * 7 + 1), ctypes.c_size_t(room // 4), self.stream)
        call("cuStreamSynchronize", self.stream)
        return "taken"

    def launch(self, add):
        at = self.pieces[0][0]
        count, add = ctypes.c_uint32(WORDS), ctypes.c_uint32(add)
        values = (ctypes.c_void_p * 3)(*[ctypes.addressof(one) for one in (at, count, add)])
        call("cuLaunchKernel", self.kernel, WORDS // 128, 1, 1, 128, 1, 1, 0, self.stream, values, None)
        # What was computed goes to the end of the piece as well: a copy on the device.
        end = ctypes.c_uint64(at.value + self.pieces[0][1] - WORDS * 4)
        call("cuMemcpyDtoDAsync_v2", end, at, ctypes.c_size_t(WORDS * 4), self.stream)

    def compute(self, rounds):
        for _ in range(rounds):
            self.round += 1
            self.launch(self.round)
            self.value = (self.value * 3 + self.round) & MASK
            call("cuStreamSynchronize", self.stream)
        return "computed"

    def graph_of(self):
        if self.graph is None:
            made, self.graph = ctypes.c_void_p(), ctypes.c_void_p()
            call("cuStreamBeginCapture_v2", self.stream, 0)
            self.launch(5)
            call("cuStreamEndCapture", self.stream, ctypes.byref(made))
            call("cuGraphInstantiateWithFlags", ctypes.byref(self.graph), made, ctypes.c_uint64(0))
        return self.graph

    def graph_rounds(self, rounds):
        for _ in range(rounds):
            call("cuGraphLaunch", self.graph_of(), self.stream)
            self.value = (self.value * 3 + 5) & MASK
        call("cuStreamSynchronize", self.stream)
        return "computed"

    def hold(self):
        call("cuMemAlloc_v2", ctypes.byref(self.word), ctypes.c_size_t(4))
        call("cuMemsetD32_v2", self.word, ctypes.c_uint32(0), ctypes.c_size_t(1))
        call("cuStreamWaitValue32_v2", self.stream, self.word, ctypes.c_uint32(1), 0)
        if cuda.cuStreamQuery(self.stream) != NOT_READY:  # asked, so that it is there
            raise RuntimeError("the stream does not wait")
        return "held"

    def release(self):
        call("cuMemsetD32Async", self.word, ctypes.c_uint32(1), ctypes.c_size_t(1), self.other)
        call("cuStreamSynchronize", self.stream)
        call("cuMemFree_v2", self.word)
        return "released"

    def check(self):
        for number, (at, room, _) in enumerate(self.pieces):
            found = array.array("I", bytes(room))
            address, _ = found.buffer_info()
            call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(address), at, ctypes.c_size_t(room), self.stream)
            call("cuStreamSynchronize", self.stream)
            wanted = array.array("I", [number * 7 + 1]) * (room // 4)
            if number == 0:
                worked = array.array("I", [self.value]) * WORDS
                wanted[:WORDS] = worked
                if self.round or self.graph:
                    wanted[-WORDS:] = worked
            if found != wanted:
                wrong = next(i for i in range(len(wanted)) if found[i] != wanted[i])
                return f"wrong at word {wrong} of piece {number}: {found[wrong]} instead of {wanted[wrong]}"
        return "right"

    def give(self):
        pooled = self.pieces.pop()
        call("cuMemFreeAsync", pooled[0], self.stream)
        for at, _, _ in self.pieces:
            call("cuMemFree_v2", at)
        call("cuStreamSynchronize", self.stream)
        self.pieces, self.round, self.value, self.graph = [], 0, 1, None
        return "given"

    def free(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return str(free.value)


def main():
    turns = Turns()
    does = {"take": turns.take, "compute": turns.compute, "graph": turns.graph_rounds}
    does |= {"hold": turns.hold, "release": turns.release}
    does |= {"check": turns.check, "give": turns.give, "free": turns.free}
    print("ready", flush=True)
    for line in sys.stdin:
        word, *numbers = line.split()
        try:
            print(does[word](*map(int, numbers)), flush=True)
        except RuntimeError as error:
            print(error, flush=True)


main()
