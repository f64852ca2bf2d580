#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "client/driver_fixture.h"

using namespace flexrack;
using namespace flexrack::client::opencl;
using test::Desk;

namespace {

/// Lets the server complete each event as soon as it is watched.
void complete_when_watched(test::FakeLink& link, cl_int status = CL_COMPLETE) {
  link.on_sent = [&link, status](const test::Sent& sent) {
    cl::Watch message;
    if (sent.header.op != cl::Watch::kOp || !decode(sent.body, message)) return;
    for (const auto event : message.events) link.completed(event, status);
  };
}

cl_int info_status(cl_event event) {
  cl_int status = 99;
  CHECK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) == CL_SUCCESS);
  return status;
}

struct Reported {
  std::atomic<int> count{0};
  std::atomic<cl_int> status{99};
  static void CL_CALLBACK tell(cl_event, cl_int status, void* data) {
    auto& reported = *static_cast<Reported*>(data);
    reported.status = status;
    ++reported.count;
  }
  void wait_for(int wanted) const {
    while (count < wanted) std::this_thread::yield();
  }
};

}  // namespace

TEST_CASE("finishing is one marker that is watched, and nothing stays behind") {
  Desk desk;
  complete_when_watched(desk.link());
  CHECK(clFinish(desk.queues[0]) == CL_SUCCESS);
  desk.link().deliver();  // whoever handed the notice out may still hold the event
  CHECK(desk.link().sent<cl::Marker>().size() == 1);
  CHECK(desk.link().sent<cl::Watch>().size() == 1);
  CHECK(desk.link().sent<cl::Release>().size() == 1);
  CHECK(references(desk.queues[0]) == 1);
}

TEST_CASE("waiting for several events asks for all of them before the first has come") {
  Desk desk;
  const cl_event events[] = {desk.command(), desk.command(), desk.command()};
  desk.link().on_sent = [&](const test::Sent& sent) {
    if (sent.header.op != cl::Watch::kOp || desk.link().sent<cl::Watch>().size() != 3) return;
    for (int i = 2; i >= 0; --i) desk.link().completed(events[i]->handle, i == 1 ? -5 : 0);
  };
  CHECK(clWaitForEvents(3, events) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  CHECK(info_status(events[0]) == CL_COMPLETE);
  CHECK(info_status(events[1]) == -5);
  for (const auto event : events) clReleaseEvent(event);
}

TEST_CASE("a command that came after a read is over only when the read's bytes are here") {
  Desk desk;
  const auto read = desk.read();
  const auto after = desk.command();
  const auto elsewhere = desk.command(1, {after});
  Reported reported;
  CHECK(clSetEventCallback(after, CL_COMPLETE, Reported::tell, &reported) == CL_SUCCESS);
  desk.link().completed(after->handle);
  desk.link().deliver();
  CHECK_FALSE(after->is_final());
  CHECK(desk.link(1).sent<cl::SetUserEvent>().empty());
  settle_event(read, CL_COMPLETE);
  CHECK(after->is_final());
  reported.wait_for(1);
  CHECK(reported.status == CL_COMPLETE);
  REQUIRE(desk.link(1).sent<cl::SetUserEvent>().size() == 1);
  for (const auto event : {read, after, elsewhere}) clReleaseEvent(event);
}

TEST_CASE("reads that land in another order than they were enqueued end in order on a queue in order") {
  Desk desk;
  std::vector<cl_event> reads;
  for (std::uint64_t i = 0; i < 20000; ++i) reads.push_back(desk.read(0, i + 1));
  for (auto read = reads.rbegin(); read != reads.rend() - 1; ++read) settle_event(*read, CL_COMPLETE);
  CHECK_FALSE(reads[1]->is_final());
  CHECK_FALSE(reads.back()->is_final());
  settle_event(reads[0], CL_COMPLETE);
  CHECK(reads.back()->status == CL_COMPLETE);
  for (const auto read : reads) clReleaseEvent(read);
}

TEST_CASE("out of order only what waits for a read comes after it, and a barrier makes all later ones do") {
  Desk desk(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto read = desk.read();
  const auto free = desk.command();
  const auto bound = desk.command(0, {read});
  CHECK(clEnqueueBarrierWithWaitList(desk.queues[0], 0, nullptr, nullptr) == CL_SUCCESS);
  const auto fenced = desk.command();
  for (const auto event : {free, bound, fenced}) {
    watch_event(event);
    desk.link().completed(event->handle);
  }
  desk.link().deliver();
  CHECK(free->is_final());
  CHECK_FALSE(bound->is_final());
  CHECK_FALSE(fenced->is_final());
  settle_event(read, CL_COMPLETE);
  CHECK(bound->is_final());
  CHECK(fenced->is_final());
  for (const auto event : {read, free, bound, fenced}) clReleaseEvent(event);
}

TEST_CASE("an event of another server is mirrored there once and completed with its own status") {
  Desk desk;
  const auto home = desk.command();
  const auto first = desk.command(1, {home});
  const auto second = desk.command(1, {home});
  REQUIRE(desk.link(1).sent<cl::CreateUserEvent>().size() == 1);
  const auto mirror = desk.link(1).sent<cl::CreateUserEvent>()[0].event;
  const auto waiting = desk.link(1).sent<cl::Marker>();
  REQUIRE(waiting.size() == 2);
  CHECK(waiting[0].waits[0] == mirror);
  CHECK(waiting[1].waits[0] == mirror);
  CHECK(desk.link().sent<cl::Watch>().size() == 1);
  desk.link().completed(home->handle, -9);  // nobody waits at its server: the reader in the background takes it
  while (!home->is_final()) std::this_thread::yield();
  while (desk.link(1).sent<cl::SetUserEvent>().empty()) std::this_thread::yield();
  CHECK(desk.link(1).sent<cl::SetUserEvent>()[0].status == -9);
  for (const auto event : {home, first, second}) clReleaseEvent(event);
}

TEST_CASE("a user event is mirrored where it is waited for, set there, and over here at once") {
  Desk desk;
  cl_int error = 1;
  const auto user = clCreateUserEvent(desk.context, &error);
  REQUIRE(error == CL_SUCCESS);
  const auto before = desk.command(0, {user});
  std::thread waiter([&] { CHECK(clWaitForEvents(1, &user) == CL_SUCCESS); });
  CHECK(clSetUserEventStatus(user, CL_COMPLETE) == CL_SUCCESS);
  waiter.join();
  CHECK(desk.link().sent<cl::SetUserEvent>().size() == 1);
  const auto after = desk.command(1, {user});
  CHECK(desk.link(1).sent<cl::CreateUserEvent>().empty());
  CHECK(clSetUserEventStatus(user, CL_COMPLETE) == CL_INVALID_OPERATION);
  CHECK(clSetUserEventStatus(before, CL_COMPLETE) == CL_INVALID_EVENT);
  for (const auto event : {user, before, after}) clReleaseEvent(event);
}

TEST_CASE("a user event that had failed is mirrored as failed") {
  Desk desk;
  const auto user = clCreateUserEvent(desk.context, nullptr);
  CHECK(clSetUserEventStatus(user, -3) == CL_SUCCESS);
  const auto after = desk.command(0, {user});
  REQUIRE(desk.link().sent<cl::SetUserEvent>().size() == 1);
  CHECK(desk.link().sent<cl::SetUserEvent>()[0].status == -3);
  for (const auto event : {user, after}) clReleaseEvent(event);
}

TEST_CASE("callbacks of all stages come once each, and those set too late at once") {
  Desk desk;
  const auto event = desk.command();
  Reported submitted, running, complete, late;
  CHECK(clSetEventCallback(event, CL_SUBMITTED, Reported::tell, &submitted) == CL_SUCCESS);
  CHECK(clSetEventCallback(event, CL_RUNNING, Reported::tell, &running) == CL_SUCCESS);
  CHECK(clSetEventCallback(event, CL_COMPLETE, Reported::tell, &complete) == CL_SUCCESS);
  CHECK(clSetEventCallback(event, CL_QUEUED, Reported::tell, &complete) == CL_INVALID_VALUE);
  cl::Reached reached;
  reached.event = event->handle;
  reached.stage = CL_SUBMITTED;
  desk.link().notice(reached);
  submitted.wait_for(1);
  CHECK(running.count == 0);
  desk.link().completed(event->handle);
  complete.wait_for(1);
  running.wait_for(1);
  CHECK(running.status == CL_RUNNING);
  CHECK(complete.status == CL_COMPLETE);
  CHECK(clSetEventCallback(event, CL_COMPLETE, Reported::tell, &late) == CL_SUCCESS);
  late.wait_for(1);
  CHECK(submitted.count == 1);
  clReleaseEvent(event);
}

TEST_CASE("a lost session ends everything there: waits return, events fail, callbacks come, mirrors are set") {
  Desk desk;
  const auto event = desk.command();
  const auto read = desk.read();
  const auto elsewhere = desk.command(1, {event});
  Reported reported;
  CHECK(clSetEventCallback(event, CL_COMPLETE, Reported::tell, &reported) == CL_SUCCESS);
  std::thread finisher([&] { CHECK(clFinish(desk.queues[0]) == kLost); });
  std::thread waiter([&] { CHECK(clWaitForEvents(1, &event) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST); });
  while (desk.link().sent<cl::Marker>().size() < 2) std::this_thread::yield();
  desk.link().break_off("cut");
  finisher.join();
  waiter.join();
  reported.wait_for(1);
  CHECK(reported.status < 0);
  CHECK(read->status == kLost);
  REQUIRE(desk.link(1).sent<cl::SetUserEvent>().size() == 1);
  CHECK(desk.link(1).sent<cl::SetUserEvent>()[0].status == kLost);
  CHECK(clFinish(desk.queues[0]) == kLost);
  CHECK(clFlush(desk.queues[0]) == kLost);
  CHECK(clEnqueueMarkerWithWaitList(desk.queues[0], 0, nullptr, nullptr) == kLost);
  const auto late = desk.command();
  CHECK(wait_event(late) == kLost);
  CHECK(info_status(late) == kLost);
  for (const auto one : {event, read, elsewhere, late}) clReleaseEvent(one);
}

TEST_CASE("what the device refuses later is told once by the next blocking call, or by its event") {
  Desk desk;
  complete_when_watched(desk.link());
  cl::Failed failed;
  failed.op = cl::CopyBuffer::kOp;
  failed.status = CL_MEM_COPY_OVERLAP;
  desk.link().notice(failed);
  CHECK(clFinish(desk.queues[0]) == CL_MEM_COPY_OVERLAP);
  CHECK(clFinish(desk.queues[0]) == CL_SUCCESS);
  const auto read = desk.read(0, 77);
  failed.event = read->handle;
  desk.link().notice(failed);
  CHECK(clFinish(desk.queues[0]) == CL_SUCCESS);
  CHECK(read->status == CL_MEM_COPY_OVERLAP);
  CHECK(desk.link().cancelled == std::vector<std::uint64_t>{77});
  clReleaseEvent(read);
}

TEST_CASE("what the device refuses on one queue is not another's to answer") {
  Desk desk;
  complete_when_watched(desk.link());
  cl::Failed failed;
  failed.op = cl::CopyBuffer::kOp;
  failed.queue = desk.queues[0]->handle + 1000;
  failed.status = CL_MEM_COPY_OVERLAP;
  desk.link().notice(failed);
  CHECK(clFinish(desk.queues[0]) == CL_SUCCESS);
  failed.queue = desk.queues[0]->handle;
  desk.link().notice(failed);
  failed.status = CL_INVALID_VALUE;  // the first is what a program without remote devices would have seen
  desk.link().notice(failed);
  CHECK(clFinish(desk.queues[0]) == CL_MEM_COPY_OVERLAP);
  CHECK(clFinish(desk.queues[0]) == CL_SUCCESS);
}

TEST_CASE("a notice that cannot be read ends the session: whoever waits for it gets an error") {
  Desk desk;
  const auto event = desk.command();
  desk.link().on_sent = [&](const test::Sent& sent) {
    if (sent.header.op == cl::Watch::kOp) desk.link().arrive({{cl::Completed::kOp, 0, 8, 0}, wire::Bytes(8, 0xff)});
  };
  CHECK(wait_event(event) == kLost);
  CHECK(clFinish(desk.queues[0]) == kLost);
  clReleaseEvent(event);
}

TEST_CASE("times come with completion, or are asked for, and only where the queue is profiled") {
  Desk desk(CL_QUEUE_PROFILING_ENABLE);
  const auto event = desk.command();
  desk.link().on_sent = [&](const test::Sent& sent) {
    if (sent.header.op != cl::EventStatus::kOp) return;
    desk.link().reply(
        sent.header,
        cl::EventStatusReply{
            .status = 0, .reserved = 0, .queued = 10, .submitted = 20, .started = 30, .ended = 40, .completed = 50});
  };
  cl_ulong time = 0;
  CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr) == CL_SUCCESS);
  CHECK(time == 40);
  CHECK(clGetEventProfilingInfo(event, 0x7777, sizeof time, &time, nullptr) == CL_INVALID_VALUE);
  clReleaseEvent(event);
  Desk plain;
  const auto other = plain.command();
  CHECK(clGetEventProfilingInfo(other, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr) ==
        CL_PROFILING_INFO_NOT_AVAILABLE);
  clReleaseEvent(other);
}

TEST_CASE("handles that are null, stale, or somebody else's are told apart from live ones") {
  Desk desk;
  const auto event = desk.command();
  char foreign[512] = {};
  CHECK(clRetainEvent(event) == CL_SUCCESS);
  CHECK(references(event) == 2);
  CHECK(clReleaseEvent(event) == CL_SUCCESS);
  CHECK(clReleaseEvent(event) == CL_SUCCESS);
  CHECK(clReleaseEvent(event) == CL_INVALID_EVENT);
  CHECK(clRetainEvent(reinterpret_cast<cl_event>(desk.queues[0])) == CL_INVALID_EVENT);
  CHECK(clRetainEvent(reinterpret_cast<cl_event>(foreign)) == CL_INVALID_EVENT);
  CHECK(clRetainEvent(reinterpret_cast<cl_event>(std::uintptr_t{1} << 46)) == CL_INVALID_EVENT);
  CHECK(clRetainEvent(reinterpret_cast<cl_event>(reinterpret_cast<char*>(desk.queues[0]) + 8)) == CL_INVALID_EVENT);
  CHECK(clRetainEvent(nullptr) == CL_INVALID_EVENT);
}

TEST_CASE("what is in use lives on after the application's last reference") {
  Desk desk;
  const auto context = new _cl_context;
  context->places = desk.context->places;
  const auto user = clCreateUserEvent(context, nullptr);
  CHECK(clReleaseContext(context) == CL_SUCCESS);
  CHECK(clReleaseContext(context) == CL_INVALID_CONTEXT);
  cl_context of = nullptr;
  CHECK(clGetEventInfo(user, CL_EVENT_CONTEXT, sizeof of, &of, nullptr) == CL_SUCCESS);
  CHECK(of == context);
  CHECK(is_live(context));
  CHECK(clReleaseEvent(user) == CL_SUCCESS);
  CHECK_FALSE(is_live(context));
}

TEST_CASE("a context's destructor callbacks run last to first") {
  Desk desk;
  static std::vector<int> order;
  const auto context = new _cl_context;
  context->places = desk.context->places;
  CHECK(clSetContextDestructorCallback(context, nullptr, nullptr) == CL_INVALID_VALUE);
  for (auto note : {+[](cl_context, void*) { order.push_back(1); }, +[](cl_context, void*) { order.push_back(2); }}) {
    CHECK(clSetContextDestructorCallback(context, note, nullptr) == CL_SUCCESS);
  }
  CHECK(clReleaseContext(context) == CL_SUCCESS);
  CHECK(order == std::vector<int>{2, 1});
}

TEST_CASE("what kernels print is on standard output before the call returns, behind what the program printed") {
  Desk desk;
  complete_when_watched(desk.link());
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  std::printf("mine ");
  cl::Printed printed;
  const std::string text = "theirs";
  printed.text = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  desk.link().notice(printed);
  const auto result = clFinish(desk.queues[0]);
  char read[32] = {};
  const auto size = ::read(ends[0], read, sizeof read - 1);
  ::dup2(kept, STDOUT_FILENO);
  for (const int fd : {ends[0], ends[1], kept}) ::close(fd);
  CHECK(result == CL_SUCCESS);
  // The program's own line may be a read of its own.
  CHECK(size > 0);
  CHECK(std::string(read).starts_with("mine "));
}

TEST_CASE("many threads on many queues: every event ends and nothing is left") {
  Desk desk(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (std::size_t i = 0; i < 2; ++i) complete_when_watched(desk.link(i));
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      cl_event last = nullptr;
      for (int i = 0; i < 200; ++i) {
        const auto next = desk.command((t + static_cast<std::size_t>(i)) % 2,
                                       last ? std::vector<cl_event>{last} : std::vector<cl_event>{});
        if (last) clReleaseEvent(last);
        last = next;
        if (i % 10 == 0) good += clFinish(desk.queues[t % 2]) == CL_SUCCESS;
      }
      good += clWaitForEvents(1, &last) == CL_SUCCESS;
      clReleaseEvent(last);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == 4 * 21);
}

TEST_CASE("in a child after fork every handle is dead and the parent goes on") {
  Desk desk;
  complete_when_watched(desk.link());
  const auto child = ::fork();
  if (child == 0) {
    client::forget_slots();  // what the fork handler does
    const bool is_right = clFinish(desk.queues[0]) == CL_INVALID_COMMAND_QUEUE &&
                          clCreateUserEvent(desk.context, nullptr) == nullptr &&
                          clReleaseContext(desk.context) == CL_INVALID_CONTEXT;
    ::_exit(is_right ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(clFinish(desk.queues[0]) == CL_SUCCESS);
}
