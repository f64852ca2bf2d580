#include "backend/opencl/build_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "backend/opencl/pocl.h"

namespace flexrack::backend::opencl {

namespace {

/// Somebody who takes longer is not waited for: a build that fails is better than none.
constexpr auto kLongestTurn = std::chrono::seconds(60);

std::string cache_folder() {
  if (const auto* own = std::getenv("POCL_CACHE_DIR")) return own;
  if (const auto* cache = std::getenv("XDG_CACHE_HOME")) return std::string(cache) + "/pocl/kcache";
  const auto* home = std::getenv("HOME");
  return std::string(home ? home : "/tmp") + "/.cache/pocl/kcache";
}

}  // namespace

BuildLock::BuildLock(cl_platform_id platform) {
  if (!is_pocl(platform)) return;
  folder_ = ::open(cache_folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) return;
  const auto end = std::chrono::steady_clock::now() + kLongestTurn;
  while (::flock(folder_, LOCK_EX | LOCK_NB) != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

BuildLock::~BuildLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace flexrack::backend::opencl
