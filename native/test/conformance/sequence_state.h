// What a random sequence of calls works on: the objects of one context, a bit of another, and what orders commands on
// them.
#pragma once

#include <deque>
#include <memory>

#include "report.h"

/// splitmix64: the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    auto z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return bound == 0 ? 0 : next() % bound; }
  bool one_in(size_t count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

/// Memory that commands have touched; a sub-buffer shares its parent's.
struct Touched {
  std::vector<cl_event> events;  ///< the last commands on it; the next one waits for them
};

struct Memory {
  cl_mem handle;
  size_t size;              ///< bytes; of an image its packed bytes
  size_t width = 0, height = 0;  ///< of an image, else 0
  bool is_sub = false;
  std::shared_ptr<Touched> touched = std::make_shared<Touched>();
  std::shared_ptr<std::vector<unsigned char>> host{};  ///< behind CL_MEM_USE_HOST_PTR
};

struct Pending {
  size_t step;
  std::vector<unsigned char> data;
};

struct State {
  explicit State(std::uint64_t seed) : random(seed) {}

  Random random;
  size_t step = 0;
  std::vector<cl_device_id> devices;
  cl_context context = nullptr, foreign = nullptr;
  std::vector<cl_command_queue> queues;
  cl_command_queue foreign_queue = nullptr;
  cl_mem foreign_memory = nullptr;
  cl_event foreign_event = nullptr;
  cl_program program = nullptr;
  std::vector<cl_kernel> kernels;
  std::vector<Memory> buffers, images;
  std::vector<cl_event> user_events;          ///< not set yet
  std::vector<std::pair<size_t, cl_event>> events;  ///< of commands since the last rest, with their steps
  std::deque<Pending> reads;  ///< host memory of reads in flight; a deque, so that its addresses stay

  cl_command_queue queue() { return queues[random.below(queues.size())]; }
  Memory& buffer() { return buffers[random.below(buffers.size())]; }
  Memory& image() { return images[random.below(images.size())]; }
  /// Null, or an object of another context: for a call that should be refused.
  cl_command_queue wrong_queue() { return random.one_in(2) ? nullptr : foreign_queue; }
  cl_mem wrong_memory() { return random.one_in(2) ? nullptr : foreign_memory; }

  void say_result(const char* what, cl_int code) { say("%zu %s: %s", step, what, code_name(code).c_str()); }

  /// The wait list of a command on these: everything before it on any of them, and now and then a user event.
  std::vector<cl_event> waits(std::initializer_list<Memory*> touched) {
    std::vector<cl_event> list;
    for (auto* memory : touched)
      list.insert(list.end(), memory->touched->events.begin(), memory->touched->events.end());
    if (random.one_in(8)) {
      cl_int code;
      const auto event = clCreateUserEvent(context, &code);
      if (event) user_events.push_back(event), list.push_back(event);
    }
    return list;
  }

  /// Notes a command that was accepted: later commands on the same memory wait for it. `writes`: readers before it no
  /// longer matter.
  void note(cl_event event, std::initializer_list<Memory*> read, std::initializer_list<Memory*> written) {
    events.emplace_back(step, event);
    for (auto* memory : read) memory->touched->events.push_back(event);
    for (auto* memory : written) memory->touched->events = {event};
  }

  void set_user_events() {
    for (auto event : user_events)
      say_result("set user event", clSetUserEventStatus(event, CL_COMPLETE)), clReleaseEvent(event);
    user_events.clear();
  }

  /// Everything in flight ends, and what it did is printed.
  void rest() {
    set_user_events();
    for (auto one : queues) say_result("finish", clFinish(one));
    for (auto& [at, event] : events) {
      cl_int status = 99;
      cl_command_type type = 0;
      const auto code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
      clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
      say("  event of %zu: %s status %d type %#x", at, code_name(code).c_str(), status, type);
      clReleaseEvent(event);
    }
    events.clear();
    for (auto& read : reads) say("  read of %zu: %s", read.step, digest(read.data).c_str());
    reads.clear();
    for (auto* list : {&buffers, &images})
      for (auto& memory : *list) memory.touched->events.clear();
  }
};
