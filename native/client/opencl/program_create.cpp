// Making programs: from source, binaries, intermediate language, or a device's own kernels.
#include "client/opencl/enqueue.h"
#include "client/opencl/info.h"
#include "client/opencl/program_create.h"

namespace flexrack::client::opencl {

namespace {

enum Form : std::uint32_t { kSource = 0, kBinaries = 1, kIntermediate = 2, kBuiltIn = 3 };

wire::View view(const void* data, std::size_t size) { return {static_cast<const std::uint8_t*>(data), size}; }

/// The devices of that place among the program's, as the server counts them.
std::vector<std::uint32_t> indexes(cl_program program, std::size_t place) {
  std::vector<std::uint32_t> found;
  for (auto* device : program->devices)
    if (program->context->place_of(device) == place) found.push_back(device->index);
  return found;
}

/// Creates it at each place as `fill` says; where one refuses, nowhere.
cl_program create(cl_program program, cl_int* error_out,
                  const std::function<cl::CreateProgram(std::size_t, const std::vector<std::uint32_t>&)>& fill,
                  const std::function<void(std::size_t, const cl::CreateProgramReply&)>& use) {
  auto* context = program->context;
  cl_int error = at_each_place(
      context->places.size(),
      [&](std::size_t place) {
        return std::ranges::any_of(program->devices,
                                   [&](cl_device_id device) { return context->place_of(device) == place; });
      },
      [&](std::size_t place) {
        auto& there = context->places[place];
        const auto devices = indexes(program, place);
        auto message = fill(place, devices);
        message.context = there.context;
        message.program = there.session->mint();
        const auto status = ask(*there.session, message, [&](const auto& reply) { use(place, reply); });
        if (status == CL_SUCCESS) program->handles[place] = message.program;
        return status;
      });
  if (error_out) *error_out = error;
  if (error == CL_SUCCESS) return program;
  release(program);
  return nullptr;
}

/// CL_INVALID_DEVICE for one that is twice in the list or not in the context.
cl_int check_list(cl_context context, cl_uint count, const cl_device_id* list) {
  for (cl_uint i = 0; i < count; i++) {
    if (!is_live(list[i]) || context->place_of(list[i]) == context->places.size() ||
        std::find(list, list + i, list[i]) != list + i)
      return CL_INVALID_DEVICE;
  }
  return CL_SUCCESS;
}

}  // namespace

cl_program new_program(cl_context context, std::vector<cl_device_id> devices) {
  auto* program = new _cl_program;
  program->context = hold(context);
  program->devices = std::move(devices);
  program->handles.resize(context->places.size());
  return program;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings, const size_t* lengths,
                                     cl_int* errcode_ret) {
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT, errcode_ret);
  if (count == 0 || !strings || std::find(strings, strings + count, nullptr) != strings + count)
    return fail(CL_INVALID_VALUE, errcode_ret);
  std::string source;
  for (cl_uint i = 0; i < count; i++) {
    if (lengths && lengths[i] != 0) source.append(strings[i], lengths[i]);
    else source.append(strings[i]);
  }
  auto* program = new_program(context, context->devices);
  program->source = std::move(source);
  return create(
      program, errcode_ret,
      [&](std::size_t, const auto&) {
        return cl::CreateProgram{.form = kSource, .parts = {view(program->source.data(), program->source.size())}};
      },
      [](std::size_t, const auto&) {});
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint num_devices, const cl_device_id* device_list,
                                     const size_t* lengths, const unsigned char** binaries, cl_int* binary_status,
                                     cl_int* errcode_ret) {
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT, errcode_ret);
  if (!device_list || num_devices == 0 || !lengths || !binaries) return fail(CL_INVALID_VALUE, errcode_ret);
  for (cl_uint i = 0; i < num_devices; i++)
    if (lengths[i] == 0 || !binaries[i]) return fail(CL_INVALID_VALUE, errcode_ret);
  if (const auto error = check_list(context, num_devices, device_list)) return fail(error, errcode_ret);
  auto* program = new_program(context, {device_list, device_list + num_devices});
  return create(
      program, errcode_ret,
      [&](std::size_t place, const auto& devices) {
        cl::CreateProgram message{.form = kBinaries};
        message.devices = devices;
        for (cl_uint i = 0; i < num_devices; i++) {
          if (context->place_of(device_list[i]) == place) message.parts.push_back(view(binaries[i], lengths[i]));
        }
        return message;
      },
      [&](std::size_t place, const cl::CreateProgramReply& reply) {
        std::size_t next = 0;
        for (cl_uint i = 0; binary_status && i < num_devices; i++) {
          if (context->place_of(device_list[i]) == place && next < reply.binary_status.size())
            binary_status[i] = reply.binary_status[next++];
        }
      });
}

cl_program clCreateProgramWithIL(cl_context context, const void* il, size_t length, cl_int* errcode_ret) {
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT, errcode_ret);
  if (!il || length == 0) return fail(CL_INVALID_VALUE, errcode_ret);
  auto* program = new_program(context, context->devices);
  const auto bytes = view(il, length);
  program->il.assign(bytes.begin(), bytes.end());
  return create(
      program, errcode_ret,
      [&](std::size_t, const auto&) { return cl::CreateProgram{.form = kIntermediate, .parts = {bytes}}; },
      [](std::size_t, const auto&) {});
}

cl_program clCreateProgramWithILKHR(cl_context context, const void* il, size_t length, cl_int* errcode_ret) {
  return clCreateProgramWithIL(context, il, length, errcode_ret);
}

cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices, const cl_device_id* device_list,
                                             const char* kernel_names, cl_int* errcode_ret) {
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT, errcode_ret);
  if (!device_list || num_devices == 0 || !kernel_names) return fail(CL_INVALID_VALUE, errcode_ret);
  if (const auto error = check_list(context, num_devices, device_list)) return fail(error, errcode_ret);
  auto* program = new_program(context, {device_list, device_list + num_devices});
  return create(
      program, errcode_ret,
      [&](std::size_t, const auto& devices) {
        return cl::CreateProgram{
            .form = kBuiltIn, .devices = devices, .parts = {view(kernel_names, std::strlen(kernel_names))}};
      },
      [](std::size_t, const auto&) {});
}

}  // namespace flexrack::client::opencl
