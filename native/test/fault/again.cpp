// A program that uses the driver without a loader: again DRIVER. Prints how many platforms there are, and once more for
// each line of its input.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>

#include "test/conformance/report.h"

int main(int argc, char** argv) {
  void* driver = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  const auto ask =
      driver ? reinterpret_cast<cl_int (*)(cl_uint, cl_platform_id*, cl_uint*)>(dlsym(driver, "clIcdGetPlatformIDsKHR"))
             : nullptr;
  if (!ask) return 4;
  char line[16];
  do {
    const auto begin = std::chrono::steady_clock::now();
    cl_uint count = 0;
    const auto code = ask(0, nullptr, &count);
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
    say("%u platforms, %s, %lld ms", count, code == CL_SUCCESS ? "CL_SUCCESS" : "none", static_cast<long long>(took));
  } while (std::fgets(line, sizeof line, stdin));
}
