// Memory of this process that kernels use: mapped and registered host memory, managed memory. Servers have mirrors of
// it, at the same addresses where that can be. What the application has changed is sent before whatever could see it;
// what kernels have changed comes before the answer of whatever waited.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"
#include "client/cuda/library.h"

namespace flexrack::client::cuda {

struct Mirror;

/// Pages of this process where servers most likely have room too. Null: no memory.
std::uint8_t* map_for_mirror(std::uint64_t bytes);
/// Memory of this process at an address that nothing at the current context's server has; in `made` once it is mirrored
/// there.
CUresult make_mirrored(Call& call, CUcontext context, Allocation& made);
/// A managed variable that a server has at `made.base`, holding `content` and zeros: memory at the same address here.
CUresult mirror_variable(const VariableIn& in, const char* name, Allocation made, wire::View content);
/// Host memory that exists: from now on the device of that context sees it, at `address`.
CUresult mirror_host(CUcontext context, const Allocation& memory, std::uint64_t& address);
/// It is known no more; mirrors at servers go.
void drop_mirror(const Allocation& gone);

/// A server has it, or will.
bool is_mirrored(std::uint64_t address);
/// Where the device of the current context sees memory of this process.
std::uint64_t device_address(std::uint64_t address);
/// Pinned memory is everybody's with unified addresses: what a kernel is handed the address of is mirrored from its
/// first launch on.
CUresult mirror_arguments(CUcontext context, wire::View parameters);
/// Pieces of pinned memory that were not mirrored when they were made.
extern std::atomic<std::int64_t> unmirrored;

/// cuStreamAttachMemAsync.
void attach_mirror(const Allocation& memory, unsigned flags);

/// Where the stream's server has all of that memory; nothing where it is not mirrored. What the application has changed
/// is there when this returns, before anything that is put on the stream later.
std::optional<std::uint64_t> at_server(CUstream stream, std::uint64_t address, std::size_t size);

/// What a server says of its mirrors. On the thread that reads.
void take_changes_of(CudaServer& server, std::span<const cu::Range> ranges, wire::View data);

/// cuMemcpy and its kin where a side is mirrored; nothing where none is.
std::optional<CUresult> copy_mirrored(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream which,
                                      bool is_async);

}  // namespace flexrack::client::cuda
