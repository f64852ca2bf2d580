// The objects behind cl_program and cl_kernel.
#pragma once

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// What the API answers where a server is lost, or could not carry out a call at all.
inline constexpr cl_int kNoAnswer = CL_OUT_OF_RESOURCES;

/// Kinds of arguments, as cl::KernelArgument and cl::Argument have them.
namespace argument {
inline constexpr std::uint32_t kUnknown = 0, kValue = 1, kMemory = 2, kLocal = 3, kImage = 4, kSampler = 5, kPipe = 6,
                               kQueue = 7, kSvm = 8;
}

/// What was last set for an argument. kUnknown: nothing yet.
struct ArgumentValue {
  std::uint32_t kind = argument::kUnknown;
  cl_mem memory =
      nullptr;  ///< or image or pipe; null is a null pointer to the kernel. Not held: the specification says so
  cl_sampler sampler = nullptr;
  cl_command_queue queue = nullptr;
  std::uint64_t number = 0;  ///< bytes of local memory, or an SVM address
  wire::Bytes bytes;  ///< of a value
};

/// One argument of a kernel: what the device says about it, and what it is set to.
struct ArgumentSlot {
  std::uint32_t kind = argument::kUnknown;
  cl_kernel_arg_address_qualifier address = ~0u;
  cl_kernel_arg_access_qualifier access = ~0u;
  cl_kernel_arg_type_qualifier qualifier = 0;
  std::size_t size = 0;
  std::string type_name, name;
  ArgumentValue value;
  std::uint32_t version = 0;  ///< counts the values it was set to
  /// As far as the device says: a kernel may write through it.
  bool may_write() const;
};

/// What a kernel may do on one device: the limits that launches are checked against.
struct KernelDevice {
  cl_device_id device = nullptr;
  InfoTable infos;  ///< clGetKernelWorkGroupInfo
  std::size_t group_limit = 0;  ///< work items of a group
  std::size_t item_limits[3] = {};
  std::size_t required[3] = {};  ///< reqd_work_group_size; 0 where there is none
  cl_uint dimensions = 3;
  std::size_t alignment = 1;  ///< of sub-buffers, bytes
  std::uint64_t largest_allocation = 0;
  bool takes_empty = false;  ///< a launch of no work items is a command that does nothing (OpenCL 2.1)
  bool takes_uneven = false;  ///< groups need not divide the range
};

/// A kernel at one place of its context, and what its native twin there was told.
struct KernelCopy {
  std::uint64_t handle = 0;  ///< 0: not there
  std::vector<std::uint32_t> versions;  ///< of ArgumentSlot, as sent
  std::vector<std::uint64_t> objects;  ///< handles, as sent
};

/// Which devices of each place a list names; empty for a place: none of them.
struct DeviceChoice {
  bool is_all = true;  ///< the application gave no list
  std::vector<std::vector<std::uint32_t>> places;  ///< indexes in the session
  bool has(std::size_t place) const { return is_all || !places[place].empty(); }
};

/// CL_INVALID_VALUE where count and list disagree, CL_INVALID_DEVICE for what is not a device of this context.
cl_int choose_devices(cl_context context, cl_uint count, const cl_device_id* list, DeviceChoice& choice);

/// Runs `act` for every place where it is to run, at once where there are several; the first error by order of places.
cl_int at_each_place(std::size_t count, const std::function<bool(std::size_t)>& is_wanted,
                     const std::function<cl_int(std::size_t)>& act);

/// A call whose reply has a status; `use` sees the reply whatever the status.
template <class Message, class Use>
cl_int ask(Session& session, const Message& message, Use&& use) {
  cl_int status = kNoAnswer;
  session.call(message, [&](const auto& reply) {
    status = reply.status;
    use(reply);
  });
  return status;
}

/// clGetProgramInfo of the first place that has an executable, where one is needed; `use` sees a reply that is no
/// error.
cl_int ask_program(cl_program program, cl_program_info name,
                   const std::function<void(const cl::ProgramInfoReply&)>& use);

}  // namespace flexrack::client::opencl

struct _cl_program : fx::Object {
  cl_context context = nullptr;  ///< held
  std::vector<cl_device_id> devices;
  std::vector<std::uint64_t> handles;  ///< by place; 0: not there
  std::string source;
  flexrack::wire::Bytes il;
  std::mutex lock;  ///< of everything below
  std::string options;  ///< of the last build
  std::vector<std::pair<cl_program_callback, void*>> on_release;
  flexrack::client::Session& session(std::size_t place) const { return *context->places[place].session; }
  /// The first place where it is; handles.size() where it is nowhere.
  std::size_t home() const;
  _cl_program() : Object(fx::Kind::program) {}
};

struct _cl_kernel : fx::Object {
  cl_program program = nullptr;  ///< held
  std::string name, attributes;
  std::vector<fx::KernelDevice> devices;
  std::mutex lock;  ///< of everything below; held while a launch is sent, so that arguments stay with their launch
  std::vector<fx::ArgumentSlot> slots;
  std::vector<fx::KernelCopy> copies;  ///< by place
  /// What the device said about setting an argument: (index, size, kind, what kind of object).
  std::map<std::tuple<cl_uint, std::size_t, std::uint32_t, std::uint64_t>, cl_int> answers;
  std::vector<flexrack::cl::Argument> arguments;  ///< of the launch being sent, kept for their memory
  std::vector<std::uint64_t> waits;
  std::vector<cl_mem> written;
  cl_context context() const { return program->context; }
  flexrack::client::Session& session(std::size_t place) const { return program->session(place); }
  /// Null for a device it was not built for.
  const fx::KernelDevice* on(cl_device_id device) const;
  _cl_kernel() : Object(fx::Kind::kernel) {}
};

namespace flexrack::client::opencl {

inline bool is_live(cl_program program) { return is_object(program, Kind::program); }
inline bool is_live(cl_kernel kernel) { return is_object(kernel, Kind::kernel); }

}  // namespace flexrack::client::opencl
