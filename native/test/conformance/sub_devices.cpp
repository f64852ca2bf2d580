// Sub-devices: how devices are divided, what the parts say of themselves, how long they live, and work on them.
// With any argument: what the specification says and PoCL 3.1 does not do, so that there is nothing to compare with.
#include <algorithm>

#include "report.h"

namespace {

using Partition = std::vector<cl_device_partition_property>;

template <class T>
T info(cl_device_id device, cl_device_info name) {
  T value{};
  need("clGetDeviceInfo", clGetDeviceInfo(device, name, sizeof value, &value, nullptr));
  return value;
}

template <class T>
std::vector<T> list(cl_device_id device, cl_device_info name) {
  size_t size = 0;
  need("clGetDeviceInfo", clGetDeviceInfo(device, name, 0, nullptr, &size));
  std::vector<T> values(size / sizeof(T));
  if (size) need("clGetDeviceInfo", clGetDeviceInfo(device, name, size, values.data(), nullptr));
  return values;
}

cl_uint units(cl_device_id device) { return info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS); }
cl_uint uses(cl_device_id device) { return info<cl_uint>(device, CL_DEVICE_REFERENCE_COUNT); }

std::string text(const Partition& partition) {
  std::string out;
  for (const auto one : partition) out += (out.empty() ? "" : " ") + hex(&one, sizeof one);
  return out;
}

std::vector<cl_device_id> parts_of(cl_device_id device, const Partition& partition) {
  cl_uint count = 0;
  need("counting parts", clCreateSubDevices(device, partition.data(), 0, nullptr, &count));
  std::vector<cl_device_id> parts(count);
  need("clCreateSubDevices", clCreateSubDevices(device, partition.data(), count, parts.data(), nullptr));
  return parts;
}

void release(const std::vector<cl_device_id>& parts) {
  for (const auto part : parts) need("clReleaseDevice", clReleaseDevice(part));
}

/// What a device says of dividing.
void show(const char* what, cl_device_id device, cl_device_id parent) {
  say("%s: %u units, at most %u parts, by %s, domains %llx, made by %s, parent %s, used %u", what, units(device),
      info<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES),
      text(list<cl_device_partition_property>(device, CL_DEVICE_PARTITION_PROPERTIES)).c_str(),
      static_cast<unsigned long long>(info<cl_device_affinity_domain>(device, CL_DEVICE_PARTITION_AFFINITY_DOMAIN)),
      text(list<cl_device_partition_property>(device, CL_DEVICE_PARTITION_TYPE)).c_str(),
      info<cl_device_id>(device, CL_DEVICE_PARENT_DEVICE) == parent ? "right" : "WRONG", uses(device));
}

/// Every info of a part; texts and long ones as digests.
void show_all(cl_device_id part) {
  // Pointers, a number that PoCL counts up, and what a device that is elsewhere cannot be (infos.cpp).
  constexpr cl_uint kApart[] = {CL_DEVICE_PLATFORM,         CL_DEVICE_PARENT_DEVICE,
                                CL_DEVICE_VENDOR_ID,        CL_DEVICE_EXECUTION_CAPABILITIES,
                                CL_DEVICE_EXTENSIONS,       CL_DEVICE_HOST_UNIFIED_MEMORY,
                                CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_EXTENSIONS_WITH_VERSION};
  for (cl_uint name = 0x1000; name <= 0x1075; name++) {
    if (std::find(std::begin(kApart), std::end(kApart), name) != std::end(kApart)) continue;
    size_t size = 0;
    const auto code = clGetDeviceInfo(part, name, 0, nullptr, &size);
    std::vector<unsigned char> value(size);
    if (code == CL_SUCCESS && size) clGetDeviceInfo(part, name, size, value.data(), nullptr);
    say("part %#x: %s %zu %s", name, code_name(code).c_str(), size,
        size > 64 ? digest(value).c_str() : hex(value.data(), size).c_str());
  }
}

void wrong_calls(cl_device_id device) {
  const auto most = static_cast<cl_device_partition_property>(units(device));
  const auto attempt = [&](const char* what, cl_device_id of, const Partition& partition, cl_uint capacity,
                           bool has_list, bool has_count) {
    std::vector<cl_device_id> parts(256);
    cl_uint count = 77;
    const auto* properties = partition.empty() ? nullptr : partition.data();
    const auto code =
        clCreateSubDevices(of, properties, capacity, has_list ? parts.data() : nullptr, has_count ? &count : nullptr);
    say("%s: %s %u %d", what, code_name(code).c_str(), count, parts[0] != nullptr);
    if (code == CL_SUCCESS && has_list) release({parts.begin(), std::find(parts.begin(), parts.end(), nullptr)});
  };
  attempt("no device", nullptr, {CL_DEVICE_PARTITION_EQUALLY, 1, 0}, 0, false, true);
  attempt("no partition", device, {}, 0, false, true);
  attempt("an empty partition", device, {0}, 0, false, true);
  attempt("an unknown partition", device, {0x7777, 1, 0}, 0, false, true);
  attempt("by affinity", device, {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0}, 0, false,
          true);
  attempt("equally by 0", device, {CL_DEVICE_PARTITION_EQUALLY, 0, 0}, 0, false, true);
  attempt("equally by more than there are", device, {CL_DEVICE_PARTITION_EQUALLY, most + 1, 0}, 0, false, true);
  attempt("equally by all", device, {CL_DEVICE_PARTITION_EQUALLY, most, 0}, 0, false, true);
  attempt("equally, not ended", device, {CL_DEVICE_PARTITION_EQUALLY, 1, 5, 0}, 0, false, true);
  attempt("counts, none", device, {CL_DEVICE_PARTITION_BY_COUNTS, 0, 0}, 0, false, true);
  attempt("counts, too much", device, {CL_DEVICE_PARTITION_BY_COUNTS, most, 1, 0, 0}, 0, false, true);
  attempt("counts, all in one", device, {CL_DEVICE_PARTITION_BY_COUNTS, most, 0, 0}, 0, false, true);
  attempt("nothing asked", device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0}, 0, false, false);
  attempt("a list without a size", device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0}, 0, true, true);
  attempt("a size without a list", device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0}, 2, false, true);
  attempt("too small a list", device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0}, 1, true, true);
  attempt("more than enough", device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0}, 256, true, true);
  attempt("no count wanted", device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0}, 256, true, false);
  said("retain no device", clRetainDevice(nullptr));
  said("release no device", clReleaseDevice(nullptr));
}

constexpr const char* kSource = R"(
kernel void squares(global int* out, int add) { size_t i = get_global_id(0); out[i] = (int)(i * i) + add; }
kernel void groups(global int* out, local int* sums) {
  size_t l = get_local_id(0);
  sums[l] = (int)get_global_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (l < step) sums[l] += sums[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = sums[0];
}
)";

/// Squares on the device into the buffer, read back with the same queue.
void compute(const char* what, cl_context context, cl_device_id device, cl_program program, cl_mem buffer, int add) {
  constexpr size_t kItems = 10000;
  const auto queue = new_queue(context, device);
  const auto kernel = new_kernel(program, "squares");
  need("argument", clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  need("argument", clSetKernelArg(kernel, 1, sizeof add, &add));
  cl_event event = nullptr;
  need("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kItems, nullptr, 0, nullptr, &event));
  std::vector<int> out(kItems);
  need("read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, kItems * 4, out.data(), 1, &event, nullptr));
  cl_device_id of = nullptr;
  need("device of queue", clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof of, &of, nullptr));
  say("%s: %s, queue of %s", what, digest(out.data(), kItems * 4).c_str(), of == device ? "the part" : "ANOTHER");
  const auto groups = new_kernel(program, "groups");
  const size_t local = 16;
  need("argument", clSetKernelArg(groups, 0, sizeof buffer, &buffer));
  need("argument", clSetKernelArg(groups, 1, local * 4, nullptr));
  need("launch", clEnqueueNDRangeKernel(queue, groups, 1, nullptr, &kItems, &local, 0, nullptr, nullptr));
  need("read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, kItems / local * 4, out.data(), 0, nullptr, nullptr));
  say("%s: groups %s", what, digest(out.data(), kItems / local * 4).c_str());
  clReleaseEvent(event), clReleaseKernel(kernel), clReleaseKernel(groups), clReleaseCommandQueue(queue);
}

void kernel_infos(cl_program program, cl_device_id device) {
  const auto kernel = new_kernel(program, "squares");
  for (const cl_kernel_work_group_info name :
       {CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE}) {
    unsigned char value[64];
    size_t size = 0;
    const auto code = clGetKernelWorkGroupInfo(kernel, device, name, sizeof value, value, &size);
    say("work group info %#x: %s %s", name, code_name(code).c_str(), hex(value, code == CL_SUCCESS ? size : 0).c_str());
  }
  clReleaseKernel(kernel);
}

void build_infos(cl_program program, const std::vector<cl_device_id>& devices) {
  for (const auto device : devices) {
    cl_build_status status = CL_BUILD_NONE;
    const auto requested =
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr);
    say("build status: %s %d", code_name(requested).c_str(), status);
  }
}

void work_on(const char* what, const std::vector<cl_device_id>& devices) {
  say("-- %s", what);
  const auto context = new_context(devices);
  const auto program = built_program(context, kSource);
  build_infos(program, devices);
  cl_int code = CL_SUCCESS;
  const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * 1024, nullptr, &code);
  need("clCreateBuffer", code);
  int add = 0;
  for (const auto device : devices)
    compute("computed", context, device, program, buffer, add++), kernel_infos(program, device);
  // By name: a program for one of them, in one step and in two.
  const auto last = devices.back();
  const auto other = clCreateProgramWithSource(context, 1, const_cast<const char**>(&kSource), nullptr, &code);
  said("build for the last", clBuildProgram(other, 1, &last, "-DSOME", nullptr, nullptr));
  compute("computed for the last", context, last, other, buffer, 100);
  said("compile for all", clCompileProgram(other, static_cast<cl_uint>(devices.size()), devices.data(), "", 0, nullptr,
                                           nullptr, nullptr, nullptr));
  const auto linked = clLinkProgram(context, static_cast<cl_uint>(devices.size()), devices.data(), "", 1, &other,
                                    nullptr, nullptr, &code);
  said("link for all", code);
  compute("computed with what was linked", context, devices.front(), linked, buffer, 200);
  clReleaseProgram(linked), clReleaseProgram(other), clReleaseProgram(program), clReleaseMemObject(buffer),
      clReleaseContext(context);
  for (const auto device : devices) say("used after it: %u", uses(device));
}

void lives(cl_device_id device) {
  const auto parts = parts_of(device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0});
  say("new: parent used %u, part used %u", uses(device), uses(parts[0]));
  said("retain", clRetainDevice(parts[0]));
  say("retained: %u", uses(parts[0]));
  said("release", clReleaseDevice(parts[0]));
  say("released: %u", uses(parts[0]));
  release(parts);
  say("gone: parent used %u", uses(device));
  for (int i = 0; i < 300; i++) release(parts_of(device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0}));
  say("many times: parent used %u", uses(device));
}

// ---- what the specification says and PoCL 3.1 does not do: its contexts and programs know whole devices only, and
// hold no part

void lists(cl_device_id device) {
  auto devices = parts_of(device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0});
  devices.pop_back();
  const auto context = new_context(devices);
  cl_uint count = 0;
  need("number", clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, nullptr));
  std::vector<cl_device_id> among(count);
  need("devices", clGetContextInfo(context, CL_CONTEXT_DEVICES, count * sizeof(cl_device_id), among.data(), nullptr));
  say("the context's devices are its parts: %d", among == devices);
  cl_int code = CL_SUCCESS;
  clCreateCommandQueue(context, device, 0, &code), said("a queue of the whole in a context of parts", code);
  const auto program = built_program(context, kSource);
  need("number", clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr));
  need("devices", clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), among.data(), nullptr));
  say("the program's devices are the parts: %d", count == devices.size() && among == devices);
  std::vector<size_t> sizes(count);
  need("sizes", clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof(size_t), sizes.data(), nullptr));
  std::vector<std::vector<unsigned char>> binaries;
  std::vector<unsigned char*> pointers;
  for (const auto size : sizes) binaries.emplace_back(size);
  for (auto& binary : binaries) pointers.push_back(binary.data());
  need("binaries",
       clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof(unsigned char*), pointers.data(), nullptr));
  const auto is_filled = [](const std::vector<unsigned char>& binary) {
    return binary.size() > 8 && binary != std::vector<unsigned char>(binary.size());
  };
  say("each has a binary: %d", std::all_of(binaries.begin(), binaries.end(), is_filled));
  std::vector<cl_int> each(count, 77);
  const auto** given = const_cast<const unsigned char**>(pointers.data());
  const auto again = clCreateProgramWithBinary(context, count, devices.data(), sizes.data(), given, each.data(), &code);
  say("a program of the binaries: %s, each %d", code_name(code).c_str(),
      std::all_of(each.begin(), each.end(), [](cl_int one) { return one == CL_SUCCESS; }));
  need("build", clBuildProgram(again, 0, nullptr, "", nullptr, nullptr));
  const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * 1024, nullptr, &code);
  compute("with the binaries", context, devices.back(), again, buffer, 0);
  clReleaseMemObject(buffer), clReleaseProgram(again), clReleaseProgram(program), clReleaseContext(context);
  release(devices);
}

void outlives(cl_device_id device) {
  const auto most = static_cast<cl_device_partition_property>(units(device));
  const auto half = parts_of(device, {CL_DEVICE_PARTITION_BY_COUNTS, most, 0, 0})[0];
  const auto part = parts_of(half, {CL_DEVICE_PARTITION_EQUALLY, 1, 0})[0];
  said("release the middle", clReleaseDevice(half));
  const auto context = new_context({part});
  const auto queue = new_queue(context, part);
  said("release the part", clReleaseDevice(part));
  said("release it once more", clReleaseDevice(part));
  const auto program = built_program(context, kSource);
  cl_int code = CL_SUCCESS;
  const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * 1024, nullptr, &code);
  compute("after its release", context, part, program, buffer, 7);
  clReleaseMemObject(buffer), clReleaseProgram(program), clReleaseCommandQueue(queue), clReleaseContext(context);
}

}  // namespace

int main(int count_of_words, char**) {
  if (count_of_words > 1) {
    for (const auto device : all_devices()) lists(device), outlives(device);
    return 0;
  }
  for (const auto device : all_devices()) {
    const auto most = static_cast<cl_device_partition_property>(units(device));
    show("device", device, nullptr);
    wrong_calls(device);
    const auto equal = parts_of(device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0});
    for (const auto part : equal) show("equal part", part, device);
    show_all(equal[0]);
    cl_uint count = 0;
    said("a part of one unit",
         clCreateSubDevices(equal[0], Partition{CL_DEVICE_PARTITION_EQUALLY, 1, 0}.data(), 0, nullptr, &count));
    said("a part of one unit by counts",
         clCreateSubDevices(equal[0], Partition{CL_DEVICE_PARTITION_BY_COUNTS, 2, 0, 0}.data(), 0, nullptr, &count));
    work_on("one part", {equal[0]});
    work_on("all parts", equal);
    work_on("a part and the whole", {equal.back(), device});
    release(equal);
    // As large as can be, and that one divided again.
    const auto most_and_one = most > 2 ? Partition{CL_DEVICE_PARTITION_BY_COUNTS, most - 1, 1, 0, 0}
                                       : Partition{CL_DEVICE_PARTITION_BY_COUNTS, most, 0, 0};
    const auto counted = parts_of(device, most_and_one);
    for (const auto part : counted) show("counted part", part, device);
    const auto inner = parts_of(counted[0], {CL_DEVICE_PARTITION_EQUALLY, 1, 0});
    for (const auto part : inner) show("part of a part", part, counted[0]);
    say("a part with parts: used %u", uses(counted[0]));
    work_on("a part of a part", {inner.back()});
    work_on("parts of several levels", {inner[0], counted[0], device});
    release(inner);
    say("a part without parts: used %u", uses(counted[0]));
    release(counted);
    lives(device);
  }
  // Parts of different devices together.
  std::vector<cl_device_id> mixed;
  for (const auto device : all_devices()) mixed.push_back(parts_of(device, {CL_DEVICE_PARTITION_EQUALLY, 1, 0})[0]);
  work_on("parts of each device", mixed);
}
