// TLS 1.3 with an external pre-shared key. OpenSSL does the handshake over buffers of ours; what follows travels in
// records that are made and opened here (tls_records), so that a byte is copied no more than its encryption copies it,
// and reading and writing have nothing in common.
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "wire/channel.h"
#include "wire/error.h"
#include "wire/tls_channel.h"
#include "wire/tls_records.h"

namespace flexrack::wire {
namespace {

using Clock = std::chrono::steady_clock;

// What is encrypted, and what is read, at once: little enough to stay in a core's own cache, and enough that the other
// side is woken seldom. Of 4, 8, 16 the last took the least processor time.
constexpr std::size_t kRecordsAtOnce = 16;
constexpr std::size_t kRoom = kRecordsAtOnce * kLongestRecord;
/// Records without a byte of data, one after another, that are taken.
constexpr int kMostIdle = 32;
constexpr std::uint8_t kKeyUpdate[] = {24, 0, 0, 1, 0};  ///< RFC 8446, 4.6.3; the last byte: an answer is wanted

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* thing) const { Free(thing); }
};
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX, SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Freed<SSL, SSL_free>>;

/// OpenSSL would free its state in an exit handler, under threads that still talk: links live until the process is
/// gone. Before anything else of it.
[[gnu::constructor]] void keep_openssl() { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

std::string openssl_reason() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

/// Pages of it are the process's from when they are first used: a connection of commands uses few.
class Memory {
 public:
  explicit Memory(std::size_t size) : bytes_(std::make_unique_for_overwrite<std::uint8_t[]>(size)), size_(size) {}
  std::uint8_t* data() { return bytes_.get(); }
  const std::uint8_t* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  View part(std::size_t begin, std::size_t end) const { return {bytes_.get() + begin, end - begin}; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_;
};

class TlsChannel final : public Channel {
 public:
  TlsChannel(Socket socket, const TlsIdentity& identity, bool is_server, View read, std::uint64_t rekey_after);
  ~TlsChannel() override;
  void handshake(Clock::time_point end);

  std::ptrdiff_t read_some(std::span<std::uint8_t> into) override;
  bool read_all(std::span<std::uint8_t> into) override;
  bool has_buffered() const override { return has_buffered_.load(std::memory_order_acquire); }
  bool write(std::span<const iovec> pieces) override;
  int fd() const override { return socket_.fd(); }
  void shut() override { shutdown(socket_.fd(), SHUT_RDWR); }

 private:
  enum class Got { bytes, nothing, ended };
  std::size_t take_plain(std::span<std::uint8_t> into);
  Got open_next(std::span<std::uint8_t>& into);
  bool take_other(RecordType type, View content);
  Got receive(std::size_t coming, int flags);
  void note_buffered();

  bool seal(RecordType type, View content);
  bool send_out();

  Error unproven(const std::string& reason) const;
  void take_secret(std::string_view line);
  static BIO_METHOD* bio_method();
  static int bio_read(BIO* bio, char* into, int size);
  static int bio_write(BIO* bio, const char* from, int size);
  static SSL_SESSION* make_session(SSL* ssl);
  static int use_session(SSL* ssl, const EVP_MD* digest, const unsigned char** id, std::size_t* id_size,
                         SSL_SESSION** session);
  static int find_session(SSL* ssl, const unsigned char* id, std::size_t id_size, SSL_SESSION** session);
  static TlsChannel* of(const SSL* ssl) { return static_cast<TlsChannel*>(SSL_get_app_data(ssl)); }

  Socket socket_;
  const TlsIdentity identity_;
  const bool is_server_;
  const std::uint64_t rekey_after_;
  Context context_;  ///< and the next: until the handshake is over
  Ssl ssl_;
  std::optional<Digest> secrets_[2];  ///< the client's and the server's, until the handshake is over

  // ---- the reading thread's
  std::optional<RecordKeys> opening_;
  Memory in_{kRoom};  ///< records as they came
  std::size_t in_begin_ = 0, in_end_ = 0;
  Memory plain_{kMostContent + 256};  ///< content of a record of which not all was asked for
  std::size_t plain_begin_ = 0, plain_end_ = 0;
  int idle_ = 0;
  bool is_broken_ = false;
  std::atomic<bool> has_buffered_{false};

  // ---- the writing thread's
  std::optional<RecordKeys> sealing_;
  Memory out_{kRecordsAtOnce * kFullRecord};
  std::size_t out_end_ = 0;
  std::atomic<bool> is_update_wanted_{false};  ///< the other side asks for new keys of what we send
};

TlsChannel::TlsChannel(Socket socket, const TlsIdentity& identity, bool is_server, View read, std::uint64_t rekey_after)
    : socket_(std::move(socket)),
      identity_(identity),
      is_server_(is_server),
      rekey_after_(rekey_after),
      context_(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method())),
      in_end_(std::min(read.size(), kRoom)) {
  std::copy_n(read.begin(), in_end_, in_.data());
  tune(socket_.fd());
  auto* context = context_.get();
  if (context == nullptr) throw Error(Error::Kind::gone, "TLS: " + openssl_reason());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
  // No tickets and no early data: every connection proves the key anew, and nothing of it can be played again.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_max_early_data(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_read_ahead(context, 0);  // no byte behind the handshake is OpenSSL's
  SSL_CTX_set_keylog_callback(context, [](const SSL* ssl, const char* line) { of(ssl)->take_secret(line); });
  // A certificate proves nothing here: whoever shows one, made by whomever, ends the handshake with it.
  SSL_CTX_set_cert_verify_callback(context, [](X509_STORE_CTX*, void*) { return 0; }, nullptr);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  if (is_server) {
    static constexpr unsigned char kContext[] =
        "flexrack";  // OpenSSL wants a name where a peer is verified and sessions are taken up
    SSL_CTX_set_session_id_context(context, kContext, sizeof kContext);
    SSL_CTX_set_psk_find_session_callback(context, find_session);
  } else {
    SSL_CTX_set_psk_use_session_callback(context, use_session);
  }
  ssl_.reset(SSL_new(context));
  auto* bio = BIO_new(bio_method());
  if (!ssl_ || bio == nullptr) throw Error(Error::Kind::gone, "TLS: " + openssl_reason());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  if (is_server) SSL_set_accept_state(ssl_.get());
  else SSL_set_connect_state(ssl_.get());
}

TlsChannel::~TlsChannel() {
  for (auto& secret : secrets_)
    if (secret) OPENSSL_cleanse(secret->data(), secret->size());
}

Error TlsChannel::unproven(const std::string& reason) const {
  if (is_server_) return {Error::Kind::untrusted, "the client has not proved the lease's key (" + reason + ")"};
  return {Error::Kind::untrusted, std::string(kUnprovenServer) + " (" + reason + ")"};
}

void TlsChannel::handshake(Clock::time_point end) {
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    const int error = SSL_get_error(ssl_.get(), result);
    const auto reason = result == 1 || error == SSL_ERROR_WANT_READ ? std::string() : openssl_reason();
    // The other end may finish without having used the key: nothing is said to it, not even that we have finished too.
    if (result == 1 && SSL_session_reused(ssl_.get()) != 1) throw unproven("it did not use it");
    if (!send_out() && reason.empty()) throw Error(Error::Kind::gone, "the connection ended during the handshake");
    if (result == 1) break;
    if (!reason.empty()) throw unproven(reason);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd one{socket_.fd(), POLLIN, 0};
    if (left <= 0 || poll(&one, 1, static_cast<int>(left)) == 0)
      throw Error(Error::Kind::unreachable, "no handshake in time");
    const auto got = recv(socket_.fd(), in_.data(), in_.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      throw Error(Error::Kind::gone, "the connection ended during the handshake");
    in_begin_ = 0;
    in_end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  if (!secrets_[0] || !secrets_[1]) throw Error(Error::Kind::gone, "TLS: no secrets of its records");
  opening_.emplace(*secrets_[is_server_ ? 0 : 1], false);
  sealing_.emplace(*secrets_[is_server_ ? 1 : 0], true);
  for (auto& secret : secrets_) {
    OPENSSL_cleanse(secret->data(), secret->size());
    secret.reset();
  }
  ssl_.reset();
  context_.reset();
  note_buffered();
}

/// A line of OpenSSL's key log, which never leaves this process: the name of a secret, a random number, the secret.
void TlsChannel::take_secret(std::string_view line) {
  constexpr std::string_view kNames[] = {"CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "};
  for (int which = 0; which < 2; ++which) {
    if (!line.starts_with(kNames[which])) continue;
    const auto hex = line.substr(line.rfind(' ') + 1);
    auto& secret = secrets_[which].emplace();
    if (hex.size() != 2 * secret.size()) return secrets_[which].reset();
    const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
    for (std::size_t i = 0; i < secret.size(); ++i)
      secret[i] = static_cast<std::uint8_t>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  }
}

/// What is left of a record.
std::size_t TlsChannel::take_plain(std::span<std::uint8_t> into) {
  const auto count = std::min(into.size(), plain_end_ - plain_begin_);
  if (count > 0) std::memcpy(into.data(), plain_.data() + plain_begin_, count);
  plain_begin_ += count;
  return count;
}

/// Opens the next record where all of it is there, into its place where that has room for all of it.
TlsChannel::Got TlsChannel::open_next(std::span<std::uint8_t>& into) {
  const auto buffered = in_.part(in_begin_, in_end_);
  if (buffered.size() < kRecordHead) return Got::nothing;
  if (!is_record(buffered)) return Got::ended;
  const auto size = record_size(buffered);
  if (buffered.size() < size) return Got::nothing;
  const bool is_direct = size - kRecordExtra <= into.size();
  const auto opened = opening_->open(buffered.first(size), is_direct ? into.data() : plain_.data());
  in_begin_ += size;
  if (!opened || (idle_ = opened->size > 0 && opened->type == RecordType::data ? 0 : idle_ + 1) > kMostIdle)
    return Got::ended;
  if (opened->type != RecordType::data)
    return take_other(opened->type, View(is_direct ? into.data() : plain_.data(), opened->size)) ? Got::bytes
                                                                                                 : Got::ended;
  if (is_direct) {
    into = into.subspan(opened->size);
  } else {
    plain_begin_ = 0;
    plain_end_ = opened->size;
    into = into.subspan(take_plain(into));
  }
  return Got::bytes;
}

/// What is no data: new keys are taken, everything else (an alert says that the connection is over) ends it.
bool TlsChannel::take_other(RecordType type, View content) {
  if (type != RecordType::handshake || content.size() != sizeof kKeyUpdate || content.back() > 1 ||
      !std::equal(content.begin(), content.end() - 1, std::begin(kKeyUpdate)))
    return false;
  if (content.back() == 1) is_update_wanted_ = true;
  opening_->advance();
  return true;
}

/// Reads from the socket, up to where a record ends if it can: what lies behind would have to be moved. `coming`: so
/// many bytes of content will come for sure; 0 where nobody knows.
TlsChannel::Got TlsChannel::receive(std::size_t coming, int flags) {
  const auto have = in_end_ - in_begin_;
  const auto known = record_size(in_.part(in_begin_, in_end_));
  if (in_begin_ > 0) {
    std::memmove(in_.data(), in_.data() + in_begin_, have);
    in_begin_ = 0;
    in_end_ = have;
  }
  auto ask = in_.size() - have;
  if (coming > 0) {
    const auto least = coming + (coming + kMostContent - 1) / kMostContent * kRecordExtra;
    const auto end = known > 0 ? known : std::min(least, kFullRecord);
    ask = std::min(ask, std::max(end, std::min(least, end + (in_.size() - end) / kFullRecord * kFullRecord)) - have);
  }
  const auto got = recv(socket_.fd(), in_.data() + have, ask, flags);
  if (got > 0) return in_end_ += static_cast<std::size_t>(got), Got::bytes;
  if (got < 0 && errno == EINTR) return Got::bytes;
  return got < 0 && errno == EAGAIN ? Got::nothing : Got::ended;
}

/// Tells others whether there is something that poll() does not know of.
void TlsChannel::note_buffered() {
  const auto buffered = in_.part(in_begin_, in_end_);
  const auto size = record_size(buffered);
  has_buffered_.store(plain_begin_ < plain_end_ || (size > 0 && (size <= buffered.size() || !is_record(buffered))),
                      std::memory_order_release);
}

std::ptrdiff_t TlsChannel::read_some(std::span<std::uint8_t> into) {
  if (is_broken_) return kEnded;
  auto left = into.subspan(take_plain(into));
  auto got = Got::bytes;
  while (!left.empty() && got == Got::bytes) {
    got = open_next(left);
    if (got == Got::nothing && left.size() == into.size()) got = receive(0, MSG_DONTWAIT);
  }
  is_broken_ = got == Got::ended;
  note_buffered();
  const auto count = static_cast<std::ptrdiff_t>(into.size() - left.size());
  return count > 0 ? count : is_broken_ ? kEnded : kNothing;
}

bool TlsChannel::read_all(std::span<std::uint8_t> into) {
  into = into.subspan(take_plain(into));
  while (!into.empty() && !is_broken_) {
    auto got = open_next(into);
    if (got == Got::nothing) got = receive(into.size(), MSG_WAITALL);
    is_broken_ = got == Got::ended || (got == Got::nothing && !keep_waiting());
  }
  note_buffered();
  return into.empty();
}

bool TlsChannel::write(std::span<const iovec> pieces) {
  for (const auto& piece : pieces) {
    View left(static_cast<const std::uint8_t*>(piece.iov_base), piece.iov_len);
    while (!left.empty()) {
      const auto now = std::min(left.size(), kMostContent);
      if (!seal(RecordType::data, left.first(now))) return false;
      left = left.subspan(now);
    }
  }
  return send_out();
}

/// Puts a record behind those that wait to be sent; sends them first where there is no room for one.
bool TlsChannel::seal(RecordType type, View content) {
  if (type == RecordType::data && (is_update_wanted_ || sealing_->records() >= rekey_after_)) {
    is_update_wanted_ = false;
    if (!seal(RecordType::handshake, kKeyUpdate)) return false;
    sealing_->advance();
  }
  if (out_.size() - out_end_ < content.size() + kRecordExtra && !send_out()) return false;
  if (!sealing_->seal(type, content, out_.data() + out_end_)) return false;
  out_end_ += content.size() + kRecordExtra;
  return true;
}

/// By the writing thread only, so records go out in order.
bool TlsChannel::send_out() {
  auto left = out_.part(0, out_end_);
  out_end_ = 0;
  while (!left.empty()) {
    const auto sent = send(socket_.fd(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent >= 0) left = left.subspan(static_cast<std::size_t>(sent));
    else if (errno != EINTR && !(errno == EAGAIN && keep_waiting())) return false;
  }
  return true;
}

BIO_METHOD* TlsChannel::bio_method() {
  static BIO_METHOD* const method = [] {
    auto* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "flexrack");
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) -> long { return command == BIO_CTRL_FLUSH ? 1 : 0; });
    return made;
  }();
  return method;
}

int TlsChannel::bio_read(BIO* bio, char* into, int size) {
  auto& self = *static_cast<TlsChannel*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const auto count = std::min(static_cast<std::size_t>(size), self.in_end_ - self.in_begin_);
  if (count == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  std::memcpy(into, self.in_.data() + self.in_begin_, count);
  self.in_begin_ += count;
  return static_cast<int>(count);
}

int TlsChannel::bio_write(BIO* bio, const char* from, int size) {
  auto& self = *static_cast<TlsChannel*>(BIO_get_data(bio));
  const auto count = std::min(static_cast<std::size_t>(size), self.out_.size() - self.out_end_);
  if (count == 0) return -1;  // no handshake is that long
  std::memcpy(self.out_.data() + self.out_end_, from, count);
  self.out_end_ += count;
  return static_cast<int>(count);
}

/// The key as a session of TLS 1.3, which is how OpenSSL takes external keys.
SSL_SESSION* TlsChannel::make_session(SSL* ssl) {
  static constexpr unsigned char kAes128GcmSha256[2] = {0x13, 0x01};
  const auto* cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256);
  auto* session = SSL_SESSION_new();
  const auto& key = of(ssl)->identity_.key;
  if (session != nullptr && cipher != nullptr && SSL_SESSION_set1_master_key(session, key.data(), key.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return nullptr;
}

int TlsChannel::use_session(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* id_size,
                            SSL_SESSION** session) {
  const auto& name = of(ssl)->identity_.name;
  *id = reinterpret_cast<const unsigned char*>(name.data());
  *id_size = name.size();
  *session = make_session(ssl);
  return *session != nullptr ? 1 : 0;
}

int TlsChannel::find_session(SSL* ssl, const unsigned char* id, std::size_t id_size, SSL_SESSION** session) {
  const auto& name = of(ssl)->identity_.name;
  *session = nullptr;  // another name: no key is shared, and without a certificate the handshake ends there
  if (id_size == name.size() && std::memcmp(id, name.data(), id_size) == 0) *session = make_session(ssl);
  return 1;
}

}  // namespace

std::unique_ptr<Channel> make_tls_channel(Socket socket, const TlsIdentity& identity, bool is_server,
                                          std::chrono::milliseconds deadline, View read, std::uint64_t rekey_after) {
  auto channel = std::make_unique<TlsChannel>(std::move(socket), identity, is_server, read, rekey_after);
  channel->handshake(Clock::now() + deadline);
  return channel;
}

}  // namespace flexrack::wire
