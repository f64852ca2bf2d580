// A session whose memory takes turns on its device (docs/adr/0081): what each message may take, and its way out and in.
#include <algorithm>
#include <stdexcept>

#include "backend/cuda/session.h"

namespace flexrack::backend::cuda {
namespace {

template <class Message>
Message decoded(wire::View body) {
  Message message;
  return decode(body, message) ? message : Message{};  // what cannot be read is refused by who carries it out
}

}  // namespace

bool Session::takes(const wire::Header& header, wire::View body) {
  if (!swap) return true;
  const std::lock_guard guard(lock);
  std::uint64_t bytes = 0;
  switch (header.op) {
    case cu::Allocate::kOp: {
      const auto m = decoded<cu::Allocate>(body);
      bytes = m.kind == 0 ? swap->cost_of(m.size) : 0;
      break;
    }
    case cu::AllocateFromPool::kOp: bytes = swap->cost_of(decoded<cu::AllocateFromPool>(body).size); break;
    case cu::CreateMemory::kOp: bytes = swap->cost_of(decoded<cu::CreateMemory>(body).size); break;
    case cu::CreateContext::kOp: bytes = std::max<std::uint64_t>(devices.front().context_memory, 1); break;
    case cu::Load::kOp: bytes = swap->cost_of(decoded<cu::Load>(body).image.size); break;
    default:
      // Who has no context has nothing on the device, and only asks.
      if (devices.front().contexts == 0) return true;
  }
  return grant.enter(bytes);
}

std::string Session::what_keeps() {
  const std::lock_guard guard(lock);
  if (!broken.empty()) return "one of its contexts has failed";
  if (!shown.empty()) return "it has textures or surfaces";
  if (peers->any()) return "another server's session copies from it";
  std::string why;
  handles.each([&](const Record& one) {
    if (one.kind == Kind::communicator) why = "it is in a collective of NCCL";
  });
  return why;
}

CUresult Session::swap_by(CUresult (SwapSpace::*way)()) {
  CUcontext context = nullptr;
  {
    const std::lock_guard guard(lock);
    handles.each([&](const Record& one) {
      if (one.kind == Kind::context) context = static_cast<CUcontext>(one.native);
    });
  }
  if (!context) return CUDA_SUCCESS;  // and so nothing that it has
  table.cuCtxSetCurrent(context);
  const auto status = ((*swap).*way)();
  table.cuCtxSetCurrent(nullptr);
  return status;
}

void Session::swap_out() {
  const auto status = swap_by(&SwapSpace::out);
  if (status == CUDA_SUCCESS) return;
  swap_in();  // what has left already
  throw SwapFailure("the driver: " + library.text_of(status));
}

void Session::swap_in() {
  const auto status = swap_by(&SwapSpace::in);
  if (status == CUDA_SUCCESS) return;
  const auto why = "the driver: " + library.text_of(status);
  // There is room again when others give theirs back; nothing else gets better by waiting.
  if (status == CUDA_ERROR_OUT_OF_MEMORY) throw SwappedInPart(why);
  const auto told = is_sticky(status) ? status : CUDA_ERROR_ILLEGAL_ADDRESS;
  swap->lose();
  const std::lock_guard guard(lock);
  std::vector<std::uint64_t> contexts;
  handles.each([&](const Record& one) {
    if (one.kind == Kind::context) contexts.push_back(one.handle);
  });
  for (const auto context : contexts) {
    lost[context] = told;
    noticed(context, told);
  }
  throw SwapLost(why);
}

}  // namespace flexrack::backend::cuda
