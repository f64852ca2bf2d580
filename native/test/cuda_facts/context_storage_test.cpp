#include "cuda/context_storage.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace flexrack::cuda;

namespace {

std::array<int, 8> objects;
CUcontext context(int number) { return reinterpret_cast<CUcontext>(&objects[static_cast<std::size_t>(number)]); }
void* address(std::uintptr_t value) { return reinterpret_cast<void*>(value << 4); }

struct Ended {
  CUcontext context;
  void *key, *value;
  bool operator==(const Ended&) const = default;
};
std::vector<Ended> ended;
void note(CUcontext c, void* key, void* value) { ended.push_back({c, key, value}); }

void* found(CUcontext c, void* key) {
  void* value = address(99);
  return storage_get(c, key, &value) == CUDA_SUCCESS ? value : nullptr;
}

}  // namespace

TEST_CASE("a value is found by context and key, and a miss is an invalid handle") {
  void* value = address(9);
  CHECK(storage_get(context(0), address(1), &value) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(value == address(9));
  CHECK(storage_put(context(0), address(1), address(2), nullptr) == CUDA_SUCCESS);
  CHECK(found(context(0), address(1)) == address(2));
  CHECK(found(context(1), address(1)) == nullptr);
  CHECK(found(context(0), address(2)) == nullptr);
  CHECK(storage_put(context(0), address(1), address(3), nullptr) == CUDA_SUCCESS);
  CHECK(found(context(0), address(1)) == address(3));
  CHECK(storage_remove(context(0), address(1)) == CUDA_SUCCESS);
  CHECK(found(context(0), address(1)) == nullptr);
  CHECK(storage_remove(context(0), address(1)) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("a destroyed context's values are given to their destructors, and others stay") {
  ended.clear();
  storage_put(context(2), address(1), address(11), note);
  storage_put(context(2), address(2), address(12), nullptr);
  storage_put(context(2), address(3), address(13), note);
  storage_put(context(3), address(1), address(14), note);
  CHECK(found(context(2), address(1)) == address(11));
  storage_destroy(context(2));
  CHECK(ended == std::vector<Ended>{{context(2), address(1), address(11)}, {context(2), address(3), address(13)}});
  for (const int key : {1, 2, 3}) CHECK(found(context(2), address(static_cast<std::uintptr_t>(key))) == nullptr);
  CHECK(found(context(3), address(1)) == address(14));
  storage_destroy(context(3));
  CHECK(ended.size() == 3);
}

TEST_CASE("a destructor may use the storage, and what it puts for the same context is forgotten") {
  ended.clear();
  storage_put(context(4), address(1), address(11), [](CUcontext c, void* key, void* value) {
    CHECK(found(c, key) == nullptr);
    storage_put(c, key, value, note);
  });
  storage_destroy(context(4));
  CHECK(found(context(4), address(1)) == nullptr);
  CHECK(ended.empty());
}

TEST_CASE("threads see what others change") {
  std::atomic<bool> is_there{false}, is_read{false}, is_gone{false};
  void *first = nullptr, *second = address(1);
  std::thread other([&] {
    while (!is_there) std::this_thread::yield();
    first = found(context(5), address(7));
    is_read = true;
    while (!is_gone) std::this_thread::yield();
    second = found(context(5), address(7));
  });
  storage_put(context(5), address(7), address(8), nullptr);
  is_there = true;
  while (!is_read) std::this_thread::yield();
  storage_destroy(context(5));
  is_gone = true;
  other.join();
  CHECK(first == address(8));
  CHECK(second == nullptr);
}
