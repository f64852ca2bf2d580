// What the driver that believes what it is told has given out, and what it holds against its callers.
#pragma once

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "gen/cuda/cuda.h"

namespace {

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "broken: the driver was given %s\n", what);
  std::abort();
}

enum class Kind {
  context,
  stream,
  event,
  module,
  function,
  kernel,
  library,
  pool,
  memory,
  array,
  mipmap,
  graph,
  exec,
  node
};
constexpr std::uint64_t kMostBytes = 1 << 20, kPage = 4096;

struct Object {
  Kind kind;
  Object* in = nullptr;     ///< goes with that one
  std::uint64_t size = 0;
};

struct Memory {
  std::uint64_t size;
  Object* context;          ///< goes with it; null: of none
  enum { device, host, registered, variable, mapping } sort;
};

std::recursive_mutex lock;
std::map<Object*, std::vector<std::uint8_t>> objects;   ///< with what they hold
std::map<std::uint64_t, Memory> memory;
std::map<std::uint64_t, std::uint64_t> reserved;
std::map<CUdevice, Object*> primaries;
std::map<unsigned long long, bool> shown;
std::map<Object*, std::vector<CUuserObject>> user_objects;   ///< of graphs
thread_local Object* current = nullptr;

using Guard = std::lock_guard<std::recursive_mutex>;

template <class T>
Object* check(T handle, Kind kind, const char* what) {
  auto* object = reinterpret_cast<Object*>(handle);
  const auto found = objects.find(object);
  if (found == objects.end() || found->first->kind != kind) broken(what);
  return object;
}

Object* context() {
  if (current && !objects.contains(current)) broken("work for a context that is gone");
  return current;
}

Object* stream_of(CUstream stream) { return stream ? check(stream, Kind::stream, "a stream that is none") : nullptr; }

Object* make(Kind kind, Object* in, std::uint64_t size = 0) {
  auto* object = new Object{kind, in, size};
  objects[object];
  return object;
}

void forget(std::uint64_t at) {
  const auto found = memory.find(at);
  if (found == memory.end()) return;
  if (found->second.sort == Memory::device || found->second.sort == Memory::variable)
    delete[] reinterpret_cast<std::uint8_t*>(at);
  if (found->second.sort == Memory::host) std::free(reinterpret_cast<void*>(at));
  memory.erase(found);
}

void end(Object* object) {
  std::vector<Object*> parts;
  for (const auto& [one, bytes] : objects)
    if (one->in == object) parts.push_back(one);
  std::vector<std::uint64_t> stretches;
  for (const auto& [at, one] : memory)
    if (one.context == object) stretches.push_back(at);
  for (const auto at : stretches) forget(at);
  for (auto* part : parts)
    if (objects.contains(part)) end(part);
  objects.erase(object);
  delete object;
}

void touch(std::uint64_t at, std::uint64_t size, const char* what) {
  if (size == 0) return;
  if (at + size < at) broken(what);
  auto one = memory.upper_bound(at);
  if (one == memory.begin()) broken(what);
  --one;
  auto end_of = one->first + one->second.size;
  if (at >= end_of) broken(what);
  while (end_of - at < size) {
    if (++one == memory.end() || one->first != end_of) broken(what);
    end_of += one->second.size;
  }
}

void read_host(const void* from, std::uint64_t size) {
  volatile std::uint8_t seen = 0;
  for (std::uint64_t i = 0; i < size; ++i)
    seen = static_cast<std::uint8_t>(seen + static_cast<const std::uint8_t*>(from)[i]);
}

std::uint64_t new_memory(std::uint64_t size, Object* in) {
  const auto at = reinterpret_cast<std::uint64_t>(new std::uint8_t[size]());
  memory[at] = {size, in, Memory::device};
  return at;
}

void side(CUmemorytype type, CUdeviceptr device, const void* host, CUarray array, std::uint64_t x, std::uint64_t y,
          std::uint64_t z, std::uint64_t pitch, std::uint64_t height, const CUDA_MEMCPY3D& copy, bool is_written) {
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return;
  if (type == CU_MEMORYTYPE_ARRAY) return void(check(array, Kind::array, "an array that is none"));
  if (pitch == 0) pitch = copy.WidthInBytes;
  if (height == 0) height = copy.Height;
  const auto bytes = static_cast<unsigned __int128>(pitch) * height * (copy.Depth - 1 + z) +
                     static_cast<unsigned __int128>(pitch) * (copy.Height - 1 + y) + copy.WidthInBytes + x;
  if (bytes >> 62) broken("rows that no memory holds");
  if (type == CU_MEMORYTYPE_HOST) {
    if (is_written) std::memset(const_cast<void*>(host), 7, static_cast<std::size_t>(bytes));
    else read_host(host, static_cast<std::uint64_t>(bytes));
    return;
  }
  const auto first = static_cast<unsigned __int128>(pitch) * height * z + static_cast<unsigned __int128>(pitch) * y + x;
  touch(device + static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(bytes - first),
        "rows beyond its memory");
}

CUresult rows(const CUDA_MEMCPY3D& copy, CUstream stream) {
  const Guard guard(lock);
  context(), stream_of(stream);
  side(copy.srcMemoryType, copy.srcDevice, copy.srcHost, copy.srcArray, copy.srcXInBytes, copy.srcY, copy.srcZ,
       copy.srcPitch, copy.srcHeight, copy, false);
  side(copy.dstMemoryType, copy.dstDevice, copy.dstHost, copy.dstArray, copy.dstXInBytes, copy.dstY, copy.dstZ,
       copy.dstPitch, copy.dstHeight, copy, true);
  return CUDA_SUCCESS;
}

CUresult fill(CUdeviceptr at, std::uint64_t pitch, std::uint64_t width, std::uint64_t height, CUstream stream) {
  const Guard guard(lock);
  context(), stream_of(stream);
  if (width && height) touch(at, pitch * (height - 1) + width, "a fill beyond its memory");
  return CUDA_SUCCESS;
}

CUresult word(CUstream stream, CUdeviceptr at, std::uint64_t size) {
  const Guard guard(lock);
  stream_of(stream);
  touch(at, size, "an operation on a word that is not there");
  return CUDA_SUCCESS;
}

void operation(const CUstreamBatchMemOpParams& one, CUstream stream) {
  const auto which = one.operation;
  if (which == CU_STREAM_MEM_OP_BARRIER || which == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) return;
  word(stream, one.waitValue.address,
       which == CU_STREAM_MEM_OP_WAIT_VALUE_64 || which == CU_STREAM_MEM_OP_WRITE_VALUE_64 ? 8 : 4);
  if (which > CU_STREAM_MEM_OP_WRITE_VALUE_64) broken("an operation that nobody knows");
}

/// PTX text and ELF files only, and fatbins without a wrapper.
CUresult load(const void* image, void** made, Kind kind, Object* in) {
  const auto* bytes = static_cast<const std::uint8_t*>(image);
  if (std::memcmp(bytes, "\xb1\x43\x62\x46", 4) == 0) broken("a fatbin's wrapper");
  if (bytes[0] == '.' || bytes[0] == '/' || bytes[0] == ' ')
    read_host(bytes, std::strlen(reinterpret_cast<const char*>(bytes)) + 1);
  *made = make(kind, in);
  return CUDA_SUCCESS;
}

CUresult launch(CUfunction function, void** extra, CUstream stream) {
  const Guard guard(lock);
  context(), stream_of(stream);
  auto* object = reinterpret_cast<Object*>(function);
  if (!objects.contains(object) || (object->kind != Kind::function && object->kind != Kind::kernel))
    broken("a kernel that is none");
  std::size_t size = 0;
  const void* buffer = nullptr;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<std::size_t*>(extra[1]);
  }
  if (size != 12) broken("parameters of another size than the kernel's");
  read_host(buffer, size);
  return CUDA_SUCCESS;
}

/// What a node will do each time, as if it did it now.
void node(const CUgraphNodeParams& params) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return void(launch(params.kernel.func, params.kernel.extra, nullptr));
    case CU_GRAPH_NODE_TYPE_MEMCPY: return void(rows(params.memcpy.copyParams, nullptr));
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return void(fill(params.memset.dst, params.memset.height <= 1 ? 0 : params.memset.pitch,
                       params.memset.width * params.memset.elementSize, params.memset.height, nullptr));
    case CU_GRAPH_NODE_TYPE_HOST:
      if (!params.host.fn || !params.host.userData) broken("a node of a host function without one");
      return;
    case CU_GRAPH_NODE_TYPE_EMPTY: return;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return void(check(params.eventWait.event, Kind::event, "an event that is none"));
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return void(check(params.eventRecord.event, Kind::event, "an event that is none"));
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      for (unsigned i = 0; i < params.memOp.count; ++i) operation(params.memOp.paramArray[i], nullptr);
      return;
    default: broken("a node of a kind that the backend has not");
  }
}

CUresult parameter(size_t index, size_t* offset, size_t* size) {
  if (index > 1) return CUDA_ERROR_INVALID_VALUE;
  *offset = index * 8;
  *size = index == 0 ? 8 : 4;
  return CUDA_SUCCESS;
}

CUresult part(void** made, Kind kind, Object* of) {
  const Guard guard(lock);
  *made = make(kind, of);
  return CUDA_SUCCESS;
}

template <class T>
CUresult gone(T handle, Kind kind, const char* what) {
  const Guard guard(lock);
  end(check(handle, kind, what));
  return CUDA_SUCCESS;
}

}  // namespace
