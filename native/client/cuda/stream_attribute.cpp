// Attributes of streams.
#include "client/cuda/call.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value) {
  Call call;
  call.needs(value);
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  return call.ask(
      cu::StreamAttribute{
          .context = stream->context_handle, .stream = stream->handle, .which = static_cast<std::uint32_t>(attr)},
      [&](const auto& reply) { call.take(reply.value, *value); });
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* param) {
  Call call;
  call.needs(param);
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  return call.send(cu::SetStreamAttribute{
      .context = stream->context_handle,
      .stream = stream->handle,
      .attribute = {.which = static_cast<std::uint32_t>(attr), .value = wire::bytes_of(*param)}});
}

}  // namespace flexrack::client::cuda
