"""What NVML (pynvml) says of devices, beside what CUDA's driver says of them, as lines of JSON. Ordinary calls of both
libraries, found by their names.

nvml_and_cuda.py compare          each device by both, before and after memory was taken, and when it is given back
nvml_and_cuda.py look [cuda]      each device by NVML, for each line on stdin, initialised anew where it is "again"; only with a word behind it CUDA is opened too
nvml_and_cuda.py work BYTES       takes memory on the first device, says so, and runs kernels until stdin ends
nvml_and_cuda.py fork             initialises NVML, and has a child and itself look
"""

import ctypes
import json
import os
import sys
import threading

import pynvml

# Counts for a while: long enough to be seen, short enough to end soon.
KERNEL = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u32 rounds) {
  .reg .pred %p;
  .reg .u32 %r<3>;
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, %r1;
  @%p bra again;
  ret;
}
"""


class Cuda:
    """A context on each device."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        count = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        self.contexts = []
        for device in range(count.value):
            context = ctypes.c_void_p()
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self.contexts.append(context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: {status}")

    def enter(self, device):
        self.call("cuCtxSetCurrent", self.contexts[device])

    def take(self, device, size):
        self.enter(device)
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def give_back(self, device, address):
        self.enter(device)
        self.call("cuMemFree_v2", address)

    def say(self, device):
        self.enter(device)
        free, total, whole = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
        name, pci, uuid = ctypes.create_string_buffer(256), ctypes.create_string_buffer(64), (ctypes.c_ubyte * 16)()
        capability = ctypes.c_int(), ctypes.c_int()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        self.call("cuDeviceTotalMem_v2", ctypes.byref(whole), device)
        self.call("cuDeviceGetName", name, 256, device)
        self.call("cuDeviceGetPCIBusId", pci, 64, device)
        self.call("cuDeviceGetUuid_v2", ctypes.byref(uuid), device)
        for which, value in zip((75, 76), capability):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
            self.call("cuDeviceGetAttribute", ctypes.byref(value), which, device)
        digits = bytes(uuid).hex()
        return {
            "total": total.value,
            "device_total": whole.value,
            "free": free.value,
            "used": total.value - free.value,
            "name": name.value.decode(),
            "pci": pci.value.decode().lower(),
            "capability": [one.value for one in capability],
            "uuid": "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])),
        }


def known(function, *arguments):
    """The answer, or the error as its number."""
    try:
        return function(*arguments)
    except pynvml.NVMLError as error:
        return {"error": error.value}


def nvml_says(index):
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    memory = known(pynvml.nvmlDeviceGetMemoryInfo, handle)
    if isinstance(memory, dict):
        return {"error": memory["error"]}
    second = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    pci = pynvml.nvmlDeviceGetPciInfo(handle)
    busy = known(pynvml.nvmlDeviceGetUtilizationRates, handle)
    uuid = pynvml.nvmlDeviceGetUUID(handle)
    same = [handle, pynvml.nvmlDeviceGetHandleByUUID(uuid), pynvml.nvmlDeviceGetHandleByPciBusId(pci.busId)]
    return {
        "total": memory.total,
        "device_total": second.total,
        "free": memory.free,
        "used": second.used,
        "name": pynvml.nvmlDeviceGetName(handle),
        "pci": f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0",
        "uuid": uuid,
        "capability": list(pynvml.nvmlDeviceGetCudaComputeCapability(handle)),
        "bus_id": pci.busId,
        "same": [pynvml.nvmlDeviceGetIndex(one) for one in same],
        "busy": busy if isinstance(busy, dict) else busy.gpu,
        "temperature": known(pynvml.nvmlDeviceGetTemperature, handle, pynvml.NVML_TEMPERATURE_GPU),
        "power": known(pynvml.nvmlDeviceGetPowerUsage, handle),
        "serial": known(pynvml.nvmlDeviceGetSerial, handle),
        "processes": [[one.pid, one.usedGpuMemory] for one in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)],
        "graphics": len(pynvml.nvmlDeviceGetGraphicsRunningProcesses(handle)),
    }


def say(what):
    print(json.dumps(what), flush=True)


def compare():
    pynvml.nvmlInit()
    cuda = Cuda()
    devices = range(len(cuda.contexts))
    say({"pid": os.getpid(), "count": pynvml.nvmlDeviceGetCount(), "cuda": pynvml.nvmlSystemGetCudaDriverVersion()})

    def both():
        say([{"nvml": nvml_says(device), "cuda": cuda.say(device)} for device in devices])

    both()
    taken = [cuda.take(device, 12345 + (device + 1) * (1 << 20)) for device in devices]
    both()
    for device, address in zip(devices, taken):
        cuda.give_back(device, address)
    both()
    pynvml.nvmlShutdown()
    say(known(pynvml.nvmlDeviceGetCount))


def look(cuda=None):
    if cuda:
        cuda = Cuda()
        cuda.give_back(0, cuda.take(0, 4096))
    pynvml.nvmlInit()
    for line in sys.stdin:
        if line == "again\n":
            pynvml.nvmlShutdown()
            pynvml.nvmlInit()
        say([nvml_says(device) for device in range(pynvml.nvmlDeviceGetCount())])


def work(size):
    cuda = Cuda()
    cuda.take(0, size)
    module, kernel, rounds = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint(200000)
    cuda.call("cuModuleLoadData", ctypes.byref(module), KERNEL)
    cuda.call("cuModuleGetFunction", ctypes.byref(kernel), module, b"spin")
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(rounds))
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    say({"pid": os.getpid(), **cuda.say(0)})
    while not over.is_set():
        for _ in range(4):
            cuda.call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, parameters, None)
        cuda.call("cuCtxSynchronize")


def fork():
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    child = os.fork()
    say([pynvml.nvmlDeviceGetName(handle), pynvml.nvmlDeviceGetMemoryInfo(handle).total])
    if child == 0:
        sys.stdout.flush()
        os._exit(0)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def events():
    """Waits for what becomes of the first device, as a health check does: a line each time it is asked."""
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    types = pynvml.nvmlDeviceGetSupportedEventTypes(handle)
    chosen = pynvml.nvmlEventSetCreate()
    say(
        {
            "types": types,
            "others": known(pynvml.nvmlDeviceRegisterEvents, handle, pynvml.nvmlEventTypePState, chosen),
            "registered": known(pynvml.nvmlDeviceRegisterEvents, handle, types, chosen),
        }
    )
    for line in sys.stdin:
        event = known(pynvml.nvmlEventSetWait_v2, chosen, int(line))
        if not isinstance(event, dict):
            which = ctypes.cast(event.device, ctypes.c_void_p).value == ctypes.cast(handle, ctypes.c_void_p).value
            event = {"type": event.eventType, "data": event.eventData, "first": which}
        say(event)
    pynvml.nvmlEventSetFree(chosen)
    pynvml.nvmlShutdown()


if __name__ == "__main__":
    {
        "compare": compare,
        "look": lambda: look(*sys.argv[2:]),
        "work": lambda: work(int(sys.argv[2])),
        "fork": fork,
        "events": events,
    }[sys.argv[1]]()
