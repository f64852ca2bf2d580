// Setting arguments: checked here, against what the device said about the kernel; sent with the next launch.
#include "client/opencl/coherence.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/memory_check.h"
#include "client/opencl/program_objects.h"

namespace flexrack::client::opencl {

bool ArgumentSlot::may_write() const {
  if (address == CL_KERNEL_ARG_ADDRESS_CONSTANT || access == CL_KERNEL_ARG_ACCESS_READ_ONLY) return false;
  const bool is_const = address == CL_KERNEL_ARG_ADDRESS_GLOBAL && (qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0;
  return !is_const && !(value.memory && (value.memory->flags & CL_MEM_READ_ONLY) != 0);
}

namespace {

using namespace argument;

/// An argument as the application gave it.
struct Given {
  cl_kernel kernel;
  cl_uint index;
  std::size_t size;
  const void* value;
  template <class T>
  T as() const {
    T object;
    std::memcpy(&object, value, sizeof object);
    return object;
  }
};

/// The first place where the kernel and, if there is one, the memory object are.
std::size_t place_with(cl_kernel kernel, cl_mem memory) {
  std::size_t place = 0;
  while (place < kernel->copies.size() &&
         (kernel->copies[place].handle == 0 || (memory && handle_at(memory, place) == 0)))
    place++;
  return place;
}

/// What the device says to this argument; asked once for each index, size, kind and sort of object.
cl_int ask_device(const Given& given, const ArgumentValue& value) {
  auto* kernel = given.kernel;
  const std::uint64_t sort =
      value.memory ? (std::uint64_t{value.memory->type} << 32 | (value.memory->flags & kAccessFlags)) : 0;
  const auto [found, is_new] = kernel->answers.try_emplace({given.index, given.size, value.kind, sort}, CL_SUCCESS);
  if (!is_new) return found->second;
  const auto place = place_with(kernel, value.memory);
  if (place == kernel->copies.size()) {   // memory that is nowhere yet: the launch will tell
    kernel->answers.erase(found);
    return CL_SUCCESS;
  }
  cl::Argument argument{.index = given.index, .kind = value.kind, .size = given.size, .value = value.bytes};
  if (value.memory) argument.object = handle_at(value.memory, place);
  if (value.sampler) argument.object = handle_at(value.sampler, place);
  if (value.queue) argument.object = value.queue->handle;
  const auto status =
      ask(kernel->session(place), cl::CheckArgument{.kernel = kernel->copies[place].handle, .argument = argument},
          [](const auto&) {});
  kernel->copies[place].versions[given.index] =
      kernel->slots[given.index].version - 1;   // whatever it is set to there now, it is sent again
  if (status == kNoAnswer) kernel->answers.erase(found);
  else found->second = status;
  return status;
}

cl_int take_local(const Given& given, ArgumentValue& value) {
  if (given.value) return CL_INVALID_ARG_VALUE;
  if (given.size == 0) return CL_INVALID_ARG_SIZE;
  value.kind = kLocal;
  value.number = given.size;
  return CL_SUCCESS;
}

/// No device takes arguments as large as this (CL_DEVICE_MAX_PARAMETER_SIZE is some kilobytes everywhere).
constexpr std::size_t kLargestValue = 64 * 1024;

cl_int take_value(const Given& given, const ArgumentSlot& slot, ArgumentValue& value) {
  if (!given.value) return CL_INVALID_ARG_VALUE;
  if (given.size > kLargestValue) return CL_INVALID_ARG_SIZE;
  value.kind = kValue;
  const auto* bytes = static_cast<const std::uint8_t*>(given.value);
  if (slot.size != 0 && given.size != slot.size) {
    // Three-component vectors may be given in three or four components: the device knows. It is asked with zeros,
    // because behind a value of the wrong size there need not be so many bytes.
    value.bytes.assign(given.size, 0);
    if (const auto status = ask_device(given, value); status != CL_SUCCESS) return status;
    value.bytes.assign(bytes, bytes + given.size);
    return CL_SUCCESS;
  }
  value.bytes.assign(bytes, bytes + given.size);
  return slot.size == 0 ? ask_device(given, value) : CL_SUCCESS;
}

cl_int take_memory(const Given& given, const ArgumentSlot& slot, ArgumentValue& value) {
  const bool can_be_null = slot.kind == kMemory;
  if (!given.value && !can_be_null) return CL_INVALID_ARG_VALUE;
  if (given.size != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  value.kind = slot.kind;
  value.memory = given.value ? given.as<cl_mem>() : nullptr;
  if (!value.memory) return can_be_null ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
  if (!is_live(value.memory) || value.memory->context != given.kernel->context()) return CL_INVALID_MEM_OBJECT;
  return slot.kind == kMemory && value.memory->type == CL_MEM_OBJECT_BUFFER ? CL_SUCCESS : ask_device(given, value);
}

cl_int take_sampler(const Given& given, ArgumentValue& value) {
  if (!given.value) return CL_INVALID_ARG_VALUE;
  if (given.size != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
  value.kind = kSampler;
  value.sampler = given.as<cl_sampler>();
  return is_live(value.sampler) && value.sampler->context == given.kernel->context() ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

cl_int take_queue(const Given& given, ArgumentValue& value) {
  if (!given.value) return CL_INVALID_ARG_VALUE;
  if (given.size != sizeof(cl_command_queue)) return CL_INVALID_ARG_SIZE;
  value.kind = kQueue;
  value.queue = given.as<cl_command_queue>();
  if (!is_live(value.queue) || value.queue->context != given.kernel->context()) return CL_INVALID_DEVICE_QUEUE;
  return ask_device(given, value);
}

/// Where the device did not say what the argument is, a pointer to one of our objects is taken for that object.
cl_int take_unknown(const Given& given, const ArgumentSlot& slot, ArgumentValue& value) {
  if (!given.value) {
    value.kind = kLocal;
    value.number = given.size;
    return ask_device(given, value);
  }
  if (given.size == sizeof(void*)) {
    const auto* object = given.as<const Object*>();
    auto guess = slot.kind;
    if (is_object(object, Kind::memory)) guess = kMemory;
    if (is_object(object, Kind::sampler)) guess = kSampler;
    if (guess == kSampler) return take_sampler(given, value);
    if (guess == kMemory) {
      value.kind = kMemory;
      value.memory = given.as<cl_mem>();
      return value.memory->context == given.kernel->context() ? ask_device(given, value) : CL_INVALID_MEM_OBJECT;
    }
  }
  if (given.size > kLargestValue) return CL_INVALID_ARG_SIZE;
  value.kind = kValue;
  const auto* bytes = static_cast<const std::uint8_t*>(given.value);
  value.bytes.assign(bytes, bytes + given.size);
  return ask_device(given, value);
}

cl_int take(const Given& given, const ArgumentSlot& slot, ArgumentValue& value) {
  switch (slot.kind) {
    case kValue: return take_value(given, slot, value);
    case kMemory:
    case kImage:
    case kPipe: return take_memory(given, slot, value);
    case kLocal: return take_local(given, value);
    case kSampler: return take_sampler(given, value);
    case kQueue: return take_queue(given, value);
    default: return take_unknown(given, slot, value);
  }
}

/// True where the slot has this value already: nothing to send again.
bool is_same(const ArgumentValue& a, const ArgumentValue& b) {
  return a.kind == b.kind && a.memory == b.memory && a.sampler == b.sampler && a.queue == b.queue &&
         a.number == b.number && a.bytes == b.bytes;
}

/// The plain case without taking anything apart: a value of the right size, of a kernel whose slot has room for it.
bool put_value(ArgumentSlot& slot, std::size_t size, const void* value) {
  if (slot.kind != kValue || slot.value.kind != kValue || !value || size != slot.size ||
      slot.value.bytes.size() != size)
    return false;
  if (std::memcmp(slot.value.bytes.data(), value, size) != 0) {
    std::memcpy(slot.value.bytes.data(), value, size);
    slot.version++;
  }
  return true;
}

}  // namespace

cl_int clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void* arg_value) {
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  if (arg_index >= kernel->slots.size()) return CL_INVALID_ARG_INDEX;
  std::lock_guard guard(kernel->lock);
  auto& slot = kernel->slots[arg_index];
  if (put_value(slot, arg_size, arg_value)) return CL_SUCCESS;
  ArgumentValue value;
  if (const auto error = take({kernel, arg_index, arg_size, arg_value}, slot, value)) return error;
  if (is_same(slot.value, value)) return CL_SUCCESS;
  slot.value = std::move(value);
  slot.version++;
  return CL_SUCCESS;
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index, const void* arg_value) {
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  if (!has_svm(kernel->context())) return CL_INVALID_OPERATION;
  if (arg_index >= kernel->slots.size()) return CL_INVALID_ARG_INDEX;
  std::lock_guard guard(kernel->lock);
  auto& slot = kernel->slots[arg_index];
  if (slot.kind != kMemory && slot.kind != kUnknown) return CL_INVALID_ARG_VALUE;
  ArgumentValue value;
  value.kind = kSvm;
  value.number = reinterpret_cast<std::uintptr_t>(arg_value);
  if (is_same(slot.value, value)) return CL_SUCCESS;
  slot.value = std::move(value);
  slot.version++;
  return CL_SUCCESS;
}

cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name, size_t param_value_size,
                           const void* param_value) {
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  if (!has_svm(kernel->context())) return CL_INVALID_OPERATION;
  if (!param_value) return CL_INVALID_VALUE;
  const wire::View value(static_cast<const std::uint8_t*>(param_value), param_value_size);
  return at_each_place(
      kernel->copies.size(), [&](std::size_t place) { return kernel->copies[place].handle != 0; },
      [&](std::size_t place) {
        return ask(kernel->session(place),
                   cl::KernelExecInfo{.kernel = kernel->copies[place].handle, .param = param_name, .value = value},
                   [](const auto&) {});
      });
}

}  // namespace flexrack::client::opencl
