// Programs: how long they live, and what holds for all of them.
#include <future>

#include "client/opencl/enqueue.h"
#include "client/opencl/memory_check.h"
#include "client/opencl/program_objects.h"

std::size_t _cl_program::home() const {
  return static_cast<std::size_t>(
      std::find_if(handles.begin(), handles.end(), [](auto handle) { return handle != 0; }) - handles.begin());
}

namespace flexrack::client::opencl {

cl_int clRetainProgram(cl_program program) {
  if (!is_live(program)) return CL_INVALID_PROGRAM;
  retain(program);
  return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program program) {
  return is_live(program) && release(program) ? CL_SUCCESS : CL_INVALID_PROGRAM;
}

void dispose(cl_program program) {
  for (auto at = program->on_release.rbegin(); at != program->on_release.rend(); ++at) at->first(program, at->second);
  for (std::size_t place = 0; place < program->handles.size(); place++) {
    if (program->handles[place] != 0) program->session(place).send(cl::Release{.object = program->handles[place]});
  }
  auto* context = program->context;
  delete program;
  drop(context);
}

/// Only OpenCL 2.2 has programs with something to run at their end.
cl_int clSetProgramReleaseCallback(cl_program program, cl_program_callback pfn_notify, void* user_data) {
  if (!is_live(program)) return CL_INVALID_PROGRAM;
  const bool is_possible = std::ranges::all_of(program->devices, [](cl_device_id device) {
    const auto version = device->infos.find(CL_DEVICE_VERSION);
    constexpr std::string_view kThat = "OpenCL 2.2";
    return version != device->infos.end() && version->second.size() >= kThat.size() &&
           std::memcmp(version->second.data(), kThat.data(), kThat.size()) == 0;
  });
  if (!is_possible) return CL_INVALID_OPERATION;
  if (!pfn_notify) return CL_INVALID_VALUE;
  std::lock_guard guard(program->lock);
  program->on_release.emplace_back(pfn_notify, user_data);
  return CL_SUCCESS;
}

cl_int clSetProgramSpecializationConstant(cl_program program, cl_uint spec_id, size_t spec_size,
                                          const void* spec_value) {
  if (!is_live(program)) return CL_INVALID_PROGRAM;
  if (program->il.empty()) return CL_INVALID_PROGRAM;
  if (!spec_value) return CL_INVALID_VALUE;
  const wire::View value(static_cast<const std::uint8_t*>(spec_value), spec_size);
  return at_each_place(
      program->handles.size(), [&](std::size_t place) { return program->handles[place] != 0; },
      [&](std::size_t place) {
        return ask(program->session(place),
                   cl::SpecializeProgram{.program = program->handles[place], .id = spec_id, .value = value},
                   [](const auto&) {});
      });
}

cl_int choose_devices(cl_context context, cl_uint count, const cl_device_id* list, DeviceChoice& choice) {
  if ((count == 0) != (list == nullptr)) return CL_INVALID_VALUE;
  choice.is_all = count == 0;
  choice.places.resize(context->places.size());
  for (cl_uint i = 0; i < count; i++) {
    if (!is_live(list[i])) return CL_INVALID_DEVICE;
    const auto place = context->place_of(list[i]);
    if (place == context->places.size()) return CL_INVALID_DEVICE;
    choice.places[place].push_back(list[i]->index);
  }
  return CL_SUCCESS;
}

cl_int at_each_place(std::size_t count, const std::function<bool(std::size_t)>& is_wanted,
                     const std::function<cl_int(std::size_t)>& act) {
  std::vector<std::size_t> wanted;
  for (std::size_t place = 0; place < count; place++)
    if (is_wanted(place)) wanted.push_back(place);
  if (wanted.size() == 1) return act(wanted[0]);
  std::vector<std::future<cl_int>> running;
  for (const auto place : wanted)
    running.push_back(std::async(std::launch::async, [&act, place] { return act(place); }));
  cl_int first = CL_SUCCESS;
  for (auto& one : running) {
    const auto status = one.get();
    if (first == CL_SUCCESS) first = status;
  }
  return first;
}

}  // namespace flexrack::client::opencl
