// Objects behind handles: counted, and found again only while they live.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace flexrack::sim {

/// Lies before each object; outlives it, so that a handle that was destroyed can still be looked at.
struct ObjectHead {
  std::atomic<std::uint32_t> references{0};
  std::atomic<bool> is_open{false};   ///< the application has not destroyed it
};

/// A reference to an object of a Slab.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  /// One more reference to what somebody else holds.
  explicit Ref(T* object) : object_(object) {
    if (object_) T::head_of(object_)->references.fetch_add(1, std::memory_order_relaxed);
  }
  /// Takes a reference that was counted already.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ && T::head_of(object_)->references.fetch_sub(1, std::memory_order_acq_rel) == 1) T::destroy(object_);
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

/// Memory for objects of one kind that is never given back nor used for another kind: any value can be checked for
/// being a live handle.
template <class T>
class Slab {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;   ///< objects at a time

  static Slab& instance() {
    static auto* slab = new Slab;
    return *slab;
  }

  /// Throws std::bad_alloc.
  template <class... A>
  Ref<T> make(A&&... arguments) {
    auto* slot = take();
    try {
      new (slot->object) T(std::forward<A>(arguments)...);
    } catch (...) {
      put(slot);
      throw;
    }
    slot->head.references.store(1, std::memory_order_release);
    return Ref<T>::adopt(object_of(slot));
  }

  /// Null for what is no handle or was destroyed.
  Ref<T> find(const void* handle) {
    auto* slot = slot_at(handle);
    if (!slot) return nullptr;
    auto count = slot->head.references.load(std::memory_order_acquire);
    do {
      if (count == 0) return nullptr;
    } while (!slot->head.references.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel));
    auto found = Ref<T>::adopt(object_of(slot));
    return slot->head.is_open.load(std::memory_order_acquire) ? found : nullptr;
  }

  void destroy(T* object) {
    object->~T();
    put(reinterpret_cast<Slot*>(reinterpret_cast<char*>(object) - offsetof(Slot, object)));
  }

 private:
  struct Slot {
    ObjectHead head;
    alignas(alignof(T) > 16 ? alignof(T) : 16) std::byte object[sizeof(T)];
  };
  Slab() {
    auto* memory =
        mmap(nullptr, kMost * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base_ = memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
  }
  static T* object_of(Slot* slot) { return std::launder(reinterpret_cast<T*>(slot->object)); }
  Slot* slot_at(const void* handle) {
    const auto at =
        reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(base_) - offsetof(Slot, object);
    if (!base_ || at >= kMost * sizeof(Slot) || at % sizeof(Slot) != 0) return nullptr;
    return reinterpret_cast<Slot*>(base_ + at);
  }
  Slot* take() {
    const std::lock_guard guard(lock_);
    // The one freed longest ago, so that a stale handle is seen to be stale for long.
    if (free_.size() - next_free_ > 64) {
      auto* slot = free_[next_free_++];
      if (next_free_ > 4096) {
        free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(next_free_));
        next_free_ = 0;
      }
      return slot;
    }
    if (!base_ || used_ == kMost) throw std::bad_alloc();
    return new (base_ + used_++ * sizeof(Slot)) Slot;
  }
  void put(Slot* slot) {
    const std::lock_guard guard(lock_);
    free_.push_back(slot);
  }

  std::byte* base_ = nullptr;
  std::mutex lock_;
  std::size_t used_ = 0, next_free_ = 0;
  std::vector<Slot*> free_;
};

/// What is made in a Slab derives from this: class Event : public Object<Event>.
template <class T>
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  static ObjectHead* head_of(T* object) {
    constexpr auto back = (sizeof(ObjectHead) + kAlign - 1) / kAlign * kAlign;
    return reinterpret_cast<ObjectHead*>(reinterpret_cast<std::byte*>(object) - back);
  }
  static void destroy(T* object) { Slab<T>::instance().destroy(object); }
  template <class... A>
  static Ref<T> make(A&&... arguments) {
    return Slab<T>::instance().make(std::forward<A>(arguments)...);
  }
  /// Null for what is no handle, or one that was closed.
  static Ref<T> find(const void* handle) { return Slab<T>::instance().find(handle); }

  /// Gives the object a reference of its own, the application's: from now on it is found.
  void open() {
    auto* self = static_cast<T*>(this);
    head_of(self)->references.fetch_add(1, std::memory_order_relaxed);
    head_of(self)->is_open.store(true, std::memory_order_release);
  }
  /// Drops that reference; false where it was dropped before.
  bool close() {
    auto* self = static_cast<T*>(this);
    if (!head_of(self)->is_open.exchange(false, std::memory_order_acq_rel)) return false;
    Ref<T>::adopt(self);
    return true;
  }
  bool is_open() const {
    return head_of(const_cast<T*>(static_cast<const T*>(this)))->is_open.load(std::memory_order_acquire);
  }

 private:
  static constexpr std::size_t kAlign = 16;
};

}  // namespace flexrack::sim
