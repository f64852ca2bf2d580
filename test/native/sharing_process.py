"""A process with a GPU that does what it is told, a line of JSON each, and answers with a line: what tests have several
of that share memory and events. Argument: the descriptor of a socket over which descriptors go.
"""

import ctypes
import json
import socket
import sys
import threading

KERNEL = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 at, .param .u32 count, .param .u32 value) {
  .reg .u64 %a, %o; .reg .u32 %n, %v, %i, %x; .reg .pred %p;
  ld.param.u64 %a, [at]; ld.param.u32 %n, [count]; ld.param.u32 %v, [value];
  mov.u32 %i, %tid.x;
  setp.ge.u32 %p, %i, %n; @%p bra END;
  mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;
  ld.global.u32 %x, [%a]; add.u32 %x, %x, %v; st.global.u32 [%a], %x;
END: ret;
}
"""
INTERPROCESS = 2 | 4  # CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS
DESCRIPTOR = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]

    @staticmethod
    def of(text):
        return Handle.from_buffer_copy(bytes.fromhex(text))


class Properties(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", ctypes.c_int * 2),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]


class Access(ctypes.Structure):
    _fields_ = [("location", ctypes.c_int * 2), ("flags", ctypes.c_int)]


class Failed(Exception):
    pass


class Process:
    def __init__(self, descriptors):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.descriptors = descriptors
        self.gate = threading.Event()
        self.waits = HostFunction(lambda _: self.gate.wait(60))
        self.call("cuInit", 0)
        context, count = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)
        module, self.add = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(KERNEL.encode()))
        self.call("cuModuleGetFunction", ctypes.byref(self.add), module, b"add")

    def call(self, name, *words):
        if result := getattr(self.cuda, name)(*words):
            raise Failed(result)

    def out(self, kind, name, *words):
        """What a function makes, at its first parameter."""
        made = kind()
        self.call(name, ctypes.byref(made), *words)
        return made.value

    # ---- memory
    def allocate(self, size):
        return self.out(ctypes.c_uint64, "cuMemAlloc_v2", ctypes.c_size_t(size))

    def free(self, at):
        self.call("cuMemFree_v2", ctypes.c_uint64(at))
        self.left()  # comes behind what is freed

    def fill(self, at, value, count):
        self.call("cuMemsetD32_v2", ctypes.c_uint64(at), value, ctypes.c_size_t(count))
        self.call("cuCtxSynchronize")

    def read(self, at, count):
        found = (ctypes.c_uint32 * count)()
        self.call("cuMemcpyDtoH_v2", found, ctypes.c_uint64(at), ctypes.c_size_t(4 * count))
        return sorted(set(found))

    def left(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def share(self, at):
        handle = Handle()
        self.call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_uint64(at))
        return bytes(handle.bytes).hex()

    def open(self, handle):
        return self.out(ctypes.c_uint64, "cuIpcOpenMemHandle_v2", Handle.of(handle), 1)

    def close(self, at):
        self.call("cuIpcCloseMemHandle", ctypes.c_uint64(at))

    # ---- what is put on the stream
    def hold(self):
        """The stream stops until `let_go`."""
        self.gate.clear()
        self.call("cuLaunchHostFunc", self.stream, self.waits, None)

    def let_go(self):
        self.gate.set()

    def launch(self, at, count, value):
        words = [ctypes.c_uint64(at), ctypes.c_uint32(count), ctypes.c_uint32(value)]
        addresses = (ctypes.c_void_p * 3)(*[ctypes.cast(ctypes.byref(word), ctypes.c_void_p) for word in words])
        self.call("cuLaunchKernel", self.add, 1, 1, 1, 1024, 1, 1, 0, self.stream, addresses, None)

    def synchronize(self):
        self.call("cuStreamSynchronize", self.stream)

    # ---- events
    def make_event(self, flags=INTERPROCESS):
        return self.out(ctypes.c_void_p, "cuEventCreate", flags)

    def share_event(self, event):
        handle = Handle()
        self.call("cuIpcGetEventHandle", ctypes.byref(handle), ctypes.c_void_p(event))
        return bytes(handle.bytes).hex()

    def open_event(self, handle):
        return self.out(ctypes.c_void_p, "cuIpcOpenEventHandle", Handle.of(handle))

    def record(self, event):
        self.call("cuEventRecord", ctypes.c_void_p(event), self.stream)

    def wait(self, event):
        self.call("cuStreamWaitEvent", self.stream, ctypes.c_void_p(event), 0)

    def query(self, event):
        self.call("cuEventQuery", ctypes.c_void_p(event))

    def synchronize_event(self, event):
        self.call("cuEventSynchronize", ctypes.c_void_p(event))

    def destroy_event(self, event):
        self.call("cuEventDestroy_v2", ctypes.c_void_p(event))

    # ---- memory without an address
    def create(self, size, handles=DESCRIPTOR):
        properties = Properties(1, handles, (ctypes.c_int * 2)(1, 0))
        return self.out(
            ctypes.c_uint64, "cuMemCreate", ctypes.c_size_t(size), ctypes.byref(properties), ctypes.c_uint64(0)
        )

    def export(self, memory):
        """Sends a descriptor over the socket."""
        descriptor = ctypes.c_int(-1)
        self.call(
            "cuMemExportToShareableHandle",
            ctypes.byref(descriptor),
            ctypes.c_uint64(memory),
            DESCRIPTOR,
            ctypes.c_uint64(0),
        )
        socket.send_fds(self.descriptors, [b"x"], [descriptor.value])

    def take(self):
        """Of the descriptor that comes over the socket."""
        _, (descriptor,), _, _ = socket.recv_fds(self.descriptors, 1, 1)
        return self.out(ctypes.c_uint64, "cuMemImportFromShareableHandle", ctypes.c_void_p(descriptor), DESCRIPTOR)

    def map(self, memory, size):
        at = self.out(
            ctypes.c_uint64,
            "cuMemAddressReserve",
            ctypes.c_size_t(size),
            ctypes.c_size_t(0),
            ctypes.c_uint64(0),
            ctypes.c_uint64(0),
        )
        self.call(
            "cuMemMap",
            ctypes.c_uint64(at),
            ctypes.c_size_t(size),
            ctypes.c_size_t(0),
            ctypes.c_uint64(memory),
            ctypes.c_uint64(0),
        )
        access = Access((ctypes.c_int * 2)(1, 0), 3)
        self.call(
            "cuMemSetAccess", ctypes.c_uint64(at), ctypes.c_size_t(size), ctypes.byref(access), ctypes.c_size_t(1)
        )
        return at

    def unmap(self, at, size):
        self.call("cuMemUnmap", ctypes.c_uint64(at), ctypes.c_size_t(size))

    def release(self, memory):
        self.call("cuMemRelease", ctypes.c_uint64(memory))


def main():
    process = Process(socket.socket(fileno=int(sys.argv[1])))
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        words = json.loads(line)
        try:
            print(json.dumps({"is": getattr(process, words[0])(*words[1:])}), flush=True)
        except Failed as failed:
            print(json.dumps({"failed": failed.args[0]}), flush=True)
    process.let_go()


if __name__ == "__main__":
    main()
