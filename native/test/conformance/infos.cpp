// Every clGet*Info of platforms, devices, contexts and queues: values as bytes, sizes, and the errors of wrong
// parameters.
#include <algorithm>
#include <functional>

#include "report.h"

namespace {

using Get = std::function<cl_int(cl_uint, size_t, void*, size_t*)>;

/// Asks for the size, the value, the value with one byte too few, and prints what came. `quiet`: the value is a pointer
/// or another's name.
void show(const char* what, const Get& get, cl_uint name, bool quiet = false) {
  size_t size = 0;
  const auto code = get(name, 0, nullptr, &size);
  if (code != CL_SUCCESS) return say("%s %#x: %s", what, name, code_name(code).c_str());
  std::vector<unsigned char> value(size + 1, 0xee);
  size_t again = 0;
  const auto second = get(name, size, value.data(), &again);
  const auto untouched = value[size] == 0xee;
  const auto small = size > 0 ? get(name, size - 1, value.data(), nullptr) : CL_SUCCESS;
  const auto shown = quiet ? std::string("-") : size > 64 ? digest(value.data(), size) : hex(value.data(), size);
  say("%s %#x: %s %zu %zu %s %s, too small: %s", what, name, code_name(second).c_str(), size, again, shown.c_str(),
      untouched ? "" : "OVERRUN", code_name(small).c_str());
}

bool is_in(const std::vector<cl_uint>& list, cl_uint name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

int main() {
  // Wrong calls first.
  cl_uint count = 7;
  said("clGetPlatformIDs(0, null, null)", clGetPlatformIDs(0, nullptr, nullptr));
  cl_platform_id platform = first_platform();
  said("clGetPlatformIDs(0, list)", clGetPlatformIDs(0, &platform, nullptr));
  platform = first_platform();
  said("clGetDeviceIDs nothing asked", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, nullptr));
  cl_device_id device = nullptr;
  said("clGetDeviceIDs 0 entries", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &device, nullptr));
  for (cl_device_type type :
       std::vector<cl_device_type>{CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
                                   CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CUSTOM, CL_DEVICE_TYPE_ALL, 0, 1 << 20}) {
    count = 7;
    const auto code = clGetDeviceIDs(platform, type, 0, nullptr, &count);
    say("clGetDeviceIDs type %#llx: %s %u", static_cast<unsigned long long>(type), code_name(code).c_str(), count);
  }
  const Get of_platform = [&](cl_uint name, size_t size, void* value, size_t* size_out) {
    return clGetPlatformInfo(platform, name, size, value, size_out);
  };
  // Whose platform it is, is the one thing that may differ: name, vendor, version, extensions, suffix.
  for (cl_uint name : {0x0900u, 0x0905u, 0x0999u}) show("platform", of_platform, name);

  const auto devices = all_devices();
  for (auto one : devices) {
    const Get get = [&](cl_uint name, size_t size, void* value, size_t* size_out) {
      return clGetDeviceInfo(one, name, size, value, size_out);
    };
    const std::vector<cl_uint> pointers = {CL_DEVICE_PLATFORM, CL_DEVICE_PARENT_DEVICE};
    // What a device that is elsewhere cannot be: able to run a host function, one memory with the host, or sharing
    // single pointers with it; and extensions that would need one of these.
    const std::vector<cl_uint> elsewhere = {CL_DEVICE_EXECUTION_CAPABILITIES, CL_DEVICE_EXTENSIONS,
                                            CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_SVM_CAPABILITIES,
                                            CL_DEVICE_EXTENSIONS_WITH_VERSION};
    for (cl_uint name = 0x1000; name <= 0x1075; name++)
      if (!is_in(elsewhere, name) && (name != CL_DEVICE_VENDOR_ID || one == devices[0]))
        show("device", get, name, is_in(pointers, name));  // PoCL counts its devices in it
    for (cl_uint name : {0x4000u, 0x2fffu, 0u}) show("device", get, name);
    cl_uint parts = 0;
    const cl_device_partition_property wrong[] = {0x7777, 1, 0};
    said("partition wrong", clCreateSubDevices(one, wrong, 0, nullptr, &parts));
    said("partition null", clCreateSubDevices(one, nullptr, 0, nullptr, &parts));
    said("retain device", clRetainDevice(one));
    said("release device", clReleaseDevice(one));
  }
  said("clGetDeviceInfo(null)", clGetDeviceInfo(nullptr, CL_DEVICE_NAME, 0, nullptr, nullptr));

  // Contexts.
  cl_int code = CL_SUCCESS;
  clCreateContext(nullptr, 0, devices.data(), nullptr, nullptr, &code), said("context of no device", code);
  clCreateContext(nullptr, 1, nullptr, nullptr, nullptr, &code), said("context of null devices", code);
  const cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform),
                                         CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform), 0};
  const cl_context_properties unknown[] = {0x6666, 1, 0};
  clCreateContext(unknown, 1, devices.data(), nullptr, nullptr, &code), said("context of an unknown property", code);
  auto context = clCreateContext(twice, 1, devices.data(), nullptr, nullptr, &code);
  said("context with its platform twice", code);
  if (context) clReleaseContext(context);
  int data = 0;
  clCreateContext(nullptr, 1, devices.data(), nullptr, &data, &code), said("context with data but no callback", code);
  const cl_context_properties of[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform), 0};
  clCreateContextFromType(of, CL_DEVICE_TYPE_GPU, nullptr, nullptr, &code), said("context of GPUs", code);
  context = clCreateContextFromType(of, CL_DEVICE_TYPE_ALL, nullptr, nullptr, &code), said("context of all", code);
  cl_uint among = 0;
  clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof among, &among, nullptr);
  say("devices in it: %u", among);
  std::vector<cl_device_id> again(among);
  clGetContextInfo(context, CL_CONTEXT_DEVICES, among * sizeof(cl_device_id), again.data(), nullptr);
  say("the same ones: %d", again == devices);
  clReleaseContext(context);
  context = new_context(devices);
  const Get of_context = [&](cl_uint name, size_t size, void* value, size_t* size_out) {
    return clGetContextInfo(context, name, size, value, size_out);
  };
  for (int name : {CL_CONTEXT_REFERENCE_COUNT, CL_CONTEXT_NUM_DEVICES, CL_CONTEXT_PROPERTIES, 0x1090})
    show("context", of_context, static_cast<cl_uint>(name));
  show("context", of_context, CL_CONTEXT_DEVICES, true);
  said("retain", clRetainContext(context));
  show("context", of_context, CL_CONTEXT_REFERENCE_COUNT);
  said("release", clReleaseContext(context));
  said("retain null", clRetainContext(nullptr));
  said("release null", clReleaseContext(nullptr));

  // Queues.
  for (cl_command_queue_properties properties : std::vector<cl_command_queue_properties>{0, 1, 2, 3, 16}) {
    auto queue = clCreateCommandQueue(context, devices[0], properties, &code);
    say("queue of %llu: %s", static_cast<unsigned long long>(properties), code_name(code).c_str());
    if (!queue) continue;
    const Get get = [&](cl_uint name, size_t size, void* value, size_t* size_out) {
      return clGetCommandQueueInfo(queue, name, size, value, size_out);
    };
    for (int name : {CL_QUEUE_REFERENCE_COUNT, CL_QUEUE_PROPERTIES, CL_QUEUE_SIZE, CL_QUEUE_DEVICE_DEFAULT,
                     CL_QUEUE_PROPERTIES_ARRAY, 0x1099})
      show("queue", get, static_cast<cl_uint>(name));
    show("queue", get, CL_QUEUE_CONTEXT, true);
    show("queue", get, CL_QUEUE_DEVICE, true);
    said("finish", clFinish(queue));
    said("flush", clFlush(queue));
    said("release", clReleaseCommandQueue(queue));
  }
  // Queues on the device are left out: PoCL ends the process when one is asked for.
  for (const auto& list : std::vector<std::vector<cl_queue_properties>>{
           {0}, {CL_QUEUE_PROPERTIES, 3, 0}, {0x5555, 1, 0}, {CL_QUEUE_PROPERTIES, 0x100, 0}}) {
    auto queue = clCreateCommandQueueWithProperties(context, devices.back(), list.data(), &code);
    say("queue with properties %llx %llx: %s", static_cast<unsigned long long>(list[0]),
        static_cast<unsigned long long>(list.size() > 1 ? list[1] : 0), code_name(code).c_str());
    if (!queue) continue;
    const Get get = [&](cl_uint name, size_t size, void* value, size_t* size_out) {
      return clGetCommandQueueInfo(queue, name, size, value, size_out);
    };
    show("queue", get, CL_QUEUE_PROPERTIES_ARRAY);
    said("release", clReleaseCommandQueue(queue));
  }
  clCreateCommandQueue(nullptr, devices[0], 0, &code), said("queue of null context", code);
  clCreateCommandQueue(context, nullptr, 0, &code), said("queue of null device", code);
  if (devices.size() > 1) {
    const auto narrow = new_context({devices[0]});
    clCreateCommandQueue(narrow, devices[1], 0, &code), said("queue of a device of elsewhere", code);
    clReleaseContext(narrow);
  }
  said("finish null", clFinish(nullptr));
  said("flush null", clFlush(nullptr));
  said("release null queue", clReleaseCommandQueue(nullptr));
  said("retain null queue", clRetainCommandQueue(nullptr));
  said("unload compiler", clUnloadPlatformCompiler(platform));
  said("unload compiler of null", clUnloadPlatformCompiler(nullptr));
  say("an extension that is not there: %d",
      clGetExtensionFunctionAddressForPlatform(platform, "clNoSuchThing") != nullptr);
  clReleaseContext(context);
}
