// Making memory objects exist at a place.
#pragma once

#include "client/opencl/memory_objects.h"

namespace flexrack::client::opencl {

/// Creates a buffer at a place, with content or without. Errors are the device's own.
cl_int create_buffer_at(cl_mem memory, std::size_t place, wire::View content);
/// Creates a sub-buffer at a place where its parent is.
cl_int create_part_at(cl_mem memory, std::size_t place);
/// Creates an image at a place, of its parent where it has one, and takes the device's answers about it. `content` is
/// packed.
cl_int create_image_at(cl_mem memory, std::size_t place, wire::View content);
/// Makes sure an object and what it is a part of are at a place. The root's lock is held.
cl_int exist_at(cl_mem memory, std::size_t place);
/// In a context of several places: nothing is anywhere yet but the content the application gave.
void begin_segments(cl_mem memory, wire::View content);

/// A creation call whose `content` travels with it or beside it; the device's status.
template <class Message, class Use>
cl_int send_with_content(Session& session, const Message& message, wire::View content, Use&& use) {
  cl_int status = CL_OUT_OF_RESOURCES;
  std::atomic<bool> is_over{content.empty() || message.content.is_inline()};
  if (!is_over) session.push_payload(message.content, content, [&](bool) { is_over = true; }, false);
  session.call(message, [&](const auto& reply) {
    status = reply.status;
    use(reply);
  });
  if (is_over) return status;
  // Refused: nobody takes the content there. The bytes are the application's, so all of it ends here.
  if (status != CL_SUCCESS) session.link().cancel(message.content.ticket);
  session.wait([&] { return is_over.load(); });
  return status;
}

template <class Message>
cl_int send_with_content(Session& session, const Message& message, wire::View content) {
  return send_with_content(session, message, content, [](const auto&) {});
}

}  // namespace flexrack::client::opencl
