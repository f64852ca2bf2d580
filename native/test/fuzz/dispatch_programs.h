// Programs and kernels of the driver that believes what it is told: every program has two kernels with the same six
// parameters.
#pragma once

#include "test/fuzz/dispatch_memory.h"

namespace flexrack::fuzz {

/// A buffer, a value of 4 bytes, local memory, an image, a sampler, a structure of 24 bytes.
struct Parameter {
  cl_kernel_arg_address_qualifier address;
  const char* type;
  std::size_t size;  ///< 0: local memory
};
inline constexpr Parameter kParameters[_cl_kernel::kArguments] = {
    {CL_KERNEL_ARG_ADDRESS_GLOBAL, "uint*", sizeof(cl_mem)},
    {CL_KERNEL_ARG_ADDRESS_PRIVATE, "uint", 4},
    {CL_KERNEL_ARG_ADDRESS_LOCAL, "uint*", 0},
    {CL_KERNEL_ARG_ADDRESS_GLOBAL, "image2d_t", sizeof(cl_mem)},
    {CL_KERNEL_ARG_ADDRESS_PRIVATE, "sampler_t", sizeof(void*)},
    {CL_KERNEL_ARG_ADDRESS_PRIVATE, "struct pair", 24}};

inline cl_program new_program(cl_context context, std::string text, cl_int* error) {
  Call call;
  auto* program = new _cl_program;
  program->context = retain(context);
  program->text = std::move(text);
  *error = CL_SUCCESS;
  return program;
}

/// A text with 'x' in it does not compile.
inline cl_int build(cl_program program, cl_uint count, const cl_device_id* devices, const char* options) {
  Call call;
  for (cl_uint i = 0; i < count; ++i)
    if (std::find(program->context->devices.begin(), program->context->devices.end(), devices[i]) ==
        program->context->devices.end())
      std::abort();
  if (options) program->text.append(options, strnlen(options, 64));
  program->is_built = program->text.find('x') == std::string::npos;
  return program->is_built ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

inline cl_int get_program_info(cl_program program, cl_program_info param, size_t size, void* out, size_t* needed) {
  Call call;
  const auto& devices = program->context->devices;
  switch (param) {
    case CL_PROGRAM_CONTEXT: std::abort();
    case CL_PROGRAM_DEVICES:
      return give_bytes(devices.data(), devices.size() * sizeof(cl_device_id), size, out, needed);
    case CL_PROGRAM_BINARY_SIZES: {
      const std::vector<size_t> sizes(devices.size(), program->is_built ? program->text.size() : 0);
      return give_bytes(sizes.data(), sizes.size() * sizeof(size_t), size, out, needed);
    }
    case CL_PROGRAM_BINARIES: {
      if (size < devices.size() * sizeof(void*)) return CL_INVALID_VALUE;
      for (size_t i = 0; i < devices.size() && program->is_built; ++i)
        std::memcpy(static_cast<unsigned char**>(out)[i], program->text.data(), program->text.size());
      return CL_SUCCESS;
    }
    case CL_PROGRAM_KERNEL_NAMES:
      return program->is_built ? give_text("k;n", size, out, needed) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_SOURCE:
    case CL_PROGRAM_IL: return give_text(program->text, size, out, needed);
    default: return CL_INVALID_VALUE;
  }
}

inline cl_int get_build_info(cl_program program, cl_device_id, cl_program_build_info param, size_t size, void* out,
                             size_t* needed) {
  Call call;
  if (param == CL_PROGRAM_BUILD_STATUS)
    return give(cl_build_status{program->is_built ? CL_BUILD_SUCCESS : CL_BUILD_ERROR}, size, out, needed);
  return param == CL_PROGRAM_BUILD_LOG || param == CL_PROGRAM_BUILD_OPTIONS
             ? give_text(program->text, size, out, needed)
             : CL_INVALID_VALUE;
}

inline cl_kernel create_kernel(cl_program program, const char* name, cl_int* error) {
  Call call;
  const std::string wanted(name);
  *error = !program->is_built               ? CL_INVALID_PROGRAM_EXECUTABLE
           : wanted != "k" && wanted != "n" ? CL_INVALID_KERNEL_NAME
                                            : CL_SUCCESS;
  if (*error != CL_SUCCESS) return nullptr;
  auto* kernel = new _cl_kernel;
  kernel->program = retain(program);
  kernel->has_infos = wanted == "k";
  return kernel;
}

/// What is said to be a pointer to an object is one.
inline cl_int set_argument(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  Call call;
  if (index >= _cl_kernel::kArguments) return CL_INVALID_ARG_INDEX;
  const auto& parameter = kParameters[index];
  const std::string type = parameter.type;
  if (parameter.size == 0) return value ? CL_INVALID_ARG_VALUE : size == 0 ? CL_INVALID_ARG_SIZE : CL_SUCCESS;
  if (size != parameter.size) return CL_INVALID_ARG_SIZE;
  if (parameter.address == CL_KERNEL_ARG_ADDRESS_PRIVATE && type != "sampler_t") {
    if (!value) return CL_INVALID_ARG_VALUE;
    std::uint8_t read[24];
    std::memcpy(read, value, size);
    return CL_SUCCESS;
  }
  void* object = nullptr;
  if (value) std::memcpy(&object, value, sizeof object);
  if (type == "sampler_t") {
    if (!object) return CL_INVALID_SAMPLER;
    if (static_cast<cl_sampler>(object)->references <= 0) std::abort();
  } else {
    if (!object && type == "image2d_t") return CL_INVALID_MEM_OBJECT;
    if (object && (static_cast<cl_mem>(object)->element != 0) != (type == "image2d_t")) return CL_INVALID_ARG_VALUE;
    if (object && static_cast<cl_mem>(object)->context != kernel->program->context) return CL_INVALID_MEM_OBJECT;
  }
  kernel->objects[index] = object;
  return CL_SUCCESS;
}

inline cl_int get_argument_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info param, size_t size, void* out,
                                size_t* needed) {
  Call call;
  if (!kernel->has_infos) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  switch (param) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER: return give(kParameters[index].address, size, out, needed);
    case CL_KERNEL_ARG_TYPE_NAME: return give_text(kParameters[index].type, size, out, needed);
    case CL_KERNEL_ARG_NAME: return give_text("a", size, out, needed);
    default: return CL_INVALID_VALUE;
  }
}

inline cl_int launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t*, const size_t* global,
                     const size_t* local, cl_uint count, const cl_event* list, cl_event* out) {
  for (cl_uint i = 0; i < dimensions; ++i)
    if (local && global[i] % local[i] != 0) return CL_INVALID_WORK_GROUP_SIZE;
  std::vector<cl_mem> uses;
  {
    Call call;
    if (kernel->program->context != queue->context) std::abort();
    for (const cl_uint i : {0u, 3u})
      if (kernel->objects[i]) uses.push_back(static_cast<cl_mem>(kernel->objects[i]));
    if (kernel->objects[4] && static_cast<cl_sampler>(kernel->objects[4])->references <= 0) std::abort();
  }
  return enqueue(queue, count, list, out, uses, [uses] {
    for (auto* memory : uses) memory->data[0] = memory->data[memory->size - 1] = 1;
  });
}

inline void fill_in_programs(backend::opencl::Native& cl) {
  cl.clCreateProgramWithSource = [](cl_context context, cl_uint count, const char** parts, const size_t*,
                                    cl_int* error) {
    std::string text;
    for (cl_uint i = 0; i < count; ++i) text.append(parts[i], strnlen(parts[i], 64));
    return new_program(context, text, error);
  };
  cl.clCreateProgramWithBinary = [](cl_context context, cl_uint count, const cl_device_id*, const size_t* sizes,
                                    const unsigned char** parts, cl_int* each, cl_int* error) {
    std::string text;
    for (cl_uint i = 0; i < count; ++i) {
      text.append(reinterpret_cast<const char*>(parts[i]), sizes[i]);
      each[i] = CL_SUCCESS;
    }
    return new_program(context, text, error);
  };
  cl.clCreateProgramWithIL = [](cl_context context, const void* text, size_t size, cl_int* error) {
    return new_program(context, std::string(static_cast<const char*>(text), size), error);
  };
  cl.clCreateProgramWithBuiltInKernels = [](cl_context context, cl_uint, const cl_device_id*, const char* names,
                                            cl_int* error) { return new_program(context, names, error); };
  cl.clSetProgramSpecializationConstant = [](cl_program program, cl_uint, size_t size, const void* value) -> cl_int {
    Call call;
    if (size > 0) program->text.append(static_cast<const char*>(value), size);
    return size > 8 ? CL_INVALID_VALUE : CL_SUCCESS;
  };
  cl.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                         cl_program_callback, void*) { return build(program, count, devices, options); };
  cl.clCompileProgram = [](cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                           cl_uint headers, const cl_program* list, const char** names, cl_program_callback, void*) {
    for (cl_uint i = 0; i < headers; ++i)
      if (list[i]->references <= 0 || std::strlen(names[i]) > 4096) std::abort();
    return build(program, count, devices, options);
  };
  cl.clLinkProgram = [](cl_context context, cl_uint, const cl_device_id*, const char*, cl_uint count,
                        const cl_program* list, cl_program_callback, void*, cl_int* error) -> cl_program {
    std::string text;
    for (cl_uint i = 0; i < count; ++i) text += list[i]->text.substr(0, 64);
    auto* program = new_program(context, text, error);
    *error = build(program, 0, nullptr, nullptr) == CL_SUCCESS ? CL_SUCCESS : CL_LINK_PROGRAM_FAILURE;
    return program;
  };
  cl.clGetProgramInfo = get_program_info;
  cl.clGetProgramBuildInfo = get_build_info;
  cl.clCreateKernel = create_kernel;
  cl.clCloneKernel = [](cl_kernel source, cl_int* error) -> cl_kernel {
    Call call;
    auto* kernel = new _cl_kernel(*source);
    kernel->references = 1;
    retain(kernel->program);
    *error = CL_SUCCESS;
    return kernel;
  };
  cl.clSetKernelArg = set_argument;
  cl.clSetKernelArgSVMPointer = [](cl_kernel kernel, cl_uint index, const void*) -> cl_int {
    Call call;
    if (index != 0) return CL_INVALID_ARG_INDEX;
    kernel->objects[0] = nullptr;
    return CL_SUCCESS;
  };
  cl.clSetKernelExecInfo = [](cl_kernel kernel, cl_kernel_exec_info, size_t size, const void* value) -> cl_int {
    Call call;
    if (size >= sizeof(cl_bool)) static_cast<void>(*static_cast<const volatile std::uint8_t*>(value));
    return kernel->references > 0 ? CL_SUCCESS : CL_INVALID_KERNEL;
  };
  cl.clGetKernelInfo = [](cl_kernel, cl_kernel_info param, size_t size, void* out, size_t* needed) -> cl_int {
    if (param == CL_KERNEL_ATTRIBUTES) return give_text("", size, out, needed);
    return param == CL_KERNEL_NUM_ARGS ? give(cl_uint{_cl_kernel::kArguments}, size, out, needed) : CL_INVALID_VALUE;
  };
  cl.clGetKernelArgInfo = get_argument_info;
  cl.clGetKernelWorkGroupInfo = [](cl_kernel, cl_device_id, cl_kernel_work_group_info param, size_t size, void* out,
                                   size_t* needed) -> cl_int {
    return param == CL_KERNEL_WORK_GROUP_SIZE ? give(size_t{64}, size, out, needed) : CL_INVALID_VALUE;
  };
  cl.clGetKernelSubGroupInfo = [](cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t input_size,
                                  const void* input, size_t size, void* out, size_t* needed) -> cl_int {
    size_t sum = 0;
    for (size_t i = 0; i < input_size; ++i) sum += static_cast<const std::uint8_t*>(input)[i];
    return give(sum, size, out, needed);
  };
  cl.clEnqueueNDRangeKernel = launch;
}

}  // namespace flexrack::fuzz
