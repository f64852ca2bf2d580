#include "server/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "server/descriptor.h"

namespace flexrack::server {
namespace {

void* map(int fd, std::size_t size, const std::string& path) {
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) fail_with_errno(path);
  return data;
}

}  // namespace

SharedFile SharedFile::create(const std::string& path, std::size_t size, const std::function<void(void*)>& prepare) {
  const std::string draft = path + ".new";
  unlink(draft.c_str());
  const Descriptor fd(::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  // Blocks are taken now: a full disk is an error here, not a bus error at the first write.
  if (!fd.is_open() || (errno = posix_fallocate(fd.get(), 0, static_cast<off_t>(size))) != 0) fail_with_errno(draft);
  SharedFile file(map(fd.get(), size, draft), size);
  prepare(file.data());
  if (rename(draft.c_str(), path.c_str()) != 0) fail_with_errno(path);
  return file;
}

SharedFile SharedFile::open(const std::string& path, std::size_t size) { return lengthen(path, size, size); }

std::size_t SharedFile::size_of(const std::string& path) {
  struct stat about{};
  return lstat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) ? static_cast<std::size_t>(about.st_size) : 0;
}

SharedFile SharedFile::lengthen(const std::string& path, std::size_t size, std::size_t longer) {
  const Descriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat about{};
  if (!fd.is_open() || fstat(fd.get(), &about) != 0) fail_with_errno(path);
  if (!S_ISREG(about.st_mode) || about.st_uid != geteuid() || (about.st_mode & 077) != 0 ||
      about.st_size != static_cast<off_t>(size)) {
    throw std::runtime_error(path + " is not a file of this daemon");
  }
  if (longer > size && (errno = posix_fallocate(fd.get(), 0, static_cast<off_t>(longer))) != 0) fail_with_errno(path);
  return SharedFile(map(fd.get(), longer, path), longer);
}

SharedFile::SharedFile(SharedFile&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedFile::~SharedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

void make_shared_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int problem = pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  if (problem != 0) throw std::system_error(problem, std::generic_category(), "a shared lock");
}

SharedLock::SharedLock(pthread_mutex_t& mutex, const std::function<void()>& repair) : mutex_(mutex) {
  const int outcome = pthread_mutex_lock(&mutex);
  if (outcome == EOWNERDEAD) {
    repair();
    pthread_mutex_consistent(&mutex);
  } else if (outcome != 0) {
    throw std::system_error(outcome, std::generic_category(), "a shared lock");
  }
}

SharedLock::~SharedLock() { pthread_mutex_unlock(&mutex_); }

}  // namespace flexrack::server
