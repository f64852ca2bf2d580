// Which way a payload goes: to or from the client, or another server's worker.
#pragma once

#include "backend/opencl/engine.h"

namespace flexrack::backend::opencl {

/// Cheap to copy; the engine outlives it.
struct Route {
  Engine* engine = nullptr;   ///< null: the command has no payload under a ticket
  std::uint64_t ticket = 0;
  std::uint64_t peer = 0;     ///< 0: the client

  /// `data` stays valid until done. Small ones that the client waits for are written by this thread, which is quicker.
  void push(wire::View data, wire::Done done) const;
  void land(std::span<std::uint8_t> into, wire::Done done) const;
  void cancel() const;

 private:
  /// With the link, or null where there is none within a few seconds: a peer's link may still be on its way.
  void with_link(std::function<void(wire::Link*)> action) const;
};

/// Which command of the client's, by its handles; 0 for what it has not got.
struct Origin {
  std::uint16_t op = 0;
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
};

/// A `send` that came to nothing; its payload will not come, or is not wanted. Not flushed.
void fail(Engine& engine, const Origin& origin, cl_int status, const Route& route);

}  // namespace flexrack::backend::opencl
