// One API call on its way to one server. It remembers the first error: later steps then do nothing, and the end answers
// it.
#pragma once

#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "client/cuda/driver.h"
#include "client/cuda/stream.h"
#include "client/cuda/thread.h"
#include "wire/bytes_of.h"

namespace flexrack::client::cuda {

/// An object that a call makes at its server: kept when it is there, else thrown away.
template <class T>
class Made {
 public:
  explicit Made(T object) : object_(object) {}
  Made(Made&& from) noexcept : object_(std::exchange(from.object_, nullptr)) {}
  ~Made() {
    if (object_) discard(object_);
  }
  std::uint64_t handle() const { return object_ ? object_->handle : 0; }
  T keep() const { return std::exchange(object_, nullptr); }
  T get() const { return object_; }

 private:
  mutable T object_;
};

class Call {
 public:
  Call() {
    if (!process()) error_ = not_open();
    else if (thread_state.host_functions != 0) error_ = CUDA_ERROR_NOT_PERMITTED;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void fail(CUresult error) {
    if (error_ == CUDA_SUCCESS) error_ = error;
  }
  void check(bool holds, CUresult error = CUDA_ERROR_INVALID_VALUE) {
    if (!holds) fail(error);
  }
  bool is_good() const { return error_ == CUDA_SUCCESS; }
  CUresult error() const { return error_; }

  // ---- what the application names
  /// The wire's handle of an object; says which server and, where no other object did, whose context's errors the call
  /// answers.
  template <class T>
  std::uint64_t handle(T object) {
    if constexpr (std::is_same_v<T, CUstream>) {
      const auto found = stream(object);
      if (found) note_put(found);
      return found ? found->handle : 0;
    } else if constexpr (std::is_same_v<T, CUfunction> || std::is_same_v<T, CUkernel>) {
      const auto* at = kernel(object);
      return at ? at->handle : 0;
    } else {
      return use(object) ? object->handle : 0;
    }
  }
  template <class T>
  std::vector<std::uint64_t> handles(std::span<const T> objects) {
    std::vector<std::uint64_t> all;
    all.reserve(objects.size());
    for (const auto object : objects) all.push_back(handle(object));
    return all;
  }
  /// Live, of its context, of this call's server: else the call has an error.
  template <class T>
  bool use(T object) {
    if (error_ != CUDA_SUCCESS) return false;
    if constexpr (std::is_same_v<T, CUcontext>) {
      if (!is_live(object)) return fail(CUDA_ERROR_INVALID_CONTEXT), false;
      if (object->handle == 0) return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED), false;
    } else {
      if (!is_live(object)) return fail(CUDA_ERROR_INVALID_HANDLE), false;
      if (object->context && object->context_handle != object->context->handle)
        return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED), false;
    }
    return at(object->server, object->context);
  }
  /// The stream itself: 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are those of the current context.
  CUstream stream(CUstream object) {
    if (error_ != CUDA_SUCCESS) return nullptr;
    if (reinterpret_cast<std::uintptr_t>(object) > 2) return use(object) ? object : nullptr;
    return default_stream(object);
  }
  /// Of a module, or of a library where a CUkernel is passed as a CUfunction; looked up at the server at first use.
  const KernelAt* kernel(CUfunction object);
  const KernelAt* kernel(CUkernel object) { return kernel(reinterpret_cast<CUfunction>(object)); }
  std::uint32_t device(CUdevice ordinal);
  std::uint64_t address(CUdeviceptr address);
  std::string_view text(const char* text) {
    needs(text);
    return text ? text : std::string_view();
  }
  void needs(const void* pointer) { check(pointer != nullptr); }
  template <class T>
  std::span<const T> list(const T* first, std::size_t count) {
    check(first != nullptr || count == 0);
    return first && is_good() ? std::span(first, count) : std::span<const T>{};
  }
  template <class T>
  std::span<const T> optional_list(const T* first, std::size_t count) {
    return first && is_good() ? std::span(first, count) : std::span<const T>{};
  }
  template <class T>
  T value(const T* pointer) {
    needs(pointer);
    return pointer ? *pointer : T{};
  }
  /// Ordinals of devices inside become the server's indexes.
  template <class T>
  T local(T value) {
    if constexpr (std::is_same_v<T, CUmemLocation>) {
      if (value.type == CU_MEM_LOCATION_TYPE_DEVICE) value.id = static_cast<int>(device(value.id));
    } else if constexpr (std::is_same_v<T, CUmemAccessDesc>) {
      value.location = local(value.location);
    }
    return value;
  }
  template <class T>
  std::vector<T> local(std::span<const T> values) {
    std::vector<T> all;
    all.reserve(values.size());
    for (const auto& one : values) all.push_back(local(one));
    return all;
  }
  template <class T>
  Made<T> make() {
    if (error_ != CUDA_SUCCESS) return Made<T>(nullptr);
    const auto object = new std::remove_pointer_t<T>;
    object->handle = mint();
    object->server = server_;
    object->context = context_;
    object->context_handle = context_ ? context_->handle : 0;
    return Made<T>(object);
  }
  template <class T>
  void gone(T object) {
    discard(object);
  }
  template <class T>
  void take(wire::View bytes, T& into) {
    if (bytes.size() == sizeof into) std::memcpy(&into, bytes.data(), sizeof into);
    else fail(CUDA_ERROR_UNKNOWN);
  }

  // ---- contexts
  /// The current one's handle if it is at this server, else 0; where no server is known yet, as current_context().
  std::uint64_t context() {
    if (!server_) return current_context();
    const auto now = thread_state.current;
    return now && is_live(now) && now->server == server_ ? now->handle : 0;
  }
  /// None: CUDA_ERROR_INVALID_CONTEXT.
  std::uint64_t current_context() {
    const auto found = current();
    return found ? found->handle : 0;
  }
  CUcontext current() {
    if (error_ != CUDA_SUCCESS) return nullptr;
    const auto now = thread_state.current;
    if (!now) return fail(CUDA_ERROR_INVALID_CONTEXT), nullptr;
    return use(now) ? now : nullptr;
  }

  // ---- the end
  CudaServer& server() const { return *server_; }
  Session& session() const { return *server_->session; }
  /// Its own error, what its context has to answer for, a lost link; else success.
  template <class Message>
  CUresult send(const Message& message) {
    if (!settle()) return error_;
    return session().send(message) ? CUDA_SUCCESS : kLost;
  }
  /// Waits; answers reply.status. use(reply) only where that is success.
  template <class Message, class Use>
  CUresult ask(const Message& message, Use&& take_reply) {
    if (!settle()) return error_;
    auto status = kLost;
    session().call(message, [&](const auto& reply) {
      status = static_cast<CUresult>(reply.status);
      if (status == CUDA_SUCCESS) take_reply(reply);
    });
    if (status == CUDA_SUCCESS) return error_;
    if (context_ && is_sticky(status)) note_trouble(context_, status, true);
    return status;
  }
  /// The same for what waits: errors of earlier work that came before the reply are answered at once.
  template <class Message>
  CUresult wait(const Message& message) {
    const auto status = ask(message, [](const auto&) {});
    sync_epoch.fetch_add(1, std::memory_order_relaxed);
    return status == CUDA_SUCCESS && context_ ? take_trouble(context_) : status;
  }
  /// True where there is no error so far: none of its own, none of its context's.
  bool settle() {
    if (error_ == CUDA_SUCCESS && !server_) fail(CUDA_ERROR_INVALID_VALUE);
    if (error_ == CUDA_SUCCESS) {
      if (context_) fail(trouble(context_));
      else if (!session().is_alive()) fail(kLost);
    }
    return error_ == CUDA_SUCCESS;
  }

 private:
  static CUresult trouble(CUcontext context) {
    const bool is_quiet = !context->is_troubled.load(std::memory_order_acquire) &&
                          !context->server->inbox.is_troubled.load(std::memory_order_relaxed) &&
                          context->server->session->is_alive();
    return is_quiet ? CUDA_SUCCESS : take_trouble(context);
  }
  bool at(CudaServer* server, CUcontext context) {
    if (server) {
      if (server_ && server_ != server) return fail(CUDA_ERROR_INVALID_VALUE), false;
      server_ = server;
    }
    if (!context_) context_ = context;
    return true;
  }
  CUstream default_stream(CUstream which);

  CUresult error_ = CUDA_SUCCESS;
  CudaServer* server_ = nullptr;
  CUcontext context_ = nullptr;
};

}  // namespace flexrack::client::cuda
