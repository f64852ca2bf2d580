#include "bench/opencl.h"

#include <dlfcn.h>

#include <stdexcept>

#include "bench/answer.h"
#include "bench/rounds.h"
#include "gen/opencl/icd.h"

namespace flexrack::bench {
namespace {

constexpr const char* kSource = R"(
kernel void nop(global float* a) { if (get_global_id(0) == 1000000000) a[0] = 1; }
kernel void axpy(global const float* x, global float* y, float a) { size_t i = get_global_id(0); y[i] += a * x[i]; }
kernel void spin(global float* a, int rounds) {
  size_t i = get_global_id(0); float v = a[i];
  for (int r = 0; r < rounds; r++) v = v * 1.0001f + 0.5f;
  a[i] = v;
}
)";
constexpr size_t kBulk = 64u << 20, kSmall = 4096;
constexpr size_t kWide = 1 << 13, kNarrow = 1 << 10;  ///< work items of the computing kernels, and of the small ones
constexpr int kSpins = 200, kSmallLaunches = 2000;

void check(cl_int code, const char* what) {
  if (code != CL_SUCCESS) throw std::runtime_error(std::string(what) + ": error " + std::to_string(code));
}

/// The platform of a driver, or the first of the loader: either way its objects begin with the functions that they are
/// for.
cl_platform_id open_platform(const std::string& driver) {
  void* library = dlopen(driver.empty() ? "libOpenCL.so.1" : driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && !driver.empty()) throw std::runtime_error(dlerror());
  if (!library)
    throw std::runtime_error("there is no OpenCL loader here; on Debian: sudo apt-get install ocl-icd-libopencl1");
  using GetPlatforms = cl_int(cl_uint, cl_platform_id*, cl_uint*);
  auto* get =
      reinterpret_cast<GetPlatforms*>(dlsym(library, driver.empty() ? "clGetPlatformIDs" : "clIcdGetPlatformIDsKHR"));
  if (!get) throw std::runtime_error((driver.empty() ? "libOpenCL.so.1" : driver) + " is no OpenCL driver");
  cl_platform_id platform = nullptr;
  check(get(1, &platform, nullptr), "clGetPlatformIDs");
  return platform;
}

class Bench {
 public:
  explicit Bench(const OpenClBench& wanted)
      : platform_(open_platform(wanted.driver)),
        cl_(**reinterpret_cast<const cl::IcdDispatch* const*>(platform_)),
        spin_rounds_(static_cast<cl_int>(wanted.spin)) {
    std::vector<cl_device_id> devices(wanted.index + 1);
    cl_uint count = 0;
    check(cl_.clGetDeviceIDs(platform_, CL_DEVICE_TYPE_ALL, wanted.index + 1, devices.data(), &count),
          "clGetDeviceIDs");
    if (count <= wanted.index)
      throw std::runtime_error("there is no device " + std::to_string(wanted.index) + " here, only " +
                               std::to_string(count));
    device_ = devices[wanted.index];
    char name[256] = "";
    cl_.clGetDeviceInfo(device_, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
    tell("device", name);
    cl_ulong memory = 4 * kBulk, largest = kBulk;
    cl_.clGetDeviceInfo(device_, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr);
    cl_.clGetDeviceInfo(device_, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr);
    bulk_ = std::min({kBulk, static_cast<size_t>(memory / 3), static_cast<size_t>(largest)}) / kSmall * kSmall;
    if (bulk_ < kWide * sizeof(float))
      throw std::runtime_error("the device has too little memory to be measured: " + std::to_string(memory) + " bytes");
    tell("bulk_bytes", static_cast<double>(bulk_));
    prepare();
  }

  void run() {
    round_trip();
    enqueues();
    copies();
    computing();
    many_small();
    check_results();
  }

 private:
  void prepare() {
    cl_int code = CL_SUCCESS;
    context_ = cl_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue_ = new_queue(0);
    const char* source = kSource;
    const auto program = cl_.clCreateProgramWithSource(context_, 1, &source, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    check(cl_.clBuildProgram(program, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
    nop_ = new_kernel(program, "nop"), axpy_ = new_kernel(program, "axpy"), spin_ = new_kernel(program, "spin");
    for (auto* buffer : {&buffer_, &other_}) {
      *buffer = cl_.clCreateBuffer(context_, CL_MEM_READ_WRITE, bulk_, nullptr, &code);
      check(code, "clCreateBuffer");
    }
    host_.resize(bulk_ / sizeof(float)), back_.resize(bulk_ / sizeof(float));
    for (size_t i = 0; i < host_.size(); i++) host_[i] = static_cast<float>(i % 1013);
    set(nop_, 0, buffer_);
    write(buffer_, bulk_), write(other_, bulk_);
  }

  cl_command_queue new_queue(cl_command_queue_properties properties) {
    cl_int code = CL_SUCCESS;
    const auto queue = cl_.clCreateCommandQueue(context_, device_, properties, &code);
    check(code, "clCreateCommandQueue");
    return queue;
  }
  cl_kernel new_kernel(cl_program program, const char* name) {
    cl_int code = CL_SUCCESS;
    const auto kernel = cl_.clCreateKernel(program, name, &code);
    check(code, "clCreateKernel");
    return kernel;
  }
  template <class T>
  void set(cl_kernel kernel, cl_uint index, const T& value) {
    check(cl_.clSetKernelArg(kernel, index, sizeof value, &value), "clSetKernelArg");
  }
  void launch(cl_command_queue queue, cl_kernel kernel, size_t items, cl_event* event = nullptr) {
    check(cl_.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, event),
          "clEnqueueNDRangeKernel");
  }
  void finish(cl_command_queue queue) { check(cl_.clFinish(queue), "clFinish"); }
  void write(cl_mem to, size_t size) {
    check(cl_.clEnqueueWriteBuffer(queue_, to, CL_TRUE, 0, size, host_.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  void read(cl_command_queue queue, cl_mem from, size_t size) {
    check(cl_.clEnqueueReadBuffer(queue, from, CL_TRUE, 0, size, back_.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

  /// A question that only the device's own side can answer; older drivers have none as short.
  void round_trip() {
    finish(queue_);
    cl_ulong device_time = 0, host_time = 0;
    const auto ask = [&] {
      if (cl_.clGetDeviceAndHostTimer) cl_.clGetDeviceAndHostTimer(device_, &device_time, &host_time);
      else finish(queue_);
    };
    tell("round_trip_us", 1e6 * per_call(2000, 1, ask));
  }

  void enqueues() {
    const auto one = [&] { launch(queue_, nop_, 1); };
    tell("enqueue_us", 1e6 * per_call(9, 1000, one, [&] { finish(queue_); }));
    tell("enqueue_finish_us", 1e6 * per_call(400, 1, [&] { one(), finish(queue_); }));
  }

  void copies() {
    tell("write_4KiB_us", 1e6 * per_call(400, 1, [&] { write(buffer_, kSmall); }));
    tell("read_4KiB_us", 1e6 * per_call(400, 1, [&] { read(queue_, buffer_, kSmall); }));
    const auto size = static_cast<double>(bulk_);
    // A blocking write is over when the host memory may be used again; what follows it on the queue is over when the
    // data is there.
    tell("write_64MiB_GBps", size / per_call(9, 1, [&] { write(buffer_, bulk_); }, [&] { finish(queue_); }) / 1e9);
    tell("read_64MiB_GBps", size / per_call(9, 1, [&] { read(queue_, buffer_, bulk_); }) / 1e9);
  }

  /// Kernels that do nothing but compute, one after the other, and the result read at the end.
  void computing() {
    set(spin_, 0, other_);
    const auto timed = new_queue(CL_QUEUE_PROFILING_ENABLE);
    if (spin_rounds_ == 0) spin_rounds_ = rounds_of_a_millisecond(timed);
    set(spin_, 1, spin_rounds_);
    const auto program = [&](cl_command_queue queue, cl_event* events) {
      for (int i = 0; i < kSpins; i++) launch(queue, spin_, kWide, events ? events + i : nullptr);
      read(queue, other_, kWide * sizeof(float));
    };
    tell("compute_ms", 1e3 * per_call(5, 1, [&] { program(queue_, nullptr); }));
    std::vector<cl_event> events(kSpins);
    const auto start = seconds();
    program(timed, events.data());
    const auto wall = seconds() - start;
    double busy = 0;
    for (const auto event : events) busy += device_seconds(event);
    tell("compute_share", std::min(1.0, busy / wall));
    check(cl_.clReleaseCommandQueue(timed), "clReleaseCommandQueue");
  }

  cl_int rounds_of_a_millisecond(cl_command_queue timed) {
    for (cl_int rounds = 256; rounds < 1 << 24; rounds *= 2) {
      set(spin_, 1, rounds);
      cl_event event = nullptr;
      launch(timed, spin_, kWide, &event);
      finish(timed);
      if (device_seconds(event) >= 1e-3) return rounds;
    }
    return 1 << 24;
  }

  /// By the device's own clock; releases the event.
  double device_seconds(cl_event event) {
    cl_ulong begin = 0, end = 0;
    check(cl_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr),
          "clGetEventProfilingInfo");
    check(cl_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
          "clGetEventProfilingInfo");
    check(cl_.clReleaseEvent(event), "clReleaseEvent");
    return static_cast<double>(end - begin) * 1e-9;
  }

  /// A program that enqueues much: small kernels with new arguments each, and a finish every hundred.
  void many_small() {
    set(axpy_, 0, buffer_), set(axpy_, 1, other_);
    tell("many_small_ms", 1e3 * per_call(5, 1, [&] {
                            for (int i = 0; i < kSmallLaunches; i++) {
                              set(axpy_, 2, static_cast<float>(i) * 1e-6f);
                              launch(queue_, axpy_, kNarrow);
                              if (i % 100 == 99) finish(queue_);
                            }
                          }));
  }

  /// The copies and a kernel must also be right.
  void check_results() {
    write(buffer_, bulk_), write(other_, bulk_);
    set(axpy_, 2, 2.0f);
    launch(queue_, axpy_, host_.size());
    read(queue_, other_, bulk_);
    for (size_t i = 0; i < host_.size(); i++) {
      if (back_[i] != 3 * host_[i])
        throw std::runtime_error("the device computes wrongly, or copies do: element " + std::to_string(i));
    }
  }

  cl_platform_id platform_;
  const cl::IcdDispatch& cl_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_kernel nop_ = nullptr, axpy_ = nullptr, spin_ = nullptr;
  cl_mem buffer_ = nullptr, other_ = nullptr;
  size_t bulk_ = kBulk;
  cl_int spin_rounds_;
  std::vector<float> host_, back_;
};

}  // namespace

void measure_opencl(const OpenClBench& bench) { Bench(bench).run(); }

}  // namespace flexrack::bench
