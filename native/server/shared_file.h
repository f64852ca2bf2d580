// A file that several processes map, with a lock that survives the death of whoever holds it.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <string>

namespace flexrack::server {

/// Maps a file of exactly `size` bytes, owned by this user and no one else's to write. Movable.
class SharedFile {
 public:
  /// Made under another name, filled by `prepare` and then renamed, so nobody ever sees it half made. Mode 0600.
  static SharedFile create(const std::string& path, std::size_t size, const std::function<void(void*)>& prepare);
  static SharedFile open(const std::string& path, std::size_t size);
  /// The same file, made longer by zeros; those that have mapped it keep what they have. Throws std::system_error.
  static SharedFile lengthen(const std::string& path, std::size_t size, std::size_t longer);
  /// Bytes; 0 where there is none.
  static std::size_t size_of(const std::string& path);

  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&& other) noexcept;
  ~SharedFile();

  void* data() const { return data_; }

 private:
  SharedFile(void* data, std::size_t size) : data_(data), size_(size) {}
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Makes a mutex in shared memory that processes share and whose next owner learns that the last one died.
void make_shared_mutex(pthread_mutex_t& mutex);

/// Holds such a mutex. `repair` runs first when the last owner died inside.
class SharedLock {
 public:
  SharedLock(pthread_mutex_t& mutex, const std::function<void()>& repair);
  ~SharedLock();
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace flexrack::server
