// The end of a session that does not wait for everything.
#include <atomic>

#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

TEST_CASE("what is still waited for when a session ends comes when it comes, and harms nothing") {
  // As in a worker, whose threads use all of it until the process is gone.
  auto& client = *new CudaClient;
  const auto context = client.context(false), word = client.memory(context, 8);
  const auto stream = client.stream(context), event = client.mint();
  client.send(cu::Fill{.context = context, .address = word, .width = 2, .height = 1, .element = 4});
  CHECK(client.wait(context) == CUDA_SUCCESS);
  client.send(cu::CreateEvent{.context = context, .event = event});
  client.send(cu::StreamWaitValue32{.context = context, .stream = stream, .addr = word, .value = 1});
  client.send(cu::EventRecord{.context = context, .event = event, .stream = stream});
  client.send(cu::WatchEvent{.event = event, .number = 1});
  client.link.lose();
  client.backend->on_over("the test is over");
  client.backend->stop();
  // The memory of a device in software is this process's.
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(word)).store(1);
  CHECK(client.link.is_reached(event));
}
