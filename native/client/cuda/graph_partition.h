// A graph whose nodes lie on several servers, parted into graphs of one server each, and the order in which a launch
// puts these on one stream a server. Knows nothing of servers but that they differ.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace flexrack::client::cuda {

class CudaServer;

/// A node on its own, behind those it depends on.
struct PartedNode {
  std::vector<std::size_t> before{};   ///< by number
  CudaServer* server = nullptr;        ///< null: any
  CudaServer* target = nullptr;        ///< it is a copy from `server` to that other one; else null
};

/// One thing that a launch puts on the stream of a server.
struct Step {
  enum class Kind : unsigned char { part, copy, signal, await };
  Kind kind = Kind::part;
  CudaServer* server = nullptr;        ///< on whose stream
  CudaServer* other = nullptr;         ///< of a copy the target, of a signal who awaits it, of an await who sends it
  std::size_t number = 0;  ///< of the part; of the copy's node; what a signal and its await have in common
};

struct Partition {
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> part_of{};  ///< by node; kNone: a copy between servers
  std::vector<CudaServer*> parts{};  ///< the server of each
  std::vector<Step> steps{};  ///< the streams that do them in this order never wait for each other in a circle
  std::size_t signals = 0;
};

/// Nodes come behind those they depend on. What could be anywhere and depends on nothing is `home`'s.
Partition partition(std::span<const PartedNode> nodes, CudaServer* home);

}  // namespace flexrack::client::cuda
