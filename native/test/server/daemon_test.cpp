#include "daemon.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "gen/opencl/revision.h"
#include "wire/codec.h"
#include "wire/preamble.h"

namespace flexrack::test {
namespace {

std::string make_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "gpud-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no folder for a test");
  return path;
}

}  // namespace

bool eventually(const std::function<bool()>& is_true, int seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Daemon::Daemon(std::vector<std::string> options) : root(make_folder()), options_(std::move(options)) { start_broker(); }

Daemon::~Daemon() {
  try {
    if (pid_ < 0) start_broker();
    ask(wire::Json::Members{{"op", "stop"}});
    wait_broker();
  } catch (const std::exception&) { kill_broker(SIGKILL); }
  std::filesystem::remove_all(root);
}

void Daemon::start_broker() {
  std::filesystem::remove(root + "/address.json");
  std::vector<std::string> words{"flexrack-gpud", "broker", "--root", root};
  words.insert(words.end(), options_.begin(), options_.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  if (!eventually([&] { return std::filesystem::exists(root + "/address.json"); }))
    throw std::runtime_error("no broker: " + file("log"));
}

void Daemon::kill_broker(int signal) {
  if (pid_ <= 0) return;
  kill(pid_, signal);
  wait_broker();
}

int Daemon::wait_broker() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

wire::Json Daemon::ask(const wire::Json& request) const { return ask_text(request.write()); }

wire::Json Daemon::ask_text(const std::string& line) const {
  const int fd = connect_admin(address());
  const std::string text = line + "\n";
  send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  std::string answer;
  char byte = 0;
  while (recv(fd, &byte, 1, 0) == 1 && byte != '\n') answer += byte;
  close(fd);
  const auto parsed = wire::Json::parse(answer);
  if (!parsed) throw std::runtime_error("no answer: " + answer);
  return *parsed;
}

wire::Json Daemon::address() const { return wire::Json::parse(file("address.json")).value_or(wire::Json()); }

std::string Daemon::file(const std::string& name) const {
  std::stringstream text;
  text << std::ifstream(root + "/" + name).rdbuf();
  return text.str();
}

wire::Dial dial_of(const wire::Json& lease, const std::string& transport) {
  const auto& about = lease["ok"];
  wire::Dial to;
  to.address = about["server"]["address"].text();
  to.port = static_cast<std::uint16_t>(about["server"]["port"].integer());
  to.unix_path = about["server"]["unix"].text();
  to.transport = transport;
  to.lease = about["lease"].text();
  to.key = wire::from_hex(about["key"].text());
  return to;
}

Client::Client(const wire::Dial& to) : link_(wire::dial(to, cl::kApi, *this)) {}

Client::~Client() { link_->close(); }

int Client::ask(std::uint16_t op, std::uint64_t bytes) {
  const auto sequence = link_->send(op, 0, [&](wire::Bytes& out) { wire::Writer(out).put(bytes); });
  if (sequence == 0 || !link_->wait([&] { return answered_ >= sequence; })) return -1;
  return answer_;
}

void Client::on_frame(const wire::Header&, wire::View body) {
  wire::Reader reader(body);
  answered_ = reader.get<std::uint64_t>();
  answer_ = static_cast<int>(reader.get<std::uint32_t>());
}

void Client::on_over(std::string_view) {}

int connect_raw(const wire::Json& address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(address["port"].integer()));
  inet_pton(AF_INET, address["address"].text().c_str(), &to.sin_addr);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
  close(fd);
  return -1;
}

int connect_admin(const wire::Json& address) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::strncpy(to.sun_path, address["admin"].text().c_str(), sizeof to.sun_path - 1);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) throw std::runtime_error("no admin socket");
  return fd;
}

}  // namespace flexrack::test
