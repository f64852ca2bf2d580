// What is asked about programs. What a build made, its logs and its binaries are the device's to tell.
#include "client/opencl/enqueue.h"
#include "client/opencl/program_objects.h"

namespace flexrack::client::opencl {

namespace {

/// Where clGetProgramInfo puts its answer.
struct Wanted {
  std::size_t capacity;
  void* out;
  std::size_t* size_out;
  cl_int give(const void* value, std::size_t size) const { return give_info(value, size, capacity, out, size_out); }
  template <class T>
  cl_int give(const T& value) const {
    return give(&value, sizeof value);
  }
};

cl_int forward(cl_program program, cl_program_info name, const Wanted& answer) {
  cl_int given = kNoAnswer;
  const auto status = ask_program(program, name, [&](const cl::ProgramInfoReply& reply) {
    given = answer.give(reply.value.data(), reply.value.size());
  });
  return status == CL_SUCCESS ? given : status;
}

/// Places where it is, in the order of the context.
std::vector<std::size_t> places_of(cl_program program) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < program->handles.size(); place++)
    if (program->handles[place] != 0) places.push_back(place);
  return places;
}

/// A device may keep one binary for all its parts, and list itself only.
bool has_parts(cl_program program) {
  return std::ranges::any_of(program->devices, [](cl_device_id device) { return device->parent; });
}

/// `use(binary, position)` for each binary, by the position of its device among the program's.
template <class Use>
cl_int each_binary(cl_program program, bool is_by_device, Use&& use) {
  for (const auto place : places_of(program)) {
    const auto status =
        ask(program->session(place), cl::ProgramBinaries{.program = program->handles[place]},
            [&](const cl::ProgramBinariesReply& reply) {
              for (std::size_t i = 0; i < reply.binaries.size(); i++) {
                const auto is_its = [&](cl_device_id device) {
                  return i < reply.devices.size() && program->context->place_of(device) == place &&
                         device->index == reply.devices[i];
                };
                use(reply.binaries[i], is_by_device
                                           ? static_cast<std::size_t>(std::ranges::find_if(program->devices, is_its) -
                                                                      program->devices.begin())
                                           : i);
              }
            });
    if (status != CL_SUCCESS) return status;
  }
  return CL_SUCCESS;
}

/// The sizes of the binaries in the order of the program's devices.
cl_int binary_sizes(cl_program program, std::vector<std::size_t>& sizes) {
  if (has_parts(program)) {
    sizes.resize(program->devices.size());
    return each_binary(program, true, [&](wire::View binary, std::size_t at) {
      if (at < sizes.size()) sizes[at] = binary.size();
    });
  }
  std::map<std::size_t, std::vector<std::size_t>> there;
  for (const auto place : places_of(program)) {
    const auto status = ask(program->session(place),
                            cl::ProgramInfo{.program = program->handles[place], .param = CL_PROGRAM_BINARY_SIZES},
                            [&](const auto& reply) {
                              auto& list = there[place];
                              list.resize(reply.value.size() / sizeof(std::size_t));
                              if (!list.empty())
                                std::memcpy(list.data(), reply.value.data(), list.size() * sizeof(std::size_t));
                            });
    if (status != CL_SUCCESS) return status;
  }
  if (there.size() == 1) {   // the device's own order and number
    sizes = there.begin()->second;
    return CL_SUCCESS;
  }
  std::map<std::size_t, std::size_t> next;
  for (auto* device : program->devices) {
    const auto place = program->context->place_of(device);
    const auto& list = there[place];
    const auto at = next[place]++;
    sizes.push_back(at < list.size() ? list[at] : 0);
  }
  return CL_SUCCESS;
}

/// Copies each binary to where the application wants it.
cl_int binaries(cl_program program, unsigned char** targets, const std::vector<std::size_t>& sizes) {
  return each_binary(program, has_parts(program) || places_of(program).size() > 1,
                     [&](wire::View binary, std::size_t at) {
                       if (at < sizes.size() && targets[at])
                         std::memcpy(targets[at], binary.data(), std::min(sizes[at], binary.size()));
                     });
}

}  // namespace

cl_int ask_program(cl_program program, cl_program_info name,
                   const std::function<void(const cl::ProgramInfoReply&)>& use) {
  cl_int status = kNoAnswer;
  for (const auto place : places_of(program)) {
    status = ask(program->session(place), cl::ProgramInfo{.program = program->handles[place], .param = name},
                 [&](const cl::ProgramInfoReply& reply) {
                   if (reply.status == CL_SUCCESS) use(reply);
                 });
    if (status != CL_INVALID_PROGRAM_EXECUTABLE) return status;
  }
  return status;
}

cl_int clGetProgramInfo(cl_program program, cl_program_info param_name, size_t param_value_size, void* param_value,
                        size_t* param_value_size_ret) {
  if (!is_live(program)) return CL_INVALID_PROGRAM;
  const Wanted answer{param_value_size, param_value, param_value_size_ret};
  switch (param_name) {
    case CL_PROGRAM_REFERENCE_COUNT: return answer.give(references(program));
    case CL_PROGRAM_CONTEXT: return answer.give(program->context);
    case CL_PROGRAM_NUM_DEVICES: return answer.give(static_cast<cl_uint>(program->devices.size()));
    case CL_PROGRAM_DEVICES:
      return answer.give(program->devices.data(), program->devices.size() * sizeof(cl_device_id));
    case CL_PROGRAM_SOURCE: return answer.give(program->source.c_str(), program->source.size() + 1);
    case CL_PROGRAM_IL: return answer.give(program->il.data(), program->il.size());
    case CL_PROGRAM_BINARY_SIZES:
    case CL_PROGRAM_BINARIES: break;
    default: return forward(program, param_name, answer);
  }
  std::vector<std::size_t> sizes;
  if (const auto error = binary_sizes(program, sizes)) return error;
  if (param_name == CL_PROGRAM_BINARY_SIZES) return answer.give(sizes.data(), sizes.size() * sizeof(std::size_t));
  const auto size = sizes.size() * sizeof(unsigned char*);
  if (param_value && param_value_size < size) return CL_INVALID_VALUE;
  if (param_value_size_ret) *param_value_size_ret = size;
  return param_value ? binaries(program, static_cast<unsigned char**>(param_value), sizes) : CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info param_name,
                             size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  if (!is_live(program)) return CL_INVALID_PROGRAM;
  if (!is_live(device)) return CL_INVALID_DEVICE;
  const auto place = program->context->place_of(device);
  if (place == program->handles.size() || program->handles[place] == 0) return CL_INVALID_DEVICE;
  cl_int given = kNoAnswer;
  const cl::BuildInfo message{.program = program->handles[place], .device = device->index, .param = param_name};
  const auto status = ask(program->session(place), message, [&](const cl::BuildInfoReply& reply) {
    if (reply.status == CL_SUCCESS)
      given = give_info(reply.value.data(), reply.value.size(), param_value_size, param_value, param_value_size_ret);
  });
  return status == CL_SUCCESS ? given : status;
}

}  // namespace flexrack::client::opencl
