import {INFER_HANDLER} from './infer-handler.ts'

/**
 * A model server of Python's standard library that computes nothing, and sends its input through the memory of the GPU that
 * it sees: Open Inference v2, by our driver or NVIDIA's.
 */
export const DEVICE_SERVER = `${INFER_HANDLER}
import ctypes, os, struct, sys

name, host, port = sys.argv[1:4]
tensor = {"name": "x", "datatype": "FP32", "shape": [4]}

def check(status):
    if status != 0:
        raise SystemExit(f"CUDA error {status}")

cuda = ctypes.CDLL("libcuda.so.1")
check(cuda.cuInit(0))
count, total, context, address = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_void_p(), ctypes.c_uint64()
check(cuda.cuDeviceGetCount(ctypes.byref(count)))
check(cuda.cuDeviceTotalMem_v2(ctypes.byref(total), 0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 20)))

def through(data):
    check(cuda.cuCtxSetCurrent(context))
    back = ctypes.create_string_buffer(len(data))
    check(cuda.cuMemcpyHtoD_v2(address, data, ctypes.c_size_t(len(data))))
    check(cuda.cuMemcpyDtoH_v2(back, address, ctypes.c_size_t(len(data))))
    return back.raw

class Handler(Answers):
    def do_GET(self):
        self.answer({"name": name, "inputs": [tensor], "outputs": [{**tensor, "name": "y"}]})

    def do_POST(self):
        given = self.given()
        data = struct.unpack("4f", through(struct.pack("4f", *given["data"])))
        seen = {"pid": os.getpid(), "devices": count.value, "memory": total.value}
        self.answer({"model_name": name, "outputs": [{**given, "name": "y", "data": data}], "parameters": seen})

ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
`
