#include "server/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "server/descriptor.h"

namespace flexrack::server {
namespace {

constexpr std::size_t kLongestRuntime = 80;  // sun_path holds 108 bytes with its end; names of 26 fit behind this
constexpr off_t kLargestFile = 16 << 20;
constexpr long kNfs = 0x6969;

// FNV-1a: only to tell folders of one user apart.
std::string short_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%012llx", static_cast<unsigned long long>(hash & 0xffffffffffff));
  return digits.data();
}

bool is_on_network(const std::string& path) {
  struct statfs about{};
  return statfs(path.c_str(), &about) == 0 && static_cast<long>(about.f_type) == kNfs;
}

void write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const auto wrote = write(fd, content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) fail_with_errno(path);
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

/// The sockets of a broker, and what it and its workers name after a session, a lease or a device.
bool is_runtime_name(std::string_view name) {
  if (name == "admin.sock" || name == "client.sock") return true;
  return name.size() > 1 && std::string_view("wlgr").find(name.front()) != std::string_view::npos &&
         name.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

/// A folder that is this user's alone; else one that is not open.
Descriptor open_own_folder(const std::string& path) {
  Descriptor fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat about{};
  if (fd.is_open() && (fstat(fd.get(), &about) != 0 || about.st_uid != geteuid() || (about.st_mode & 077) != 0))
    fd.reset();
  return fd;
}

}  // namespace

void make_private_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail_with_errno(path);
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat about{};
  if (!fd.is_open() || fstat(fd.get(), &about) != 0) fail_with_errno(path);
  if (about.st_uid != geteuid()) throw std::runtime_error(path + " belongs to another user");
  if ((about.st_mode & 077) != 0 && fchmod(fd.get(), 0700) != 0) fail_with_errno(path);
}

std::string make_runtime_folder(const std::string& root) {
  std::string folder = root + "/run";
  if (folder.size() > kLongestRuntime || is_on_network(root)) {
    const char* user = std::getenv("XDG_RUNTIME_DIR");
    const bool has_user = user != nullptr && *user == '/' && access(user, W_OK) == 0;
    folder = has_user ? std::string(user) + "/flexrack-" + short_hash(root)
                      : "/tmp/flexrack-" + std::to_string(geteuid()) + "-" + short_hash(root);
    if (folder.size() > kLongestRuntime) folder = "/tmp/flexrack-" + std::to_string(geteuid()) + "-" + short_hash(root);
  }
  make_private_folder(folder);
  return folder;
}

void remove_runtime_folder(const std::string& path) {
  Descriptor folder = open_own_folder(path);
  if (!folder.is_open()) return;
  const int at = folder.get();
  DIR* entries = fdopendir(at);  // has the descriptor from here on
  if (entries == nullptr) return;
  folder.release();
  std::vector<std::string> names;
  while (const auto* entry = readdir(entries))
    if (is_runtime_name(entry->d_name)) names.emplace_back(entry->d_name);
  for (const auto& name : names) unlinkat(at, name.c_str(), 0);
  closedir(entries);
  rmdir(path.c_str());  // stays where there is anything else in it
}

void replace_file(const std::string& path, std::string_view content) {
  const std::string draft = path + ".new";
  unlink(draft.c_str());
  Descriptor fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.is_open()) fail_with_errno(draft);
  write_all(fd.get(), content, draft);
  if (fsync(fd.get()) != 0) fail_with_errno(draft);
  fd.reset();
  if (rename(draft.c_str(), path.c_str()) != 0) fail_with_errno(path);
}

std::optional<std::string> read_private_file(const std::string& path) {
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.is_open() && errno == ENOENT) return std::nullopt;
  struct stat about{};
  if (!fd.is_open() || fstat(fd.get(), &about) != 0) fail_with_errno(path);
  if (!S_ISREG(about.st_mode) || about.st_uid != geteuid() || (about.st_mode & 077) != 0 ||
      about.st_size > kLargestFile) {
    throw std::runtime_error(path + " is not a private file of this user");
  }
  std::string content(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t have = 0;
  while (have < content.size()) {
    const auto got = read(fd.get(), content.data() + have, content.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  content.resize(have);
  return content;
}

}  // namespace flexrack::server
