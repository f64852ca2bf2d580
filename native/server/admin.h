// The admin socket: one JSON request a line, one JSON answer a line. docs/protocol.md lists the operations.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "server/admin_operations.h"
#include "server/descriptor.h"
#include "server/log.h"
#include "server/loop.h"

namespace flexrack::server {

class AdminSocket {
 public:
  static constexpr std::size_t kLongestLine = 64 * 1024;
  static constexpr std::size_t kMostConnections = 64;

  AdminSocket(Loop& loop, Log& log, AdminOperations& operations);

  /// Listens at that path, 0600; only this user may speak. Throws std::runtime_error.
  void listen(const std::string& path);
  void close();

 private:
  struct Line;
  void take();
  void read_from(const std::shared_ptr<Line>& line);
  void next_request(const std::shared_ptr<Line>& line);
  void answer(const std::shared_ptr<Line>& line, const wire::Json& body);
  void write_to(const std::shared_ptr<Line>& line);
  void arm(const std::shared_ptr<Line>& line);
  void drop(const std::shared_ptr<Line>& line);

  Loop& loop_;
  Log& log_;
  AdminOperations& operations_;
  Descriptor listener_;
  std::unordered_map<int, std::shared_ptr<Line>> lines_;
};

}  // namespace flexrack::server
