// What a device says about a kernel, found out when it is created, so that the client can check arguments and launches
// by itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backend/opencl/native_library.h"
#include "gen/opencl/messages.h"

namespace flexrack::backend::opencl {

/// Kinds of arguments, as cl::KernelArgument and cl::Argument have them.
namespace argument {
inline constexpr std::uint32_t kUnknown = 0, kValue = 1, kMemory = 2, kLocal = 3, kImage = 4, kSampler = 5, kPipe = 6,
                               kQueue = 7, kSvm = 8;
}

struct ArgumentProfile {
  std::uint32_t kind = argument::kUnknown;
  cl_kernel_arg_address_qualifier address = ~0u;
  cl_kernel_arg_access_qualifier access = ~0u;
  cl_kernel_arg_type_qualifier qualifier = 0;
  std::size_t size = 0;
  std::string type_name, name;
};

class KernelProfile {
 public:
  /// `devices`: the program's, each with its index in the session. Makes a second kernel of that name to try sizes on,
  /// which is gone on return.
  KernelProfile(cl_program program, cl_kernel kernel, const std::string& name,
                const std::vector<std::pair<std::uint32_t, cl_device_id>>& devices);

  const std::vector<ArgumentProfile>& arguments() const { return arguments_; }
  /// The reply to create_kernel; views into this.
  cl::CreateKernelReply reply() const;

 private:
  struct OnDevice {
    std::uint32_t index;
    std::vector<std::pair<std::uint32_t, wire::Bytes>> infos;
  };
  std::string attributes_;
  std::vector<ArgumentProfile> arguments_;
  std::vector<OnDevice> devices_;
};

}  // namespace flexrack::backend::opencl
