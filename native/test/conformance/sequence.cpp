// Random sequences of calls, valid and not, the same for the same seed: sequence FIRST COUNT [STEPS]
// Commands on the same memory are ordered by wait lists whatever their queues, so every result is determined.
#include <algorithm>

#include "sequence_objects.h"
#include "sequence_transfers.h"

namespace {

constexpr const char* kSource = R"(
kernel void stir(global uint* a, uint k, uint n) { uint i = get_global_id(0); if (i < n) a[i] = (a[i] ^ (k + i)) * 2654435761u; }
kernel void sum_up(global const uint* a, global uint* b, uint n) { uint i = get_global_id(0); if (i < n) b[i] += a[i] + i; }
kernel void fold(global uint* a, local uint* part, uint n) {
  uint l = get_local_id(0), i = get_global_id(0);
  part[l] = i < n ? a[i] : 0; barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { uint s = 0; for (uint j = 0; j < get_local_size(0); j++) s += part[j]; if (i < n) a[i] = s; }
}
typedef struct { uint x; uchar y; ulong z; } Three;
kernel void three(global uint* a, Three t, uint n) { uint i = get_global_id(0) + get_global_id(1) * get_global_size(0); if (i < n) a[i] += t.x + t.y + (uint)t.z; }
)";

void launch(State& s) {
  const auto which = s.random.below(4);
  auto kernel = s.kernels[which];
  auto &memory = s.buffer(), &other = s.buffer();
  if (memory.touched == other.touched && which == 1) return;
  const auto n = static_cast<cl_uint>(memory.size / 4);
  const auto k = static_cast<cl_uint>(s.random.next());
  struct {
    cl_uint x;
    cl_uchar y;
    cl_ulong z;
  } three{k, 7, 9};
  // Before the right ones: PoCL forgets an argument that it refuses to replace.
  if (s.random.one_in(6)) {
    s.say_result("arg index", clSetKernelArg(kernel, 3, 4, &n));
    s.say_result("arg size", clSetKernelArg(kernel, 2, 8, &n));
    s.say_result("arg of null", clSetKernelArg(kernel, 2, 4, nullptr));
    s.say_result("arg of null kernel", clSetKernelArg(nullptr, 0, 4, &n));
  }
  if (which == 1) {
    s.say_result("arg", clSetKernelArg(kernel, 0, sizeof(cl_mem), &other.handle));
    s.say_result("arg", clSetKernelArg(kernel, 1, sizeof(cl_mem), &memory.handle));
    const auto both = static_cast<cl_uint>(std::min(memory.size, other.size) / 4);
    s.say_result("arg", clSetKernelArg(kernel, 2, 4, &both));
  } else {
    s.say_result("arg", clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory.handle));
    s.say_result("arg", which == 0   ? clSetKernelArg(kernel, 1, 4, &k)
                        : which == 2 ? clSetKernelArg(kernel, 1, 64 * 4, nullptr)
                                     : clSetKernelArg(kernel, 1, sizeof three, &three));
    s.say_result("arg", clSetKernelArg(kernel, 2, 4, &n));
  }
  cl_uint dimensions = which == 3 ? 2 : 1;
  size_t global[3] = {which == 3 ? size_t{64} : (n + 63) / 64 * 64, (n + 63) / 64, 1},
         local[3] = {which == 2 ? size_t{64} : size_t{32}, 1, 1}, offset[3] = {0, 0, 0};
  bool has_local = which == 2 || s.random.one_in(2);
  auto queue = s.queue();
  if (global[0] == 0) global[0] = 64;
  if (global[1] == 0) global[1] = 1;
  if (invalid(s)) {
    switch (s.random.below(6)) {
      case 0: dimensions = s.random.one_in(2) ? 0 : 4; break;
      case 1: local[0] = 7, has_local = true; break;
      case 2: local[0] = 1 << 20, global[0] = 1 << 20, has_local = true; break;
      case 3: queue = s.wrong_queue(); break;
      case 4:
        offset[0] = 1;
        break;  // a null kernel is left out: PoCL follows it
      // A local size of 0 is left out: PoCL divides by it.
      default: global[0] = 0;
    }
  }
  command(s, kLaunch, which == 1 ? std::initializer_list<Memory*>{&other} : std::initializer_list<Memory*>{}, {&memory},
          [&](cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueNDRangeKernel(queue, kernel, dimensions, s.random.one_in(3) ? offset : nullptr, global,
                                          has_local ? local : nullptr, count, list, event);
          });
}

void order(State& s) {
  const auto queue = s.random.one_in(8) ? nullptr : s.queue();
  auto& memory = s.buffer();
  switch (s.random.below(4)) {
    case 0:
      return command(s, "marker", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueMarkerWithWaitList(queue, count, list, event);
      });
    case 1:
      return command(s, "barrier", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueBarrierWithWaitList(queue, count, list, event);
      });
    case 2:
      return command(s, "migrate", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueMigrateMemObjects(queue, 1, &memory.handle, s.random.one_in(4) ? CL_MIGRATE_MEM_OBJECT_HOST : 0,
                                          count, list, event);
      });
    default: s.say_result("flush", clFlush(queue));
  }
}

void run(State& s, size_t steps) {
  cl_int code;
  std::vector<unsigned char> zeros(4096);
  for (size_t i = 0; i < 3; i++) {
    const auto handle = clCreateBuffer(s.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4096, zeros.data(), &code);
    need("clCreateBuffer", code);
    s.buffers.push_back({.handle = handle, .size = 4096});
  }
  using Action = void (*)(State&);
  const Action actions[] = {create_buffer, create_sub_buffer,
                            create_image,  transfer,
                            transfer,      transfer,
                            copy,          copy,
                            fill,          fill,
                            rect,          rect,
                            map,           image_command,
                            image_command, launch,
                            launch,        launch,
                            launch,        order,
                            ask,           release};
  for (s.step = 0; s.step < steps; s.step++) {
    actions[s.random.below(std::size(actions))](s);
    if (s.events.size() > 24) s.rest();
  }
  s.rest();
  for (auto* list : {&s.buffers, &s.images})
    for (auto& memory : *list) {
      if (list == &s.buffers) {
        std::vector<unsigned char> all(memory.size);
        const auto read =
            clEnqueueReadBuffer(s.queues[0], memory.handle, CL_TRUE, 0, memory.size, all.data(), 0, nullptr, nullptr);
        say("at the end %zu: %s %s", memory.size, code_name(read).c_str(), digest(all).c_str());
      }
    }
  for (auto* list : {&s.images, &s.buffers}) {
    for (auto memory = list->rbegin(); memory != list->rend(); ++memory) clReleaseMemObject(memory->handle);
    list->clear();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1,
             count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10;
  const auto steps = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 60;
  State base(0);
  base.devices = all_devices();
  base.context = new_context(base.devices), base.foreign = new_context({base.devices[0]});
  for (auto device : base.devices) {
    base.queues.push_back(new_queue(base.context, device));
    base.queues.push_back(
        new_queue(base.context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE));
  }
  cl_int code;
  base.foreign_queue = new_queue(base.foreign, base.devices[0]);
  base.foreign_memory = clCreateBuffer(base.foreign, CL_MEM_READ_WRITE, 4096, nullptr, &code);
  base.foreign_event = clCreateUserEvent(base.foreign, &code);
  clSetUserEventStatus(base.foreign_event, CL_COMPLETE);
  base.program = built_program(base.context, kSource);
  for (const char* name : {"stir", "sum_up", "fold", "three"}) base.kernels.push_back(new_kernel(base.program, name));
  for (auto seed = first; seed < first + count; seed++) {
    say("== sequence %llu", seed);
    auto state = base;
    state.random = Random(seed);
    run(state, steps);
  }
}
