#include "cuda/export_tables.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "cuda/context_storage.h"

// Why this is here: a CUDA program that was built by nvcc brings NVIDIA's runtime library (cudart) along, mostly linked
// into it, and that library asks the driver by cuGetExportTable for tables that no header describes. Without six of
// them its first call fails (cudaErrorSymbolNotFound), so a driver that is to run programs as they are has to have
// them. Only what those programs call is here.
//
// Where each fact is from:
// - Which tables are asked, what happens without each, which functions of them are called and with what: seen in
// programs with static and shared cudart
//   13.0.96 and in PyTorch 2.14 for CUDA 13.0, on a driver of our own that wrote down what it was asked.
// - The tables' names, their sizes, what a function's arguments mean, the key and the layout of the message in the
// integrity check: published by ZLUDA
//   (dark_api, under the MIT and Apache licences), and the same in Lupine. Facts were taken, no code.
// - That the runtime of CUDA 11 loads modules by CUDART_INTERFACE, 6: seen in CatBoost 1.2.10. That 1 is the same with
// fewer arguments is published.
// - That the runtime of CUDA 13.5 calls CUDART_INTERFACE, 12, without arguments while it sets itself up, and ends where
// the answer is not zero: seen in cudart 13.5.37, which JAX 0.10.2 brings.
// - That the check is HMAC (RFC 2104) with MD2 (RFC 1319): their constants are the ones in those RFCs; cudart accepts
// what follows from them, and reports
//   cudaErrorSoftwareValidityNotEstablished when a byte is different.
// - What cuBLAS asks: the thread's context (TOOLS_TLS, 2) and a context's number (the table
// 21318C60-9714-3248-8CA6-41FF7324C8F2, 4). Seen at
//   cublasLtMatmulAlgoGetHeuristic of cuBLAS 13.1. With both answers it still finds no algorithm for most products on
//   the GPU in software (CUBLAS_STATUS_NOT_SUPPORTED, ARCH_MISMATCH): what it looks at besides is not known. What the
//   two mean is published as names (get_thread_context, getContextNumber) by programs that list these tables; the
//   number is cuCtxGetId's.
// - Before its first product or dot (cublasSgemm and cublasSdot of 12.4.5.8) it calls 51 of the same table, far behind
// the size that cudart is content
//   with, with a context, zero, and a place for a number of 32 bits; then 39 with the context, that number, and a place
//   of at most 16 bytes. What they mean is not known. Without them the library ends the program or says
//   CUBLAS_STATUS_INTERNAL_ERROR; with zero for both its results are right.
// - An eighth, F8CFF951-2146-8B4E-B9E2-FB469E7C0DD9, is asked for as well; cudart does without it, and so do we.

namespace flexrack::cuda {
namespace {

/// A slot holds a function; the first one mostly the table's size in bytes.
using Slot = const void*;

std::atomic<DriverFacts*> facts{nullptr};
DriverFacts& driver() { return *facts.load(std::memory_order_acquire); }

template <class Function>
Slot slot(Function* function) {
  return reinterpret_cast<Slot>(function);
}

template <std::size_t count>
Slot size_of() {
  return reinterpret_cast<Slot>(count * sizeof(Slot));
}

/// What nobody was seen to call, and whose arguments nobody knows.
CUresult unknown() { return CUDA_ERROR_NOT_SUPPORTED; }
/// Called, and nothing has to happen: notes for profilers, which are not there.
CUresult nothing() { return CUDA_SUCCESS; }

CUcontext or_current(CUcontext context) { return context ? context : driver().current_context(); }

// CUDART_INTERFACE

CUresult get_primary_context(CUcontext* context, CUdevice device) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  return driver().primary_context(device, context);
}

/// How the runtime of CUDA 11 loads what a program was linked with: a fatbin behind its wrapper. What follows it in a
/// call was zero.
CUresult load_fatbin(CUmodule* module, const void* wrapper) {
  if (!module || !wrapper) return CUDA_ERROR_INVALID_VALUE;
  return driver().load_module(module, wrapper);
}

const std::array<Slot, 13> cudart_interface = {size_of<13>(),     slot(load_fatbin), slot(get_primary_context),
                                               slot(unknown),     slot(unknown),     slot(unknown),
                                               slot(load_fatbin), slot(unknown),     slot(unknown),
                                               slot(unknown),     slot(unknown),     slot(unknown),
                                               slot(nothing)};

// TOOLS_RUNTIME_CALLBACK_HOOKS: buffers in which the runtime looks which of its functions tools are listening to. The
// driver only has to lend them: nobody is. cudart 13.4 looks beyond the sizes that are said, at cudaStreamIsCapturing
// and others, and calls a tool where it finds anything but zero: so zero goes on.

constexpr std::size_t kFirst = 1024, kSecond = 14;
alignas(16) std::array<std::byte, 64 << 10> first_buffer;
alignas(16) std::array<std::byte, 64 << 10> second_buffer;

void get_first_buffer(void** buffer, std::size_t* size) { *buffer = first_buffer.data(), *size = kFirst; }
void get_second_buffer(void** buffer, std::size_t* size) { *buffer = second_buffer.data(), *size = kSecond; }

const std::array<Slot, 7> callback_hooks = {size_of<7>(),  slot(nothing), slot(get_first_buffer), slot(unknown),
                                            slot(nothing), slot(unknown), slot(get_second_buffer)};

// TOOLS_TLS

CUresult get_thread_context(CUcontext* context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = driver().current_context();
  return CUDA_SUCCESS;
}

const std::array<Slot, 4> tools_thread_storage = {size_of<4>(), slot(unknown), slot(get_thread_context), slot(unknown)};

// Of contexts; no name for it was published. A driver has many more functions in it.

CUresult get_context_number(CUcontext context, unsigned long long* number) {
  return driver().context_id(or_current(context), number);
}

/// Which of what 39 tells of; the first will do.
CUresult get_choice(CUcontext, std::uint64_t, std::uint32_t* which) {
  if (!which) return CUDA_ERROR_INVALID_VALUE;
  *which = 0;
  return CUDA_SUCCESS;
}

CUresult get_of_choice(CUcontext, std::uint32_t, std::uint64_t* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  *value = 0;
  return CUDA_SUCCESS;
}

constexpr std::size_t kContextSlots = 64;
std::array<Slot, kContextSlots> context_slots() {
  std::array<Slot, kContextSlots> made;
  made.fill(slot(unknown));
  made[0] = size_of<kContextSlots>();
  made[4] = slot(get_context_number);
  made[39] = slot(get_of_choice);
  made[51] = slot(get_choice);
  return made;
}
const std::array<Slot, kContextSlots> context_facts = context_slots();

// CONTEXT_LOCAL_STORAGE: the one without a size. Asked on every call of the runtime.

CUresult put_local(CUcontext context, void* key, void* value, StorageDestructor destructor) {
  context = or_current(context);
  return context ? storage_put(context, key, value, destructor) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult remove_local(CUcontext context, void* key) {
  context = or_current(context);
  return context ? storage_remove(context, key) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult get_local(void** value, CUcontext context, void* key) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  context = or_current(context);
  return context ? storage_get(context, key, value) : CUDA_ERROR_INVALID_CONTEXT;
}

const std::array<Slot, 4> context_local_storage = {slot(put_local), slot(remove_local), slot(get_local), slot(unknown)};

// CONTEXT_CHECKS: whether a context may be used with this runtime. It may.

CUresult check_context(CUcontext, std::uint32_t* finding, const void**) {
  if (finding) *finding = 0;
  return CUDA_SUCCESS;
}

const std::array<Slot, 4> context_checks = {size_of<4>(), slot(unknown), slot(check_context), slot(nothing)};

// INTEGRITY_CHECK

CUresult check_integrity(std::uint32_t version, std::uint64_t seconds, std::uint64_t* answer);

const std::array<Slot, 3> integrity_check = {size_of<3>(), slot(check_integrity), slot(unknown)};

CUresult check_integrity(std::uint32_t version, std::uint64_t seconds, std::uint64_t* answer) {
  if (!answer) return CUDA_ERROR_INVALID_VALUE;
  const auto devices = driver().devices();
  const auto found = integrity_answer({.version = version,
                                       .seconds = seconds,
                                       .driver_version = static_cast<std::uint32_t>(driver().version()),
                                       .process = static_cast<std::uint32_t>(getpid()),
                                       .thread = static_cast<std::uint32_t>(pthread_self()),
                                       .cudart_table = cudart_interface.data(),
                                       .integrity_table = integrity_check.data(),
                                       .integrity_function = integrity_check[1],
                                       .devices = devices});
  std::copy(found.begin(), found.end(), answer);
  return CUDA_SUCCESS;
}

struct Table {
  std::array<std::uint8_t, 16> id;  ///< as the bytes of a CUuuid
  const Slot* slots;
};

constexpr std::array<Table, 7> tables() {
  return {{
      {{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9},
       cudart_interface.data()},
      {{0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
       callback_hooks.data()},
      {{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
       tools_thread_storage.data()},
      {{0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2},
       context_facts.data()},
      {{0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93},
       context_local_storage.data()},
      {{0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e},
       context_checks.data()},
      {{0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2},
       integrity_check.data()},
  }};
}

}  // namespace

CUresult export_table(DriverFacts& given, const void** table, const CUuuid* id) noexcept {
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  DriverFacts* none = nullptr;
  facts.compare_exchange_strong(none, &given, std::memory_order_acq_rel);
  for (const auto& one : tables()) {
    if (std::memcmp(one.id.data(), id->bytes, one.id.size()) != 0) continue;
    *table = one.slots;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace flexrack::cuda
