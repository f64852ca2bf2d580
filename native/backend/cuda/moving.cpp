// Whether a session can go to another server now, and what has to come to rest before it does.
#include <array>
#include <thread>

#include "backend/cuda/departure.h"
#include "backend/cuda/session.h"

namespace flexrack::backend::cuda {
namespace {

constexpr auto kRestLook = std::chrono::microseconds(500);

struct StaysBehind {
  Kind kind;
  const char* what;
};
constexpr std::array kStaysBehind{
    StaysBehind{Kind::array, "it has arrays or textures"},
    StaysBehind{Kind::mipmap, "it has arrays or textures"},
    StaysBehind{Kind::memory, "it has mapped memory itself"},
    StaysBehind{Kind::communicator, "it is in a collective of NCCL"},
};

}  // namespace

std::string Session::what_stays() {
  const std::lock_guard guard(lock);
  if (!library.sim() || !library.sim()->lay_out) return "the driver cannot put memory where another one had it";
  if (is_replica) return "another server does the same (attach --mirror)";
  if (!broken.empty()) return "one of its contexts has failed";
  if (!journal_.obstacle().empty()) return journal_.obstacle();
  if (!shown.empty()) return "it has arrays or textures";
  if (!mirrors.is_empty()) return "its kernels use memory of the application (mapped, registered or managed)";
  std::string why;
  handles.each([&](const Record& one) {
    for (const auto& [kind, what] : kStaysBehind)
      if (one.kind == kind && why.empty()) why = what;
    if (one.share && one.share->secret) why = "other processes of its lease have memory or events of it";
    if (one.kind == Kind::context && one.memory && one.memory->has_heap) why = "its kernels call malloc";
  });
  for (const auto& [at, one] : allocations) {
    if (one.share && one.share->secret) why = "other processes of its lease have memory or events of it";
    if (one.sort == Allocation::Sort::mapped || one.sort == Allocation::Sort::mapping)
      why = "it has mapped memory itself, or uses several servers";
  }
  return why;
}

bool Session::is_at_rest(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (is_at_rest_now()) break;
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(kRestLook);
  }
  printed();
  return true;
}

bool Session::is_at_rest_now() {
  const std::lock_guard guard(lock);
  if (waiters.any() || frees.any() || loads != 0 || !Streams::is_quiet()) return false;
  bool is_quiet = true;
  const auto look = [&](std::uint64_t context, CUstream stream) {
    if (!is_quiet || !make_current(context)) return;
    if (table.cuStreamQuery && table.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) is_quiet = false;
  };
  handles.each([&](const Record& one) {
    if (one.kind == Kind::context) look(one.handle, nullptr);
    if (one.kind == Kind::stream) look(one.context, static_cast<CUstream>(one.native));
    if (one.kind == Kind::latch) is_quiet = false;
  });
  current = 0;  // what is current on this thread says nothing of the one that dispatches
  return is_quiet;
}

std::unique_ptr<Departure> Session::depart(const wire::Dial& to) { return make_departure(*this, *this, journal_, to); }

}  // namespace flexrack::backend::cuda
