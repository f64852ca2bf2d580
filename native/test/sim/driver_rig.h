// The software driver as a program uses it: three devices, a context, kernels in PTX.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "gen/cuda/cuda.h"

/// A call that has to succeed.
#define CU(call) REQUIRE_EQ(call, CUDA_SUCCESS)

namespace flexrack::test::driver {

inline constexpr int kDevices = 3;

inline void initialise() {
  setenv("FLEXRACK_SIM_DEVICES", std::to_string(kDevices).c_str(), 1);
  setenv("FLEXRACK_SIM_CACHE", "off", 0);
  CU(cuInit(0));
}

inline constexpr const char* kKernels = R"(
.version 8.0
.target sm_70
.address_size 64
.global .u32 counter = 7;
.global .align 4 .b8 table[16] = {1, 2, 3, 4};
.const .u32 scale = 3;
.visible .entry fill(.param .u64 to, .param .u32 value, .param .u32 count) {
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [count]; setp.ge.u32 %p, %r4, %r5; @%p ret;
  ld.param.u64 %d1, [to]; mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
  ld.param.u32 %r6, [value]; st.global.u32 [%d3], %r6; ret;
}
.visible .entry add(.param .u64 to, .param .u32 value, .param .u32 count) {
  .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [count]; setp.ge.u32 %p, %r4, %r5; @%p ret;
  ld.param.u64 %d1, [to]; mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
  ld.param.u32 %r6, [value]; ld.global.u32 %r7, [%d3]; add.u32 %r8, %r7, %r6; st.global.u32 [%d3], %r8; ret;
}
// Sets mine, then waits until theirs is set: ends only where two of these run at once.
.visible .entry meet(.param .u64 mine, .param .u64 theirs) {
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d1, [mine]; ld.param.u64 %d2, [theirs]; mov.u32 %r1, 1; st.volatile.global.u32 [%d1], %r1;
again: ld.volatile.global.u32 %r2, [%d2]; setp.eq.u32 %p, %r2, 0; @%p bra again; ret;
}
.visible .entry wait(.param .u64 flag) {
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d1, [flag];
again: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p, %r1, 0; @%p bra again; ret;
}
.visible .entry store(.param .u64 to) {
  .reg .b32 %r<2>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [to]; mov.u32 %r1, 5; st.global.u32 [%d1], %r1; ret;
}
.visible .entry dies() { trap; ret; }
.visible .entry empty() { ret; }
.visible .entry count() { .reg .b32 %r<2>; atom.global.add.u32 %r1, [counter], 1; ret; }
.visible .entry scaled(.param .u64 to) {
  .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.const.u32 %r1, [scale]; ld.global.u32 %r2, [counter]; mul.lo.u32 %r3, %r1, %r2; ld.param.u64 %d1, [to]; st.global.u32 [%d1], %r3; ret;
}
.extern .shared .align 16 .b8 dynamic[];
.visible .entry shares(.param .u64 to) .maxntid 128, 1, 1 {
  .reg .b32 %r<4>; .reg .b64 %d<2>; .shared .align 4 .b8 fixed[4096];
  mov.u32 %r1, fixed; mov.u32 %r2, 9; st.shared.u32 [%r1], %r2; ld.shared.u32 %r3, [%r1]; ld.param.u64 %d1, [to]; st.global.u32 [%d1], %r3; ret;
}
)";

/// A context of its own on a device, current for as long as it lives.
class Rig {
 public:
  explicit Rig(int device = 0) {
    initialise();
    CU(cuCtxCreate_v2(&context, 0, device));
  }
  ~Rig() {
    if (context) cuCtxDestroy_v2(context);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  CUfunction kernel(const char* name) {
    auto& function = functions_[name];
    if (function) return function;
    if (!module) CU(cuModuleLoadData(&module, kKernels));
    CU(cuModuleGetFunction(&function, module, name));
    return function;
  }
  /// Blocks of 128 threads for so many elements.
  CUresult launch(const char* name, std::vector<void*> parameters, unsigned elements = 1, CUstream stream = nullptr) {
    return cuLaunchKernel(kernel(name), (elements + 127) / 128, 1, 1, elements < 128 ? elements : 128, 1, 1, 0, stream,
                          parameters.data(), nullptr);
  }
  CUresult fill(CUdeviceptr to, unsigned value, unsigned count, CUstream stream = nullptr) {
    return launch("fill", {&to, &value, &count}, count, stream);
  }
  CUresult add(CUdeviceptr to, unsigned value, unsigned count, CUstream stream = nullptr) {
    return launch("add", {&to, &value, &count}, count, stream);
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;

 private:
  std::map<std::string, CUfunction> functions_;
};

/// A word that device and host share.
class Flag {
 public:
  Flag() {
    CU(cuMemHostAlloc(reinterpret_cast<void**>(&word), 4, 0));
    *word = 0;
  }
  ~Flag() { cuMemFreeHost(word); }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  void raise() { __atomic_store_n(word, 1, __ATOMIC_SEQ_CST); }
  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(word); }
  unsigned* word = nullptr;
};

/// Device memory of so many numbers, zero at first.
class Numbers {
 public:
  explicit Numbers(std::size_t count) : count_(count) {
    CU(cuMemAlloc_v2(&address, count * 4));
    CU(cuMemsetD32_v2(address, 0, count));
    CU(cuCtxSynchronize());   // the host does not wait for fills
  }
  ~Numbers() { cuMemFree_v2(address); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  std::vector<unsigned> read() const {
    std::vector<unsigned> all(count_);
    CU(cuMemcpyDtoH_v2(all.data(), address, count_ * 4));
    return all;
  }
  bool are_all(unsigned value) const {
    for (const auto one : read())
      if (one != value) return false;
    return true;
  }
  CUdeviceptr address = 0;

 private:
  std::size_t count_;
};

inline CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
  CUstream stream = nullptr;
  CU(cuStreamCreate(&stream, flags));
  return stream;
}

inline CUevent make_event(unsigned flags = CU_EVENT_DEFAULT) {
  CUevent event = nullptr;
  CU(cuEventCreate(&event, flags));
  return event;
}

/// Runs a test case that is skipped by itself in a process of its own, with its environment: what the driver reads at
/// cuInit can differ there. Gives the exit status; it is an error if the test case did not call apart().
int run_apart(const std::string& test_case, const std::vector<std::pair<std::string, std::string>>& environment);
/// First in a test case for run_apart().
void apart();

}  // namespace flexrack::test::driver
