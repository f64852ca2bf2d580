// cuLink*: pieces are kept here until all are there, then sent together and linked at the context's server.
#include "client/cuda/linker.h"

#include <algorithm>

#include "client/cuda/call.h"
#include "client/cuda/library.h"
#include "cuda/fatbin.h"
#include "gen/cuda/client_functions.h"

namespace fx = flexrack::client::cuda;

struct CUlinkState_st : fx::Object {
  fx::LoadRequest request;                ///< options, and the application's buffers for what the linker says
  std::vector<fx::LinkPart> parts;
  fx::Linked linked;                      ///< the image is the application's to read until the state goes
  CUlinkState_st() : Object(fx::Kind::link) {}
};

namespace flexrack::client::cuda {

CUresult link(CUctx_st& context, const std::vector<cu::Option>& options, const std::vector<LinkPart>& parts,
              Linked& linked) {
  auto& session = *context.server->session;
  cu::Link message{.context = context.handle, .options = options};
  const auto sent = std::make_shared<const std::vector<LinkPart>>(parts);   // until they have arrived
  for (const auto& part : *sent) {
    const wire::View data(reinterpret_cast<const std::uint8_t*>(part.data.data()), part.data.size());
    auto& input = message.inputs.emplace_back();
    input.kind = static_cast<std::uint32_t>(part.kind);
    input.name = part.name;
    input.data = session.payload(data);
    input.options = part.options;
    if (!input.data.is_inline()) session.push_payload(input.data, data, [sent](bool) {}, false);
  }
  auto status = kLost;
  session.call(message, [&](const cu::LinkReply& reply) {
    status = static_cast<CUresult>(reply.status);
    linked.info_log = reply.info_log;
    linked.error_log = reply.error_log;
    const auto* first = reinterpret_cast<const std::byte*>(reply.image.data());
    linked.image.assign(first, first + reply.image.size());
  });
  if (status != CUDA_SUCCESS) {
    for (const auto& input : message.inputs) {
      if (!input.data.is_inline()) session.link().cancel(input.data.ticket);   // nothing where it has arrived
    }
  }
  return status;
}

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option* options, void** optionValues, CUlinkState* stateOut) {
  Call call;
  call.needs(stateOut);
  call.current();
  if (!call.settle()) return call.error();
  const auto made = call.make<CUlinkState>();
  if (const auto status = take_options(made.get()->request, numOptions, options, optionValues); status != CUDA_SUCCESS)
    return status;
  *stateOut = made.keep();
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned int numOptions, CUjit_option* options, void** optionValues) {
  Call call;
  call.use(state);
  call.check(data != nullptr && size > 0 && type < CU_JIT_NUM_INPUT_TYPES);
  call.check(call.error() != CUDA_SUCCESS || state->linked.image.empty(), CUDA_ERROR_INVALID_HANDLE);
  if (!call.is_good()) return call.error();
  LinkPart part{.kind = type, .name = name ? name : "", .data = {}, .options = {}};
  LoadRequest request;
  if (const auto status = take_options(request, numOptions, options, optionValues); status != CUDA_SUCCESS)
    return status;
  part.options = std::move(request.options);
  const flexrack::cuda::Bytes bytes(static_cast<const std::byte*>(data), size);
  try {
    if (type == CU_JIT_INPUT_FATBINARY) {
      const auto image = flexrack::cuda::parse(bytes);
      const auto choice = flexrack::cuda::choose(image, state->context->device->target);
      if (choice.entries.empty()) return CUDA_ERROR_NO_BINARY_FOR_GPU;
      for (const auto* entry : choice.entries) {
        part.kind = entry->kind == flexrack::cuda::CodeKind::ptx ? CU_JIT_INPUT_PTX : CU_JIT_INPUT_CUBIN;
        part.data = flexrack::cuda::contents(*entry);
        state->parts.push_back(part);
      }
      return CUDA_SUCCESS;
    }
  } catch (const flexrack::cuda::FatbinError&) { return CUDA_ERROR_INVALID_IMAGE; }
  part.data.assign(bytes.begin(), bytes.end());
  // The zero that ends a text is put there again.
  while (type == CU_JIT_INPUT_PTX && !part.data.empty() && part.data.back() == std::byte{0}) part.data.pop_back();
  state->parts.push_back(std::move(part));
  return CUDA_SUCCESS;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                          CUjit_option* options, void** optionValues) {
  if (!process()) return not_open();
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  auto file = read_file(path);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  return cuda::cuLinkAddData_v2(state, type, file->data(), file->size(), path, numOptions, options, optionValues);
}

CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
  Call call;
  call.needs(cubinOut);
  call.use(state);
  if (!call.settle()) return call.error();
  const auto status = link(*state->context, state->request.options, state->parts, state->linked);
  auto& request = state->request;
  give_log(state->linked.info_log, request.info_log, request.info_room, request.info_size);
  give_log(state->linked.error_log, request.error_log, request.error_room, request.error_size);
  if (status != CUDA_SUCCESS) return status;
  *cubinOut = state->linked.image.data();
  if (sizeOut) *sizeOut = state->linked.image.size();
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  if (!process()) return not_open();
  if (!is_live(state)) return CUDA_ERROR_INVALID_HANDLE;
  discard(state);
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
