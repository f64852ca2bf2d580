"""Writes a profile of device 0 of this machine's CUDA driver to stdout: what it answers, and nothing that says which
card it is one of.
"""

import ctypes
import sys

# Where a device lies is not what it is: PCI bus, device and domain, board group, NUMA nodes.
OWN = {33, 34, 50, 85, 134, 138}
LAST = 148


def check(result, what):
    if result != 0:
        sys.exit(f"{what}: error {result}")


def main():
    driver = ctypes.CDLL("libcuda.so.1")
    check(driver.cuInit(0), "cuInit")
    version, device, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    name = ctypes.create_string_buffer(256)
    check(driver.cuDriverGetVersion(ctypes.byref(version)), "cuDriverGetVersion")
    check(driver.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(driver.cuDeviceGetName(name, 255, device), "cuDeviceGetName")
    check(driver.cuDeviceTotalMem_v2(ctypes.byref(memory), device), "cuDeviceTotalMem")

    def attribute(number):
        value = ctypes.c_int()
        return value.value if driver.cuDeviceGetAttribute(ctypes.byref(value), number, device) == 0 else None

    print(f"# Recorded with cuDeviceGetAttribute.\ncard {name.value.decode()}")
    print(
        f"capability {attribute(75)}.{attribute(76)}\ndriver {version.value // 1000}.{version.value % 1000 // 10}\nmemory {memory.value}"
    )
    for number in range(1, LAST):
        value = attribute(number)
        if value is not None and number not in OWN:
            print(f"attribute {number} {value}")


if __name__ == "__main__":
    main()
