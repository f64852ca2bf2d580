// Building, compiling and linking, at every place of the context at once. With a callback the work is done when the
// call returns, as on devices that build in the call: so its status is the device's own; the callback runs on the
// callback thread.
#include "client/opencl/enqueue.h"
#include "client/opencl/program_create.h"

namespace flexrack::client::opencl {

namespace {

/// Tells the application that a build is over.
void notify(cl_program program, cl_program_callback callback, void* data) {
  if (!callback) return;
  hold(program);
  run_callback([program, callback, data] {
    callback(program, data);
    drop(program);
  });
}

std::string_view text(const char* options) { return options ? options : ""; }

/// A build, as the message asks for it at the places chosen.
template <class Message, class Fill>
cl_int build(cl_program program, const DeviceChoice& choice, const char* options, Fill&& fill) {
  const auto status = at_each_place(
      program->handles.size(), [&](std::size_t place) { return program->handles[place] != 0 && choice.has(place); },
      [&](std::size_t place) {
        Message message;
        message.program = program->handles[place];
        message.devices = choice.places[place];
        message.has_options = options != nullptr;
        message.options = text(options);
        if (const auto error = fill(message, place)) return error;
        return ask(program->session(place), message, [](const auto&) {});
      });
  std::lock_guard guard(program->lock);
  program->options = text(options);
  return status;
}

}  // namespace

cl_int clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                      cl_program_callback pfn_notify, void* user_data) {
  if (!is_live(program)) return CL_INVALID_PROGRAM;
  DeviceChoice choice;
  if (const auto error = choose_devices(program->context, num_devices, device_list, choice)) return error;
  if (!pfn_notify && user_data) return CL_INVALID_VALUE;
  const auto status = build<cl::BuildProgram>(program, choice, options, [](auto&, std::size_t) { return CL_SUCCESS; });
  notify(program, pfn_notify, user_data);
  return status;
}

cl_int clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                        cl_uint num_input_headers, const cl_program* input_headers, const char** header_include_names,
                        cl_program_callback pfn_notify, void* user_data) {
  if (!is_live(program)) return CL_INVALID_PROGRAM;
  DeviceChoice choice;
  if (const auto error = choose_devices(program->context, num_devices, device_list, choice)) return error;
  if (!pfn_notify && user_data) return CL_INVALID_VALUE;
  if ((num_input_headers != 0) != (input_headers != nullptr) ||
      (num_input_headers != 0) != (header_include_names != nullptr))
    return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < num_input_headers; i++) {
    if (!is_live(input_headers[i]) || input_headers[i]->context != program->context) return CL_INVALID_PROGRAM;
    if (!header_include_names[i]) return CL_INVALID_VALUE;
  }
  const auto status =
      build<cl::CompileProgram>(program, choice, options, [&](cl::CompileProgram& message, std::size_t place) {
        for (cl_uint i = 0; i < num_input_headers; i++)
          message.headers.push_back({header_include_names[i], input_headers[i]->handles[place]});
        return std::ranges::any_of(message.headers, [](const auto& header) { return header.program == 0; })
                   ? CL_INVALID_PROGRAM
                   : CL_SUCCESS;
      });
  notify(program, pfn_notify, user_data);
  return status;
}

cl_program clLinkProgram(cl_context context, cl_uint num_devices, const cl_device_id* device_list, const char* options,
                         cl_uint num_input_programs, const cl_program* input_programs, cl_program_callback pfn_notify,
                         void* user_data, cl_int* errcode_ret) {
  const auto fail = [&](cl_int error) -> cl_program {
    if (errcode_ret) *errcode_ret = error;
    return nullptr;
  };
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT);
  if (num_input_programs == 0 || !input_programs) return fail(CL_INVALID_VALUE);
  DeviceChoice choice;
  if (const auto error = choose_devices(context, num_devices, device_list, choice)) return fail(error);
  if (!pfn_notify && user_data) return fail(CL_INVALID_VALUE);
  for (cl_uint i = 0; i < num_input_programs; i++) {
    if (!is_live(input_programs[i]) || input_programs[i]->context != context) return fail(CL_INVALID_PROGRAM);
  }
  // Where an input is not, there is nothing to link, and nobody asked for that place by name.
  const auto has_inputs = [&](std::size_t place) {
    return std::all_of(input_programs, input_programs + num_input_programs,
                       [&](cl_program input) { return input->handles[place] != 0; });
  };
  std::vector<cl_device_id> devices;
  for (auto* device :
       num_devices ? std::vector<cl_device_id>(device_list, device_list + num_devices) : context->devices) {
    const auto place = context->place_of(device);
    if (num_devices != 0 && !has_inputs(place)) return fail(CL_INVALID_OPERATION);
    if (has_inputs(place)) devices.push_back(device);
  }
  if (devices.empty()) return fail(CL_INVALID_OPERATION);
  auto* program = new_program(context, std::move(devices));
  program->options = text(options);
  const auto status = at_each_place(
      context->places.size(), [&](std::size_t place) { return choice.has(place) && has_inputs(place); },
      [&](std::size_t place) {
        const auto& there = context->places[place];
        std::vector<std::uint64_t> inputs;
        for (cl_uint i = 0; i < num_input_programs; i++) inputs.push_back(input_programs[i]->handles[place]);
        cl::LinkProgram message{
            .context = there.context, .program = there.session->mint(), .devices = choice.places[place]};
        message.has_options = options != nullptr;
        message.options = text(options);
        message.inputs = inputs;
        return ask(*there.session, message, [&](const cl::LinkProgramReply& reply) {
          if (reply.created != 0) program->handles[place] = message.program;
        });
      });
  if (errcode_ret) *errcode_ret = status;
  if (program->home() == program->handles.size()) {   // no device made one, so there is none to give
    release(program);
    return nullptr;
  }
  notify(program, pfn_notify, user_data);
  return program;
}

}  // namespace flexrack::client::opencl
