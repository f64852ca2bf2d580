// flexrack-bench: what a device costs through its driver, and what the link to it costs by itself.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "bench/cuda.h"
#include "bench/kernels.h"
#include "bench/opencl.h"
#include "bench/tcp.h"

namespace {

using namespace flexrack;

constexpr int kUsage = 64;

int usage() {
  std::fprintf(
      stderr,
      "usage: flexrack-bench opencl [--driver FILE] [--index N] [--spin N]   an OpenCL device: of that driver, else of this machine's loader\n"
      "       flexrack-bench cuda [--driver FILE] [--index N] [--first-launch]   a CUDA device: of that driver, else of this machine's\n"
      "       flexrack-bench kernels [NAME]                                  a GPU in software: how fast it computes\n"
      "       flexrack-bench loopback                                        TCP between two processes of this machine\n"
      "       flexrack-bench serve ADDRESS                                   an end of a link to be measured; both ends read a key of 64 hex digits\n"
      "       flexrack-bench connect ADDRESS PORT                            measures the link to it\n"
      "Each line of the answer is a JSON object; together they are one.\n");
  return kUsage;
}

/// A number of at most `most`; false for anything else.
bool read_number(const char* text, unsigned most, unsigned& value) {
  char* end = nullptr;
  const auto number = std::strtoul(text, &end, 10);
  value = static_cast<unsigned>(number);
  return *text >= '0' && *text <= '9' && *end == '\0' && number <= most;
}

int opencl(int count, char** words) {
  bench::OpenClBench wanted;
  for (int i = 0; i < count; i += 2) {
    const std::string name = words[i];
    const char* value = i + 1 < count ? words[i + 1] : "";
    if (name == "--driver" && *value) wanted.driver = value;
    else if (name == "--index" && read_number(value, 1024, wanted.index)) continue;
    else if (name == "--spin" && read_number(value, 1 << 24, wanted.spin)) continue;
    else return usage();
  }
  bench::measure_opencl(wanted);
  return 0;
}

int cuda(int count, char** words) {
  bench::CudaBench wanted;
  for (int i = 0; i < count; i++) {
    const std::string name = words[i];
    if (name == "--first-launch") {
      wanted.is_short = true;
      continue;
    }
    const char* value = i + 1 < count ? words[++i] : "";
    if (name == "--driver" && *value) wanted.driver = value;
    else if (name != "--index" || !read_number(value, 1024, wanted.index)) return usage();
  }
  bench::measure_cuda(wanted);
  return 0;
}

int run(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "version" && count == 2) return std::puts("flexrack-bench"), 0;
  if (what == "opencl") return opencl(count - 2, words + 2);
  if (what == "cuda") return cuda(count - 2, words + 2);
  if (what == "kernels" && count <= 3) return bench::measure_kernels(count == 3 ? words[2] : ""), 0;
  if (what == "loopback" && count == 2) return bench::measure_loopback(), 0;
  if (what == "serve" && count == 3) return bench::serve_tcp(words[2], bench::read_key()), 0;
  if (what == "connect" && count == 4) return bench::measure_tcp(words[2], words[3], bench::read_key()), 0;
  return usage();
}

}  // namespace

int main(int count, char** words) {
  int status = 1;
  try {
    status = run(count, words);
  } catch (const std::exception& error) { std::fprintf(stderr, "%s\n", error.what()); }
  return status;
}
