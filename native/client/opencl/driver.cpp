#include "client/opencl/driver.h"

#include <atomic>

#include "client/opencl/describe.h"
#include "client/opencl/inbox.h"
#include "client/servers.h"
#include "gen/opencl/revision.h"

namespace flexrack::client::opencl {
namespace {

class OpenclServer final : public Server {
 public:
  client::Notices& notices() override { return inbox; }
  std::optional<std::size_t> describe(Session& with) override {
    description = {};
    if (!describe_server(with, description)) return std::nullopt;
    return description.devices.size();
  }
  Inbox inbox;
  ServerDescription description;
};

Servers& servers() {
  static auto& all = *new Servers(cl::kApi, [] { return std::make_unique<OpenclServer>(); });
  return all;
}

std::atomic<cl_platform_id> opened{nullptr};

bool make_platform(const std::vector<std::unique_ptr<Server>>& all) {
  auto made = std::make_unique<_cl_platform_id>();
  std::vector<const ServerDescription*> descriptions;
  for (const auto& one : all) {
    if (!one->session) continue;
    auto& server = static_cast<OpenclServer&>(*one);
    descriptions.push_back(&server.description);
    add_devices(*made, server.description, *server.session, server.inbox);
  }
  if (made->devices.empty()) return false;
  describe_platform(*made, descriptions);
  opened.store(made.release());
  return true;
}

}  // namespace

cl_platform_id platform() {
  if (is_child()) return nullptr;
  servers().open(make_platform);
  return opened.load();
}

bool may_call_back() { return !is_ending(); }

}  // namespace flexrack::client::opencl
