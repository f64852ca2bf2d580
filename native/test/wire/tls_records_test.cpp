// Records of TLS 1.3 that are ours: against a recorded connection of others, and against OpenSSL's own.
#include <doctest/doctest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "test/wire/rig.h"
#include "wire/tls_channel.h"
#include "wire/tls_records.h"

using namespace flexrack::test;

namespace {

constexpr std::chrono::seconds kPatience{60};

Digest some_secret() {
  Digest secret;
  secret.fill(7);
  return secret;
}

TlsIdentity some_identity() { return {"some name", some_secret()}; }

Bytes some_bytes(std::size_t size) {
  Bytes bytes(size);
  std::uint32_t state = 1;
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

std::pair<Socket, Socket> make_pair_of_sockets() {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {Socket(ends[0]), Socket(ends[1])};
}

struct TlsEnds {
  std::unique_ptr<Channel> client, server;
};

/// Both of ours, with something between them where `between` has it: the ends of two pairs of sockets.
TlsEnds make_ends(Socket client, Socket server, std::uint64_t rekey_after = kRekeyAfter) {
  TlsEnds ends;
  std::thread other(
      [&] { ends.client = make_tls_channel(std::move(client), some_identity(), false, kPatience, {}, rekey_after); });
  ends.server = make_tls_channel(std::move(server), some_identity(), true, kPatience, {}, rekey_after);
  other.join();
  return ends;
}

/// OpenSSL as the other end, with records of its own.
class Stock {
 public:
  explicit Stock(int fd) : context_(SSL_CTX_new(TLS_client_method())), ssl_(nullptr) {
    // OpenSSL writes to a connection that has ended as to any other; the signal goes to the thread that does.
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, nullptr);
    SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context_, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_psk_use_session_callback(context_, use_key);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, fd);
  }
  Stock(const Stock&) = delete;
  ~Stock() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  SSL* get() const { return ssl_; }
  static std::string why() {
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    return text.data();
  }
  bool connect() const { return SSL_connect(ssl_) == 1; }
  bool put(View bytes) const { return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0; }
  Bytes get_bytes(std::size_t size) const {
    Bytes bytes(size);
    for (std::size_t at = 0; at < size;) {
      const int got = SSL_read(ssl_, bytes.data() + at, static_cast<int>(size - at));
      if (got <= 0) return {};
      at += static_cast<std::size_t>(got);
    }
    return bytes;
  }

 private:
  static int use_key(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* id_size, SSL_SESSION** session) {
    static constexpr unsigned char kSuite[2] = {0x13, 0x01};
    static const auto identity = some_identity();
    *session = SSL_SESSION_new();
    SSL_SESSION_set1_master_key(*session, identity.key.data(), identity.key.size());
    SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, kSuite));
    SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION);
    *id = reinterpret_cast<const unsigned char*>(identity.name.data());
    *id_size = identity.name.size();
    return 1;
  }
  SSL_CTX* context_;
  SSL* ssl_;
};

}  // namespace

TEST_CASE("a record is the one of RFC 8448, section 3, byte for byte, and what was changed is no record") {
  const auto bytes = from_hex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5");
  Digest secret;
  std::copy(bytes.begin(), bytes.end(), secret.begin());
  Bytes content(50);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::uint8_t>(i);
  Bytes record(content.size() + kRecordExtra);
  RecordKeys sealing(secret, true);
  REQUIRE(sealing.seal(RecordType::data, content, record.data()));
  CHECK(record ==
        from_hex("1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b"
                 "62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4"));
  Bytes into(content.size(), 9);
  for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
    auto changed = record;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    RecordKeys opening(secret, false);
    std::fill(into.begin(), into.end(), 9);
    CHECK(!opening.open(changed, into.data()));
    // Nothing of what somebody else has chosen is left where it would have gone.
    CHECK((into == Bytes(into.size(), 0) || into == Bytes(into.size(), 9)));
  }
  RecordKeys opening(secret, false);
  const auto opened = opening.open(record, into.data());
  REQUIRE(opened);
  CHECK((opened->type == RecordType::data && opened->size == content.size() && into == content));
  CHECK(!opening.open(record, into.data()));  // the same a second time
}

TEST_CASE("OpenSSL reads our records and we read its, of every size, padded, and with new keys in between") {
  auto [near, far] = make_pair_of_sockets();
  const auto sent = some_bytes(300'000);
  std::thread other([&, end = std::move(far)] {
    const Stock stock(end.fd());
    REQUIRE(stock.connect());
    // Ever smaller, or OpenSSL's own buffer is too small.
    for (const auto size : {16384, 5000, 512}) {
      SSL_set_max_send_fragment(stock.get(), size);
      for (const auto padding : {0, 64, 256}) {
        SSL_set_block_padding(stock.get(), static_cast<std::size_t>(padding));
        CHECK_MESSAGE(stock.put(sent), stock.why());
        CHECK(SSL_key_update(stock.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
        CHECK(stock.put(View(sent).first(7)));
        CHECK(stock.get_bytes(sent.size()) == sent);
      }
    }
  });
  const auto server = make_tls_channel(std::move(near), some_identity(), true, kPatience, {}, 5);
  Bytes into(sent.size() + 7);
  for (int round = 0; round < 9; ++round) {
    CAPTURE(round);
    REQUIRE(server->read_all(std::span(into).first(40)));
    REQUIRE(server->read_all(std::span(into).subspan(40, 20'000)));
    // Frames are read as they come, into whatever room there is.
    for (std::size_t at = 20'040, room = 1; at < into.size(); room = room * 3 % 40'961) {
      const auto got = server->read_some(std::span(into).subspan(at, std::min(room, into.size() - at)));
      REQUIRE(got != Channel::kEnded);
      at += static_cast<std::size_t>(got);
    }
    CHECK(std::equal(sent.begin(), sent.end(), into.begin()));
    CHECK(std::equal(sent.begin(), sent.begin() + 7, into.end() - 7));
    CHECK(!server->has_buffered());
    const iovec pieces[] = {{into.data(), 40}, {into.data() + 40, 0}, {into.data() + 40, sent.size() - 40}};
    REQUIRE(server->write(pieces));
  }
  other.join();
}

TEST_CASE("both ends change their keys as often as they are told, while both send") {
  auto [client, server] = make_pair_of_sockets();
  const auto ends = make_ends(std::move(client), std::move(server), 3);
  const auto sent = some_bytes(1'000'000);
  const auto talk = [&](Channel& channel) {
    std::thread writer([&] {
      for (std::size_t at = 0; at < sent.size(); at += 10'000)
        CHECK(write_all(channel, View(sent).subspan(at, 10'000)));
    });
    Bytes into(sent.size());
    CHECK(channel.read_all(into));
    CHECK(into == sent);
    writer.join();
  };
  std::thread other([&] { talk(*ends.client); });
  talk(*ends.server);
  other.join();
}

TEST_CASE("a record that was changed, repeated, left out or is no data ends the connection, and never the process") {
  enum class Meddling { none, changed, repeated, left_out, too_long, alert, in_the_clear, empty_for_ever };
  for (const auto how : {Meddling::none, Meddling::changed, Meddling::repeated, Meddling::left_out, Meddling::too_long,
                         Meddling::alert, Meddling::in_the_clear}) {
    CAPTURE(static_cast<int>(how));
    // What somebody between the two can do, who cannot read a record.
    auto [near, far] = make_pair_of_sockets();
    auto [client_end, relay_end] = make_pair_of_sockets();
    TlsEnds ends;
    std::thread client([&, end = std::move(client_end)]() mutable {
      ends.client = make_tls_channel(std::move(end), some_identity(), false, kPatience);
    });
    std::thread relay([&, from = relay_end.fd(), to = far.fd()] {
      std::thread back([&] {
        std::array<std::uint8_t, 4096> some;
        for (ssize_t got; (got = recv(to, some.data(), some.size(), 0)) > 0;)
          write_within(from, {some.data(), static_cast<std::size_t>(got)}, kPatience);
      });
      Bytes last;
      int data = 0;
      for (Bytes record(kRecordHead); recv(from, record.data(), kRecordHead, MSG_WAITALL) == kRecordHead;) {
        record.resize(record_size(record));
        recv(from, record.data() + kRecordHead, record.size() - kRecordHead, MSG_WAITALL);
        // The first encrypted one is the end of the handshake, the second the first of data.
        if (record[0] == 23 && ++data == 3) {
          if (how == Meddling::changed) record[record.size() / 2] ^= 1;
          if (how == Meddling::repeated) record = last;
          if (how == Meddling::left_out) record.clear();
          if (how == Meddling::too_long) record = {23, 3, 3, 0x41, 0x02};
          if (how == Meddling::alert) record = {21, 3, 3, 0, 2, 1, 0};
          if (how == Meddling::in_the_clear) record[0] = 22;
        }
        last = record;
        write_within(to, record, kPatience);
        record.assign(kRecordHead, 0);
      }
      shutdown(to, SHUT_RDWR);
      back.join();
    });
    ends.server = make_tls_channel(std::move(near), some_identity(), true, kPatience);
    client.join();
    Bytes said(1000, 5), into(3000, 9);
    for (int i = 0; i < 3; ++i) CHECK(write_all(*ends.client, said));
    CHECK(ends.server->read_all(std::span(into).first(1000)));
    CHECK(std::equal(said.begin(), said.end(), into.begin()));
    const bool is_harmless = how == Meddling::none;
    if (!is_harmless) ends.client->shut();
    CHECK(ends.server->read_all(std::span(into).subspan(1000)) == is_harmless);
    if (!is_harmless) {
      CHECK(ends.server->read_some(into) == Channel::kEnded);
      CHECK(std::all_of(into.begin() + 1000, into.end(), [](auto byte) { return byte == 0 || byte == 9; }));
    }
    ends.client->shut();
    relay.join();
  }
}

TEST_CASE("a peer that only changes its keys, or is quiet in the middle of a record, is not waited for without end") {
  auto [near, far] = make_pair_of_sockets();
  std::thread other([&, end = std::move(far)] {
    const Stock stock(end.fd());
    REQUIRE(stock.connect());
    for (int i = 0; i < 100; ++i)
      if (SSL_key_update(stock.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1 || SSL_do_handshake(stock.get()) != 1) break;
    std::uint8_t byte;
    recv(end.fd(), &byte, 1, 0);
  });
  const auto server = make_tls_channel(std::move(near), some_identity(), true, kPatience);
  std::uint8_t byte;
  CHECK(!server->read_all({&byte, 1}));
  server->shut();
  other.join();

  auto [client_end, server_end] = make_pair_of_sockets();
  const int raw = dup(client_end.fd());
  const auto ends = make_ends(std::move(client_end), std::move(server_end));
  const std::uint8_t half[] = {23, 3, 3, 1, 0, 9, 9};
  CHECK(write_within(raw, half, kPatience));
  close(raw);
  CHECK(ends.server->read_some({&byte, 1}) == Channel::kNothing);
  CHECK(!ends.server->has_buffered());  // or whoever waits for more would never sleep
  ends.server->keep_waiting = [] { return false; };
  CHECK(!ends.server->read_all({&byte, 1}));
}
