#include "client/cuda/written_pages.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "client/trace.h"

namespace flexrack::client::cuda {
namespace {

// Linux 6.7, Documentation/admin-guide/mm/pagemap.rst and include/uapi/linux/{fs,userfaultfd}.h, for headers that are
// older than the kernel.
struct PageRegion {
  std::uint64_t start, end, categories;
};
struct PageScan {
  std::uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted, category_mask,
      category_anyof_mask, return_mask;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, PageScan);
constexpr std::uint64_t kProtectAgain = 1 << 0, kOnlyWatched = 1 << 1;  // PM_SCAN_WP_MATCHING, PM_SCAN_CHECK_WPASYNC
constexpr std::uint64_t kIsWritten = 1 << 1;  // PAGE_IS_WRITTEN
constexpr std::uint64_t kUnpopulatedToo = 1 << 13,
                        kByItself = 1 << 15;  // UFFD_FEATURE_WP_UNPOPULATED, UFFD_FEATURE_WP_ASYNC
constexpr int kUserModeOnly = 1;  // UFFD_USER_MODE_ONLY: needs no privilege, and no fault comes to us anyway

/// Opened once, kept until the process ends. A descriptor of -1: not to be had.
struct Watcher {
  int faults = -1, pagemap = -1;
  Watcher() {
    faults = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly));
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = kUnpopulatedToo | kByItself;
    if (faults >= 0 && ::ioctl(faults, UFFDIO_API, &api) == 0)
      pagemap = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0 && is_traced())
      trace("this kernel does not say which pages were written to: mirrored memory is compared as a whole");
  }
};

const Watcher& watcher() {
  static const auto& the_watcher = *new Watcher;
  return the_watcher;
}

}  // namespace

bool watch_pages(std::uint8_t* first, std::uint64_t size) {
  const auto& by = watcher();
  if (by.pagemap < 0) return false;
  uffdio_register wish{};
  wish.range = {reinterpret_cast<std::uint64_t>(first), size};
  wish.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(by.faults, UFFDIO_REGISTER, &wish) == 0;
}

bool each_written(std::uint8_t* first, std::uint64_t size,
                  const std::function<void(std::uint64_t, std::uint64_t)>& use) {
  const auto base = reinterpret_cast<std::uint64_t>(first);
  std::array<PageRegion, 128> found;
  for (auto at = base; at < base + size;) {
    PageScan scan{};
    scan.size = sizeof scan;
    scan.flags = kProtectAgain | kOnlyWatched;
    scan.start = at;
    scan.end = base + size;
    scan.vec = reinterpret_cast<std::uint64_t>(found.data());
    scan.vec_len = found.size();
    scan.category_mask = scan.return_mask = kIsWritten;
    const auto count = ::ioctl(watcher().pagemap, kPagemapScan, &scan);
    if (count < 0 || scan.walk_end <= at) return false;
    for (int i = 0; i < count; ++i)
      use(found[static_cast<std::size_t>(i)].start - base, found[static_cast<std::size_t>(i)].end - base);
    at = scan.walk_end;
  }
  return true;
}

}  // namespace flexrack::client::cuda
