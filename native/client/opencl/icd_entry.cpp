// What the ICD loader finds in this library by name: everything else it reaches through the dispatch table.
#include <string_view>

#include "client/opencl/enqueue.h"
#include "gen/opencl/icd.h"

namespace {

namespace ours = flexrack::client::opencl;

void* address_of(const char* name);

}  // namespace

extern "C" {

[[gnu::visibility("default")]] cl_int clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id* platforms,
                                                             cl_uint* num_platforms) {
  return ours::icd_dispatch().clGetPlatformIDs(num_entries, platforms, num_platforms);
}

[[gnu::visibility("default")]] cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
                                                        size_t param_value_size, void* param_value,
                                                        size_t* param_value_size_ret) {
  return ours::icd_dispatch().clGetPlatformInfo(platform, param_name, param_value_size, param_value,
                                                param_value_size_ret);
}

[[gnu::visibility("default")]] void* clGetExtensionFunctionAddress(const char* func_name) {
  return address_of(func_name);
}

}  // extern "C"

namespace flexrack::client::opencl {

void* clGetExtensionFunctionAddress(const char* func_name) { return address_of(func_name); }

void* clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* func_name) {
  return is_live(platform) ? address_of(func_name) : nullptr;
}

}  // namespace flexrack::client::opencl

namespace {

void* address_of(const char* name) {
  if (!name) return nullptr;
  if (std::string_view(name) == "clIcdGetPlatformIDsKHR") return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  return ours::icd_function(name);
}

}  // namespace
