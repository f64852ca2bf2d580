// Building, compiling and linking: seconds of work, on a thread of its own, so that what is running meanwhile goes on.
#include <deque>

#include "backend/opencl/build_lock.h"
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

namespace {

/// Options as the driver takes them: none at all is not the same as none in particular.
struct Options {
  bool is_given;
  std::string text;
  const char* get() const { return is_given ? text.c_str() : nullptr; }
};

template <class T>
T build_value(cl_program program, cl_device_id device, cl_program_build_info param, T otherwise) {
  T value{};
  return native().clGetProgramBuildInfo(program, device, param, sizeof value, &value, nullptr) == CL_SUCCESS
             ? value
             : otherwise;
}

std::string build_text(cl_program program, cl_device_id device, cl_program_build_info param) {
  std::size_t size = 0;
  if (native().clGetProgramBuildInfo(program, device, param, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (native().clGetProgramBuildInfo(program, device, param, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(std::min(text.find('\0'), size));
  constexpr std::size_t kMostText = 1 << 20;   // of each log in a reply; all of it is there to be asked for
  return text.substr(0, kMostText);
}

std::string kernel_names(cl_program program) {
  std::size_t size = 0;
  if (native().clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return {};
  std::string names(size, '\0');
  if (native().clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr) != CL_SUCCESS) return {};
  names.resize(std::min(names.find('\0'), size));
  return names;
}

/// What became of a build on each device, and the texts that the reply shows.
struct Outcomes {
  std::deque<std::string> texts;
  std::vector<cl::BuildOutcome> list;

  explicit Outcomes(const ProgramRecord& program) {
    if (!program.native) return;
    for (const auto& of : program.context->devices) {
      auto* device = of->native.device;
      auto& one = list.emplace_back();
      one.device = of->index;
      one.status = build_value<cl_build_status>(program.native, device, CL_PROGRAM_BUILD_STATUS, CL_BUILD_NONE);
      one.binary_type = build_value<cl_program_binary_type>(program.native, device, CL_PROGRAM_BINARY_TYPE,
                                                            CL_PROGRAM_BINARY_TYPE_NONE);
      one.global_variable_bytes =
          build_value<std::size_t>(program.native, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, 0);
      one.options = texts.emplace_back(build_text(program.native, device, CL_PROGRAM_BUILD_OPTIONS));
      one.log = texts.emplace_back(build_text(program.native, device, CL_PROGRAM_BUILD_LOG));
    }
  }
};

cl_platform_id platform_of(const ContextRecord& context) { return context.devices[0]->native.platform; }

const cl_device_id* list_of(const std::vector<cl_device_id>& devices) {
  return devices.empty() ? nullptr : devices.data();
}

/// A Respond inside a std::function, which wants to be copied.
template <class Reply>
auto share(wire::Respond<Reply> respond) {
  return std::make_shared<wire::Respond<Reply>>(std::move(respond));
}

}  // namespace

void Session::on(const cl::BuildProgram& call, Respond<cl::BuildProgramReply> respond) {
  auto* program = table_.find<ProgramRecord>(call.program);
  if (!program) return respond({.status = CL_INVALID_PROGRAM});
  std::vector<cl_device_id> devices;
  if (!call.devices.empty()) {
    if (const auto error = devices_of(*program->context, call.devices, devices)) return respond({.status = error});
  }
  engine_->builder.add([kept = Ref<ProgramRecord>(program), devices,
                        options = Options{call.has_options != 0, std::string(call.options)},
                        answer = share(std::move(respond))] {
    const BuildLock turn(platform_of(*kept->context));
    const auto status = native().clBuildProgram(kept->native, static_cast<cl_uint>(devices.size()), list_of(devices),
                                                options.get(), nullptr, nullptr);
    const Outcomes outcomes(*kept);
    const auto names = kernel_names(kept->native);
    (*answer)({.status = status, .outcomes = outcomes.list, .kernel_names = names});
  });
}

void Session::on(const cl::CompileProgram& call, Respond<cl::CompileProgramReply> respond) {
  auto* program = table_.find<ProgramRecord>(call.program);
  if (!program) return respond({.status = CL_INVALID_PROGRAM});
  std::vector<cl_device_id> devices;
  if (!call.devices.empty()) {
    if (const auto error = devices_of(*program->context, call.devices, devices)) return respond({.status = error});
  }
  std::vector<Ref<ProgramRecord>> headers;
  std::vector<std::string> names;
  for (const auto& header : call.headers) {
    auto* found = table_.find<ProgramRecord>(header.program);
    if (!found || found->context.get() != program->context.get()) return respond({.status = CL_INVALID_PROGRAM});
    headers.emplace_back(found);
    names.emplace_back(header.name);
  }
  engine_->builder.add([kept = Ref<ProgramRecord>(program), devices, headers, names,
                        options = Options{call.has_options != 0, std::string(call.options)},
                        answer = share(std::move(respond))] {
    std::vector<cl_program> natives;
    std::vector<const char*> pointers;
    for (const auto& header : headers) natives.push_back(header->native);
    for (const auto& name : names) pointers.push_back(name.c_str());
    const BuildLock turn(platform_of(*kept->context));
    const auto status =
        native().clCompileProgram(kept->native, static_cast<cl_uint>(devices.size()), list_of(devices), options.get(),
                                  static_cast<cl_uint>(natives.size()), natives.empty() ? nullptr : natives.data(),
                                  pointers.empty() ? nullptr : pointers.data(), nullptr, nullptr);
    const Outcomes outcomes(*kept);
    (*answer)({.status = status, .outcomes = outcomes.list});
  });
}

void Session::on(const cl::LinkProgram& call, Respond<cl::LinkProgramReply> respond) {
  auto* context = table_.find<ContextRecord>(call.context);
  if (!context) return respond({.status = CL_INVALID_CONTEXT});
  if (call.program == 0 || table_.has(call.program) || table_.is_full()) return respond.refuse(wire::Refusal::limit);
  if (call.inputs.empty()) return respond({.status = CL_INVALID_VALUE});
  std::vector<cl_device_id> devices;
  if (!call.devices.empty()) {
    if (const auto error = devices_of(*context, call.devices, devices)) return respond({.status = error});
  }
  std::vector<Ref<ProgramRecord>> inputs;
  for (const auto handle : call.inputs) {
    auto* found = table_.find<ProgramRecord>(handle);
    if (!found || found->context.get() != context) return respond({.status = CL_INVALID_PROGRAM});
    inputs.emplace_back(found);
  }
  engine_->builder.add([this, handle = call.program, kept = Ref<ContextRecord>(context), devices, inputs,
                        options = Options{call.has_options != 0, std::string(call.options)},
                        answer = share(std::move(respond))] {
    std::vector<cl_program> natives;
    for (const auto& input : inputs) natives.push_back(input->native);
    cl_int status = CL_OUT_OF_RESOURCES;
    const BuildLock turn(platform_of(*kept));
    auto program = Ref<ProgramRecord>::adopt(new ProgramRecord);
    program->context = kept;
    program->native =
        native().clLinkProgram(kept->native, static_cast<cl_uint>(devices.size()), list_of(devices), options.get(),
                               static_cast<cl_uint>(natives.size()), natives.data(), nullptr, nullptr, &status);
    const Outcomes outcomes(*program);
    const auto names = program->native ? kernel_names(program->native) : std::string();
    bool is_created = false;
    if (program->native) {
      const std::lock_guard guard(lock_);
      is_created = table_.insert(handle, std::move(program));
    }
    (*answer)({.status = status, .created = is_created, .outcomes = outcomes.list, .kernel_names = names});
  });
}

}  // namespace flexrack::backend::opencl
