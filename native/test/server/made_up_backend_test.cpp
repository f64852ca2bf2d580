// Two devices that count what is charged and do nothing: what stands behind the workers of these tests instead of a
// driver.
#include "made_up_backend.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "backend/backend.h"
#include "gen/opencl/revision.h"
#include "wire/codec.h"

namespace flexrack::test {
namespace {

class MadeUp : public backend::Backend {
 public:
  explicit MadeUp(backend::Grant& grant) : grant_(grant) {}

  wire::Api api() const override { return cl::kApi; }
  void start(wire::Link& link, backend::Peers&) override { link_ = &link; }

  void stop() override {
    if (hangs_) {
      for (;;) pause();
    }
  }

  void on_frame(const wire::Header& header, wire::View body) override {
    wire::Reader reader(body);
    const auto bytes = reader.get<std::uint64_t>();
    std::uint32_t granted = 1;
    if (header.op == kCharge) granted = grant_.charge(0, bytes) ? 1 : 0;
    if (header.op == kRefund) grant_.refund(0, bytes);
    if (header.op == kCrash) raise(SIGKILL);
    if (header.op == kHangAtEnd) hangs_ = true;
    link_->send(header.op, wire::kReply, [&](wire::Bytes& out) {
      wire::Writer writer(out);
      writer.put(header.sequence);
      writer.put(granted);
    });
    link_->flush();
  }

  void on_over(std::string_view) override {}

 private:
  backend::Grant& grant_;
  wire::Link* link_ = nullptr;
  std::atomic<bool> hangs_ = false;
};

}  // namespace
}  // namespace flexrack::test

namespace flexrack::backend {

std::vector<DeviceReport> list_opencl_devices() {
  return {{"0:0", "made up", "nobody", "1", "opencl", test::kDeviceMemory, 8},
          {"0:1", "made up", "nobody", "1", "opencl", test::kDeviceMemory, 8}};
}

std::unique_ptr<Backend> make_opencl_backend(Grant& grant) { return std::make_unique<test::MadeUp>(grant); }

}  // namespace flexrack::backend
