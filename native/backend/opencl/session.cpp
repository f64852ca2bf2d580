// The life of a session: starting, taking messages, ending.
#include "backend/opencl/session.h"

#include "backend/take_frame.h"

namespace flexrack::backend::opencl {
namespace {
/// How long an end waits for what runs on the device: OpenCL cannot stop a kernel, the end of the process does.
constexpr auto kSettleWithin = std::chrono::seconds(2);
}  // namespace

Session::~Session() { stop(); }

void Session::start(wire::Link& link, Peers& peers) {
  engine_ = std::make_unique<Engine>(link, peers, grant_);
  engine_->printing = std::make_unique<Printing>([&notices = engine_->notices](wire::View text) {
    notices.send(cl::Printed{.text = text});
    notices.flush();
  });
}

void Session::on_frame(const wire::Header& header, wire::View body) {
  const std::lock_guard guard(lock_);
  if (is_broken_ || !engine_) return;
  is_broken_ = !take_frame<cl::CreateContextReply>(
      engine_->link, header, engine_->peers, [&] { return cl::dispatch(*this, engine_->link, header, body); },
      [&] { engine_->notices.send(cl::Failed{.event = 0, .op = header.op, .status = CL_OUT_OF_HOST_MEMORY}); });
}

void Session::on_over(std::string_view) {}

void Session::stop() {
  if (!engine_) return;
  engine_->builder.close();
  engine_->peers.end();
  outstanding_->end_all();
  engine_->watcher.look();
  std::vector<Ref<Record>> all;
  {
    const std::lock_guard guard(lock_);
    svm_.clear();
    all = table_.take_all();
  }
  // Shared memory is freed at once by the driver, so it goes only after what may use it.
  std::vector<Ref<Record>> shared;
  for (auto& record : all)
    if (record && record->kind == Kind::svm) shared.push_back(std::move(record));
  for (auto& record : all) {
    if (auto* queue = record && record->kind == Kind::queue ? static_cast<QueueRecord*>(record.get()) : nullptr)
      native().clFlush(queue->native);
  }
  const bool is_settled = engine_->watcher.settle(kSettleWithin);
  all.clear();
  if (is_settled) shared.clear();
  else
    for (auto& record : shared) record.give_up();
  engine_->printing.reset();
  engine_->leave();
  // Callbacks of what still runs hold pointers into it; the process is about to end.
  if (is_settled) engine_.reset();
  else static_cast<void>(engine_.release());
}

}  // namespace flexrack::backend::opencl
