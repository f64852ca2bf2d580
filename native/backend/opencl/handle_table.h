// What the client's handles stand for. Every handle off the wire is looked up here and checked for its kind.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace flexrack::backend::opencl {

enum class Kind : std::uint8_t { context, queue, memory, sampler, program, kernel, event, svm };

/// An object of the session. Counted: work under way holds what it needs after the client has released it.
struct Record {
  explicit Record(Kind k) : kind(k) {}
  virtual ~Record() = default;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  const Kind kind;
  std::atomic<std::uint32_t> references{1};
  std::uint64_t handle = 0;
};

template <class T>
class Ref {
 public:
  Ref() = default;
  /// Shares an object that somebody else holds.
  explicit Ref(T* record) : record_(record) {
    if (record_) record_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(const Ref& other) : Ref(other.record_) {}
  Ref(Ref&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~Ref() { drop(); }

  /// Takes over the one reference a new object starts with.
  static Ref adopt(T* record) {
    Ref ref;
    ref.record_ = record;
    return ref;
  }
  T* give_up() { return std::exchange(record_, nullptr); }

  T* get() const { return record_; }
  T* operator->() const { return record_; }
  T& operator*() const { return *record_; }
  explicit operator bool() const { return record_ != nullptr; }

 private:
  void drop() {
    if (record_ && record_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete record_;
  }
  T* record_ = nullptr;
};

/// Open addressing, because a launch looks up several handles and a tree would cost more than the launch.
class HandleTable {
 public:
  static constexpr std::size_t kMost = 1u << 22;   ///< live objects of one client

  HandleTable() : slots_(1024) {}
  ~HandleTable() { take_all(); }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// The object of that handle and type, null for anything else.
  template <class T>
  T* find(std::uint64_t handle) const {
    auto* record = look(handle);
    return record && record->kind == T::kKind ? static_cast<T*>(record) : nullptr;
  }

  bool has(std::uint64_t handle) const { return look(handle) != nullptr; }
  bool is_full() const { return count_ >= kMost; }

  /// False for handle 0, one that is in use, and a full table.
  template <class T>
  bool insert(std::uint64_t handle, Ref<T> record) {
    if (handle == 0 || is_full() || has(handle)) return false;
    if ((count_ + 1) * 2 > slots_.size()) grow();
    record->handle = handle;
    place(record.give_up());
    ++count_;
    return true;
  }

  /// Takes the object out; null when there is none.
  Ref<Record> take(std::uint64_t handle) {
    if (handle == 0) return {};
    const auto mask = slots_.size() - 1;
    auto at = start(handle);
    while (slots_[at] && slots_[at]->handle != handle) at = (at + 1) & mask;
    auto found = Ref<Record>::adopt(slots_[at]);
    if (!found) return found;
    slots_[at] = nullptr;
    --count_;
    // Whoever was pushed past this slot moves up, so that no search ends early.
    for (auto next = (at + 1) & mask; slots_[next]; next = (next + 1) & mask) {
      auto* record = std::exchange(slots_[next], nullptr);
      place(record);
    }
    return found;
  }

  /// Takes everything out.
  std::vector<Ref<Record>> take_all() {
    std::vector<Ref<Record>> all;
    for (auto& slot : slots_)
      if (slot) all.push_back(Ref<Record>::adopt(std::exchange(slot, nullptr)));
    count_ = 0;
    return all;
  }

  template <class Action>
  void each(Action&& action) const {
    for (auto* record : slots_)
      if (record) action(*record);
  }

 private:
  Record* look(std::uint64_t handle) const {
    if (handle == 0) return nullptr;
    const auto mask = slots_.size() - 1;
    for (auto at = start(handle); slots_[at]; at = (at + 1) & mask)
      if (slots_[at]->handle == handle) return slots_[at];
    return nullptr;
  }

  // Multiplied, so that a client which picks its handles by a stride gets no worse table than one which counts.
  std::size_t start(std::uint64_t handle) const { return ((handle * 0x9e3779b97f4a7c15u) >> 20) & (slots_.size() - 1); }

  void place(Record* record) {
    auto at = start(record->handle);
    while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = record;
  }

  void grow() {
    std::vector<Record*> old(slots_.size() * 2);
    old.swap(slots_);
    for (auto* record : old)
      if (record) place(record);
  }

  std::vector<Record*> slots_;
  std::size_t count_ = 0;
};

}  // namespace flexrack::backend::opencl
