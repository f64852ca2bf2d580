#include "backend/opencl/route.h"

namespace flexrack::backend::opencl {

void Route::push(wire::View data, wire::Done done) const {
  if (peer == 0) {
    // Never waits for credit: this may be the thread that reads, and only what it reads brings more. What the client
    // has announced is a frame by now.
    engine->link.push(ticket, data, std::move(done));
    if (data.size() < wire::kInlinePayload) engine->link.flush();
    return;
  }
  with_link([data, done = std::move(done), id = ticket](wire::Link* link) {
    if (link) link->push(id, data, done);
    else done(false);
  });
}

void Route::land(std::span<std::uint8_t> into, wire::Done done) const {
  if (peer == 0) return engine->link.land(ticket, into, std::move(done));
  with_link([into, done = std::move(done), id = ticket](wire::Link* link) {
    if (link) link->land(id, into, done);
    else done(false);
  });
}

void Route::cancel() const {
  if (!engine || ticket == 0) return;
  if (peer == 0) return engine->link.cancel(ticket);
  with_link([id = ticket](wire::Link* link) {
    if (link) link->cancel(id);
  });
}

void Route::with_link(std::function<void(wire::Link*)> action) const {
  auto* there = engine->peers.find(peer);
  // One that is gone, or never was agreed on, does not come: whoever waits for its payload learns so at once.
  if (there || !engine->peers.is_expected(peer)) return action(there);
  engine->peers.when_there(peer, std::move(action));
}

void fail(Engine& engine, const Origin& origin, cl_int status, const Route& route) {
  route.cancel();
  engine.notices.send(cl::Failed{.queue = origin.queue, .event = origin.event, .op = origin.op, .status = status});
}

}  // namespace flexrack::backend::opencl
