// Making programs of what the client sends.
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

namespace {

enum Form : std::uint32_t { kSource = 0, kBinaries = 1, kIntermediate = 2, kBuiltIn = 3 };

cl_program from_source(cl_context context, const cl::CreateProgram& call, cl_int& status) {
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  for (const auto& part : call.parts) texts.emplace_back(part.begin(), part.end());
  for (const auto& text : texts) pointers.push_back(text.c_str());
  if (pointers.empty()) return status = CL_INVALID_VALUE, nullptr;
  return native().clCreateProgramWithSource(context, static_cast<cl_uint>(pointers.size()), pointers.data(), nullptr,
                                            &status);
}

cl_program from_binaries(cl_context context, const cl::CreateProgram& call, const std::vector<cl_device_id>& devices,
                         std::vector<cl_int>& each, cl_int& status) {
  status = CL_INVALID_VALUE;
  if (devices.empty() || call.parts.size() != devices.size()) return nullptr;
  std::vector<std::size_t> lengths;
  std::vector<const unsigned char*> pointers;
  for (const auto& part : call.parts) {
    if (part.empty()) return nullptr;
    lengths.push_back(part.size());
    pointers.push_back(part.data());
  }
  each.resize(devices.size());
  return native().clCreateProgramWithBinary(context, static_cast<cl_uint>(devices.size()), devices.data(),
                                            lengths.data(), pointers.data(), each.data(), &status);
}

cl_program from_intermediate(cl_context context, const cl::CreateProgram& call, cl_int& status) {
  status = CL_INVALID_VALUE;
  if (call.parts.size() != 1 || call.parts[0].empty()) return nullptr;
  status = CL_INVALID_OPERATION;
  if (!native().clCreateProgramWithIL) return nullptr;
  return native().clCreateProgramWithIL(context, call.parts[0].data(), call.parts[0].size(), &status);
}

cl_program built_in(cl_context context, const cl::CreateProgram& call, const std::vector<cl_device_id>& devices,
                    cl_int& status) {
  status = CL_INVALID_VALUE;
  if (devices.empty() || call.parts.size() != 1) return nullptr;
  const std::string names(call.parts[0].begin(), call.parts[0].end());
  return native().clCreateProgramWithBuiltInKernels(context, static_cast<cl_uint>(devices.size()), devices.data(),
                                                    names.c_str(), &status);
}

}  // namespace

void Session::on(const cl::CreateProgram& call, Respond<cl::CreateProgramReply> respond) {
  auto* context = table_.find<ContextRecord>(call.context);
  if (!context) return respond({.status = CL_INVALID_CONTEXT});
  if (call.program == 0 || table_.has(call.program) || table_.is_full()) return respond.refuse(wire::Refusal::limit);
  std::vector<cl_device_id> devices;
  if (!call.devices.empty()) {
    if (const auto error = devices_of(*context, call.devices, devices)) return respond({.status = error});
  }
  cl_int status = CL_INVALID_VALUE;
  std::vector<cl_int> each;
  auto program = Ref<ProgramRecord>::adopt(new ProgramRecord);
  program->context = Ref<ContextRecord>(context);
  switch (call.form) {
    case kSource: program->native = from_source(context->native, call, status); break;
    case kBinaries: program->native = from_binaries(context->native, call, devices, each, status); break;
    case kIntermediate: program->native = from_intermediate(context->native, call, status); break;
    case kBuiltIn: program->native = built_in(context->native, call, devices, status); break;
    default: break;
  }
  if (!program->native && status == CL_SUCCESS) status = CL_OUT_OF_RESOURCES;
  if (status == CL_SUCCESS) table_.insert(call.program, std::move(program));
  respond({.status = status, .binary_status = each});
}

void Session::on(const cl::SpecializeProgram& call, Respond<cl::SpecializeProgramReply> respond) {
  const auto* program = table_.find<ProgramRecord>(call.program);
  if (!program) return respond({.status = CL_INVALID_PROGRAM});
  std::size_t size = 0;
  // Asked of a program without intermediate language, drivers have ended the process.
  if (native().clGetProgramInfo(program->native, CL_PROGRAM_IL, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return respond({.status = CL_INVALID_PROGRAM});
  if (!native().clSetProgramSpecializationConstant) return respond({.status = CL_INVALID_OPERATION});
  respond({.status = native().clSetProgramSpecializationConstant(program->native, call.id, call.value.size(),
                                                                 call.value.data())});
}

}  // namespace flexrack::backend::opencl
