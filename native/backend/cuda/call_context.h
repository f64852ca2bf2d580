// One message being carried out at the driver: the context made current, handles looked up, the first error kept.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "backend/cuda/core.h"
#include "wire/bytes_of.h"

namespace flexrack::backend::cuda {

class CallContext {
 public:
  /// Makes that context current; 0: none is needed.
  CallContext(Core& core, std::uint16_t op, std::uint64_t context) : core_(core), op_(op), context_(context) {
    if (context != 0 && !core.make_current(context)) fail(CUDA_ERROR_INVALID_CONTEXT);
    if (const auto lost = core.lost.find(context); lost != core.lost.end()) fail(lost->second);
  }

  /// What is made goes with a context: in none it would be made in whichever is current, and outlive what the session
  /// knows of it.
  CallContext& in_context() {
    if (context_ == 0) fail(CUDA_ERROR_INVALID_CONTEXT);
    return *this;
  }

  template <class T>
  T get(std::uint64_t handle) {
    if (status_ != CUDA_SUCCESS) return {};
    if constexpr (kKindOf<T> == Kind::stream) core_.put_on(op_, context_, handle);
    if (kKindOf<T> == Kind::stream && handle == 0) return {};
    object_ = handle;
    auto* record = core_.handles.find(handle);
    if constexpr (kKindOf<T> == Kind::function) {
      if (record) needs(*record);
      if (record && record->kind == Kind::kernel) return function_of(*record);
    }
    if (!record || record->kind != kKindOf<T>) {
      fail(kKindOf<T> == Kind::context ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE);
      return {};
    }
    return static_cast<T>(record->native);
  }
  /// What launches take: a module's function, or a library's kernel itself, whose settings may change after its
  /// function was asked for.
  CUfunction launched(std::uint64_t handle) {
    auto* found = core_.handles.find(handle);
    if (status_ != CUDA_SUCCESS || !found || found->kind != Kind::kernel) return get<CUfunction>(handle);
    object_ = handle;
    needs(*found);
    return reinterpret_cast<CUfunction>(found->native);
  }
  /// As much as the kernel reads: a driver copies that, however much is there. To one that takes nothing anything may
  /// be given.
  void check_parameters(std::uint64_t kernel, std::size_t bytes) {
    const auto* found = core_.handles.find(kernel);
    check(!found || bytes == found->parameter_bytes || (found->parameter_bytes == 0 && found->has_parameter_bytes));
  }
  template <class T>
  std::vector<T> get_all(std::span<const std::uint64_t> handles) {
    std::vector<T> all;
    all.reserve(handles.size());
    for (const auto handle : handles) all.push_back(get<T>(handle));
    return all;
  }
  /// The record itself; null is an error that is kept.
  Record* record(std::uint64_t handle, Kind kind) {
    auto* found = status_ == CUDA_SUCCESS ? core_.handles.find(handle) : nullptr;
    object_ = handle;
    if (found && found->kind == kind) return found;
    fail(CUDA_ERROR_INVALID_HANDLE);
    return nullptr;
  }
  /// All memory that is asked about from now on is written down there.
  void remember(std::vector<Stretch>& named) { named_ = &named; }
  /// Memory of this session, all of it: of any other address the driver would take it for the worker's own.
  CUdeviceptr address(std::uint64_t at, std::uint64_t size) {
    if (status_ == CUDA_SUCCESS && !core_.allocations.holds(at, size)) fail(CUDA_ERROR_INVALID_VALUE);
    if (named_ && size > 0) named_->push_back({at, size});
    return at;
  }
  /// From the first byte to the last of slices of rows: `pitch` bytes from row to row, `slice` bytes from slice to
  /// slice; 0: of rows or slices that are packed.
  void rows(std::uint64_t at, std::uint64_t pitch, std::uint64_t width, std::uint64_t height, std::uint64_t slice,
            std::uint64_t depth) {
    if (width == 0 || height == 0 || depth == 0) return;
    if (pitch == 0) pitch = width;
    if (slice == 0) slice = product(pitch, height);
    check(pitch >= width || height == 1);
    address(at, sum(sum(product(slice, depth - 1), product(pitch, height - 1)), width));
  }
  /// Of numbers that came over the wire: one that is too large for its type is an error that is kept.
  std::uint64_t product(std::uint64_t one, std::uint64_t other) {
    std::uint64_t all = 0;
    if (__builtin_mul_overflow(one, other, &all)) fail(CUDA_ERROR_INVALID_VALUE);
    return all;
  }
  std::uint64_t sum(std::uint64_t one, std::uint64_t other) {
    std::uint64_t all = 0;
    if (__builtin_add_overflow(one, other, &all)) fail(CUDA_ERROR_INVALID_VALUE);
    return all;
  }
  /// The number of a texture or a surface of the session's, which is no more from now on.
  std::uint64_t shown(bool is_surface, std::uint64_t number) {
    if (status_ == CUDA_SUCCESS && core_.shown.erase({is_surface, number}) == 0) fail(CUDA_ERROR_INVALID_VALUE);
    return number;
  }
  CUdevice device(std::uint32_t index) {
    if (index < core_.devices.size()) return core_.devices[index].native;
    fail(CUDA_ERROR_INVALID_DEVICE);
    return 0;
  }
  /// A structure as it came: exactly its size. Indexes of devices inside it become the driver's ordinals.
  template <class T>
  T flat(wire::View bytes) {
    T value{};
    check(bytes.size() == sizeof value);
    if (status_ == CUDA_SUCCESS) std::memcpy(&value, bytes.data(), sizeof value);
    localize(value);
    return value;
  }
  template <class T>
  std::vector<T> flat_all(wire::View bytes) {
    std::vector<T> values;
    check(bytes.size() % sizeof(T) == 0);
    if (status_ != CUDA_SUCCESS || bytes.empty()) return values;
    values.resize(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (auto& value : values) localize(value);
    return values;
  }
  /// What follows holds a place among those who wait.
  void may_wait() {
    if (!core_.waiters.has_room()) fail(CUDA_ERROR_OUT_OF_MEMORY);
  }
  void check(bool holds) {
    if (!holds) fail(CUDA_ERROR_INVALID_VALUE);
  }
  void fail(CUresult status) {
    if (status_ == CUDA_SUCCESS) status_ = status;
  }

  /// Calls the driver, unless something was wrong before.
  template <class Function, class... Values>
  bool run(Function function, Values&&... values) {
    if (status_ == CUDA_SUCCESS)
      status_ = function ? function(std::forward<Values>(values)...) : CUDA_ERROR_NOT_SUPPORTED;
    return status_ == CUDA_SUCCESS;
  }

  /// The driver has made it: the client's handle stands for it from now on. What cannot be kept is the client's
  /// mistake.
  template <class T>
  Record* keep(std::uint64_t handle, T native, std::uint64_t owner = 0) {
    if (status_ != CUDA_SUCCESS) return nullptr;
    if (!core_.handles.insert(handle, {.kind = kKindOf<T>, .native = native, .context = context_, .owner = owner}))
      fail(CUDA_ERROR_INVALID_HANDLE);
    return status_ == CUDA_SUCCESS ? core_.handles.find(handle) : nullptr;
  }
  template <class T>
  void drop(std::uint64_t handle) {
    if (status_ != CUDA_SUCCESS) return;
    const auto gone = core_.handles.take(handle);
    if (gone) core_.refund(gone->device, gone->charged);
  }

  bool is_good() const { return status_ == CUDA_SUCCESS; }
  CUresult status() const {
    if (status_ != CUDA_SUCCESS) core_.noticed(context_, status_);
    return status_;
  }
  /// Of a `send`: tells the client what was refused.
  void end() {
    if (status_ != CUDA_SUCCESS) core_.refused(context_, op_, status_, object_);
  }
  std::uint64_t context() const { return context_; }
  std::uint16_t op() const { return op_; }
  std::uint64_t object() const { return object_; }
  /// Whom a refusal names from here on.
  void about(std::uint64_t object) { object_ = object; }

 private:
  /// A kernel is about to be used: its library's code, and local memory, are charged before the driver needs them.
  void needs(Record& kernel) {
    if (context_ == 0 || (kernel.kind != Kind::kernel && kernel.kind != Kind::function)) return;
    if (kernel.kind == Kind::kernel && !kernel.in_context.contains(context_)) {
      fail(core_.bring_in(kernel.owner, context_));
      if (status_ == CUDA_SUCCESS) kernel.in_context.emplace(context_, nullptr);
    }
    if (kernel.local_bytes > 0) fail(core_.reserve_stack(context_, kernel.local_bytes));
  }
  CUfunction function_of(Record& kernel) {
    if (status_ != CUDA_SUCCESS) return nullptr;
    auto& function = kernel.in_context[context_];
    if (!function) run(core_.table.cuKernelGetFunction, &function, static_cast<CUkernel>(kernel.native));
    return function;
  }
  /// An operation on a word of memory, or none on memory at all. What a driver will add may hold anything.
  void check_operation(CUstreamBatchMemOpParams& one) {
    switch (one.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        address(one.waitValue.address, one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? 4 : 8);
        one.waitValue.alias = 0;  // "for driver internal use" (CUDA driver API)
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        address(one.writeValue.address, one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ? 4 : 8);
        one.writeValue.alias = 0;
        break;
      case CU_STREAM_MEM_OP_BARRIER:
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: break;
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
  }
  template <class T>
  void localize(T& value) {
    if constexpr (std::is_same_v<T, CUmemLocation>) {
      if (value.type == CU_MEM_LOCATION_TYPE_DEVICE) value.id = device(static_cast<std::uint32_t>(value.id));
    } else if constexpr (std::is_same_v<T, CUmemAccessDesc>) {
      localize(value.location);
    } else if constexpr (std::is_same_v<T, CUstreamBatchMemOpParams>) {
      check_operation(value);
    }
  }

  Core& core_;
  const std::uint16_t op_;
  const std::uint64_t context_;
  std::uint64_t object_ = 0;
  CUresult status_ = CUDA_SUCCESS;
  std::vector<Stretch>* named_ = nullptr;
};

}  // namespace flexrack::backend::cuda
