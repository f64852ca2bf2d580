// Maps: what they show, what unmapping sends, how they nest and overlap, and what is refused.
#include <chrono>
#include <cstring>
#include <thread>

#include "report.h"

namespace {

constexpr size_t kSize = 200000;

cl_uint maps_of(cl_mem memory) {
  cl_uint count = 99;
  need("clGetMemObjectInfo", clGetMemObjectInfo(memory, CL_MEM_MAP_COUNT, sizeof count, &count, nullptr));
  return count;
}

/// Waits for a count: PoCL lowers it a moment after the queue has said that it is finished.
cl_uint maps_settled(cl_mem memory, cl_uint expected) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (maps_of(memory) != expected && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return maps_of(memory);
}

unsigned char* map(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags, size_t offset,
                   size_t size, cl_event* event = nullptr) {
  cl_int code = 99;
  auto* pointer = static_cast<unsigned char*>(
      clEnqueueMapBuffer(queue, memory, blocking, flags, offset, size, 0, nullptr, event, &code));
  said("map", code);
  if (!pointer && code == CL_SUCCESS) say("null");
  return pointer;
}

void show(const char* what, cl_command_queue queue, cl_mem memory) {
  std::vector<unsigned char> got(kSize);
  said(what, clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, kSize, got.data(), 0, nullptr, nullptr));
  say("%s, %u maps", digest(got).c_str(), maps_settled(memory, 0));
}

void plain(cl_command_queue queue, cl_mem memory) {
  auto* seen = map(queue, memory, CL_TRUE, CL_MAP_READ, 0, kSize);
  say("%s, %u maps", digest(seen, kSize).c_str(), maps_of(memory));
  said("unmap", clEnqueueUnmapMemObject(queue, memory, seen, 0, nullptr, nullptr));
  said("finish", clFinish(queue));
  say("%u maps", maps_settled(memory, 0));
  auto* written = map(queue, memory, CL_TRUE, CL_MAP_WRITE, 100, 70000);
  for (size_t i = 0; i < 70000; i += 3) written[i] = static_cast<unsigned char>(i);
  said("unmap", clEnqueueUnmapMemObject(queue, memory, written, 0, nullptr, nullptr));
  said("finish", clFinish(queue));
  show("after a written map", queue, memory);
  auto* fresh = map(queue, memory, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 5000, 3000);
  std::memset(fresh, 0x5a, 3000);
  said("unmap", clEnqueueUnmapMemObject(queue, memory, fresh, 0, nullptr, nullptr));
  said("finish", clFinish(queue));
  show("after an invalidating map", queue, memory);
  auto* both = map(queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 4000, 100);
  for (int i = 0; i < 100; ++i) both[i] = static_cast<unsigned char>(both[i] ^ 0xff);
  said("unmap", clEnqueueUnmapMemObject(queue, memory, both, 0, nullptr, nullptr));
  said("finish", clFinish(queue));
  show("after a map for both", queue, memory);
}

void events(cl_command_queue queue, cl_mem memory) {
  cl_event mapped = nullptr, unmapped = nullptr;
  auto* pointer = map(queue, memory, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 1, 150000, &mapped);
  said("wait", clWaitForEvents(1, &mapped));
  cl_command_type type = 0;
  clGetEventInfo(mapped, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
  say("%s, command %x", digest(pointer, 150000).c_str(), type);
  pointer[0] = 1, pointer[149999] = 2;
  said("unmap", clEnqueueUnmapMemObject(queue, memory, pointer, 0, nullptr, &unmapped));
  clGetEventInfo(unmapped, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
  say("command %x", type);
  said("wait", clWaitForEvents(1, &unmapped));
  clReleaseEvent(mapped), clReleaseEvent(unmapped);
  show("after a map with events", queue, memory);
  // Mapped and unmapped without waiting between: the order of the queue is all there is.
  auto* at_once = map(queue, memory, CL_FALSE, CL_MAP_READ, 0, kSize);
  said("unmap at once", clEnqueueUnmapMemObject(queue, memory, at_once, 0, nullptr, nullptr));
  said("fill", clEnqueueFillBuffer(queue, memory, "zz", 2, 0, 2000, 0, nullptr, nullptr));
  show("after a map nobody looked at", queue, memory);
}

void nested(cl_command_queue queue, cl_mem memory) {
  auto* outer = map(queue, memory, CL_TRUE, CL_MAP_WRITE, 0, 10000);
  std::memset(outer, 0x33, 10000);
  auto* inner = map(queue, memory, CL_TRUE, CL_MAP_READ, 5000, 10000);
  say("distance %td, %u maps, %s", inner - outer, maps_of(memory), digest(inner, 10000).c_str());
  auto* again = map(queue, memory, CL_TRUE, CL_MAP_READ, 5000, 10);
  say("distance %td, %u maps", again - outer, maps_of(memory));
  said("unmap", clEnqueueUnmapMemObject(queue, memory, inner, 0, nullptr, nullptr));
  said("unmap", clEnqueueUnmapMemObject(queue, memory, again, 0, nullptr, nullptr));
  said("unmap", clEnqueueUnmapMemObject(queue, memory, outer, 0, nullptr, nullptr));
  said("finish", clFinish(queue));
  show("after nested maps", queue, memory);
  said("unmap what is not mapped", clEnqueueUnmapMemObject(queue, memory, outer, 0, nullptr, nullptr));
}

void pieces(cl_command_queue queue, cl_mem memory) {
  cl_int code;
  const cl_buffer_region region{4096, 8192};
  auto piece = clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  said("part", code);
  auto* whole = map(queue, memory, CL_TRUE, CL_MAP_READ, 0, kSize);
  auto* part = map(queue, piece, CL_TRUE, CL_MAP_READ, 16, 64);
  say("distance %td, %u and %u maps", part - whole, maps_of(memory), maps_of(piece));
  said("unmap part", clEnqueueUnmapMemObject(queue, piece, part, 0, nullptr, nullptr));
  said("unmap whole", clEnqueueUnmapMemObject(queue, memory, whole, 0, nullptr, nullptr));
  part = map(queue, piece, CL_TRUE, CL_MAP_WRITE, 0, 8192);
  std::memset(part, 0x77, 8192);
  said("unmap part", clEnqueueUnmapMemObject(queue, piece, part, 0, nullptr, nullptr));
  said("release", clReleaseMemObject(piece));
  show("after a mapped part", queue, memory);
}

void refused(cl_context context, cl_command_queue queue, cl_mem memory) {
  cl_int code;
  const auto attempt = [&](const char* what, cl_command_queue on, cl_mem of, cl_map_flags flags, size_t offset,
                           size_t size, cl_uint count = 0) {
    clEnqueueMapBuffer(on, of, CL_TRUE, flags, offset, size, count, nullptr, nullptr, &code);
    said(what, code);
  };
  attempt("map: null queue", nullptr, memory, CL_MAP_READ, 0, 1);
  attempt("map: null buffer", queue, nullptr, CL_MAP_READ, 0, 1);
  attempt("map: nothing", queue, memory, CL_MAP_READ, 0, 0);
  attempt("map: too far", queue, memory, CL_MAP_READ, kSize, 1);
  attempt("map: too long", queue, memory, CL_MAP_READ, 1, kSize);
  attempt("map: count without list", queue, memory, CL_MAP_READ, 0, 1, 1);
  const std::pair<const char*, cl_mem_flags> kinds[] = {{"no access", CL_MEM_HOST_NO_ACCESS},
                                                        {"read only", CL_MEM_HOST_READ_ONLY},
                                                        {"write only", CL_MEM_HOST_WRITE_ONLY}};
  for (const auto& [what, flags] : kinds) {
    auto closed = clCreateBuffer(context, flags, 64, nullptr, &code);
    const std::pair<const char*, cl_map_flags> ways[] = {
        {"read", CL_MAP_READ}, {"write", CL_MAP_WRITE}, {"invalidate", CL_MAP_WRITE_INVALIDATE_REGION}};
    for (const auto& [way, map_flags] : ways) {
      auto* pointer = clEnqueueMapBuffer(queue, closed, CL_TRUE, map_flags, 0, 64, 0, nullptr, nullptr, &code);
      said(std::string("map ") + what + " to " + way, code);
      if (pointer) said("unmap", clEnqueueUnmapMemObject(queue, closed, pointer, 0, nullptr, nullptr));
    }
    said("finish", clFinish(queue));
    clReleaseMemObject(closed);
  }
  int local = 0;
  said("unmap: null queue", clEnqueueUnmapMemObject(nullptr, memory, &local, 0, nullptr, nullptr));
  said("unmap: null object", clEnqueueUnmapMemObject(queue, nullptr, &local, 0, nullptr, nullptr));
  said("unmap: foreign pointer", clEnqueueUnmapMemObject(queue, memory, &local, 0, nullptr, nullptr));
  said("unmap: null pointer", clEnqueueUnmapMemObject(queue, memory, nullptr, 0, nullptr, nullptr));
}

void own_memory(cl_context context, cl_command_queue queue) {
  cl_int code;
  alignas(4096) static unsigned char host[65536];
  for (size_t i = 0; i < sizeof host; ++i) host[i] = static_cast<unsigned char>(i * 7);
  auto memory = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof host, host, &code);
  said("use host memory", code);
  said("fill", clEnqueueFillBuffer(queue, memory, "host", 4, 1024, 4096, 0, nullptr, nullptr));
  auto* pointer = map(queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 512, 8192);
  say("is ours: %d, %s", pointer == host + 512, digest(host, sizeof host).c_str());
  std::memset(pointer, 0x99, 16);
  said("unmap", clEnqueueUnmapMemObject(queue, memory, pointer, 0, nullptr, nullptr));
  std::vector<unsigned char> got(sizeof host);
  said("read", clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof host, got.data(), 0, nullptr, nullptr));
  say("%s", digest(got).c_str());
  said("release", clReleaseMemObject(memory));
}

}  // namespace

int main() {
  const auto devices = all_devices();
  const auto context = new_context(devices);
  for (auto* device : devices) {
    const auto queue = new_queue(context, device);
    std::vector<unsigned char> content(kSize);
    for (size_t i = 0; i < kSize; ++i) content[i] = static_cast<unsigned char>(i * i >> 7);
    cl_int code;
    auto memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, kSize, content.data(), &code);
    need("clCreateBuffer", code);
    plain(queue, memory);
    events(queue, memory);
    nested(queue, memory);
    pieces(queue, memory);
    refused(context, queue, memory);
    own_memory(context, queue);
    said("release", clReleaseMemObject(memory));
    said("release queue", clReleaseCommandQueue(queue));
  }
  said("release context", clReleaseContext(context));
}
