// What a worker needs of an API's backend. One session, one backend object, in a process of its own.
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/grant.h"
#include "wire/link.h"

namespace flexrack::backend {

/// Lets a backend reach another server's worker, or be reached by it, for copies that do not pass the client.
class Peers {
 public:
  virtual ~Peers() = default;
  /// The next dial under this id and key is for this session.
  virtual bool accept(std::uint64_t peer, wire::View key) = 0;
  /// Dials it. The link carries payloads only.
  virtual bool open(std::uint64_t peer, wire::View key, const std::string& address, std::uint16_t port,
                    wire::View session) = 0;
  /// The link of that id, null if there is none (yet).
  virtual wire::Link* link(std::uint64_t peer) = 0;
  /// It is not there yet and may come: else nothing is gained by waiting for it.
  virtual bool is_expected(std::uint64_t /*peer*/) { return false; }
  /// All of another worker's session is here: the client of `session` comes to this one now, and its link goes on after
  /// `state`. The link that the client is spoken to from then on; null where it cannot be.
  virtual wire::Link* take_over(wire::View /*session*/, wire::View /*state*/) { return nullptr; }
};

/// A session on its way to a worker on another server, which has a session of its own for it. One thread at a time;
/// what goes wrong is a std::runtime_error with the reason, and nothing has changed here.
class Departure {
 public:
  virtual ~Departure() = default;
  /// What takes long and does not change: while the session still works.
  virtual void prepare() = 0;
  /// All the rest. Nothing runs, and no message is carried out.
  virtual void send() = 0;
  /// The other worker has all of it, and waits for the client.
  virtual void hand_over(wire::View session, wire::View link_state) = 0;
  /// Waits until the client is there. False: not within that time, or the other worker is gone.
  virtual bool await_client(std::chrono::milliseconds patience) = 0;
  /// The other worker lets go of it all. Any thread.
  virtual void cancel() = 0;
};

/// Why memory of a session that takes turns is not where it has to be, for people.
struct SwapFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Some of it is in the host's memory, and there is no room for it on the device just now.
struct SwappedInPart : SwapFailure {
  using SwapFailure::SwapFailure;
};
/// It does not come back: the session's contexts have failed, and its client is told.
struct SwapLost : SwapFailure {
  using SwapFailure::SwapFailure;
};

class Backend : public wire::Receiver {
 public:
  /// What its clients must speak.
  virtual wire::Api api() const = 0;
  /// Called once before any frame. `link` outlives the backend.
  virtual void start(wire::Link& link, Peers& peers) = 0;
  /// Ends what is running on the device, gives back everything. Called once, after on_over.
  virtual void stop() = 0;

  // ---- the session goes to another server (docs/adr/0079); any thread
  /// Why it cannot, for people: "it has textures". Empty: it can, as far as it is known now.
  virtual std::string what_stays() { return "programs of OpenCL do not move"; }
  /// Whether nothing runs on its devices and nobody is owed an answer; waits that long for the devices.
  virtual bool is_at_rest(std::chrono::milliseconds /*patience*/) { return false; }
  // ---- its memory takes turns on the device (docs/adr/0081); the session is parked and at rest
  /// Why its memory cannot leave the device now, for people; empty: it can.
  virtual std::string what_keeps() { return "only memory of CUDA leaves its device"; }
  /// All that can leave goes to the host's memory, or comes back to where it was. Throws SwapFailure where all of it is
  /// on the device as it was; SwappedInPart: `swap_in` may be called again, and goes on; SwapLost.
  virtual void swap_out() { throw SwapFailure(what_keeps()); }
  virtual void swap_in() {}

  /// Dials the worker to be. Throws std::runtime_error.
  virtual std::unique_ptr<Departure> depart(const wire::Dial& /*to*/) { throw std::runtime_error(what_stays()); }
};

/// A device as `gpu list` shows it.
struct DeviceReport {
  std::string native_id, name, vendor, driver, api;   ///< api: "opencl" or "cuda"
  std::uint64_t memory = 0;                           ///< bytes
  std::uint32_t compute_units = 0;
  std::string capability{};                           ///< CUDA's compute capability, "9.0"; empty for other APIs
  std::optional<std::uint64_t>
      context_memory{};  ///< bytes that a context takes of it, where the API has such a thing and it could be measured
};

/// The devices of this machine, the order stable over restarts. Throws std::runtime_error where the API's library is
/// missing.
std::vector<DeviceReport> list_opencl_devices();
std::unique_ptr<Backend> make_opencl_backend(Grant& grant);

/// The same of a CUDA driver, `driver` as dlopen takes it: the machine's libcuda.so.1, or one in software. Ids are
/// uuids. Throws too where the driver does not start, with its reason.
std::vector<DeviceReport> list_cuda_devices(const std::string& driver);
/// `nccl`: the library that carries out collectives, as dlopen takes it; empty: none.
std::unique_ptr<Backend> make_cuda_backend(Grant& grant, const std::string& driver, const std::string& nccl = {});

}  // namespace flexrack::backend
