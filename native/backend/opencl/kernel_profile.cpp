#include "backend/opencl/kernel_profile.h"

#include <initializer_list>

namespace flexrack::backend::opencl {

namespace {

using namespace argument;

constexpr std::size_t kLargestProbe =
    4096;   // the parameters of a kernel need not hold more (CL_DEVICE_MAX_PARAMETER_SIZE of devices around)

std::string text(const wire::Bytes& bytes) {
  std::string text(bytes.begin(), bytes.end());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

/// One clGet*Info answer; false where the device has none.
template <class Get>
bool ask(Get&& get, wire::Bytes& answer) {
  std::size_t size = 0;
  if (get(std::size_t{0}, static_cast<void*>(nullptr), &size) != CL_SUCCESS) return false;
  answer.resize(size);
  return size == 0 || get(size, static_cast<void*>(answer.data()), static_cast<std::size_t*>(nullptr)) == CL_SUCCESS;
}

bool argument_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info param, wire::Bytes& answer) {
  return ask([&](std::size_t size, void* out,
                 std::size_t* needed) { return native().clGetKernelArgInfo(kernel, index, param, size, out, needed); },
             answer);
}

template <class T>
void take(cl_kernel kernel, cl_uint index, cl_kernel_arg_info param, T& value) {
  wire::Bytes answer;
  if (argument_info(kernel, index, param, answer) && answer.size() == sizeof value)
    std::memcpy(&value, answer.data(), sizeof value);
}

/// Setting arguments of a kernel nobody launches, to see what the device takes.
class Probe {
 public:
  Probe(cl_program program, const std::string& name) {
    cl_int error = CL_SUCCESS;
    kernel_ = native().clCreateKernel(program, name.c_str(), &error);
  }
  ~Probe() {
    if (kernel_) native().clReleaseKernel(kernel_);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  bool takes(cl_uint index, std::size_t size, const void* value) const {
    return kernel_ && native().clSetKernelArg(kernel_, index, size, value) == CL_SUCCESS;
  }
  bool takes_zeros(cl_uint index, std::size_t size) const { return takes(index, size, zeros_.data()); }

  cl_int answer_to_null_object(cl_uint index) const {
    return kernel_ ? native().clSetKernelArg(kernel_, index, sizeof(void*), zeros_.data()) : CL_INVALID_KERNEL;
  }

  /// The size a value must have; 0 where any is taken, or none that was tried.
  std::size_t size_of(cl_uint index) const {
    if (takes_zeros(index, 1)) return takes_zeros(index, 2) ? 0 : 1;
    // Powers of two first: where a vector of three may be given in three or four components, four is its size.
    for (std::size_t size = 2; size <= kLargestProbe; size *= 2)
      if (takes_zeros(index, size)) return size;
    for (std::size_t size = 3; size <= kLargestProbe; size += size < 64 ? 1 : 4)
      if (takes_zeros(index, size)) return size;
    return 0;
  }

 private:
  cl_kernel kernel_ = nullptr;
  wire::Bytes zeros_ = wire::Bytes(kLargestProbe);
};

std::uint32_t kind_by_infos(const ArgumentProfile& argument) {
  if (argument.address == CL_KERNEL_ARG_ADDRESS_LOCAL) return kLocal;
  if ((argument.qualifier & CL_KERNEL_ARG_TYPE_PIPE) != 0) return kPipe;
  if (argument.type_name == "sampler_t") return kSampler;
  if (argument.type_name == "queue_t") return kQueue;
  if (argument.type_name.starts_with("image") && argument.type_name.ends_with("_t")) return kImage;
  return argument.address == CL_KERNEL_ARG_ADDRESS_PRIVATE ? kValue : kMemory;
}

/// Without infos: what a null pointer is taken for. An odd size fits local memory only; a pointer's size fits memory as
/// well. A driver that looks at what it is given tells images and samplers by refusing none at all.
std::uint32_t kind_by_trying(const Probe& probe, cl_uint index) {
  if (probe.takes(index, 3, nullptr)) return kLocal;
  if (probe.takes(index, sizeof(cl_mem), nullptr)) return kMemory;
  switch (probe.answer_to_null_object(index)) {
    case CL_INVALID_MEM_OBJECT: return kImage;
    case CL_INVALID_SAMPLER: return kSampler;
    default: return kUnknown;
  }
}

ArgumentProfile describe(const Probe& probe, cl_kernel kernel, cl_uint index) {
  ArgumentProfile argument;
  take(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, argument.address);
  take(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER, argument.access);
  take(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, argument.qualifier);
  wire::Bytes answer;
  if (argument_info(kernel, index, CL_KERNEL_ARG_TYPE_NAME, answer)) argument.type_name = text(answer);
  if (argument_info(kernel, index, CL_KERNEL_ARG_NAME, answer)) argument.name = text(answer);
  const bool has_infos = argument.address != ~0u && !argument.type_name.empty();
  argument.kind = has_infos ? kind_by_infos(argument) : kind_by_trying(probe, index);
  if (argument.kind != kUnknown && argument.kind != kValue) return argument;
  argument.size = probe.size_of(index);
  // Eight bytes that nothing else is known of may be an image or a sampler: the client sees what it is given and asks.
  if (argument.kind == kUnknown && argument.size != 0 && argument.size != sizeof(void*)) argument.kind = kValue;
  return argument;
}

}  // namespace

KernelProfile::KernelProfile(cl_program program, cl_kernel kernel, const std::string& name,
                             const std::vector<std::pair<std::uint32_t, cl_device_id>>& devices) {
  wire::Bytes answer;
  const auto kernel_info = [&](cl_kernel_info param) {
    return ask([&](std::size_t size, void* out,
                   std::size_t* needed) { return native().clGetKernelInfo(kernel, param, size, out, needed); },
               answer);
  };
  if (kernel_info(CL_KERNEL_ATTRIBUTES)) attributes_ = text(answer);
  cl_uint count = 0;
  if (kernel_info(CL_KERNEL_NUM_ARGS) && answer.size() == sizeof count)
    std::memcpy(&count, answer.data(), sizeof count);
  const Probe probe(program, name);
  for (cl_uint i = 0; i < count; i++) arguments_.push_back(describe(probe, kernel, i));
  for (const auto& [index, device] : devices) {
    OnDevice one{index, {}};
    for (const auto param :
         {CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
          CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_GLOBAL_WORK_SIZE}) {
      if (ask(
              [&, on = device](std::size_t size, void* out, std::size_t* needed) {
                return native().clGetKernelWorkGroupInfo(kernel, on, param, size, out, needed);
              },
              answer)) {
        one.infos.emplace_back(param, answer);
      }
    }
    // A device that the program was not built for answers nothing.
    if (!one.infos.empty()) devices_.push_back(std::move(one));
  }
}

cl::CreateKernelReply KernelProfile::reply() const {
  cl::CreateKernelReply reply;
  reply.attributes = attributes_;
  for (const auto& one : arguments_) {
    reply.arguments.push_back({.kind = one.kind,
                               .address = one.address,
                               .access = one.access,
                               .qualifier = one.qualifier,
                               .size = one.size,
                               .type_name = one.type_name,
                               .name = one.name});
  }
  for (const auto& one : devices_) {
    auto& device = reply.devices.emplace_back();
    device.device = one.index;
    for (const auto& [name, value] : one.infos) device.infos.push_back({.name = name, .value = value});
  }
  return reply;
}

}  // namespace flexrack::backend::opencl
