// Memory of this process by whole pages, at an address that is chosen: client and server have mirrors in it.
#pragma once

#include <cstdint>

namespace flexrack::cuda {

/// Bytes of a page of this machine.
std::uint64_t page_bytes();

/// Zeros, exactly at `at` unless that is 0. Null: they cannot be had, or something else is there.
std::uint8_t* map_pages(std::uint64_t at, std::uint64_t size);

}  // namespace flexrack::cuda
