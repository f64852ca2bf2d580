// Buffers: how they are made and refused, what they say of themselves, and every transfer of them in one piece and in
// boxes.
#include <cstring>

#include "report.h"

namespace {

std::vector<unsigned char> numbers(size_t size, unsigned seed) {
  std::vector<unsigned char> data(size);
  for (auto& byte : data) byte = static_cast<unsigned char>((seed = seed * 1103515245 + 12345) >> 16);
  return data;
}

cl_mem buffer(cl_context context, size_t size, const void* content = nullptr, cl_mem_flags flags = CL_MEM_READ_WRITE) {
  cl_int code;
  const auto memory =
      clCreateBuffer(context, flags | (content ? CL_MEM_COPY_HOST_PTR : 0), size, const_cast<void*>(content), &code);
  need("clCreateBuffer", code);
  return memory;
}

cl_mem part(cl_mem of, size_t origin, size_t size, cl_int* code, cl_mem_flags flags = 0) {
  const cl_buffer_region region{origin, size};
  return clCreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, code);
}

template <class T>
T info(cl_mem memory, cl_mem_info name) {
  T value{};
  size_t size = 0;
  need("clGetMemObjectInfo", clGetMemObjectInfo(memory, name, sizeof value, &value, &size));
  if (size != sizeof value) say("size of info %x: %zu", name, size);
  return value;
}

void describe(const char* what, cl_mem memory) {
  say("%s: type %x flags %lx size %zu maps %u references %u offset %zu parent %d host %d svm %u", what,
      info<cl_mem_object_type>(memory, CL_MEM_TYPE),
      static_cast<unsigned long>(info<cl_mem_flags>(memory, CL_MEM_FLAGS)), info<size_t>(memory, CL_MEM_SIZE),
      info<cl_uint>(memory, CL_MEM_MAP_COUNT), info<cl_uint>(memory, CL_MEM_REFERENCE_COUNT),
      info<size_t>(memory, CL_MEM_OFFSET), info<cl_mem>(memory, CL_MEM_ASSOCIATED_MEMOBJECT) != nullptr,
      info<void*>(memory, CL_MEM_HOST_PTR) != nullptr, info<cl_bool>(memory, CL_MEM_USES_SVM_POINTER));
}

void creation(cl_context context, cl_device_id device) {
  alignas(128) static unsigned char host[8192];
  cl_int code;
  const auto attempt = [&](const char* what, cl_context in, cl_mem_flags flags, size_t size, void* pointer) {
    const auto memory = clCreateBuffer(in, flags, size, pointer, &code);
    said(what, code);
    if (!memory) return;
    describe(what, memory);
    said("release", clReleaseMemObject(memory));
  };
  attempt("null context", nullptr, 0, 16, nullptr);
  attempt("no size", context, 0, 0, nullptr);
  attempt("no flags", context, 0, 16, nullptr);
  attempt("read and write only", context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, nullptr);
  attempt("read write and read only", context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 16, nullptr);
  attempt("unknown flag", context, cl_mem_flags{1} << 40, 16, nullptr);
  attempt("use without pointer", context, CL_MEM_USE_HOST_PTR, 16, nullptr);
  attempt("copy without pointer", context, CL_MEM_COPY_HOST_PTR, 16, nullptr);
  attempt("pointer without use", context, CL_MEM_READ_WRITE, 16, host);
  attempt("use and copy", context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 16, host);
  attempt("use and alloc", context, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 16, host);
  attempt("host read and write only", context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 16, nullptr);
  attempt("host none and read only", context, CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY, 16, nullptr);
  attempt("use", context, CL_MEM_USE_HOST_PTR, 4096, host);
  attempt("alloc and copy", context, CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, 4096, host);
  cl_ulong largest = 0;
  need("clGetDeviceInfo", clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr));
  attempt("too large", context, 0, largest + 1, nullptr);
  const cl_mem_properties none[] = {0}, unknown[] = {77, 1, 0};
  auto memory = clCreateBufferWithProperties(context, none, 0, 64, nullptr, &code);
  said("with no properties", code);
  size_t size = 99;
  said("properties", clGetMemObjectInfo(memory, CL_MEM_PROPERTIES, 0, nullptr, &size));
  say("%zu bytes", size);
  clReleaseMemObject(memory);
  memory = clCreateBufferWithProperties(context, nullptr, 0, 64, nullptr, &code);
  said("without properties", code);
  size = 99;
  said("properties", clGetMemObjectInfo(memory, CL_MEM_PROPERTIES, 0, nullptr, &size));
  say("%zu bytes", size);
  said("info too small", clGetMemObjectInfo(memory, CL_MEM_SIZE, 4, &size, nullptr));
  said("unknown info", clGetMemObjectInfo(memory, 0x9999, 8, &size, nullptr));
  said("info of null", clGetMemObjectInfo(nullptr, CL_MEM_SIZE, 8, &size, nullptr));
  said("retain", clRetainMemObject(memory));
  say("references %u", info<cl_uint>(memory, CL_MEM_REFERENCE_COUNT));
  said("release", clReleaseMemObject(memory));
  said("release", clReleaseMemObject(memory));
  said("retain null", clRetainMemObject(nullptr));
  said("release null", clReleaseMemObject(nullptr));
  clCreateBufferWithProperties(context, unknown, 0, 64, nullptr, &code);
  said("with unknown properties", code);
}

void parts(cl_context context, cl_command_queue queue) {
  cl_int code;
  const auto content = numbers(8192, 7);
  auto whole = buffer(context, 8192, content.data());
  const auto attempt = [&](const char* what, cl_mem of, size_t origin, size_t size, cl_mem_flags flags = 0) {
    auto made = part(of, origin, size, &code, flags);
    said(what, code);
    if (made) describe(what, made), clReleaseMemObject(made);
  };
  attempt("part", whole, 1024, 2048);
  attempt("read only part", whole, 0, 16, CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS);
  attempt("part of null", nullptr, 0, 16);
  attempt("empty part", whole, 0, 0);
  attempt("part that is too long", whole, 1024, 8192);
  attempt("misaligned part", whole, 3, 16);
  attempt("part with host pointer", whole, 0, 16, CL_MEM_ALLOC_HOST_PTR);
  const cl_buffer_region region{0, 16};
  clCreateSubBuffer(whole, 0, 0x9999, &region, &code), said("unknown kind of part", code);
  clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, nullptr, &code), said("part without region", code);
  auto closed = buffer(context, 1024, nullptr, CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY);
  attempt("readable part of write only", closed, 0, 16, CL_MEM_READ_ONLY);
  attempt("host readable part of host write only", closed, 0, 16, CL_MEM_HOST_READ_ONLY);
  attempt("inheriting part", closed, 0, 16);
  auto first = part(whole, 0, 4096, &code), second = part(whole, 2048, 4096, &code);
  attempt("part of a part", first, 0, 16);
  describe("whole with two parts", whole);
  std::vector<unsigned char> got(8192);
  said("fill a part", clEnqueueFillBuffer(queue, first, "\x11\x22\x33\x44", 4, 2048, 1024, 0, nullptr, nullptr));
  said("read the other", clEnqueueReadBuffer(queue, second, CL_TRUE, 0, 4096, got.data(), 0, nullptr, nullptr));
  say("%s", digest(got.data(), 4096).c_str());
  said("copy overlapping parts", clEnqueueCopyBuffer(queue, first, second, 2048, 0, 128, 0, nullptr, nullptr));
  said("copy between parts", clEnqueueCopyBuffer(queue, first, second, 0, 2048, 1024, 0, nullptr, nullptr));
  said("release whole", clReleaseMemObject(whole));
  said("read", clEnqueueReadBuffer(queue, second, CL_TRUE, 0, 4096, got.data(), 0, nullptr, nullptr));
  say("%s", digest(got.data(), 4096).c_str());
  for (auto memory : {first, second, closed}) said("release", clReleaseMemObject(memory));
}

void transfers(cl_context context, cl_context other, cl_command_queue queue) {
  cl_int code;
  constexpr size_t kSize = 300000;
  const auto content = numbers(kSize, 3), more = numbers(kSize, 5);
  auto memory = buffer(context, kSize, content.data()), target = buffer(context, kSize, more.data()),
       foreign = buffer(other, 64);
  std::vector<unsigned char> got(kSize);
  const auto show = [&](const char* what, cl_mem of) {
    std::fill(got.begin(), got.end(), static_cast<unsigned char>(0));
    said(what, clEnqueueReadBuffer(queue, of, CL_TRUE, 0, kSize, got.data(), 0, nullptr, nullptr));
    say("%s", digest(got).c_str());
  };
  show("content", memory);
  said("blocking write", clEnqueueWriteBuffer(queue, memory, CL_TRUE, 11, 100, more.data(), 0, nullptr, nullptr));
  said("large blocking write",
       clEnqueueWriteBuffer(queue, memory, CL_TRUE, 777, 200000, more.data(), 0, nullptr, nullptr));
  show("written", memory);
  said("small write", clEnqueueWriteBuffer(queue, memory, CL_FALSE, 5, 13, more.data() + 99, 0, nullptr, nullptr));
  said("large write",
       clEnqueueWriteBuffer(queue, memory, CL_FALSE, 100000, 199999, more.data() + 1, 0, nullptr, nullptr));
  show("written without blocking", memory);
  cl_event event = nullptr;
  said("read without blocking",
       clEnqueueReadBuffer(queue, memory, CL_FALSE, 17, 250000, got.data(), 0, nullptr, &event));
  said("wait", clWaitForEvents(1, &event));
  cl_command_type type = 0;
  clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
  say("%s, command %x", digest(got.data(), 250000).c_str(), type);
  clReleaseEvent(event);
  said("nothing read", clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 0, got.data(), 0, nullptr, nullptr));
  said("nothing written", clEnqueueWriteBuffer(queue, memory, CL_TRUE, kSize, 0, got.data(), 0, nullptr, nullptr));
  said("copy", clEnqueueCopyBuffer(queue, memory, target, 1000, 3, 250000, 0, nullptr, &event));
  clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
  say("command %x", type);
  clReleaseEvent(event);
  said("fill", clEnqueueFillBuffer(queue, target, "\1\2\3\4\5\6\7\x8", 8, 16, 80000, 0, nullptr, nullptr));
  said("fill bytes", clEnqueueFillBuffer(queue, target, "\xee", 1, 260001, 33, 0, nullptr, nullptr));
  said("fill by 128", clEnqueueFillBuffer(queue, target, more.data(), 128, 128 * 1000, 128 * 50, 0, nullptr, nullptr));
  said("copy inside", clEnqueueCopyBuffer(queue, target, target, 0, 200000, 50000, 0, nullptr, nullptr));
  show("copied and filled", target);

  said("read: null queue", clEnqueueReadBuffer(nullptr, memory, CL_TRUE, 0, 1, got.data(), 0, nullptr, nullptr));
  said("read: null buffer", clEnqueueReadBuffer(queue, nullptr, CL_TRUE, 0, 1, got.data(), 0, nullptr, nullptr));
  said("read: foreign", clEnqueueReadBuffer(queue, foreign, CL_TRUE, 0, 1, got.data(), 0, nullptr, nullptr));
  said("read: null pointer", clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 1, nullptr, 0, nullptr, nullptr));
  said("read: too far", clEnqueueReadBuffer(queue, memory, CL_TRUE, kSize, 1, got.data(), 0, nullptr, nullptr));
  said("read: wraps",
       clEnqueueReadBuffer(queue, memory, CL_TRUE, 16, static_cast<size_t>(-8), got.data(), 0, nullptr, nullptr));
  said("read: count without list", clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 1, got.data(), 1, nullptr, nullptr));
  said("write: null queue", clEnqueueWriteBuffer(nullptr, memory, CL_TRUE, 0, 1, got.data(), 0, nullptr, nullptr));
  said("write: too long", clEnqueueWriteBuffer(queue, memory, CL_TRUE, 1, kSize, got.data(), 0, nullptr, nullptr));
  said("write: null pointer", clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, 1, nullptr, 0, nullptr, nullptr));
  said("copy: nothing", clEnqueueCopyBuffer(queue, memory, target, 0, 0, 0, 0, nullptr, nullptr));
  said("copy: too far", clEnqueueCopyBuffer(queue, memory, target, 0, 1, kSize, 0, nullptr, nullptr));
  said("copy: overlap", clEnqueueCopyBuffer(queue, memory, memory, 0, 10, 20, 0, nullptr, nullptr));
  said("copy: itself", clEnqueueCopyBuffer(queue, memory, memory, 0, 0, 20, 0, nullptr, nullptr));
  said("copy: null", clEnqueueCopyBuffer(queue, memory, nullptr, 0, 0, 20, 0, nullptr, nullptr));
  said("copy: foreign", clEnqueueCopyBuffer(queue, memory, foreign, 0, 0, 20, 0, nullptr, nullptr));
  said("fill: null pattern", clEnqueueFillBuffer(queue, memory, nullptr, 4, 0, 16, 0, nullptr, nullptr));
  said("fill: three bytes", clEnqueueFillBuffer(queue, memory, "abc", 3, 0, 12, 0, nullptr, nullptr));
  said("fill: odd offset", clEnqueueFillBuffer(queue, memory, "abcd", 4, 2, 16, 0, nullptr, nullptr));
  said("fill: odd size", clEnqueueFillBuffer(queue, memory, "abcd", 4, 0, 15, 0, nullptr, nullptr));
  said("fill: too far", clEnqueueFillBuffer(queue, memory, "abcd", 4, kSize, 16, 0, nullptr, nullptr));
  said("fill: 256 bytes", clEnqueueFillBuffer(queue, memory, more.data(), 256, 0, 512, 0, nullptr, nullptr));

  auto hidden = buffer(context, 64, more.data(), CL_MEM_HOST_NO_ACCESS),
       writable = buffer(context, 64, nullptr, CL_MEM_HOST_WRITE_ONLY),
       readable = buffer(context, 64, content.data(), CL_MEM_HOST_READ_ONLY);
  said("read hidden", clEnqueueReadBuffer(queue, hidden, CL_TRUE, 0, 1, got.data(), 0, nullptr, nullptr));
  said("write hidden", clEnqueueWriteBuffer(queue, hidden, CL_TRUE, 0, 1, got.data(), 0, nullptr, nullptr));
  said("read write only", clEnqueueReadBuffer(queue, writable, CL_TRUE, 0, 1, got.data(), 0, nullptr, nullptr));
  said("write read only", clEnqueueWriteBuffer(queue, readable, CL_TRUE, 0, 1, got.data(), 0, nullptr, nullptr));
  said("copy to hidden", clEnqueueCopyBuffer(queue, readable, hidden, 0, 0, 64, 0, nullptr, nullptr));
  said("copy from hidden", clEnqueueCopyBuffer(queue, hidden, memory, 0, 0, 64, 0, nullptr, nullptr));
  show("through hidden", memory);

  const std::pair<const char*, cl_mem_migration_flags> kinds[] = {
      {"to the device", 0},
      {"to the host", CL_MIGRATE_MEM_OBJECT_HOST},
      {"undefined", CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED},
      {"unknown", 4}};
  for (const auto& [what, flags] : kinds)
    said(std::string("migrate ") + what,
         clEnqueueMigrateMemObjects(queue, 1, flags == CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED ? &target : &memory,
                                    flags, 0, nullptr, nullptr));
  said("migrate none", clEnqueueMigrateMemObjects(queue, 0, &memory, 0, 0, nullptr, nullptr));
  said("migrate null list", clEnqueueMigrateMemObjects(queue, 1, nullptr, 0, 0, nullptr, nullptr));
  said("migrate foreign", clEnqueueMigrateMemObjects(queue, 1, &foreign, 0, 0, nullptr, nullptr));
  show("migrated", memory);
  for (auto released : {memory, target, foreign, hidden, writable, readable}) code = clReleaseMemObject(released);
  said("released", code);
}

void boxes(cl_context context, cl_command_queue queue) {
  constexpr size_t kSize = 64 * 64 * 40;
  const auto content = numbers(kSize, 21), more = numbers(kSize, 22);
  auto memory = buffer(context, kSize, content.data()), target = buffer(context, kSize, more.data());
  std::vector<unsigned char> got(kSize);
  const size_t origin[3] = {5, 3, 2}, host[3] = {1, 2, 3}, region[3] = {37, 20, 11}, zero[3] = {0, 0, 0},
               flat[3] = {64, 64, 30}, none[3] = {4, 0, 1};
  const auto read = [&](const char* what, cl_bool blocking, const size_t* from, const size_t* to, const size_t* box,
                        size_t row, size_t slice, size_t host_row, size_t host_slice) {
    std::fill(got.begin(), got.end(), static_cast<unsigned char>(0));
    if (said(what, clEnqueueReadBufferRect(queue, memory, blocking, from, to, box, row, slice, host_row, host_slice,
                                           got.data(), 0, nullptr, nullptr)) != CL_SUCCESS)
      return;
    said("finish", clFinish(queue));
    say("%s", digest(got).c_str());
  };
  read("box", CL_TRUE, origin, host, region, 64, 64 * 64, 50, 50 * 30);
  read("box without blocking", CL_FALSE, origin, zero, region, 64, 64 * 64, 0, 0);
  read("default pitches", CL_TRUE, zero, zero, region, 0, 0, 0, 0);
  read("in one piece", CL_FALSE, zero, zero, flat, 64, 64 * 64, 64, 64 * 64);
  read("row pitch too small", CL_TRUE, origin, host, region, 36, 64 * 64, 50, 50 * 30);
  read("slice pitch too small", CL_TRUE, origin, host, region, 64, 64 * 19, 50, 50 * 30);
  read("slice pitch not of rows", CL_TRUE, origin, host, region, 64, 64 * 64 + 1, 50, 50 * 30);
  read("host row pitch too small", CL_TRUE, origin, host, region, 64, 64 * 64, 36, 50 * 30);
  read("outside", CL_TRUE, region, host, flat, 64, 64 * 64, 64, 64 * 64);
  read("empty", CL_TRUE, origin, host, none, 64, 64 * 64, 50, 50 * 30);
  read("null origin", CL_TRUE, nullptr, host, region, 64, 64 * 64, 50, 50 * 30);
  read("null region", CL_TRUE, origin, host, nullptr, 64, 64 * 64, 50, 50 * 30);
  said("write a box", clEnqueueWriteBufferRect(queue, memory, CL_TRUE, origin, host, region, 64, 64 * 64, 50, 50 * 30,
                                               more.data(), 0, nullptr, nullptr));
  said("write a large box", clEnqueueWriteBufferRect(queue, memory, CL_FALSE, zero, zero, flat, 64, 64 * 64, 0, 0,
                                                     more.data(), 0, nullptr, nullptr));
  said("write a box later", clEnqueueWriteBufferRect(queue, memory, CL_FALSE, host, origin, region, 64, 64 * 64, 50,
                                                     50 * 30, content.data(), 0, nullptr, nullptr));
  said("write: null pointer", clEnqueueWriteBufferRect(queue, memory, CL_TRUE, origin, host, region, 64, 64 * 64, 50,
                                                       50 * 30, nullptr, 0, nullptr, nullptr));
  read("written", CL_TRUE, zero, zero, flat, 64, 64 * 64, 64, 64 * 64);
  said("copy a box", clEnqueueCopyBufferRect(queue, target, memory, origin, host, region, 64, 64 * 64, 64, 64 * 64, 0,
                                             nullptr, nullptr));
  const size_t beside[3] = {5, 30, 2};
  said("copy inside", clEnqueueCopyBufferRect(queue, memory, memory, origin, beside, region, 64, 64 * 64, 64, 64 * 64,
                                              0, nullptr, nullptr));
  said("copy overlapping", clEnqueueCopyBufferRect(queue, memory, memory, origin, host, region, 64, 64 * 64, 64,
                                                   64 * 64, 0, nullptr, nullptr));
  said("copy with other pitches", clEnqueueCopyBufferRect(queue, memory, memory, origin, beside, region, 64, 64 * 64,
                                                          128, 128 * 64, 0, nullptr, nullptr));
  said("copy: null origin", clEnqueueCopyBufferRect(queue, memory, target, origin, nullptr, region, 64, 64 * 64, 64,
                                                    64 * 64, 0, nullptr, nullptr));
  said("copy: outside", clEnqueueCopyBufferRect(queue, memory, target, origin, host, flat, 64, 64 * 64, 64, 64 * 64 * 2,
                                                0, nullptr, nullptr));
  read("copied", CL_TRUE, zero, zero, flat, 64, 64 * 64, 64, 64 * 64);
  for (auto released : {memory, target}) said("release", clReleaseMemObject(released));
}

void destructors(cl_context context, cl_command_queue queue) {
  static int order = 0;
  const auto reported = [](cl_mem, void* data) {
    say("destructor %d at %d", static_cast<int>(reinterpret_cast<size_t>(data)), order++);
  };
  auto memory = buffer(context, 64);
  for (size_t i = 1; i <= 3; ++i)
    said("set destructor", clSetMemObjectDestructorCallback(memory, reported, reinterpret_cast<void*>(i)));
  said("null destructor", clSetMemObjectDestructorCallback(memory, nullptr, nullptr));
  said("destructor of null", clSetMemObjectDestructorCallback(nullptr, reported, nullptr));
  said("finish", clFinish(queue));
  said("retain", clRetainMemObject(memory));
  said("release", clReleaseMemObject(memory));
  said("last release", clReleaseMemObject(memory));
  say("after");
}

}  // namespace

int main() {
  const auto devices = all_devices();
  for (auto* device : devices) {
    const auto context = new_context({device}), other = new_context({device});
    const auto queue = new_queue(context, device);
    creation(context, device);
    parts(context, queue);
    transfers(context, other, queue);
    boxes(context, queue);
    destructors(context, queue);
    said("release queue", clReleaseCommandQueue(queue));
    said("release context", clReleaseContext(context));
    said("release context", clReleaseContext(other));
  }
}
