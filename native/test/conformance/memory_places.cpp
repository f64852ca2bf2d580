// One context over all devices, wherever they are: what one device wrote is what the next one reads, in whole buffers,
// in parts, and through the host.
#include <cstring>

#include "report.h"

namespace {

constexpr size_t kCount = 1 << 18;

struct Rig {
  std::vector<cl_device_id> devices = all_devices();
  cl_context context = new_context(devices);
  std::vector<cl_command_queue> queues;
  cl_program program = built_program(
      context,
      "kernel void advance(global uint* data, uint by) { size_t i = get_global_id(0); data[i] = data[i] * 3 + by + (uint)i; }\n"
      "kernel void sum(global const uint* a, global const uint* b, global uint* c) { size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n");
  explicit Rig(cl_command_queue_properties properties = 0) {
    // A second round over them: also a single device is used by more than one queue.
    for (int round = 0; round < 2; ++round)
      for (auto* device : devices) queues.push_back(new_queue(context, device, properties));
  }
  ~Rig() {
    for (auto* queue : queues) said("release queue", clReleaseCommandQueue(queue));
    clReleaseProgram(program);
    said("release context", clReleaseContext(context));
  }
  cl_mem buffer(size_t count = kCount, const void* content = nullptr, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    cl_int code;
    auto memory = clCreateBuffer(context, flags | (content ? CL_MEM_COPY_HOST_PTR : 0), count * 4,
                                 const_cast<void*>(content), &code);
    need("clCreateBuffer", code);
    return memory;
  }
  void step(size_t queue, cl_mem memory, cl_uint by, size_t count, cl_event after, cl_event* event) {
    const auto kernel = new_kernel(program, "advance");
    need("argument", clSetKernelArg(kernel, 0, sizeof memory, &memory));
    need("argument", clSetKernelArg(kernel, 1, sizeof by, &by));
    need("launch", clEnqueueNDRangeKernel(queues[queue], kernel, 1, nullptr, &count, nullptr, after ? 1 : 0,
                                          after ? &after : nullptr, event));
    clReleaseKernel(kernel);
  }
};

void show(const char* what, cl_command_queue queue, cl_mem memory, size_t count = kCount) {
  std::vector<cl_uint> got(count);
  said(what, clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, count * 4, got.data(), 0, nullptr, nullptr));
  say("%s", digest(got.data(), count * 4).c_str());
}

std::vector<cl_uint> numbers(size_t count, cl_uint seed) {
  std::vector<cl_uint> data(count);
  for (auto& value : data) value = seed = seed * 1664525 + 1013904223;
  return data;
}

/// Round and round the devices, ordered by events alone.
void relay(Rig& rig) {
  const auto content = numbers(kCount, 1);
  auto memory = rig.buffer(kCount, content.data());
  cl_event last = nullptr;
  for (size_t i = 0; i < rig.queues.size() * 3; ++i) {
    cl_event next = nullptr;
    rig.step(i % rig.queues.size(), memory, static_cast<cl_uint>(i), kCount, last, &next);
    clFlush(rig.queues[i % rig.queues.size()]);
    if (last) clReleaseEvent(last);
    last = next;
  }
  said("wait", clWaitForEvents(1, &last));
  clReleaseEvent(last);
  for (auto* queue : rig.queues) show("relayed", queue, memory);
  said("release", clReleaseMemObject(memory));
}

/// Each device its part, then one reads all of it.
void shares(Rig& rig) {
  const auto content = numbers(kCount, 2);
  auto memory = rig.buffer(kCount, content.data());
  const auto share = kCount / 8;
  std::vector<cl_mem> parts;
  for (size_t i = 0; i < 8; ++i) {
    const cl_buffer_region region{i * share * 4, share * 4};
    cl_int code;
    parts.push_back(clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    need("part", code);
  }
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < 8; ++i)
      rig.step((i + static_cast<size_t>(round)) % rig.queues.size(), parts[i], 5, share, nullptr, nullptr);
    for (auto* queue : rig.queues) need("finish", clFinish(queue));
  }
  show("shared out", rig.queues.back(), memory);
  show("shared out", rig.queues.front(), memory);
  rig.step(0, memory, 1, kCount, nullptr, nullptr);
  need("finish", clFinish(rig.queues[0]));
  for (size_t i = 0; i < 8; ++i) show("part", rig.queues[i % rig.queues.size()], parts[i], share);
  for (auto* part : parts) clReleaseMemObject(part);
  said("release", clReleaseMemObject(memory));
}

/// Writes, fills, copies and maps at one device that the next must see.
void transfers(Rig& rig) {
  const auto content = numbers(kCount, 3), other = numbers(kCount, 4);
  auto memory = rig.buffer(), second = rig.buffer(kCount, other.data(), CL_MEM_READ_ONLY), third = rig.buffer();
  const auto queue = [&](size_t i) { return rig.queues[i % rig.queues.size()]; };
  said("write", clEnqueueWriteBuffer(queue(0), memory, CL_TRUE, 0, kCount * 4, content.data(), 0, nullptr, nullptr));
  said("finish", clFinish(queue(0)));
  show("written", queue(1), memory);
  said("fill", clEnqueueFillBuffer(queue(1), memory, "fill", 4, 4000, 400000, 0, nullptr, nullptr));
  said("finish", clFinish(queue(1)));
  said("a little", clEnqueueWriteBuffer(queue(0), memory, CL_TRUE, 100, 40, other.data(), 0, nullptr, nullptr));
  said("finish", clFinish(queue(0)));
  show("filled", queue(1), memory);
  said("copy", clEnqueueCopyBuffer(queue(0), second, memory, 0, kCount * 2, kCount, 0, nullptr, nullptr));
  said("finish", clFinish(queue(0)));
  show("copied", queue(1), memory);
  cl_int code;
  auto* pointer = static_cast<cl_uint*>(clEnqueueMapBuffer(queue(1), memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                           kCount * 4, 0, nullptr, nullptr, &code));
  said("map", code);
  say("%s", digest(pointer, kCount * 4).c_str());
  for (size_t i = 0; i < kCount; i += 5) pointer[i] ^= 0xffff;
  said("unmap", clEnqueueUnmapMemObject(queue(1), memory, pointer, 0, nullptr, nullptr));
  said("finish", clFinish(queue(1)));
  const auto kernel = new_kernel(rig.program, "sum");
  need("argument", clSetKernelArg(kernel, 0, sizeof memory, &memory));
  need("argument", clSetKernelArg(kernel, 1, sizeof second, &second));
  need("argument", clSetKernelArg(kernel, 2, sizeof third, &third));
  said("launch", clEnqueueNDRangeKernel(queue(0), kernel, 1, nullptr, &kCount, nullptr, 0, nullptr, nullptr));
  said("finish", clFinish(queue(0)));
  show("added", queue(1), third);
  said("migrate", clEnqueueMigrateMemObjects(queue(1), 1, &third, 0, 0, nullptr, nullptr));
  const size_t origin[3] = {16, 3, 0}, host[3] = {0, 0, 0}, region[3] = {512, 200, 1};
  said("write a box", clEnqueueWriteBufferRect(queue(1), third, CL_TRUE, origin, host, region, 1024, 0, 512, 0,
                                               content.data(), 0, nullptr, nullptr));
  said("finish", clFinish(queue(1)));
  show("boxed", queue(0), third);
  clReleaseKernel(kernel);
  for (auto* released : {memory, second, third}) said("release", clReleaseMemObject(released));
}

/// A user event holds back a chain over all queues; then it runs.
void held(Rig& rig) {
  const auto content = numbers(kCount, 6);
  auto memory = rig.buffer(kCount, content.data());
  cl_int code;
  auto latch = clCreateUserEvent(rig.context, &code);
  cl_event last = latch;
  std::vector<cl_event> events;
  for (size_t i = 0; i < rig.queues.size(); ++i) {
    cl_event next = nullptr;
    rig.step(i, memory, 9, kCount, last, &next);
    clFlush(rig.queues[i]);
    events.push_back(last = next);
  }
  said("open", clSetUserEventStatus(latch, CL_COMPLETE));
  said("wait", clWaitForEvents(static_cast<cl_uint>(events.size()), events.data()));
  show("held and let go", rig.queues[0], memory);
  for (auto* event : events) clReleaseEvent(event);
  clReleaseEvent(latch);
  said("release", clReleaseMemObject(memory));
}

void images(Rig& rig) {
  cl_bool has_images = CL_TRUE;
  for (auto* device : rig.devices) {
    cl_bool has = CL_FALSE;
    clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof has, &has, nullptr);
    has_images = has_images && has;
  }
  if (!has_images) return;
  const auto content = numbers(100 * 60, 8);
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D, desc.image_width = 100, desc.image_height = 60;
  cl_int code;
  auto image =
      clCreateImage(rig.context, CL_MEM_COPY_HOST_PTR, &format, &desc, const_cast<cl_uint*>(content.data()), &code);
  said("image", code);
  const size_t zero[3] = {0, 0, 0}, all[3] = {100, 60, 1}, part[3] = {10, 10, 1};
  std::vector<cl_uint> got(content.size());
  for (size_t i = 0; i < rig.queues.size(); ++i) {
    const cl_uint color[4] = {1, 2, 3, static_cast<cl_uint>(i)};
    const size_t at[3] = {i * 7, i * 3, 0};
    said("fill", clEnqueueFillImage(rig.queues[i], image, color, at, part, 0, nullptr, nullptr));
    said("finish", clFinish(rig.queues[i]));
    said("read", clEnqueueReadImage(rig.queues[(i + 1) % rig.queues.size()], image, CL_TRUE, zero, all, 0, 0,
                                    got.data(), 0, nullptr, nullptr));
    say("%s", digest(got.data(), got.size() * 4).c_str());
  }
  said("release", clReleaseMemObject(image));
}

}  // namespace

int main() {
  {
    Rig rig;
    relay(rig);
    shares(rig);
    transfers(rig);
    held(rig);
    images(rig);
  }
  Rig unordered(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  relay(unordered);
  shares(unordered);
  held(unordered);
}
