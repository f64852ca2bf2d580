// Streams and events: order, overlap, waiting.
#include <atomic>
#include <chrono>
#include <thread>

#include "driver_rig.h"
#include "sim/driver/context.h"
#include "sim/driver/ipc_event.h"

using namespace flexrack::test::driver;

namespace {

struct Log {
  std::atomic<int> count{0};
  int order[16] = {};
};
struct Entry {
  Log* log;
  int number;
};
void note(void* data) {
  const auto* entry = static_cast<Entry*>(data);
  entry->log->order[entry->log->count++] = entry->number;
}

}  // namespace

TEST_CASE("driver: a stream does one thing after the other") {
  Rig rig;
  Numbers numbers(1000);
  const auto stream = make_stream();
  for (unsigned i = 0; i < 50; ++i) {
    CU(rig.fill(numbers.address, i, 1000, stream));
    CU(rig.add(numbers.address, 1, 1000, stream));
    CU(cuMemsetD32Async(numbers.address, i, 10, stream));
  }
  CU(cuStreamSynchronize(stream));
  const auto found = numbers.read();
  CHECK_EQ(found[9], 49);
  CHECK_EQ(found[10], 50);
  CU(cuStreamDestroy_v2(stream));
}

TEST_CASE("driver: kernels of different streams run at the same time") {
  Rig rig;
  Numbers flags(2);
  CUdeviceptr first = flags.address, second = flags.address + 4;
  const auto one = make_stream(), other = make_stream();
  CU(rig.launch("meet", {&first, &second}, 1, one));
  CU(rig.launch("meet", {&second, &first}, 1, other));
  CU(cuStreamSynchronize(one));
  CU(cuStreamSynchronize(other));
}

TEST_CASE("driver: copies pass kernels of other streams") {
  Rig rig;
  Flag flag;
  Numbers numbers(100);
  const auto busy = make_stream(), copying = make_stream();
  auto address = flag.address();
  CU(rig.launch("wait", {&address}, 1, busy));
  std::vector<unsigned> host(100, 3);
  CU(cuMemHostRegister_v2(host.data(), 400, 0));
  CU(cuMemcpyHtoDAsync_v2(numbers.address, host.data(), 400, copying));
  CU(cuStreamSynchronize(copying));
  CHECK_EQ(cuStreamQuery(busy), CUDA_ERROR_NOT_READY);
  flag.raise();
  CU(cuStreamSynchronize(busy));
  CU(cuStreamQuery(busy));
  CU(cuMemHostUnregister(host.data()));
}

TEST_CASE("driver: the legacy stream and blocking streams wait for each other") {
  Rig rig;
  Flag flag;
  auto address = flag.address();
  Numbers numbers(10);
  const auto blocking = make_stream(CU_STREAM_DEFAULT), another = make_stream(CU_STREAM_DEFAULT),
             free = make_stream(CU_STREAM_NON_BLOCKING);
  CU(rig.launch("wait", {&address}, 1, blocking));
  CU(rig.fill(numbers.address, 1, 10));            // legacy: behind `blocking`
  CU(rig.fill(numbers.address + 20, 2, 1, another));   // behind legacy
  CU(rig.fill(numbers.address + 24, 3, 1, free));
  CU(cuStreamSynchronize(free));
  const auto mark = make_event();
  CU(cuEventRecord(mark, another));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_EQ(cuEventQuery(mark), CUDA_ERROR_NOT_READY);
  CHECK_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  CHECK_EQ(cuStreamQuery(another), CUDA_ERROR_NOT_READY);
  flag.raise();
  CU(cuEventSynchronize(mark));
  const auto found = numbers.read();
  CHECK_EQ(found[0], 1);
  CHECK_EQ(found[5], 2);
  CHECK_EQ(found[6], 1);   // `free` was before
}

TEST_CASE("driver: a copy between devices in the default stream is in the order of both devices") {
  Rig here, there(1);
  Flag flag;
  auto address = flag.address();
  Numbers theirs(10);
  const auto busy = make_stream(CU_STREAM_DEFAULT), later = make_stream(CU_STREAM_DEFAULT);
  CU(there.launch("wait", {&address}, 1, busy));
  CU(there.fill(theirs.address, 1, 10, busy));
  CU(cuCtxSetCurrent(here.context));
  Numbers ours(10);
  CU(cuMemcpyDtoDAsync_v2(ours.address, theirs.address, 40, nullptr));   // behind what device 1 has to do
  CU(cuCtxSetCurrent(there.context));
  CU(there.fill(theirs.address, 2, 10, later));                          // behind the copy
  CU(cuCtxSetCurrent(here.context));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  CHECK_EQ(cuStreamQuery(later), CUDA_ERROR_NOT_READY);
  flag.raise();
  CU(cuCtxSynchronize());
  CHECK_EQ(ours.read(), std::vector<unsigned>(10, 1));
  CU(cuCtxSetCurrent(there.context));
  CU(cuCtxSynchronize());
  CHECK_EQ(theirs.read(), std::vector<unsigned>(10, 2));

  // From one of the two to the other, from a third: the order of all three.
  CU(cuCtxSetCurrent(here.context));
  for (int round = 0; round < 200; ++round) {
    CU(cuMemcpyDtoDAsync_v2(ours.address, theirs.address, 40, nullptr));
    CU(cuCtxSetCurrent(there.context));
    CU(there.add(theirs.address, 1, 10));
    CU(cuMemcpyDtoDAsync_v2(theirs.address, ours.address, 20, nullptr));
    CU(cuCtxSetCurrent(here.context));
    CU(here.add(ours.address, 1, 10));
  }
  CU(cuCtxSynchronize());
  CU(cuCtxSetCurrent(there.context));
  CU(cuCtxSynchronize());
  CHECK_EQ(theirs.read()[9], 202);   // never overwritten: one more a round
  CHECK_EQ(theirs.read()[0], 2);     // given back as it came, each round
  CU(cuCtxSetCurrent(here.context));
  CHECK_EQ(ours.read()[0], 3);
  CHECK_EQ(ours.read()[9], 202);
}

TEST_CASE("driver: each thread has a default stream of its own where it is asked for") {
  Rig rig;
  Flag flag;
  auto address = flag.address();
  void* parameters[] = {&address};
  CU(cuLaunchKernel_ptsz(rig.kernel("wait"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  std::thread([&] {
    CU(cuCtxSetCurrent(rig.context));
    CU(cuStreamSynchronize_ptsz(nullptr));
    CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  }).join();
  CHECK_EQ(cuStreamQuery_ptsz(nullptr), CUDA_ERROR_NOT_READY);
  CHECK_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  CU(cuStreamQuery_ptsz(CU_STREAM_LEGACY));
  unsigned long long own = 0, legacy = 0;
  CU(cuStreamGetId_ptsz(nullptr, &own));
  CU(cuStreamGetId(nullptr, &legacy));
  CHECK_NE(own, legacy);
  flag.raise();
  CU(cuStreamSynchronize_ptsz(nullptr));
}

TEST_CASE("driver: waiting for events of other streams") {
  Rig rig;
  Flag flag;
  auto address = flag.address();
  Numbers numbers(10);
  const auto first = make_stream(), second = make_stream();
  const auto event = make_event(CU_EVENT_DISABLE_TIMING);
  CU(cuStreamWaitEvent(second, event, 0));   // never recorded: nothing to wait for
  CU(cuStreamSynchronize(second));
  CU(cuEventSynchronize(event));
  CU(rig.launch("wait", {&address}, 1, first));
  CU(rig.fill(numbers.address, 4, 10, first));
  CU(cuEventRecord(event, first));
  CU(cuStreamWaitEvent(second, event, 0));
  CU(rig.add(numbers.address, 3, 10, second));
  // Recorded again, the wait from before is for what it was.
  CU(cuEventRecord(event, make_stream()));
  CU(cuEventSynchronize(event));
  CHECK_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  CU(cuEventDestroy_v2(event));
  flag.raise();
  CU(cuStreamSynchronize(second));
  CHECK(numbers.are_all(7));
}

TEST_CASE("driver: the time between events") {
  const Rig rig;
  const auto stream = make_stream();
  const auto start = make_event(), end = make_event(), timeless = make_event(CU_EVENT_DISABLE_TIMING),
             never = make_event();
  float milliseconds = -1;
  CU(cuEventRecord(start, stream));
  CU(cuLaunchHostFunc(stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }, nullptr));
  CU(cuEventRecord(end, stream));
  CU(cuEventRecord(timeless, stream));
  CHECK_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  CU(cuEventSynchronize(end));
  CU(cuEventElapsedTime_v2(&milliseconds, start, end));
  CHECK_GE(milliseconds, 29.9f);
  CHECK_LT(milliseconds, 3000.f);
  CHECK_EQ(cuEventElapsedTime(&milliseconds, start, timeless), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQ(cuEventElapsedTime(&milliseconds, start, never), CUDA_ERROR_INVALID_HANDLE);
  CUevent shared = nullptr;
  CHECK_EQ(cuEventCreate(&shared, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
  CU(cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  CU(cuEventQuery(shared));
  CU(cuEventRecord(shared, stream));
  CU(cuStreamWaitEvent(nullptr, shared, 0));
  CU(cuEventSynchronize(shared));
  CUipcEventHandle handle;
  CU(cuIpcGetEventHandle(&handle, shared));
  CUevent opened = nullptr;
  CHECK_EQ(cuIpcOpenEventHandle(&opened, handle), CUDA_ERROR_INVALID_CONTEXT);
  CU(cuEventDestroy(shared));
  CHECK_EQ(cuEventCreate(&shared, 64), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: host functions in order, which may not call the driver") {
  Rig rig;
  Log log;
  Entry entries[] = {{&log, 1}, {&log, 2}, {&log, 3}};
  Numbers numbers(10);
  const auto stream = make_stream();
  CU(cuLaunchHostFunc(stream, note, &entries[0]));
  CU(rig.fill(numbers.address, 1, 10, stream));
  CU(cuLaunchHostFunc(stream, note, &entries[1]));
  CU(cuStreamAddCallback(
      stream,
      [](CUstream, CUresult status, void* data) {
        CHECK_EQ(status, CUDA_SUCCESS);
        note(data);
      },
      &entries[2], 0));
  CUresult inside = CUDA_SUCCESS;
  CU(cuLaunchHostFunc(
      stream,
      [](void* data) {
        CUcontext context = nullptr;
        cuDevicePrimaryCtxRetain(&context, 0);
        cuCtxPushCurrent_v2(context);
        *static_cast<CUresult*>(data) = cuCtxSynchronize();
        cuCtxPopCurrent_v2(&context);
        cuDevicePrimaryCtxRelease_v2(0);
      },
      &inside));
  CU(cuStreamSynchronize(stream));
  CHECK_EQ(log.count, 3);
  CHECK_EQ(log.order[0], 1);
  CHECK_EQ(log.order[1], 2);
  CHECK_EQ(log.order[2], 3);
  CHECK_EQ(inside, CUDA_ERROR_NOT_PERMITTED);
}

TEST_CASE("driver: streams that wait for values in memory") {
  Rig rig;
  Flag flag;
  Numbers numbers(10);
  const auto waiting = make_stream(), writing = make_stream();
  CU(cuStreamWaitValue32_v2(waiting, numbers.address, 5, CU_STREAM_WAIT_VALUE_GEQ));
  CU(rig.fill(numbers.address + 4, 1, 1, waiting));
  CU(cuStreamWriteValue32_v2(writing, numbers.address, 4, 0));
  CU(cuStreamSynchronize(writing));
  CHECK_EQ(cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
  CU(cuStreamWriteValue32_v2(writing, numbers.address, 6, 0));
  CU(cuStreamSynchronize(waiting));
  CHECK_EQ(numbers.read()[1], 1);
  CUstreamBatchMemOpParams operations[2] = {};
  operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  operations[0].writeValue.address = numbers.address + 8;
  operations[0].writeValue.value64 = 0x500000006;
  operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
  operations[1].waitValue.address = numbers.address + 8;
  operations[1].waitValue.value64 = 0x400000000;
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_AND;
  CU(cuStreamBatchMemOp_v2(waiting, 2, operations, 0));
  CU(cuStreamSynchronize(waiting));
  CHECK_EQ(numbers.read()[3], 5);
  CHECK_EQ(cuStreamWaitValue32_v2(waiting, numbers.address + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuStreamWriteValue32_v2(waiting, 0x1000, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: a stream is destroyed while it works") {
  Rig rig;
  Flag flag;
  auto address = flag.address();
  Numbers numbers(10);
  const auto stream = make_stream(CU_STREAM_DEFAULT);
  CU(rig.launch("wait", {&address}, 1, stream));
  CU(rig.fill(numbers.address, 2, 10, stream));
  CU(cuStreamDestroy_v2(stream));
  CHECK_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  CU(rig.add(numbers.address, 3, 10));   // the legacy stream still waits for it
  std::thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flag.raise();
  }).detach();
  CU(cuCtxSynchronize());
  CHECK(numbers.are_all(5));
}

TEST_CASE("driver: events over a whole context") {
  Rig rig;
  Flag flag;
  auto address = flag.address();
  const auto stream = make_stream(), other = make_stream();
  const auto event = make_event();
  CU(rig.launch("wait", {&address}, 1, stream));
  CU(cuCtxRecordEvent(rig.context, event));
  CHECK_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  CU(cuCtxWaitEvent(rig.context, event));
  CHECK_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  flag.raise();
  CU(cuStreamSynchronize(other));
  CU(cuEventQuery(event));
}

TEST_CASE("driver: many threads, many streams") {
  Rig rig;
  const auto add = rig.kernel("add");
  Numbers numbers(64);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      cuCtxSetCurrent(rig.context);
      CUstream stream = nullptr;
      if (cuStreamCreate(&stream, t % 2) != CUDA_SUCCESS) ++failures;
      auto at = numbers.address + static_cast<CUdeviceptr>(t) * 32;
      unsigned one = 1, count = 8;
      void* parameters[] = {&at, &one, &count};
      CUevent event = nullptr;
      if (cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) ++failures;
      for (int i = 0; i < 200; ++i) {
        if (cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr) != CUDA_SUCCESS) ++failures;
        if (i % 16 == 0 && cuEventRecord(event, stream) != CUDA_SUCCESS) ++failures;
        if (i % 50 == 0 && cuStreamSynchronize(stream) != CUDA_SUCCESS) ++failures;
      }
      if (cuStreamSynchronize(stream) != CUDA_SUCCESS || cuStreamDestroy_v2(stream) != CUDA_SUCCESS ||
          cuEventDestroy_v2(event) != CUDA_SUCCESS)
        ++failures;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK_EQ(failures, 0);
  CHECK(numbers.are_all(200));
}

TEST_CASE("driver: latency and bandwidth as asked for" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  Rig rig;
  using Clock = std::chrono::steady_clock;
  const auto seconds_of = [](const auto& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  rig.kernel("empty");
  CUdeviceptr memory = 0;
  void* host = nullptr;
  CU(cuMemAlloc_v2(&memory, 20 << 20));
  CU(cuMemAllocHost_v2(&host, 20 << 20));
  // 10 launches of 5 ms each; 20 MiB at 0.2 GB/s are about 105 ms, and two directions at once take no longer.
  CHECK_GE(seconds_of([&] {
             for (int i = 0; i < 10; ++i) CU(rig.launch("empty", {}));
             CU(cuCtxSynchronize());
           }),
           0.05);
  CHECK_GE(seconds_of([&] { CU(cuMemcpyHtoD_v2(memory, host, 20 << 20)); }), 0.104);
  const auto up = make_stream(), down = make_stream();
  // One after the other they would never take less than 0.1 s; a busy machine may take longer for both at once, but not
  // each time.
  double both = 1;
  for (int round = 0; round < 50 && both >= 0.1; ++round) {
    both = seconds_of([&] {
      CU(cuMemcpyHtoDAsync_v2(memory, host, 10 << 20, up));
      CU(cuMemcpyDtoHAsync_v2(static_cast<char*>(host) + (10 << 20), memory + (10 << 20), 10 << 20, down));
      CU(cuCtxSynchronize());
    });
    CHECK_GE(both, 0.052);
  }
  CHECK_LT(both, 0.1);
  const auto one_way = seconds_of([&] {
    CU(cuMemcpyHtoDAsync_v2(memory, host, 10 << 20, up));
    CU(cuMemcpyHtoDAsync_v2(memory + (10 << 20), host, 10 << 20, down));
    CU(cuCtxSynchronize());
  });
  CHECK_GE(one_way, 0.104);
}

TEST_CASE("driver: latency and bandwidth") {
  CHECK_EQ(run_apart("driver: latency and bandwidth as asked for",
                     {{"FLEXRACK_SIM_LATENCY_US", "5000"}, {"FLEXRACK_SIM_BANDWIDTH_GBPS", "0.2"}}),
           0);
}

TEST_CASE("driver: hundreds of events of other processes are waited for, and none is in the way of another") {
  Rig rig;
  const auto context = flexrack::sim::current();
  using flexrack::sim::SharedEvent;
  std::vector<std::shared_ptr<SharedEvent>> events;
  std::vector<flexrack::sim::Ref<flexrack::sim::Command>> waits;
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 300; ++i) {
    events.push_back(SharedEvent::make());
    numbers.push_back(events.back()->record());
    waits.push_back(events.back()->awaits(context, numbers.back()));
  }
  // The last one may be what those before it wait for.
  for (auto i = events.size(); i-- > 0;) {
    CHECK_FALSE(waits[i]->is_over());
    events[i]->reached(numbers[i]);
    waits[i]->wait();
  }
}
