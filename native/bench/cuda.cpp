#include "bench/cuda.h"

#include <array>
#include <cstring>

#include "bench/answer.h"
#include "bench/cuda_driver.h"
#include "bench/rounds.h"

namespace flexrack::bench {
namespace {

// Kernels that do nothing: what is measured is the way to them.
constexpr const char* kKernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry nothing_8(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 e, .param .u32 f, .param .u32 g, .param .u32 h) { ret; }
)";
constexpr std::size_t kCopied = 64u << 20, kPage = 4096;
constexpr int kCpuRounds = 15, kCallsARound = 500;

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class CudaRun {
 public:
  explicit CudaRun(const CudaBench& wanted) : cu_(wanted.driver) { start(wanted); }
  ~CudaRun() {
    if (context_) cu_.cuDevicePrimaryCtxRelease(device_);
  }

  void run() {
    prepare();
    processor_time();
    local_answers();
    waits();
    copies();
  }

 private:
  void check(CUresult code, const char* what) const { cu_.check(code, what); }

  void start(const CudaBench& wanted) {
    const auto begun = seconds();
    check(cu_.cuInit(0), "cuInit");
    const auto ready = seconds();
    check(cu_.cuDeviceGet(&device_, static_cast<int>(wanted.index)), "cuDeviceGet");
    check(cu_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(cu_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    CUmodule module = nullptr;
    check(cu_.cuModuleLoadData(&module, kKernels), "cuModuleLoadData");
    check(cu_.cuModuleGetFunction(&nothing_, module, "nothing"), "cuModuleGetFunction");
    launch(nullptr);
    check(cu_.cuCtxSynchronize(), "cuCtxSynchronize");
    const auto over = seconds();
    check(cu_.cuModuleGetFunction(&nothing_8_, module, "nothing_8"), "cuModuleGetFunction");
    char name[256] = "";
    check(cu_.cuDeviceGetName(name, sizeof name - 1, device_), "cuDeviceGetName");
    tell("device", name);
    tell("init_ms", 1e3 * (ready - begun));
    tell("first_launch_ms", 1e3 * (over - begun));
  }

  void prepare() {
    check(cu_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cu_.cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cu_.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    check(cu_.cuMemAlloc(&memory_, kCopied), "cuMemAlloc");
    void* pinned = nullptr;
    check(cu_.cuMemAllocHost(&pinned, kCopied), "cuMemAllocHost");
    pinned_ = static_cast<char*>(pinned);
    pageable_.resize(kCopied), back_.resize(kCopied);
    for (std::size_t i = 0; i < kCopied; i++) pageable_[i] = static_cast<char>(i % 251);
    std::memcpy(pinned_, pageable_.data(), kCopied);
  }

  void launch(CUstream stream) {
    check(cu_.cuLaunchKernel(nothing_, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr), "cuLaunchKernel");
  }
  void launch_8() {
    std::array<std::uint64_t, 8> values{memory_, memory_, memory_, memory_, 1, 2, 3, 4};
    std::array<void*, 8> places;
    for (std::size_t i = 0; i < places.size(); i++) places[i] = &values[i];
    check(cu_.cuLaunchKernel(nothing_8_, 1, 1, 1, 1, 1, 1, 0, stream_, places.data(), nullptr), "cuLaunchKernel");
  }
  void wait() { check(cu_.cuStreamSynchronize(stream_), "cuStreamSynchronize"); }
  void wait_for_all() { check(cu_.cuCtxSynchronize(), "cuCtxSynchronize"); }

  /// What a call takes of a processor: of this thread, and with what others do for it until all is over.
  template <class Action>
  void cost(const std::string& name, Action action) {
    std::vector<double> own, all;
    for (int round = -1; round < kCpuRounds; round++) {
      const auto process = processor_seconds(CLOCK_PROCESS_CPUTIME_ID),
                 thread = processor_seconds(CLOCK_THREAD_CPUTIME_ID);
      for (int i = 0; i < kCallsARound; i++) action();
      const auto thread_over = processor_seconds(CLOCK_THREAD_CPUTIME_ID);
      wait_for_all();
      if (round < 0) continue;
      own.push_back((thread_over - thread) / kCallsARound);
      all.push_back((processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - process) / kCallsARound);
    }
    tell((name + "_cpu_us").c_str(), 1e6 * median(own));
    tell((name + "_process_cpu_us").c_str(), 1e6 * median(all));
  }

  void processor_time() {
    cost("launch", [&] { launch(stream_); });
    cost("launch_8", [&] { launch_8(); });
    cost("copy_4KiB",
         [&] { check(cu_.cuMemcpyHtoDAsync(memory_, pageable_.data(), kPage, stream_), "cuMemcpyHtoDAsync"); });
    cost("event_record", [&] { check(cu_.cuEventRecord(event_, stream_), "cuEventRecord"); });
    cost("stream_wait", [&] { check(cu_.cuStreamWaitEvent(other_, event_, 0), "cuStreamWaitEvent"); });
  }

  void local_answers() {
    int value = 0;
    CUdevice device = 0;
    const auto attribute = [&] {
      check(cu_.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device_),
            "cuDeviceGetAttribute");
    };
    tell("attribute_ns", 1e9 * per_call(9, 1000, attribute));
    tell("context_ns", 1e9 * per_call(9, 1000, [&] { check(cu_.cuCtxGetDevice(&device), "cuCtxGetDevice"); }));
  }

  void waits() {
    tell("launch_us", 1e6 * per_call(9, kCallsARound, [&] { launch(stream_); }, [&] { wait(); }));
    tell("launch_wait_us", 1e6 * per_call(1000, 1, [&] { launch(stream_), wait(); }));
    tell("write_4KiB_us", 1e6 * per_call(1000, 1, [&] {
                            write(pageable_.data(), kPage),
                                check(cu_.cuStreamSynchronize(nullptr), "cuStreamSynchronize");
                          }));
    tell("read_4KiB_us", 1e6 * per_call(1000, 1, [&] { read(back_.data(), kPage); }));
  }

  void write(const char* from, std::size_t size) { check(cu_.cuMemcpyHtoD(memory_, from, size), "cuMemcpyHtoD"); }
  void read(char* into, std::size_t size) { check(cu_.cuMemcpyDtoH(into, memory_, size), "cuMemcpyDtoH"); }

  void copies() {
    const auto tell_rate = [&](const char* name, const std::function<void()>& copy) {
      tell(name, kCopied / per_call(9, 1, copy) / 1e9);
    };
    tell_rate("write_64MiB_GBps", [&] { write(pageable_.data(), kCopied), wait_for_all(); });
    tell_rate("read_64MiB_GBps", [&] { read(back_.data(), kCopied); });
    if (std::memcmp(back_.data(), pageable_.data(), kCopied) != 0)
      throw std::runtime_error("what was read is not what was written");
    tell_rate("pinned_write_64MiB_GBps", [&] { write(pinned_, kCopied), wait_for_all(); });
    std::memset(pinned_, 0, kCopied);
    tell_rate("pinned_read_64MiB_GBps", [&] { read(pinned_, kCopied); });
    if (std::memcmp(pinned_, pageable_.data(), kCopied) != 0)
      throw std::runtime_error("what was read into pinned memory is not what was written");
  }

  CudaDriver cu_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUfunction nothing_ = nullptr, nothing_8_ = nullptr;
  CUstream stream_ = nullptr, other_ = nullptr;
  CUevent event_ = nullptr;
  CUdeviceptr memory_ = 0;
  char* pinned_ = nullptr;
  std::vector<char> pageable_, back_;
};

}  // namespace

void measure_cuda(const CudaBench& bench) {
  CudaRun run(bench);
  if (!bench.is_short) run.run();
}

}  // namespace flexrack::bench
