// What can be asked over the admin socket, and what the answers hold.
#pragma once

#include <functional>
#include <string_view>

#include "server/broker.h"
#include "wire/json.h"

namespace flexrack::server {

class AdminOperations {
 public:
  using Respond = std::function<void(const wire::Json&)>;

  AdminOperations(Loop& loop, Broker& broker) : loop_(loop), broker_(broker) {}

  /// Answers once, now or later. Nothing in a request is trusted.
  void carry_out(const wire::Json& request, const Respond& respond);

  static wire::Json ok(wire::Json body) { return wire::Json::Members{{"ok", std::move(body)}}; }
  static wire::Json error(std::string_view code, std::string_view message);

 private:
  wire::Json status() const;
  wire::Json devices() const;
  wire::Json leases() const;
  wire::Json lease(const wire::Json& request);
  wire::Json renew(const wire::Json& request);
  void release(const wire::Json& request, const Respond& respond);
  void move(const wire::Json& request, const Respond& respond);
  void stop(const Respond& respond);
  wire::Json oversubscribed(std::size_t device) const;
  wire::Json describe(const Lease& lease) const;
  wire::Json share(const Lease& lease, std::size_t index, bool with_use) const;

  Loop& loop_;
  Broker& broker_;
};

/// Reads a wish; the text says what is wrong with it.
std::variant<Wish, std::string> read_wish(const wire::Json& request);

}  // namespace flexrack::server
