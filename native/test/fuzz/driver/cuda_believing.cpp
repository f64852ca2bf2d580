// A CUDA driver that believes what it is told: for the fuzzer of the CUDA backend. Every address must lie in memory
// that it gave out, every handle be one that is there, every buffer as long as is said: what is not so ends the
// process, and what is touched is touched, so that the sanitizer sees it. All happens at once.
#include "test/fuzz/driver/cuda_believing.h"

#pragma GCC visibility push(default)
extern "C" {

/// Between inputs: everything that is left goes.
void flexrack_fuzz_reset() {
  const Guard guard(lock);
  while (!memory.empty()) {
    if (memory.begin()->second.sort == Memory::registered || memory.begin()->second.sort == Memory::mapping)
      memory.erase(memory.begin());
    else forget(memory.begin()->first);
  }
  for (const auto& [object, bytes] : objects) delete object;
  objects.clear();
  user_objects.clear();
  for (const auto& [at, size] : reserved) munmap(reinterpret_cast<void*>(at), size);
  reserved.clear();
  current = nullptr;
  primaries.clear();
  shown.clear();
}
/// The first memory there is, so that inputs can name it.
std::uint64_t flexrack_fuzz_memory() {
  const Guard guard(lock);
  for (const auto& [at, one] : memory)
    if (one.sort == Memory::device) return at;
  return 0;
}

CUresult cuInit(unsigned int) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = 2, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int, CUdevice) { return std::strcpy(name, "made up"), CUDA_SUCCESS; }
CUresult cuDeviceGetPCIBusId(char* name, int, CUdevice) { return std::strcpy(name, "0000:00:00.0"), CUDA_SUCCESS; }
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return std::memset(uuid, device + 1, sizeof *uuid), CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid(uuid, device); }
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) { return *bytes = 1 << 30, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) { return *value = 1, CUDA_SUCCESS; }
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) { return *can = 1, CUDA_SUCCESS; }
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute, CUdevice, CUdevice) {
  return *value = 1, CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext* made, unsigned int, CUdevice) {
  const Guard guard(lock);
  current = make(Kind::context, nullptr);
  *made = reinterpret_cast<CUcontext>(current);
  return CUDA_SUCCESS;
}
CUresult cuCtxDestroy_v2(CUcontext gone_one) {
  return gone(gone_one, Kind::context, "a context that is none, to destroy");
}
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice, unsigned int) { return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext* made, CUdevice device) {
  const Guard guard(lock);
  auto& one = primaries[device];
  if (one) broken("a second retaining of a primary context");
  one = make(Kind::context, nullptr);
  *made = reinterpret_cast<CUcontext>(one);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  const Guard guard(lock);
  if (auto*& one = primaries[device]) end(one), one = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }
CUresult cuCtxSetCurrent(CUcontext wanted) {
  const Guard guard(lock);
  current = wanted ? check(wanted, Kind::context, "a context that is none") : nullptr;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuCtxGetApiVersion(CUcontext, unsigned int* version) { return *version = 3020, CUDA_SUCCESS; }
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) { return *least = *greatest = 0, CUDA_SUCCESS; }
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) { return *config = {}, CUDA_SUCCESS; }
CUresult cuCtxGetLimit(size_t* value, CUlimit) { return *value = 1, CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit, size_t) { return CUDA_SUCCESS; }

CUresult cuStreamCreateWithPriority(CUstream* made, unsigned int, int) {
  return part(reinterpret_cast<void**>(made), Kind::stream, context());
}
CUresult cuStreamDestroy_v2(CUstream stream) { return gone(stream, Kind::stream, "a stream that is none, to destroy"); }
CUresult cuStreamQuery(CUstream stream) {
  const Guard guard(lock);
  return stream_of(stream), CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  const Guard guard(lock);
  return stream_of(stream), check(event, Kind::event, "an event that is none"), CUDA_SUCCESS;
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data, unsigned int) {
  return function(stream, CUDA_SUCCESS, data), CUDA_SUCCESS;
}
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr at, cuuint32_t, unsigned int) {
  return word(stream, at, 4);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr at, cuuint64_t, unsigned int) {
  return word(stream, at, 8);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr at, cuuint32_t, unsigned int) {
  return word(stream, at, 4);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr at, cuuint64_t, unsigned int) {
  return word(stream, at, 8);
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* all, unsigned int) {
  for (unsigned i = 0; i < count; ++i) operation(all[i], stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID which, const CUstreamAttrValue* value) {
  const Guard guard(lock);
  stream_of(stream);
  if (which == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
    touch(reinterpret_cast<std::uint64_t>(value->accessPolicyWindow.base_ptr), value->accessPolicyWindow.num_bytes,
          "a window elsewhere");
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* made, unsigned int) {
  return part(reinterpret_cast<void**>(made), Kind::event, context());
}
CUresult cuEventDestroy_v2(CUevent event) { return gone(event, Kind::event, "an event that is none, to destroy"); }
CUresult cuEventQuery(CUevent event) {
  const Guard guard(lock);
  return check(event, Kind::event, "an event that is none"), CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) { return cuEventQuery(event); }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  const Guard guard(lock);
  return stream_of(stream), cuEventQuery(event);
}
CUresult cuEventElapsedTime(float* time, CUevent start, CUevent stop) {
  return *time = 1, cuEventQuery(start), cuEventQuery(stop);
}

CUresult cuMemAlloc_v2(CUdeviceptr* at, size_t size) {
  const Guard guard(lock);
  if (size > kMostBytes) return CUDA_ERROR_OUT_OF_MEMORY;
  return *at = new_memory(size, context()), CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr at) {
  const Guard guard(lock);
  const auto found = memory.find(at);
  if (found == memory.end() || found->second.sort != Memory::device) broken("memory to free that is none");
  return forget(at), CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** at, size_t size, unsigned int) {
  const Guard guard(lock);
  *at = size > kMostBytes ? nullptr : std::calloc(size, 1);
  if (!*at) return CUDA_ERROR_OUT_OF_MEMORY;
  memory[reinterpret_cast<std::uint64_t>(*at)] = {size, context(), Memory::host};
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* at) {
  const Guard guard(lock);
  const auto found = memory.find(reinterpret_cast<std::uint64_t>(at));
  if (found == memory.end() || found->second.sort != Memory::host) broken("host memory to free that is none");
  return forget(found->first), CUDA_SUCCESS;
}
CUresult cuMemHostRegister_v2(void* at, size_t size, unsigned int) {
  const Guard guard(lock);
  memory[reinterpret_cast<std::uint64_t>(at)] = {size, context(), Memory::registered};
  return CUDA_SUCCESS;
}
CUresult cuMemHostUnregister(void* at) {
  const Guard guard(lock);
  return memory.erase(reinterpret_cast<std::uint64_t>(at)) == 1 ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* at, unsigned int) {
  return *device = reinterpret_cast<std::uint64_t>(at), CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr* at, size_t size, CUstream stream) {
  const Guard guard(lock);
  stream_of(stream);
  if (size == 0 || size > kMostBytes) return CUDA_ERROR_OUT_OF_MEMORY;
  return *at = new_memory(size, nullptr), CUDA_SUCCESS;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* at, size_t size, CUmemoryPool pool, CUstream stream) {
  const Guard guard(lock);
  return check(pool, Kind::pool, "a pool that is none"), cuMemAllocAsync(at, size, stream);
}
CUresult cuMemFreeAsync(CUdeviceptr at, CUstream stream) {
  const Guard guard(lock);
  return stream_of(stream), cuMemFree_v2(at);
}
CUresult cuMemPoolCreate(CUmemoryPool* made, const CUmemPoolProps*) {
  return part(reinterpret_cast<void**>(made), Kind::pool, nullptr);
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) { return gone(pool, Kind::pool, "a pool that is none, to destroy"); }
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* made, CUdevice) {
  return part(reinterpret_cast<void**>(made), Kind::pool, nullptr);
}

CUresult cuMemAddressReserve(CUdeviceptr* at, size_t size, size_t, CUdeviceptr wanted, unsigned long long) {
  const Guard guard(lock);
  if (size % kPage != 0 || wanted % kPage != 0 || size > (1 << 26)) return CUDA_ERROR_INVALID_VALUE;
  auto* const made = mmap(reinterpret_cast<void*>(wanted), size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *at = reinterpret_cast<std::uint64_t>(made);
  reserved[*at] = size;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr at, size_t size) {
  const Guard guard(lock);
  const auto found = reserved.find(at);
  if (found == reserved.end() || found->second != size) broken("addresses to free that were not reserved");
  const auto inside = memory.lower_bound(at);
  if (inside != memory.end() && inside->first - at < size) broken("addresses to free where something is mapped");
  reserved.erase(found);
  return munmap(reinterpret_cast<void*>(at), size), CUDA_SUCCESS;
}
CUresult cuMemGetAllocationGranularity(size_t* size, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  return *size = kPage, CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* made, size_t size, const CUmemAllocationProp*, unsigned long long) {
  const Guard guard(lock);
  if (size == 0 || size % kPage != 0 || size > kMostBytes) return CUDA_ERROR_INVALID_VALUE;
  *made = reinterpret_cast<CUmemGenericAllocationHandle>(make(Kind::memory, nullptr, size));
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return gone(handle, Kind::memory, "memory that is none, to release");
}
CUresult cuMemMap(CUdeviceptr at, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long) {
  const Guard guard(lock);
  const auto* object = check(handle, Kind::memory, "memory that is none, to map");
  if (offset != 0 || size != object->size || at % kPage != 0) return CUDA_ERROR_INVALID_VALUE;
  memory[at] = {size, nullptr, Memory::mapping};
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr at, size_t size) {
  const Guard guard(lock);
  touch(at, size, "memory to unmap that is not mapped");
  for (auto one = memory.find(at); one != memory.end() && one->first - at < size; one = memory.erase(one)) {
    if (one->second.sort != Memory::mapping) broken("memory to unmap that is not mapped");
  }
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr at, size_t size, const CUmemAccessDesc*, size_t) {
  const Guard guard(lock);
  return touch(at, size, "memory to be accessed that is not there"), CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  const Guard guard(lock);
  context(), stream_of(stream), read_host(from, size);
  return touch(to, size, "a copy to what is no memory of its"), CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  const Guard guard(lock);
  context(), stream_of(stream);
  touch(from, size, "a copy from what is no memory of its");
  return size ? std::memset(to, 5, size) : nullptr, CUDA_SUCCESS;
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  const Guard guard(lock);
  context(), stream_of(stream);
  touch(from, size, "a copy from what is no memory of its");
  return touch(to, size, "a copy to what is no memory of its"), CUDA_SUCCESS;
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t size, CUstream stream) {
  return cuMemcpyAsync(to, from, size, stream);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) { return rows(*copy, stream); }
CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char, size_t n, CUstream stream) { return fill(at, 0, n, 1, stream); }
CUresult cuMemsetD16Async(CUdeviceptr at, unsigned short, size_t n, CUstream stream) {
  return fill(at, 0, n * 2, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr at, unsigned int, size_t n, CUstream stream) {
  return fill(at, 0, n * 4, 1, stream);
}
CUresult cuMemsetD2D8Async(CUdeviceptr at, size_t pitch, unsigned char, size_t w, size_t h, CUstream stream) {
  return fill(at, pitch, w, h, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr at, size_t pitch, unsigned short, size_t w, size_t h, CUstream stream) {
  return fill(at, pitch, w * 2, h, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr at, size_t pitch, unsigned int, size_t w, size_t h, CUstream stream) {
  return fill(at, pitch, w * 4, h, stream);
}

CUresult cuModuleLoadDataEx(CUmodule* made, const void* image, unsigned int, CUjit_option*, void**) {
  const Guard guard(lock);
  if (!context()) return CUDA_ERROR_INVALID_CONTEXT;
  return load(image, reinterpret_cast<void**>(made), Kind::module, context());
}
CUresult cuModuleUnload(CUmodule module) { return gone(module, Kind::module, "a module that is none, to unload"); }
CUresult cuModuleGetFunction(CUfunction* made, CUmodule module, const char*) {
  const Guard guard(lock);
  return part(reinterpret_cast<void**>(made), Kind::function, check(module, Kind::module, "a module that is none"));
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* at, size_t* size, CUmodule module, const char*) {
  const Guard guard(lock);
  auto* of = check(module, Kind::module, "a module that is none");
  *size = 64;
  *at = new_memory(*size, of);
  memory[*at].sort = Memory::variable;
  return CUDA_SUCCESS;
}
CUresult cuLibraryLoadData(CUlibrary* made, const void* image, CUjit_option*, void**, unsigned int, CUlibraryOption*,
                           void**, unsigned int count) {
  const Guard guard(lock);
  if (count != 0) broken("options of a library");
  return load(image, reinterpret_cast<void**>(made), Kind::library, nullptr);
}
CUresult cuLibraryUnload(CUlibrary library) {
  return gone(library, Kind::library, "a library that is none, to unload");
}
CUresult cuLibraryGetKernel(CUkernel* made, CUlibrary library, const char*) {
  const Guard guard(lock);
  return part(reinterpret_cast<void**>(made), Kind::kernel, check(library, Kind::library, "a library that is none"));
}
CUresult cuKernelGetFunction(CUfunction* made, CUkernel kernel) {
  const Guard guard(lock);
  return check(kernel, Kind::kernel, "a kernel that is none"),
         part(reinterpret_cast<void**>(made), Kind::function, context());
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  const Guard guard(lock);
  return check(kernel, Kind::kernel, "a kernel that is none"), parameter(index, offset, size);
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  const Guard guard(lock);
  return check(function, Kind::function, "a function that is none"), parameter(index, offset, size);
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute, CUkernel, CUdevice) { return *value = 1, CUDA_SUCCESS; }
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute, CUfunction function) {
  const Guard guard(lock);
  return *value = 1, check(function, Kind::function, "a function that is none"), CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute, int value) {
  return cuFuncGetAttribute(&value, {}, function);
}
CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream stream, void**, void** extra) {
  return launch(function, extra, stream);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* how, CUfunction function, void**, void** extra) {
  const Guard guard(lock);
  for (unsigned i = 0; i < how->numAttrs; ++i) {
    const auto& value = how->attrs[i].value;
    if (how->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
      check(value.programmaticEvent.event, Kind::event, "an event that is none");
    if (how->attrs[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      check(value.launchCompletionEvent.event, Kind::event, "an event that is none");
    if (how->attrs[i].id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
      touch(reinterpret_cast<std::uint64_t>(value.accessPolicyWindow.base_ptr), value.accessPolicyWindow.num_bytes,
            "a window elsewhere");
    if (how->attrs[i].id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE && value.deviceUpdatableKernelNode.devNode)
      broken("a node of a graph on the device");
  }
  return launch(function, extra, how->hStream);
}

CUresult cuArray3DCreate_v2(CUarray* made, const CUDA_ARRAY3D_DESCRIPTOR*) {
  return part(reinterpret_cast<void**>(made), Kind::array, context());
}
CUresult cuArrayDestroy(CUarray array) { return gone(array, Kind::array, "an array that is none, to destroy"); }
CUresult cuMipmappedArrayCreate(CUmipmappedArray* made, const CUDA_ARRAY3D_DESCRIPTOR*, unsigned int) {
  return part(reinterpret_cast<void**>(made), Kind::mipmap, context());
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return gone(array, Kind::mipmap, "an array that is none, to destroy");
}
CUresult cuMipmappedArrayGetLevel(CUarray* made, CUmipmappedArray of, unsigned int) {
  const Guard guard(lock);
  return part(reinterpret_cast<void**>(made), Kind::array, check(of, Kind::mipmap, "an array that is none"));
}
CUresult cuTexObjectCreate(CUtexObject* made, const CUDA_RESOURCE_DESC* of, const CUDA_TEXTURE_DESC*,
                           const CUDA_RESOURCE_VIEW_DESC*) {
  const Guard guard(lock);
  if (of->resType == CU_RESOURCE_TYPE_ARRAY) check(of->res.array.hArray, Kind::array, "an array that is none");
  if (of->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
    check(of->res.mipmap.hMipmappedArray, Kind::mipmap, "an array that is none");
  if (of->resType == CU_RESOURCE_TYPE_LINEAR)
    touch(of->res.linear.devPtr, of->res.linear.sizeInBytes, "a texture of what is no memory of its");
  if (of->resType == CU_RESOURCE_TYPE_PITCH2D && of->res.pitch2D.width && of->res.pitch2D.height) {
    touch(of->res.pitch2D.devPtr, of->res.pitch2D.pitchInBytes * (of->res.pitch2D.height - 1) + of->res.pitch2D.width,
          "a texture of what is no memory of its");
  }
  *made = shown.size() + 1;
  return shown[*made] = true, CUDA_SUCCESS;
}
CUresult cuTexObjectDestroy(CUtexObject object) {
  const Guard guard(lock);
  return shown.contains(object) ? CUDA_SUCCESS : (broken("a texture that is none"), CUDA_SUCCESS);
}

// Graphs. Nothing of them runs, because host functions in them wait for the client; what nodes do is done once when
// they are added.
struct CUuserObject_st {
  CUhostFn ended;
  void* data;
};
CUresult cuUserObjectCreate(CUuserObject* made, void* data, CUhostFn ended, unsigned int, unsigned int) {
  return *made = new CUuserObject_st{ended, data}, CUDA_SUCCESS;
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned int) {
  object->ended(object->data);
  return delete object, CUDA_SUCCESS;
}
CUresult cuGraphCreate(CUgraph* made, unsigned int) {
  return part(reinterpret_cast<void**>(made), Kind::graph, nullptr);
}
CUresult cuGraphDestroy(CUgraph graph) {
  std::unique_lock guard(lock);
  auto* object = check(graph, Kind::graph, "a graph that is none, to destroy");
  const auto kept = std::move(user_objects[object]);
  user_objects.erase(object);
  end(object);
  guard.unlock();
  for (auto* one : kept) cuUserObjectRelease(one, 1);
  return CUDA_SUCCESS;
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int, unsigned int) {
  const Guard guard(lock);
  return user_objects[check(graph, Kind::graph, "a graph that is none")].push_back(object), CUDA_SUCCESS;
}
CUresult cuGraphAddNode_v2(CUgraphNode* made, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* edges,
                           size_t count, CUgraphNodeParams* params) {
  const Guard guard(lock);
  auto* of = check(graph, Kind::graph, "a graph that is none");
  for (size_t i = 0; i < count; ++i) check(after[i], Kind::node, "a node that is none");
  if (edges) read_host(edges, count * sizeof *edges);
  node(*params);
  return part(reinterpret_cast<void**>(made), Kind::node, of);
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode one, CUkernelNodeAttrID, const CUkernelNodeAttrValue*) {
  const Guard guard(lock);
  return check(one, Kind::node, "a node that is none"), CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* made, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* how) {
  const Guard guard(lock);
  check(graph, Kind::graph, "a graph that is none"), stream_of(how->hUploadStream);
  return part(reinterpret_cast<void**>(made), Kind::exec, nullptr);
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return gone(exec, Kind::exec, "a graph to launch that is none, to destroy");
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode one, CUgraphNodeParams* params) {
  const Guard guard(lock);
  check(exec, Kind::exec, "a graph to launch that is none"), check(one, Kind::node, "a node that is none");
  return node(*params), CUDA_SUCCESS;
}
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode one, unsigned int) {
  const Guard guard(lock);
  return check(exec, Kind::exec, "a graph to launch that is none"), check(one, Kind::node, "a node that is none"),
         CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  const Guard guard(lock);
  return context(), stream_of(stream), check(exec, Kind::exec, "a graph to launch that is none"), CUDA_SUCCESS;
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) { return cuGraphLaunch(exec, stream); }

}  // extern "C"
#pragma GCC visibility pop
