// What a worker needs of an API's backend. One session, one backend object, in a process of its own.
#pragma once

#include <memory>
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
};

class Backend : public wire::Receiver {
 public:
  /// What its clients must speak.
  virtual wire::Api api() const = 0;
  /// Called once before any frame. `link` outlives the backend.
  virtual void start(wire::Link& link, Peers& peers) = 0;
  /// Ends what is running on the device, gives back everything. Called once, after on_over.
  virtual void stop() = 0;
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
