#include "wire/shared_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "wire/error.h"
#include "wire/stream_copy.h"

namespace flexrack::wire {
namespace {

constexpr std::size_t kRing =
    1024 * 1024;      ///< bytes on their way in one direction: small enough to stay in the processor's cache
constexpr std::size_t kPublish = 64 * 1024;  ///< bytes copied before the other side is told, so that both copy at once
constexpr std::uint8_t kWithMemory = 'M', kWithout = 'S';
constexpr int kSpins = 200;

/// Counters only grow; the difference of two is what lies between, and is checked: the other side may write anything
/// here.
struct Ring {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::atomic<std::uint32_t> more;  ///< a futex that changes when `written` does and the reader sleeps
  std::atomic<std::uint32_t> is_reader_asleep;
  alignas(64) std::atomic<std::uint32_t> room;  ///< likewise for `read` and the writer
  std::atomic<std::uint32_t> is_writer_asleep;
};
constexpr std::size_t kHead = 4096;  ///< both Rings, before their bytes
constexpr std::size_t kFile = kHead + 2 * kRing;
static_assert(sizeof(Ring) == 256 && 2 * sizeof(Ring) <= kHead);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  const timespec half_second{0, 500'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, expected, &half_second, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1);
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

class SharedMemoryChannel final : public Channel {
 public:
  /// Takes the mapping. The client writes the first ring, the server the second.
  SharedMemoryChannel(std::unique_ptr<Channel> socket, void* memory, bool is_client)
      : socket_(std::move(socket)), memory_(static_cast<std::uint8_t*>(memory)) {
    auto* rings = reinterpret_cast<Ring*>(memory_);
    out_ = rings + (is_client ? 0 : 1);
    in_ = rings + (is_client ? 1 : 0);
    out_bytes_ = memory_ + kHead + (is_client ? 0 : kRing);
    in_bytes_ = memory_ + kHead + (is_client ? kRing : 0);
  }
  ~SharedMemoryChannel() override { munmap(memory_, kFile); }

  std::ptrdiff_t read_some(std::span<std::uint8_t> into) override {
    if (is_shut_) return kEnded;
    const auto there = available();
    if (there == kBroken) return kEnded;
    const auto count = std::min(there, into.size());
    return count > 0 && !read_all(into.first(count)) ? kEnded : static_cast<std::ptrdiff_t>(count);
  }

  bool read_all(std::span<std::uint8_t> into) override {
    while (!into.empty()) {
      const auto there = available();
      if (there == kBroken || is_shut_) return false;
      if (there == 0) {
        if (!sleep(in_->more, in_->is_reader_asleep, [&] { return available() != 0; })) return false;
        continue;
      }
      const auto at = read_ % kRing;
      const auto count = std::min({there, into.size(), kRing - at, kPublish});
      stream_copy(into.data(), in_bytes_ + at, count);
      into = into.subspan(count);
      read_ += count;
      in_->read.store(read_);
      // A writer without room is worth waking once there is enough to do.
      if (in_->is_writer_asleep.load() != 0 && there - count <= kRing / 2 && in_->is_writer_asleep.exchange(0) != 0)
        futex_wake(in_->room);
    }
    return true;
  }

  bool write(std::span<const iovec> pieces) override {
    auto published = written_;
    const auto publish = [&] {
      if (published == written_) return;
      published = written_;
      out_->written.store(written_);
      if (out_->is_reader_asleep.load() != 0 && out_->is_reader_asleep.exchange(0) != 0) futex_wake(out_->more);
    };
    for (const auto& piece : pieces) {
      View left(static_cast<const std::uint8_t*>(piece.iov_base), piece.iov_len);
      while (!left.empty()) {
        const auto room = free_room();
        if (room == kBroken || is_shut_) return false;
        if (room == 0) {
          publish();
          if (!sleep(out_->room, out_->is_writer_asleep, [&] { return free_room() != 0; })) return false;
          continue;
        }
        const auto at = written_ % kRing;
        const auto count = std::min({room, left.size(), kRing - at, kPublish - (written_ - published)});
        std::memcpy(out_bytes_ + at, left.data(), count);
        left = left.subspan(count);
        written_ += count;
        if (written_ - published >= kPublish) publish();
      }
    }
    publish();
    return true;
  }

  int fd() const override { return socket_->fd(); }
  void shut() override {
    is_shut_ = true;
    socket_->shut();
    for (auto* ring : {in_, out_}) {
      futex_wake(ring->more);
      futex_wake(ring->room);
    }
  }

 private:
  static constexpr std::size_t kBroken = ~std::size_t{0};

  std::size_t available() const {
    const auto there = in_->written.load() - read_;
    return there <= kRing ? there : kBroken;
  }
  std::size_t free_room() const {
    const auto used = written_ - out_->read.load();
    return used <= kRing ? kRing - used : kBroken;
  }

  /// Until there is something to do, by is_ready. False: shut, or the other side went away.
  template <class Ready>
  bool sleep(std::atomic<std::uint32_t>& word, std::atomic<std::uint32_t>& is_asleep, Ready is_ready) {
    for (int i = 0; i < kSpins; ++i) {
      if (is_ready()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    while (!is_shut_) {
      const auto seen = word.load();
      is_asleep.store(1);  // before the look: either we see what came, or the other side sees that we sleep
      if (is_ready()) return is_asleep.store(0), true;
      if (!is_shut_) futex_wait(word, seen);
      if (is_ready()) return !is_shut_;
      // The socket carries nothing any more; that it ends says that the other process did.
      std::uint8_t byte;
      const auto got = recv(socket_->fd(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) || !keep_waiting()) return false;
    }
    return false;
  }

  std::unique_ptr<Channel> socket_;
  std::uint8_t* memory_;
  Ring *out_, *in_;
  std::uint8_t *out_bytes_, *in_bytes_;
  std::uint64_t written_ = 0, read_ = 0;  ///< our own counters: those in the memory are only told to the other side
  std::atomic<bool> is_shut_{false};
};

/// One byte, with a descriptor beside it where there is one.
void pass(int socket, std::uint8_t byte, int fd) {
  iovec piece{&byte, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  if (sendmsg(socket, &message, MSG_NOSIGNAL) != 1)
    throw Error(Error::Kind::gone, "the connection ended during the handshake");
}

void* map(int fd) {
  auto* memory = mmap(nullptr, kFile, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

std::unique_ptr<Channel> offer_shared_memory(std::unique_ptr<Channel> socket) {
  const Socket file(memfd_create("flexrack-bulk", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const bool is_made = file && ftruncate(file.fd(), kFile) == 0 &&
                       fcntl(file.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  auto* memory = is_made ? map(file.fd()) : nullptr;
  if (memory == nullptr) {
    pass(socket->fd(), kWithout, -1);
    return socket;
  }
  auto channel = std::make_unique<SharedMemoryChannel>(std::move(socket), memory, true);
  pass(channel->fd(), kWithMemory, file.fd());
  return channel;
}

std::unique_ptr<Channel> take_shared_memory(std::unique_ptr<Channel> socket, std::chrono::milliseconds deadline) {
  pollfd one{socket->fd(), POLLIN, 0};
  if (poll(&one, 1, static_cast<int>(deadline.count())) <= 0)
    throw Error(Error::Kind::unreachable, "no shared memory in time");
  std::uint8_t byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket->fd(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
    throw Error(Error::Kind::gone, "the connection ended during the handshake");
  Socket file;
  const auto* head = CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
    file = Socket(fd);
  }
  if (byte == kWithout && !file) return socket;
  struct stat found{};
  const int seals = file ? fcntl(file.fd(), F_GET_SEALS) : -1;
  // A file that shrinks while it is mapped kills whoever touches it.
  if (byte != kWithMemory || seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(file.fd(), &found) != 0 ||
      found.st_size != static_cast<off_t>(kFile))
    throw Error(Error::Kind::malformed, "not the shared memory that was announced");
  auto* memory = map(file.fd());
  if (memory == nullptr) throw Error(Error::Kind::gone, "shared memory cannot be mapped");
  return std::make_unique<SharedMemoryChannel>(std::move(socket), memory, false);
}

}  // namespace flexrack::wire
