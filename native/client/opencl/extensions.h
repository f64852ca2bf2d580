// Which extensions a device here may claim: those that are only about kernels, numbers and properties, or whose
// functions we have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// The extensions of a list (names between spaces) that work remotely.
std::string usable_extensions(std::string_view list);
/// The same for an array of cl_name_version, as bytes.
wire::Bytes usable_extensions(const wire::Bytes& versions);

/// What both lists have, in the order of the first.
std::string common_extensions(std::string_view first, std::string_view second);

}  // namespace flexrack::client::opencl
