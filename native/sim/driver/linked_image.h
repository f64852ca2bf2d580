// The image that cuLinkComplete gives: linked texts, as there is no machine code here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace flexrack::sim {

bool is_linked_image(std::span<const std::byte> bytes);
/// Names and texts of the units. Throws CUDA_ERROR_INVALID_IMAGE.
std::vector<std::pair<std::string, std::string>> unpack_linked(std::span<const std::byte> bytes);

}  // namespace flexrack::sim
