// What is asked about programs. Answers that carry native pointers are never sent.
#include <algorithm>

#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

namespace {

/// Of one reply; what is longer would not fit a frame.
constexpr std::size_t kMostAnswer = wire::kMaximumBody - 64 * 1024;

template <class Get>
cl_int answer_of(Get&& get, wire::Bytes& answer) {
  std::size_t size = 0;
  if (const auto status = get(std::size_t{0}, static_cast<void*>(nullptr), &size); status != CL_SUCCESS) return status;
  if (size > kMostAnswer) return CL_OUT_OF_HOST_MEMORY;
  answer.resize(size);
  return size == 0 ? CL_SUCCESS : get(size, static_cast<void*>(answer.data()), static_cast<std::size_t*>(nullptr));
}

cl_int ask_program(cl_program program, cl_program_info param, wire::Bytes& answer) {
  return answer_of([&](std::size_t size, void* out,
                       std::size_t* needed) { return native().clGetProgramInfo(program, param, size, out, needed); },
                   answer);
}

bool has_pointers(cl_program_info param) {
  return param == CL_PROGRAM_CONTEXT || param == CL_PROGRAM_DEVICES || param == CL_PROGRAM_BINARIES;
}

template <class T>
std::vector<T> as_list(const wire::Bytes& bytes) {
  std::vector<T> list(bytes.size() / sizeof(T));
  if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
  return list;
}

/// The devices of the context that the entry at `position` of a program's own list is for; ~0 where it is for none.
/// PoCL keeps one binary for a device and all its parts.
std::vector<std::uint32_t> devices_with(const ContextRecord& context, const std::vector<cl_device_id>& listed,
                                        std::size_t position) {
  std::vector<std::uint32_t> found;
  for (const auto& device : context.devices) {
    const auto* nearest = device.get();
    while (nearest->parent && std::ranges::find(listed, nearest->native.device) == listed.end())
      nearest = nearest->parent.get();
    if (position < listed.size() && listed[position] == nearest->native.device) found.push_back(device->index);
  }
  if (found.empty()) found.push_back(~0u);
  return found;
}

}  // namespace

void Session::on(const cl::ProgramInfo& call, Respond<cl::ProgramInfoReply> respond) {
  const auto* program = table_.find<ProgramRecord>(call.program);
  if (!program) return respond({.status = CL_INVALID_PROGRAM});
  if (has_pointers(call.param)) return respond({.status = CL_INVALID_VALUE});
  wire::Bytes answer;
  const auto status = ask_program(program->native, call.param, answer);
  if (status != CL_SUCCESS) answer.clear();
  respond({.status = status, .value = answer});
}

void Session::on(const cl::BuildInfo& call, Respond<cl::BuildInfoReply> respond) {
  const auto* program = table_.find<ProgramRecord>(call.program);
  if (!program) return respond({.status = CL_INVALID_PROGRAM});
  const auto device = program->context->device(call.device);
  if (!device) return respond({.status = CL_INVALID_DEVICE});
  wire::Bytes answer;
  const auto status = answer_of(
      [&](std::size_t size, void* out, std::size_t* needed) {
        return native().clGetProgramBuildInfo(program->native, device->native.device, call.param, size, out, needed);
      },
      answer);
  if (status != CL_SUCCESS) answer.clear();
  respond({.status = status, .value = answer});
}

void Session::on(const cl::ProgramBinaries& call, Respond<cl::ProgramBinariesReply> respond) {
  const auto* program = table_.find<ProgramRecord>(call.program);
  if (!program) return respond({.status = CL_INVALID_PROGRAM});
  wire::Bytes answer;
  if (const auto error = ask_program(program->native, CL_PROGRAM_BINARY_SIZES, answer))
    return respond({.status = error});
  const auto sizes = as_list<std::size_t>(answer);
  if (const auto error = ask_program(program->native, CL_PROGRAM_DEVICES, answer)) return respond({.status = error});
  const auto natives = as_list<cl_device_id>(answer);
  std::size_t total = 0;
  std::vector<wire::Bytes> binaries;
  std::vector<unsigned char*> pointers;
  for (const auto size : sizes) {
    if (size > kMostAnswer - total) return respond({.status = CL_OUT_OF_HOST_MEMORY});
    total += size;
    // A binary of no bytes still has somewhere to go: not every driver looks before it copies.
    binaries.emplace_back(std::max<std::size_t>(size, 1));
  }
  for (auto& binary : binaries) pointers.push_back(binary.data());
  const auto status = native().clGetProgramInfo(program->native, CL_PROGRAM_BINARIES,
                                                pointers.size() * sizeof(unsigned char*), pointers.data(), nullptr);
  cl::ProgramBinariesReply reply{.status = status};
  std::vector<std::uint32_t> devices;
  for (std::size_t i = 0; status == CL_SUCCESS && i < sizes.size(); i++) {
    const auto binary = wire::View(binaries[i]).first(pointers[i] ? sizes[i] : 0);
    for (const auto index : devices_with(*program->context, natives, i)) {
      reply.binaries.push_back(binary);
      devices.push_back(index);
    }
  }
  reply.devices = devices;
  respond(reply);
}

}  // namespace flexrack::backend::opencl
