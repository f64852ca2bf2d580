// Addresses that CUDA does not know, and ranges that leave what it knows, handed to whatever takes an address: each is
// refused, nothing is touched, and the program goes on. Plain copies take what they do not know for host memory; here
// that is memory which is really there.
#include <sys/mman.h>

#include <functional>
#include <string>

#include "driver.h"

namespace {

constexpr size_t kBytes = size_t{4} << 20;        // of each piece of memory
constexpr size_t kBeyond = size_t{6} << 20;       // what leaves it, from its middle

struct Range {
  const char* name;
  CUdeviceptr address;
  size_t size;
};

struct Memory {
  CUdeviceptr device, managed, pinned, registered;
  unsigned char* host;        ///< of this process; CUDA does not know it
  CUarray row;
  CUcontext context;
  CUstream stream;
};

void expect_all(const char* call, const Range& range, CUresult got, CUresult wanted) {
  const auto what = std::string(call) + ", " + range.name;
  program::expect_error(got, wanted, what.c_str());
}

template <class As>
As rows(CUmemorytype to, CUdeviceptr target, CUmemorytype from, CUdeviceptr source, size_t size) {
  As as{};
  as.dstMemoryType = to, as.srcMemoryType = from;
  as.dstDevice = target, as.srcDevice = source;
  as.dstHost = reinterpret_cast<void*>(target), as.srcHost = reinterpret_cast<void*>(source);
  as.WidthInBytes = 1024, as.Height = size / 1024;
  as.dstPitch = as.srcPitch = 1024;
  return as;
}

CUDA_MEMCPY3D box(CUmemorytype to, CUdeviceptr target, CUmemorytype from, CUdeviceptr source, size_t size) {
  auto as = rows<CUDA_MEMCPY3D>(to, target, from, source, size);
  as.Height /= 4, as.Depth = 4;
  as.dstHeight = as.srcHeight = as.Height;
  return as;
}

CUDA_MEMCPY3D_PEER peer_box(const Memory& in, CUdeviceptr target, CUdeviceptr source, size_t size) {
  auto as = rows<CUDA_MEMCPY3D_PEER>(CU_MEMORYTYPE_DEVICE, target, CU_MEMORYTYPE_DEVICE, source, size);
  as.Height /= 4, as.Depth = 4;
  as.dstHeight = as.srcHeight = as.Height;
  as.dstContext = as.srcContext = in.context;
  return as;
}

/// Everything that a device's address is named in: CUDA_ERROR_INVALID_VALUE.
void copies(const Memory& in, const Range& range) {
  const auto [name, bad, size] = range;
  const auto says = [&](const char* call, CUresult got) { expect_all(call, range, got, CUDA_ERROR_INVALID_VALUE); };
  says("cuMemcpyHtoD", cuMemcpyHtoD(bad, in.host, size));
  says("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync(bad, in.host, size, in.stream));
  says("cuMemcpyDtoH", cuMemcpyDtoH(in.host, bad, size));
  says("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync(in.host, bad, size, in.stream));
  says("cuMemcpyDtoD to it", cuMemcpyDtoD(bad, in.device, size));
  says("cuMemcpyDtoD from it", cuMemcpyDtoD(in.device, bad, size));
  says("cuMemcpyDtoDAsync to it", cuMemcpyDtoDAsync(bad, in.device, size, in.stream));
  says("cuMemcpyDtoDAsync from it", cuMemcpyDtoDAsync(in.device, bad, size, in.stream));
  says("cuMemcpyDtoD both", cuMemcpyDtoD(bad, bad, size));
  says("cuMemcpyPeer to it", cuMemcpyPeer(bad, in.context, in.device, in.context, size));
  says("cuMemcpyPeer from it", cuMemcpyPeer(in.device, in.context, bad, in.context, size));
  says("cuMemcpyPeerAsync to it", cuMemcpyPeerAsync(bad, in.context, in.device, in.context, size, in.stream));
  says("cuMemcpyPeerAsync from it", cuMemcpyPeerAsync(in.device, in.context, bad, in.context, size, in.stream));
  says("cuMemcpyDtoA", cuMemcpyDtoA(in.row, 0, bad, size < 4096 ? size : size_t{4096} + kBytes));
  says("cuMemcpyAtoD", cuMemcpyAtoD(bad, in.row, 0, size < 4096 ? size : size_t{4096} + kBytes));
}

void rows_and_boxes(const Memory& in, const Range& range) {
  const auto [name, bad, size] = range;
  if (size < 4096) return;
  const auto says = [&](const char* call, CUresult got) { expect_all(call, range, got, CUDA_ERROR_INVALID_VALUE); };
  const auto host = reinterpret_cast<CUdeviceptr>(in.host);
  constexpr auto kDevice = CU_MEMORYTYPE_DEVICE, kHost = CU_MEMORYTYPE_HOST;
  const CUDA_MEMCPY2D planes[] = {rows<CUDA_MEMCPY2D>(kDevice, bad, kHost, host, size),
                                  rows<CUDA_MEMCPY2D>(kHost, host, kDevice, bad, size),
                                  rows<CUDA_MEMCPY2D>(kDevice, bad, kDevice, in.device, size),
                                  rows<CUDA_MEMCPY2D>(kDevice, in.device, kDevice, bad, size)};
  for (const auto& as : planes) {
    says("cuMemcpy2D", cuMemcpy2D(&as));
    says("cuMemcpy2DUnaligned", cuMemcpy2DUnaligned(&as));
    says("cuMemcpy2DAsync", cuMemcpy2DAsync(&as, in.stream));
  }
  const CUDA_MEMCPY3D boxes[] = {box(kDevice, bad, kHost, host, size), box(kHost, host, kDevice, bad, size),
                                 box(kDevice, bad, kDevice, in.device, size),
                                 box(kDevice, in.device, kDevice, bad, size)};
  for (const auto& as : boxes) {
    says("cuMemcpy3D", cuMemcpy3D(&as));
    says("cuMemcpy3DAsync", cuMemcpy3DAsync(&as, in.stream));
  }
  for (const auto& as : {peer_box(in, bad, in.device, size), peer_box(in, in.device, bad, size)}) {
    says("cuMemcpy3DPeer", cuMemcpy3DPeer(&as));
    says("cuMemcpy3DPeerAsync", cuMemcpy3DPeerAsync(&as, in.stream));
  }
}

void fills(const Memory& in, const Range& range) {
  const auto [name, bad, size] = range;
  const auto says = [&](const char* call, CUresult got) { expect_all(call, range, got, CUDA_ERROR_INVALID_VALUE); };
  says("cuMemsetD8", cuMemsetD8(bad, 1, size));
  says("cuMemsetD16", cuMemsetD16(bad, 1, size / 2));
  says("cuMemsetD32", cuMemsetD32(bad, 1, size / 4));
  says("cuMemsetD8Async", cuMemsetD8Async(bad, 1, size, in.stream));
  says("cuMemsetD32Async", cuMemsetD32Async(bad, 1, size / 4, in.stream));
  if (size < 4096) return;
  says("cuMemsetD2D8", cuMemsetD2D8(bad, 1024, 1, 1000, size / 1024));
  says("cuMemsetD2D16Async", cuMemsetD2D16Async(bad, 1024, 1, 500, size / 1024, in.stream));
  says("cuMemsetD2D32", cuMemsetD2D32(bad, 1024, 1, 250, size / 1024));
}

/// The same in a graph: refused where the node is made.
void nodes(const Memory& in, const Range& range) {
  const auto [name, bad, size] = range;
  if (size < 4096) return;
  CUgraph graph;
  CUgraphNode node;
  DRIVER(cuGraphCreate(&graph, 0));
  const auto says = [&](const char* call, CUresult got) { expect_all(call, range, got, CUDA_ERROR_INVALID_VALUE); };
  const auto host = reinterpret_cast<CUdeviceptr>(in.host);
  auto as = box(CU_MEMORYTYPE_DEVICE, bad, CU_MEMORYTYPE_HOST, host, size);
  says("cuGraphAddMemcpyNode to it", cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &as, in.context));
  as = box(CU_MEMORYTYPE_HOST, host, CU_MEMORYTYPE_DEVICE, bad, size);
  says("cuGraphAddMemcpyNode from it", cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &as, in.context));
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = bad, fill.elementSize = 1, fill.width = size, fill.height = 1, fill.value = 1;
  says("cuGraphAddMemsetNode", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, in.context));
  DRIVER(cuGraphDestroy(graph));
}

/// What no call may take for an address of its own, one answer each.
void others(const Memory& in, const Range& range) {
  const auto bad = range.address;
  const auto says = [&](const char* call, CUresult got, CUresult wanted) { expect_all(call, range, got, wanted); };
  CUdeviceptr base = 7;
  size_t size = 7;
  unsigned value = 7;
  int ordinal = 7;
  void* pointers[2] = {&value, &ordinal};
  CUpointer_attribute asked[2] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  for (const auto one :
       {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_BUFFER_ID, CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL})
    says("cuPointerGetAttribute", cuPointerGetAttribute(&base, one, bad), CUDA_ERROR_INVALID_VALUE);
  says("cuPointerGetAttributes", cuPointerGetAttributes(2, asked, pointers, bad), CUDA_SUCCESS);
  program::expect(value == 0 && ordinal == -2, "it is no memory of CUDA's");
  says("cuPointerSetAttribute", cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, bad),
       CUDA_ERROR_INVALID_VALUE);
  says("cuMemGetAddressRange", cuMemGetAddressRange(&base, &size, bad), CUDA_ERROR_NOT_FOUND);
  says("cuMemFree", cuMemFree(bad), CUDA_ERROR_INVALID_VALUE);
  says("cuMemFreeAsync", cuMemFreeAsync(bad, in.stream), CUDA_ERROR_INVALID_VALUE);
  says("cuMemFreeHost", cuMemFreeHost(reinterpret_cast<void*>(bad)), CUDA_ERROR_INVALID_VALUE);
  says("cuMemHostUnregister", cuMemHostUnregister(reinterpret_cast<void*>(bad)), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  says("cuMemHostGetDevicePointer", cuMemHostGetDevicePointer(&base, reinterpret_cast<void*>(bad), 0),
       CUDA_ERROR_INVALID_VALUE);
  says("cuMemHostGetFlags", cuMemHostGetFlags(&value, reinterpret_cast<void*>(bad)), CUDA_ERROR_INVALID_VALUE);
  says("cuStreamWriteValue32", cuStreamWriteValue32(in.stream, bad, 1, 0), CUDA_ERROR_INVALID_VALUE);
  says("cuStreamWaitValue32", cuStreamWaitValue32(in.stream, bad, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams words[2] = {};
  words[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, in.device, {1}, 0, 0};
  words[1].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, bad / 8 * 8, {1}, 0, 0};
  says("cuStreamBatchMemOp", cuStreamBatchMemOp(in.stream, 2, words, 0), CUDA_ERROR_INVALID_VALUE);
  says("cuMemPrefetchAsync", cuMemPrefetchAsync(bad, 64, {CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, in.stream),
       CUDA_ERROR_INVALID_VALUE);
  says("cuMemRangeGetAttribute", cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, bad, 64),
       CUDA_ERROR_INVALID_VALUE);
  CUipcMemHandle handle;
  says("cuIpcGetMemHandle", cuIpcGetMemHandle(&handle, bad), CUDA_ERROR_INVALID_VALUE);
}

/// Plain copies: what CUDA does not know is host memory, what it knows has an end.
void plain(const Memory& in) {
  const auto host = reinterpret_cast<CUdeviceptr>(in.host);
  DRIVER(cuMemsetD8(in.device, 5, kBytes));
  std::memset(in.host, 3, kBeyond);
  program::expect_error(cuMemcpy(in.device, host, 4096), CUDA_SUCCESS, "cuMemcpy from host memory");
  program::expect_error(cuMemcpyAsync(host + 4096, in.device + 2048, 4096, in.stream), CUDA_SUCCESS,
                        "cuMemcpyAsync to host memory");
  DRIVER(cuStreamSynchronize(in.stream));
  program::expect(in.host[4096] == 3 && in.host[4096 + 2047] == 3 && in.host[4096 + 2048] == 5, "both have copied");
  program::expect_error(cuMemcpy(host + 8192, host, 4096), CUDA_SUCCESS, "cuMemcpy within host memory");
  const Range known[] = {{"a device's memory", in.device + kBytes / 2, kBeyond},
                         {"managed memory", in.managed + kBytes / 2, kBeyond},
                         {"pinned memory", in.pinned + kBytes / 2, kBeyond},
                         {"registered memory", in.registered + kBytes / 2, kBeyond}};
  for (const auto& one : known) {
    const auto says = [&](const char* call, CUresult got) { expect_all(call, one, got, CUDA_ERROR_INVALID_VALUE); };
    says("cuMemcpy to beyond", cuMemcpy(one.address, host, one.size));
    says("cuMemcpy from beyond", cuMemcpy(host, one.address, one.size));
    says("cuMemcpyAsync to beyond", cuMemcpyAsync(one.address, host, one.size, in.stream));
    says("cuMemcpyAsync from beyond", cuMemcpyAsync(host, one.address, one.size, in.stream));
    says("cuMemcpyAsync to and from beyond", cuMemcpyAsync(one.address, in.device, one.size, in.stream));
  }
}

}  // namespace

int main() {
  CUdevice device;
  Memory in{};
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&in.context, device));
  DRIVER(cuCtxSetCurrent(in.context));
  DRIVER(cuStreamCreate(&in.stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr freed = 0;
  void* pinned = nullptr;
  DRIVER(cuMemAlloc(&in.device, kBytes));
  DRIVER(cuMemAllocManaged(&in.managed, kBytes, CU_MEM_ATTACH_GLOBAL));
  DRIVER(cuMemAllocHost(&pinned, kBytes));
  in.pinned = reinterpret_cast<CUdeviceptr>(pinned);
  DRIVER(cuMemAlloc(&freed, kBytes));
  DRIVER(cuMemFree(freed));
  CUDA_ARRAY_DESCRIPTOR shape{4096, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  DRIVER(cuArrayCreate(&in.row, &shape));
  const auto map = [](int access) {
    return static_cast<unsigned char*>(
        mmap(nullptr, 2 * kBeyond, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  };
  in.host = map(PROT_READ | PROT_WRITE);
  auto* const own = map(PROT_READ | PROT_WRITE);
  in.registered = reinterpret_cast<CUdeviceptr>(own);
  DRIVER(cuMemHostRegister(own, kBytes, 0));
  const auto nothing = reinterpret_cast<CUdeviceptr>(map(PROT_NONE));      // whoever touches it is killed
  unsigned char local[64] = {};

  const Range unknown[] = {{"where nothing may be touched", nothing, 4096},
                           {"large, where nothing may be touched", nothing, kBytes},
                           {"the first page", 64, 64},
                           {"the stack", reinterpret_cast<CUdeviceptr>(local) / 4 * 4, 16},
                           {"host memory", reinterpret_cast<CUdeviceptr>(in.host) + kBytes, 4096},
                           {"memory that was freed", freed, 4096},
                           {"the last page", ~CUdeviceptr{4095}, 4096}};
  const Range beyond[] = {{"beyond a device's memory", in.device + kBytes / 2, kBeyond},
                          {"around the end of all addresses", in.device + kBytes / 2, SIZE_MAX - 1023},
                          {"beyond managed memory", in.managed + kBytes / 2, kBeyond},
                          {"beyond pinned memory", in.pinned + kBytes / 2, kBeyond},
                          {"beyond registered memory", in.registered + kBytes / 2, kBeyond}};
  for (const auto& one : unknown)
    copies(in, one), rows_and_boxes(in, one), fills(in, one), nodes(in, one), others(in, one);
  for (const auto& one : beyond) copies(in, one), rows_and_boxes(in, one), fills(in, one), nodes(in, one);
  plain(in);

  // After all of it the device does what it did.
  std::memset(in.host, 9, kBytes);
  DRIVER(cuMemcpyHtoD(in.device, in.host, kBytes));
  DRIVER(cuMemcpyDtoH(in.host + kBytes, in.device, 4096));
  program::expect(std::memcmp(in.host, in.host + kBytes, 4096) == 0, "a copy there and back");
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemHostUnregister(own));
  DRIVER(cuArrayDestroy(in.row));
  for (const auto address : {in.device, in.managed}) DRIVER(cuMemFree(address));
  DRIVER(cuMemFreeHost(pinned));
  DRIVER(cuStreamDestroy(in.stream));
  DRIVER(cuDevicePrimaryCtxRelease(device));
  return program::verdict();
}
