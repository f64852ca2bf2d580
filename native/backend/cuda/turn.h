// One message being carried out at the driver: the context made current, handles looked up, the first error kept.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "backend/cuda/session.h"

namespace flexrack::backend::cuda {

/// A structure of the API as its bytes: of the caller's memory.
template <class T>
wire::View bytes_of(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

class Turn {
 public:
  /// Makes that context current; 0: none is needed.
  Turn(Session& session, std::uint16_t op, std::uint64_t context) : session_(session), op_(op), context_(context) {
    if (context != 0 && !session.make_current(context)) fail(CUDA_ERROR_INVALID_CONTEXT);
  }

  template <class T>
  T get(std::uint64_t handle) {
    if (status_ != CUDA_SUCCESS) return {};
    if (kKindOf<T> == Kind::stream && handle == 0) return {};
    object_ = handle;
    auto* record = session_.handles_.find(handle);
    if constexpr (kKindOf<T> == Kind::function) {
      if (record && record->kind == Kind::kernel) return function_of(*record);
    }
    if (!record || record->kind != kKindOf<T>) {
      fail(kKindOf<T> == Kind::context ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE);
      return {};
    }
    return static_cast<T>(record->native);
  }
  /// What launches take: a module's function, or a library's kernel itself, whose settings may change after its function was asked for.
  CUfunction launched(std::uint64_t handle) {
    const auto* found = session_.handles_.find(handle);
    if (status_ == CUDA_SUCCESS && found && found->kind == Kind::kernel) return reinterpret_cast<CUfunction>(found->native);
    return get<CUfunction>(handle);
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
    auto* found = status_ == CUDA_SUCCESS ? session_.handles_.find(handle) : nullptr;
    object_ = handle;
    if (found && found->kind == kind) return found;
    fail(CUDA_ERROR_INVALID_HANDLE);
    return nullptr;
  }
  CUdevice device(std::uint32_t index) {
    if (index < session_.devices_.size()) return session_.devices_[index].native;
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
  void check(bool holds) { if (!holds) fail(CUDA_ERROR_INVALID_VALUE); }
  void fail(CUresult status) { if (status_ == CUDA_SUCCESS) status_ = status; }

  /// Calls the driver, unless something was wrong before.
  template <class Function, class... Values>
  bool run(Function function, Values&&... values) {
    if (status_ == CUDA_SUCCESS) status_ = function ? function(std::forward<Values>(values)...) : CUDA_ERROR_NOT_SUPPORTED;
    return status_ == CUDA_SUCCESS;
  }

  /// The driver has made it: the client's handle stands for it from now on. What cannot be kept is the client's mistake.
  template <class T>
  Record* keep(std::uint64_t handle, T native) {
    if (status_ != CUDA_SUCCESS) return nullptr;
    if (!session_.handles_.insert(handle, {.kind = kKindOf<T>, .native = native, .context = context_})) fail(CUDA_ERROR_INVALID_HANDLE);
    return status_ == CUDA_SUCCESS ? session_.handles_.find(handle) : nullptr;
  }
  template <class T>
  void drop(std::uint64_t handle) {
    if (status_ == CUDA_SUCCESS) session_.handles_.take(handle);
  }

  bool is_good() const { return status_ == CUDA_SUCCESS; }
  CUresult status() const {
    if (status_ != CUDA_SUCCESS) session_.noticed(context_, status_);
    return status_;
  }
  /// Of a `send`: tells the client what was refused.
  void end() {
    if (status_ != CUDA_SUCCESS) session_.refused(context_, op_, status_, object_);
  }
  std::uint64_t context() const { return context_; }

 private:
  CUfunction function_of(Record& kernel) {
    auto& function = kernel.in_context[context_];
    if (!function) run(session_.driver().cuKernelGetFunction, &function, static_cast<CUkernel>(kernel.native));
    return function;
  }
  template <class T>
  void localize(T& value) {
    if constexpr (std::is_same_v<T, CUmemLocation>) {
      if (value.type == CU_MEM_LOCATION_TYPE_DEVICE) value.id = device(static_cast<std::uint32_t>(value.id));
    } else if constexpr (std::is_same_v<T, CUmemAccessDesc>) {
      localize(value.location);
    }
  }

  Session& session_;
  const std::uint16_t op_;
  const std::uint64_t context_;
  std::uint64_t object_ = 0;
  CUresult status_ = CUDA_SUCCESS;
};

}  // namespace flexrack::backend::cuda
