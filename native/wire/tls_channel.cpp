// TLS 1.3 with an external pre-shared key over buffers of our own, so that the lock around OpenSSL is held for the
// arithmetic only: one thread may read from the socket while another writes to it.
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "wire/channel.h"
#include "wire/error.h"
#include "wire/tls_channel.h"

namespace flexrack::wire {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCipherRoom = 256 * 1024;  ///< read from the socket at once
constexpr std::size_t kWriteAtOnce = 128 * 1024;  ///< encrypted under one hold of the lock

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

class TlsChannel final : public Channel {
 public:
  TlsChannel(Socket socket, const TlsIdentity& identity, bool is_server, View read);
  void handshake(Clock::time_point end);

  std::ptrdiff_t read_some(std::span<std::uint8_t> into) override { return read_once(into, MSG_DONTWAIT); }
  bool read_all(std::span<std::uint8_t> into) override;
  bool has_buffered() const override;
  bool write(std::span<const iovec> pieces) override;
  int fd() const override { return socket_.fd(); }
  void shut() override { shutdown(socket_.fd(), SHUT_RDWR); }

 private:
  std::ptrdiff_t read_once(std::span<std::uint8_t> into, int flags);
  bool send_out();
  Error unproven(const std::string& reason) const;
  static BIO_METHOD* bio_method();
  static int bio_read(BIO* bio, char* into, int size);
  static int bio_write(BIO* bio, const char* from, int size);
  static SSL_SESSION* make_session(SSL* ssl);
  static int use_session(SSL* ssl, const EVP_MD* digest, const unsigned char** id, std::size_t* id_size,
                         SSL_SESSION** session);
  static int find_session(SSL* ssl, const unsigned char* id, std::size_t id_size, SSL_SESSION** session);
  static TlsChannel* of(SSL* ssl) { return static_cast<TlsChannel*>(SSL_get_app_data(ssl)); }

  Socket socket_;
  const TlsIdentity identity_;
  const bool is_server_;
  mutable std::mutex lock_;
  Context context_;
  Ssl ssl_;
  Bytes in_;  ///< the reading thread fills it, while it is empty for OpenSSL
  std::size_t in_begin_ = 0, in_end_ = 0;
  Bytes out_, sending_;
};

TlsChannel::TlsChannel(Socket socket, const TlsIdentity& identity, bool is_server, View read)
    : socket_(std::move(socket)),
      identity_(identity),
      is_server_(is_server),
      context_(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method())),
      in_(kCipherRoom),
      in_end_(std::min(read.size(), kCipherRoom)) {
  std::copy_n(read.begin(), in_end_, in_.begin());
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
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
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
    if (result == 1) return;
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
}

std::ptrdiff_t TlsChannel::read_once(std::span<std::uint8_t> into, int flags) {
  while (true) {
    {
      const std::lock_guard guard(lock_);
      std::size_t got = 0;
      while (got < into.size()) {
        ERR_clear_error();
        const int one = SSL_read(ssl_.get(), into.data() + got,
                                 static_cast<int>(std::min<std::size_t>(into.size() - got, 1 << 30)));
        if (one > 0) {
          got += static_cast<std::size_t>(one);
        } else if (SSL_get_error(ssl_.get(), one) == SSL_ERROR_WANT_READ) {
          break;
        } else {
          return got > 0 ? static_cast<std::ptrdiff_t>(got) : kEnded;
        }
      }
      if (got > 0) return static_cast<std::ptrdiff_t>(got);
    }
    const auto count = recv(socket_.fd(), in_.data(), in_.size(), flags);
    if (count == 0) return kEnded;
    if (count < 0) {
      if (errno == EAGAIN) return kNothing;
      if (errno == EINTR) continue;
      return kEnded;
    }
    const std::lock_guard guard(lock_);
    in_begin_ = 0;
    in_end_ = static_cast<std::size_t>(count);
  }
}

bool TlsChannel::read_all(std::span<std::uint8_t> into) {
  while (!into.empty()) {
    const auto got = read_once(into, 0);
    if (got > 0) into = into.subspan(static_cast<std::size_t>(got));
    else if (got == kEnded || !keep_waiting()) return false;
  }
  return true;
}

bool TlsChannel::has_buffered() const {
  const std::lock_guard guard(lock_);
  return SSL_has_pending(ssl_.get()) != 0 || in_begin_ < in_end_;
}

bool TlsChannel::write(std::span<const iovec> pieces) {
  for (const auto& piece : pieces) {
    const auto* data = static_cast<const std::uint8_t*>(piece.iov_base);
    std::size_t left = piece.iov_len;
    while (left > 0) {
      {
        const std::lock_guard guard(lock_);
        while (left > 0 && out_.size() < kWriteAtOnce) {
          ERR_clear_error();
          const int one = SSL_write(ssl_.get(), data, static_cast<int>(std::min<std::size_t>(left, kWriteAtOnce)));
          if (one <= 0) return false;
          data += one;
          left -= static_cast<std::size_t>(one);
        }
        if (left == 0 && &piece != &pieces.back() && out_.size() < kWriteAtOnce) break;
      }
      if (!send_out()) return false;
    }
  }
  return send_out();
}

/// Sends what OpenSSL has written. By the writing thread only, so records go out in order.
bool TlsChannel::send_out() {
  {
    const std::lock_guard guard(lock_);
    sending_.clear();
    std::swap(out_, sending_);
  }
  View left = sending_;
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
  BIO_clear_retry_flags(bio);
  const auto* bytes =
      reinterpret_cast<const std::uint8_t*>(from);  // of the vector's own type, or it is copied byte by byte
  self.out_.insert(self.out_.end(), bytes, bytes + size);
  return size;
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
                                          std::chrono::milliseconds deadline, View read) {
  auto channel = std::make_unique<TlsChannel>(std::move(socket), identity, is_server, read);
  channel->handshake(Clock::now() + deadline);
  return channel;
}

}  // namespace flexrack::wire
