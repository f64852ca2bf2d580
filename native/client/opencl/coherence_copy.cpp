#include "client/opencl/coherence_copy.h"

#include "client/opencl/buffer_create.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/image_create.h"
#include "client/opencl/peer.h"

namespace flexrack::client::opencl {

namespace {

/// Bytes on their way from one server to another through this process.
struct Relay {
  Session* from;
  Session* to;
  std::uint64_t ticket_to;
  std::shared_ptr<wire::Bytes> bytes;
};

void relay(const std::shared_ptr<Relay>& way, std::uint64_t ticket_from) {
  way->from->link().land(ticket_from, *way->bytes, [way](bool has_arrived) {
    auto& link = way->to->link();
    // The command that waits for it must end also where nothing came: the link's end is then its error.
    if (has_arrived) link.push(way->ticket_to, *way->bytes, [keep = way->bytes](bool) {});
    else link.cancel(way->ticket_to);
  });
}

cl_event new_copy_event(cl_command_queue queue) {
  auto* event = new_event(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS);
  hold(event);
  release_event(event);
  return event;
}

}  // namespace

cl_int send_content(cl_command_queue queue, cl_mem root, std::size_t offset, std::size_t size, cl_event* done) {
  auto& session = queue->session();
  const wire::View part(root->content->data() + offset, size);
  const auto payload = session.payload(part);
  *done = new_copy_event(queue);
  const auto send = [&](auto message) {
    message.queue = queue->handle;
    message.memory = root->copies[queue->place].handle;
    message.event = (*done)->handle;
    message.data = payload;
    return session.send(message);
  };
  bool is_sent;
  if (root->is_image()) {
    cl::WriteImage message;
    message.region = whole_region(root);
    is_sent = send(message);
  } else {
    cl::WriteBuffer message;
    message.offset = offset;
    is_sent = send(message);
  }
  if (!payload.is_inline()) session.push_payload(payload, part, [keep = root->content](bool) {}, false);
  return is_sent ? CL_SUCCESS : queue_error(queue);
}

cl_int copy_between(cl_command_queue queue, cl_mem root, std::size_t source, std::size_t offset, std::size_t size,
                    const std::vector<std::uint64_t>& after, cl_event* done) {
  auto& from = *queue->context->places[source].session;
  auto& to = queue->session();
  const auto source_queue = transfer_queue(queue->context, source);
  if (!source_queue) return CL_OUT_OF_RESOURCES;
  *done = new_copy_event(queue);
  const auto here = root->copies[queue->place].handle, there = root->copies[source].handle;
  const auto peer = root->is_image() ? 0 : peer_between(from, to);
  if (peer) {
    const auto ticket = from.link().ticket();
    const bool is_exported = from.send(cl::ExportMemory{source_queue, there, 0, after, offset, size, peer, ticket});
    const bool is_imported =
        to.send(cl::ImportMemory{queue->handle, here, (*done)->handle, {}, offset, size, peer, ticket});
    return is_exported && is_imported ? CL_SUCCESS : queue_error(queue);
  }
  const auto bytes = root->is_image() ? packed_size(root) : size;
  auto way = std::make_shared<Relay>(Relay{&from, &to, to.link().ticket(), std::make_shared<wire::Bytes>(bytes)});
  const auto ticket = from.link().ticket();
  relay(way, ticket);
  const wire::Payload payload{way->ticket_to, bytes, {}};
  bool is_sent;
  if (root->is_image()) {
    const auto region = whole_region(root);
    is_sent = from.send(cl::ReadImage{source_queue, there, 0, after, {}, region, bytes, ticket}) &&
              to.send(cl::WriteImage{queue->handle, here, (*done)->handle, {}, {}, region, payload});
  } else {
    is_sent = from.send(cl::ReadBuffer{source_queue, there, 0, after, offset, size, ticket}) &&
              to.send(cl::WriteBuffer{queue->handle, here, (*done)->handle, {}, offset, payload});
  }
  return is_sent ? CL_SUCCESS : queue_error(queue);
}

}  // namespace flexrack::client::opencl
