// A server that is not the one: it has a certificate that it made itself, or another key, and takes whoever lets it.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstring>
#include <optional>

#include "gen/opencl/revision.h"
#include "test/wire/rig.h"
#include "wire/bytes_of.h"
#include "wire/handshake.h"
#include "wire/keeper_stream.h"
#include "wire/secrets.h"

namespace flexrack::test {

struct Disguise {
  bool has_certificate = false;
  std::optional<Bytes> key{};  ///< a lease's, that it takes for the right one; without, the client's is ignored
  int version = TLS1_3_VERSION;
};

/// Answers every connection as a daemon does, then does the handshake as OpenSSL would for anybody.
class Rogue {
 public:
  explicit Rogue(Disguise disguise)
      : disguise_(std::move(disguise)), acceptor_([this] {
          for (int fd; (fd = listener_.accept_one()) >= 0;) serve(Socket(fd));
        }) {}
  ~Rogue() {
    listener_.close();
    acceptor_.join();
  }
  std::uint16_t port() const { return listener_.port; }
  const std::string& path() const { return listener_.path; }

  std::atomic<int> connections = 0;   ///< that were answered
  std::atomic<std::size_t> reported =
      0;  ///< bytes that clients have said inside the handshake's protection, meant for the lease's server alone

  static Digest psk_of(View key, const Preamble& preamble) {
    static constexpr std::string_view kPurpose = "flexrack tls 1.3";
    return authenticate(key, {bytes_of_text(kPurpose), encode_preamble(preamble)});
  }

 private:
  void serve(const Socket& socket) try {
    preamble_ = read_preamble(socket.fd(), std::chrono::seconds(5));
    answer(socket.fd(), Turned::no);
    ++connections;
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX_set_min_proto_version(context.get(), disguise_.version);
    SSL_CTX_set_max_proto_version(context.get(), disguise_.version);
    if (disguise_.has_certificate) certify(context.get());
    if (disguise_.key) SSL_CTX_set_psk_find_session_callback(context.get(), find_session);
    const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_app_data(ssl.get(), this);
    SSL_set_fd(ssl.get(), socket.fd());
    if (SSL_accept(ssl.get()) != 1) return;
    // As a daemon would answer a holder, so that one that asks no further goes on.
    Bytes served(1, kKeeperAsk);
    const KeeperApi speaks(cl::kApi);
    served.insert(served.end(), reinterpret_cast<const std::uint8_t*>(&speaks),
                  reinterpret_cast<const std::uint8_t*>(&speaks + 1));
    std::uint8_t some[4096];
    for (int got; (got = SSL_read(ssl.get(), some, sizeof some)) > 0;) {
      reported += static_cast<std::size_t>(got);
      if (preamble_.kind != ConnectionKind::keeper) continue;
      if (some[0] == kKeeperAsk) SSL_write(ssl.get(), served.data(), static_cast<int>(served.size()));
      else SSL_write(ssl.get(), some, got);
    }
  } catch (const Error&) {}

  static void certify(SSL_CTX* context) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    auto* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1,
                               0);
    X509_set_issuer_name(certificate, name);
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }

  static int find_session(SSL* ssl, const unsigned char*, std::size_t, SSL_SESSION** session) {
    const auto& self = *static_cast<const Rogue*>(SSL_get_app_data(ssl));
    static constexpr unsigned char kAes128GcmSha256[2] = {0x13, 0x01};
    const auto psk = psk_of(*self.disguise_.key, self.preamble_);
    *session = SSL_SESSION_new();
    SSL_SESSION_set1_master_key(*session, psk.data(), psk.size());
    SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, kAes128GcmSha256));
    SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION);
    return 1;
  }

  const Disguise disguise_;
  Preamble preamble_;  ///< of the connection that is served
  Listener listener_;
  std::thread acceptor_;
};

}  // namespace flexrack::test
