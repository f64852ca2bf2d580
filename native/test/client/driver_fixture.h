// A context over two fake servers with a queue at each, made without any call that waits.
#pragma once

#include <memory>

#include "client/fake_server.h"
#include "client/opencl/event.h"
#include "client/opencl/inbox.h"

namespace flexrack::test {

struct FakePlace {
  client::opencl::Inbox inbox;
  Fake fake{inbox};
  FakeLink& link() { return *fake.link; }
};

struct Desk {
  FakePlace places[2];
  cl_context context = new _cl_context;
  cl_command_queue queues[2];

  explicit Desk(cl_command_queue_properties properties = 0) {
    for (std::size_t i = 0; i < 2; ++i) {
      auto& session = *places[i].fake.session;
      context->places.push_back({&session, &places[i].inbox, session.mint(), {}});
      queues[i] = new _cl_command_queue;
      queues[i]->context = client::opencl::hold(context);
      queues[i]->place = i;
      queues[i]->handle = session.mint();
      queues[i]->properties = properties;
    }
  }
  ~Desk() {
    // The last callback's event goes on the callback thread.
    std::atomic<bool> is_idle{false};
    client::opencl::run_callback([&] { is_idle = true; });
    while (!is_idle) std::this_thread::yield();
    for (const auto queue : queues) client::opencl::clReleaseCommandQueue(queue);
    client::opencl::clReleaseContext(context);
    for (auto& place : places) place.link().stop();
  }
  FakeLink& link(std::size_t place = 0) { return places[place].link(); }

  /// A command as the enqueue functions make it, with its event.
  cl_event command(std::size_t at = 0, const std::vector<cl_event>& after = {}) {
    std::vector<std::uint64_t> waits;
    if (client::opencl::translate_waits(queues[at], static_cast<cl_uint>(after.size()),
                                        after.empty() ? nullptr : after.data(), waits) != 0)
      return nullptr;
    const auto event = client::opencl::new_event(queues[at], CL_COMMAND_NDRANGE_KERNEL);
    cl::Marker message;
    message.queue = queues[at]->handle;
    message.event = event->handle;
    message.waits = waits;
    queues[at]->session().send(message);
    return event;
  }
  /// A read whose payload has not landed.
  cl_event read(std::size_t at = 0, std::uint64_t ticket = 1) {
    const auto event = client::opencl::new_event(queues[at], CL_COMMAND_READ_BUFFER);
    event->landing = ticket;
    client::opencl::landing_begins(event);
    return event;
  }
};

}  // namespace flexrack::test
