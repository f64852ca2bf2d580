#include "sim/driver/kernel_cache.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "cuda/fatbin.h"
#include "sim/driver/failure.h"
#include "sim/driver/settings.h"

namespace flexrack::sim {
namespace {

namespace fs = std::filesystem;
using Key = KernelCache::Key;

constexpr char kFileMark[16] = "flexrack sim 1\n";
constexpr std::size_t kDigest = 32, kMostFile = std::size_t{4} << 20, kMostKernels = 100000;

/// A file as it is written: the mark, the key, the facts, and a digest of all that.
class FactsWriter {
 public:
  template <class T>
  void number(T value) {
    bytes_.insert(bytes_.end(), reinterpret_cast<const std::byte*>(&value),
                  reinterpret_cast<const std::byte*>(&value) + sizeof value);
  }
  void raw(const void* from, std::size_t size) {
    bytes_.insert(bytes_.end(), static_cast<const std::byte*>(from), static_cast<const std::byte*>(from) + size);
  }
  void text(const std::string& value) {
    number(static_cast<std::uint32_t>(value.size())), raw(value.data(), value.size());
  }
  std::vector<std::byte> sealed() && {
    const auto digest = cuda::content_hash(bytes_);
    raw(digest.data(), digest.size());
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

struct Damaged {};

class FactsReader {
 public:
  explicit FactsReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto found = take(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }
  std::span<const std::byte> take(std::size_t size) {
    if (size > rest_.size()) throw Damaged{};
    const auto found = rest_.first(size);
    rest_ = rest_.subspan(size);
    return found;
  }
  /// A number of things that take at least a byte each.
  std::size_t count() {
    const auto found = number<std::uint32_t>();
    if (found > kMostKernels || found > rest_.size()) throw Damaged{};
    return found;
  }
  bool is_over() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

std::vector<std::byte> bytes_of(const Key& key, const KnownKernels& known) {
  FactsWriter out;
  out.raw(kFileMark, sizeof kFileMark);
  out.raw(key.data(), key.size());
  out.number(known.code_bytes);
  out.number(static_cast<std::uint8_t>(known.uses_heap));
  out.number(static_cast<std::uint32_t>(known.kernels.size()));
  for (const auto& [name, facts] : known.kernels) {
    out.text(name);
    out.number(static_cast<std::uint32_t>(facts.parameters.size()));
    for (const auto& one : facts.parameters) out.number(std::uint64_t{one.offset}), out.number(std::uint64_t{one.size});
    out.number(std::uint64_t{facts.parameter_bytes});
    for (const int one : {facts.max_threads, facts.registers, facts.shared_bytes, facts.local_bytes, facts.const_bytes,
                          facts.ptx_version, facts.binary_version})
      out.number(one);
    for (const int one : facts.required_cluster) out.number(one);
  }
  return std::move(out).sealed();
}

/// Throws Damaged.
KnownKernels facts_in(const Key& key, std::span<const std::byte> bytes) {
  if (bytes.size() < kDigest) throw Damaged{};
  const auto digest = cuda::content_hash(bytes.first(bytes.size() - kDigest));
  if (std::memcmp(digest.data(), bytes.data() + bytes.size() - kDigest, kDigest) != 0) throw Damaged{};
  FactsReader in(bytes.first(bytes.size() - kDigest));
  if (std::memcmp(in.take(sizeof kFileMark).data(), kFileMark, sizeof kFileMark) != 0 ||
      std::memcmp(in.take(key.size()).data(), key.data(), key.size()) != 0)
    throw Damaged{};
  KnownKernels known;
  known.code_bytes = in.number<std::uint64_t>();
  known.uses_heap = in.number<std::uint8_t>() != 0;
  for (auto left = in.count(); left > 0; --left) {
    KernelFacts facts;
    facts.name = in.text();
    for (auto parameters = in.count(); parameters > 0; --parameters) {
      const auto offset = in.number<std::uint64_t>(), size = in.number<std::uint64_t>();
      facts.parameters.push_back({offset, size});
    }
    facts.parameter_bytes = in.number<std::uint64_t>();
    for (int* one : {&facts.max_threads, &facts.registers, &facts.shared_bytes, &facts.local_bytes, &facts.const_bytes,
                     &facts.ptx_version, &facts.binary_version})
      *one = in.number<int>();
    for (int& one : facts.required_cluster) one = in.number<int>();
    for (const auto& one : facts.parameters) {
      if (one.size > facts.parameter_bytes || one.offset > facts.parameter_bytes - one.size) throw Damaged{};
    }
    known.kernels.emplace(facts.name, std::move(facts));
  }
  if (!in.is_over()) throw Damaged{};
  return known;
}

class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// Nobody else's, and for nobody else.
bool is_own_folder(const std::string& path) {
  struct stat found{};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
         (found.st_mode & 077) == 0;
}

/// Of what was used longest ago, until there is room.
void make_room(const std::string& folder, std::uint64_t needed, std::uint64_t most) {
  struct One {
    fs::file_time_type used;
    std::uint64_t size;
    fs::path path;
  };
  std::vector<One> all;
  std::uint64_t total = needed;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code gone;
    const auto size = entry.file_size(gone);
    if (gone) continue;
    all.push_back({entry.last_write_time(gone), size, entry.path()});
    total += size;
  }
  if (total <= most) return;
  std::sort(all.begin(), all.end(), [](const One& a, const One& b) { return a.used < b.used; });
  // To well below, so that not every file has others looked through.
  for (const auto& one : all) {
    if (total <= most / 4 * 3) break;
    if (fs::remove(one.path, error)) total -= one.size;
  }
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// Which build this is: what it makes of a text may be another one with each.
std::optional<std::array<std::uint64_t, 3>> own_build() {
  Dl_info own{};
  struct stat found{};
  if (!dladdr(reinterpret_cast<void*>(&cuInit), &own) || !own.dli_fname) return std::nullopt;
  // A program's own file is known by the name that it was started with, which need not lead to it.
  const bool is_program = reinterpret_cast<std::uintptr_t>(own.dli_fbase) + sizeof(Elf64_Ehdr) == getauxval(AT_PHDR);
  if (stat(is_program ? "/proc/self/exe" : own.dli_fname, &found) != 0) return std::nullopt;
  return std::array{static_cast<std::uint64_t>(found.st_size), static_cast<std::uint64_t>(found.st_mtim.tv_sec),
                    static_cast<std::uint64_t>(found.st_mtim.tv_nsec)};
}

}  // namespace

std::string KernelCache::path_of(const Key& key) const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (const auto byte : key) name += {kDigits[byte >> 4], kDigits[byte & 15]};
  return folder_.value_or("") + "/" + name;
}

std::optional<KnownKernels> KernelCache::find(const Key& key) const noexcept {
  if (!folder_) return std::nullopt;
  try {
    if (!is_own_folder(*folder_)) return std::nullopt;
    const OpenFile file(open(path_of(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat about{};
    if (file.fd() < 0 || fstat(file.fd(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        static_cast<std::uint64_t>(about.st_size) > kMostFile)
      return std::nullopt;
    std::vector<std::byte> bytes(static_cast<std::size_t>(about.st_size));
    for (std::size_t at = 0; at < bytes.size();) {
      const auto got = ::read(file.fd(), bytes.data() + at, bytes.size() - at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      at += static_cast<std::size_t>(got);
    }
    auto known = facts_in(key, bytes);
    futimens(file.fd(), nullptr);
    return known;
  } catch (...) { return std::nullopt; }
}

void KernelCache::keep(const Key& key, const KnownKernels& known) const noexcept {
  if (!folder_) return;
  try {
    const auto bytes = bytes_of(key, known);
    if (bytes.size() > std::min<std::uint64_t>(kMostFile, most_)) return;
    std::error_code error;
    fs::create_directories(fs::path(*folder_).parent_path(), error);
    mkdir(folder_->c_str(), 0700);
    if (!is_own_folder(*folder_)) return;
    make_room(*folder_, bytes.size(), most_);
    auto name = *folder_ + "/new-XXXXXX";
    bool is_whole = false;
    {
      const OpenFile file(mkostemp(name.data(), O_CLOEXEC));   // 0600
      if (file.fd() < 0) return;
      is_whole = write_all(file.fd(), bytes);
    }
    if (!is_whole || rename(name.c_str(), path_of(key).c_str()) != 0) unlink(name.c_str());
  } catch (...) {
    // Then the next process reads the text.
  }
}

std::optional<Key> cache_key(std::span<const std::span<const std::byte>> code, unsigned max_registers) {
  const auto build = own_build();
  if (!build) return std::nullopt;
  FactsWriter out;
  out.raw(kFileMark, sizeof kFileMark);
  for (const auto one : *build) out.number(one);
  const auto& capability = settings().capability;
  const auto& driver = settings().driver;
  for (const int one : {capability.major, capability.minor, driver.isa_major, driver.isa_minor}) out.number(one);
  // Sizes of registers and blocks that a profile may have its own of.
  for (const auto& [which, value] : settings().attributes) out.number(which), out.number(value);
  out.number(max_registers);
  for (const auto& one : code) {
    const auto digest = cuda::content_hash(one);
    out.raw(digest.data(), digest.size());
  }
  const auto sealed = std::move(out).sealed();
  Key key;
  std::memcpy(key.data(), sealed.data() + sealed.size() - kDigest, kDigest);
  return key;
}

std::optional<std::string> cache_folder_from_environment() {
  const auto* given = std::getenv("FLEXRACK_SIM_CACHE");
  if (given && *given) {
    if (std::strcmp(given, "off") == 0) return std::nullopt;
    if (*given != '/')
      fail(CUDA_ERROR_INVALID_VALUE,
           std::string("FLEXRACK_SIM_CACHE=") + given + ": expected an absolute path, or off");
    return given;
  }
  const auto* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return std::string(cache) + "/flexrack-sim";
  const auto* home = std::getenv("HOME");
  if (home && *home == '/') return std::string(home) + "/.cache/flexrack-sim";
  return std::nullopt;
}

}  // namespace flexrack::sim
