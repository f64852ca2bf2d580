#include "cuda/process_pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace flexrack::cuda {

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uint8_t* map_pages(std::uint64_t at, std::uint64_t size) {
  void* const wish = reinterpret_cast<void*>(at);
  void* const got = ::mmap(wish, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != 0 ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (got == MAP_FAILED) return nullptr;
  if (at == 0 || got == wish) return static_cast<std::uint8_t*>(got);
  // Systems before Linux 4.17 do not know the flag and choose another place.
  ::munmap(got, size);
  return nullptr;
}

}  // namespace flexrack::cuda
