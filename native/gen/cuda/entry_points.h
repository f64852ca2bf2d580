// What cuGetProcAddress knows.
// Generated from native/spec/cuda.* by native/codegen/generate.ts; change those.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gen/cuda/cuda.h"

namespace flexrack::cu {

struct EntryPoint {
  const char* name;      ///< without _v2, _v3, ...
  const char* symbol;    ///< what the library exports
  int version;           ///< from which on it is handed out: 12080 is CUDA 12.8
  bool is_per_thread;    ///< works on the thread's own default stream
};

/// Every symbol, ordered by name, then version, the one for all threads before the one of the thread.
std::span<const EntryPoint> entry_points();
inline constexpr std::size_t kEntryPoints = 637;

struct Lookup {
  const EntryPoint* entry;  ///< null unless found; entry - entry_points().data() is its index
  CUdriverProcAddressQueryResult status;
};

/// The newest symbol of `name` that is not newer than `version`; with CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM in `flags` its twin for the
/// thread's own default stream, where it has one that is not newer either. A name with its suffix is not found: cuGetProcAddress takes base names.
Lookup find(std::string_view name, int version, std::uint64_t flags);

/// By symbol, as dlsym knows it; null for what is not exported.
const EntryPoint* find_symbol(std::string_view symbol);

/// Why a name that other headers of CUDA have is not found; empty for any other name.
std::string_view why_absent(std::string_view name);

}  // namespace flexrack::cu
