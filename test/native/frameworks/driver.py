"""The CUDA driver as it is, by ctypes: for compilers that bring no runtime along."""

import ctypes
import ctypes.util

import numpy as np


class Driver:
    def __init__(self, wanted=0):
        """`wanted`: the number of the device, counted round where there are fewer."""
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context, count = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), wanted % count.value)
        self.call("cuCtxSetCurrent", context)
        self.memory = []

    def call(self, name, *words):
        result = getattr(self.library, name)(*words)
        if result != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(result, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()} ({result})")

    def put(self, array):
        """A copy of an array on the GPU: its address."""
        array, at = np.ascontiguousarray(array), ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(array.nbytes))
        self.call("cuMemcpyHtoD_v2", at, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
        return at.value

    def get(self, at, like):
        out = np.empty_like(like)
        self.call(
            "cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(at), ctypes.c_size_t(out.nbytes)
        )
        return out

    def load(self, text, name):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(text.encode()))
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def parameters_of(self, function):
        """How many it declares."""
        count, offset, size = 0, ctypes.c_size_t(), ctypes.c_size_t()
        while (
            self.library.cuFuncGetParamInfo(function, ctypes.c_size_t(count), ctypes.byref(offset), ctypes.byref(size))
            == 0
        ):
            count += 1
        return count

    def launch(self, function, blocks, threads, shared, words):
        """`words`: a ctypes value each; what the kernel declares besides is zero."""
        words = [*words, *[ctypes.c_uint64(0)] * (self.parameters_of(function) - len(words))]
        addresses = (ctypes.c_void_p * len(words))(
            *[ctypes.cast(ctypes.byref(word), ctypes.c_void_p) for word in words]
        )
        if shared > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, shared)  # MAX_DYNAMIC_SHARED_SIZE_BYTES
        self.call("cuLaunchKernel", function, *blocks, threads, 1, 1, shared, None, addresses, None)
        self.call("cuCtxSynchronize")
