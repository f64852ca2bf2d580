#include "backend/cuda/arrivals.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/call_context.h"
#include "backend/cuda/modules.h"

namespace flexrack::backend::cuda {
namespace {

constexpr std::uint64_t kMostRestored = std::uint64_t{1} << 30;     ///< of one payload
constexpr std::uint64_t kMostPiece = std::uint64_t{64} << 20;       ///< of memory
constexpr std::uint64_t kMostArriving = kMostRestored + kMostPiece;  ///< of all that have not come yet

/// Whether a reply is what it was: of what the driver chose, only what the client goes by.
bool is_same_reply(std::uint32_t op, wire::View now, wire::View then) {
  if (op == cu::FindVariable::kOp) {
    cu::FindVariableReply here, there;
    return decode(now, here) && decode(then, there) && here.address == there.address && here.size == there.size;
  }
  if (op != cu::Load::kOp && op != cu::FindKernel::kOp) return true;
  const auto here = kernels_in(op, now);
  return here && here == kernels_in(op, then);
}

template <class Reply>
Reply restored(CUresult status, std::string_view text = {}) {
  return {.status = as_wire(status), .text = text};
}

}  // namespace

/// A payload that is there, or comes: `use` has all of it, or nothing where it does not come or may not.
void Arrivals::take_payload(const wire::Payload& from, bool is_wanted,
                            std::function<void(std::shared_ptr<wire::Bytes>)> use) {
  if (is_over_ || !is_wanted || from.size > kMostRestored ||
      from.size > kMostArriving - std::min(kMostArriving, arriving_->load())) {
    if (!from.is_inline()) from_->cancel(from.ticket);
    return use(nullptr);
  }
  auto bytes = std::make_shared<wire::Bytes>(from.size + 1);  // a zero behind it ends PTX text
  if (from.is_inline()) {
    if (from.size > 0) std::memcpy(bytes->data(), from.inline_data.data(), from.size);
    return use(bytes);
  }
  *arriving_ += from.size;
  from_->land(from.ticket, {bytes->data(), from.size},
              [bytes, size = from.size, arriving = arriving_, use = std::move(use)](bool has_arrived) {
                *arriving -= size;
                use(has_arrived ? bytes : nullptr);
              });
}

void Arrivals::on(const cu::RestoreImage& m, Respond<cu::RestoreImageReply> respond) {
  take_payload(m.image, true,
               [this, hash = wire::Bytes(m.hash.begin(), m.hash.end()),
                answered = std::make_shared<Respond<cu::RestoreImageReply>>(std::move(respond))](auto image) {
                 const std::lock_guard guard(core_.lock);
                 const bool is_kept = image && !is_over_ && modules_.keep(hash, image);
                 (*answered)(restored<cu::RestoreImageReply>(is_kept ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE,
                                                             is_kept ? "" : "an image that does not fit"));
               });
}

void Arrivals::on(const cu::RestoreMessage& m, Respond<cu::RestoreMessageReply> respond) {
  if (is_over_) return respond(restored<cu::RestoreMessageReply>(CUDA_ERROR_NOT_PERMITTED, "the session is here"));
  if (m.op > 0xffff || !Journal::keeps(static_cast<std::uint16_t>(m.op), m.body))
    return respond(restored<cu::RestoreMessageReply>(CUDA_ERROR_NOT_PERMITTED, "no message that makes something"));
  if (m.number != 0) modules_.go_on_at(m.number);
  speaks_.lead_to(replay_);
  const wire::Header header{static_cast<std::uint16_t>(m.op), 0, static_cast<std::uint32_t>(m.body.size()),
                            ++replayed_};
  const wire::Bytes body(m.body.begin(), m.body.end());
  const bool is_call = !m.expected.empty();
  const auto answered = std::make_shared<Respond<cu::RestoreMessageReply>>(std::move(respond));
  const auto replied = [answered, op = m.op, then = wire::Bytes(m.expected.begin(), m.expected.end())](
                           bool is_refused, wire::View reply) {
    std::int32_t status = as_wire(CUDA_ERROR_INVALID_VALUE);
    if (!is_refused && reply.size() >= sizeof status) std::memcpy(&status, reply.data(), sizeof status);
    if (status == 0 && !is_same_reply(op, reply, then))
      return (*answered)(restored<cu::RestoreMessageReply>(CUDA_ERROR_ALREADY_MAPPED, "it came out otherwise there"));
    (*answered)(restored<cu::RestoreMessageReply>(static_cast<CUresult>(status)));
  };
  replay_.expect(is_call ? ReplayLink::Replied(replied) : nullptr);
  if (!carry_(header, body)) return replied(true, {});
  if (!is_call) (*answered)(restored<cu::RestoreMessageReply>(static_cast<CUresult>(replay_.failure())));
}

void Arrivals::on(const cu::RestoreMemory& m, Respond<cu::RestoreMemoryReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  call.check(!is_over_ && m.size > 0 && m.device < core_.devices.size() &&
             core_.allocations.is_free(m.address, m.size));
  const auto* sim = core_.library.sim();
  if (call.is_good() && !core_.charge(m.device, m.size)) {
    call.fail(CUDA_ERROR_OUT_OF_MEMORY);
    return respond(restored<cu::RestoreMemoryReply>(call.status(), "the share there is too small"));
  }
  const bool is_charged = call.is_good();
  call.run(sim ? sim->place_memory : nullptr, m.address, static_cast<std::size_t>(m.size));
  if (call.is_good())
    core_.know(m.address, {.sort = m.is_from_pool != 0 ? Allocation::Sort::from_pool : Allocation::Sort::plain,
                           .device = m.device,
                           .context = m.context,
                           .size = m.size,
                           .charged = m.size});
  else if (is_charged) core_.refund(m.device, m.size);
  respond(restored<cu::RestoreMemoryReply>(call.status(), call.is_good() ? "" : "its memory cannot be where it was"));
}

/// As it is in the context, which is current; null and the reason where it is not.
CUmodule Arrivals::module_in(std::uint64_t module, std::uint64_t context, CUresult& status) {
  const auto* record = core_.handles.find(module);
  if (!record || (record->kind != Kind::module && record->kind != Kind::library)) {
    status = CUDA_ERROR_INVALID_HANDLE;
    return nullptr;
  }
  CUmodule made = nullptr;
  status = core_.bring_in(module, context);
  if (status == CUDA_SUCCESS) status = core_.module_of(*record, made);
  return made;
}

void Arrivals::on(const cu::RestoreVariables& m, Respond<cu::RestoreVariablesReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  call.check(!is_over_);
  auto status = call.is_good() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  const auto module = call.is_good() ? module_in(m.module, m.context, status) : nullptr;
  call.fail(status);
  const auto* sim = core_.library.sim();
  // The first number is none of an address; behind the addresses come the sizes.
  const auto count = m.addresses.empty() ? 0 : (m.addresses.size() - 1) / 2;
  call.check(m.addresses.size() == 2 * count + 1);
  call.run(sim ? sim->lay_out : nullptr, module, m.addresses.data(), count + 1);
  for (std::size_t i = 0; call.is_good() && i < count; ++i) variables_[m.addresses[1 + i]] = m.addresses[1 + count + i];
  respond(restored<cu::RestoreVariablesReply>(
      call.status(), call.is_good() ? "" : "the variables of its code cannot be where they were"));
}

bool Arrivals::is_ours(std::uint64_t at, std::uint64_t size) const {
  if (core_.allocations.holds(at, size)) return true;
  auto found = variables_.upper_bound(at);
  if (found == variables_.begin()) return false;
  --found;
  return at - found->first <= found->second && size <= found->second - (at - found->first);
}

void Arrivals::on(const cu::RestoreBytes& m, Respond<cu::RestoreBytesReply> respond) {
  // Not where it could not go: who says so many pieces at once has memory of the machine, not of its share.
  take_payload(m.data, m.data.size <= kMostPiece && is_ours(m.address, m.data.size),
               [this, context = m.context, address = m.address, size = m.data.size,
                answered = std::make_shared<Respond<cu::RestoreBytesReply>>(std::move(respond))](auto bytes) {
                 const std::lock_guard guard(core_.lock);
                 CallContext call(core_, cu::RestoreBytes::kOp, context);
                 call.in_context();
                 call.check(!is_over_ && bytes && is_ours(address, size));
                 if (call.is_good())
                   call.run(core_.table.cuMemcpyHtoD_v2, address, static_cast<const void*>(bytes->data()),
                            static_cast<std::size_t>(size));
                 (*answered)(restored<cu::RestoreBytesReply>(call.status()));
               });
}

void Arrivals::on(const cu::RestoreContext& m, Respond<cu::RestoreContextReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  call.check(!is_over_);
  if (call.is_good()) call.fail(core_.reserve_stack(m.context, m.stack));
  respond(restored<cu::RestoreContextReply>(call.status()));
}

void Arrivals::on(const cu::RestoreEvent& m) {
  const auto* record = core_.handles.find(m.event);
  if (is_over_ || !record || record->kind != Kind::event) return;
  core_.reached_before[m.event] = m.milliseconds;
  auto& mark = core_.moved_at[record->context];
  if (!mark) mark = core_.reached_now(record->context);
}

void Arrivals::on(const cu::TakeOver& m, Respond<cu::TakeOverReply> respond) {
  take_payload(
      m.state, true,
      [this, number = m.number, session = wire::Bytes(m.session.begin(), m.session.end()), size = m.state.size,
       answered = std::make_shared<Respond<cu::TakeOverReply>>(std::move(respond))](auto state) {
        const std::lock_guard guard(core_.lock);
        if (is_over_ || !state || !peers_)
          return (*answered)(restored<cu::TakeOverReply>(CUDA_ERROR_NOT_PERMITTED, "the session is here"));
        if (number != 0) modules_.go_on_at(number);
        auto* const link = peers_->take_over(session, wire::View(*state).first(size));
        if (!link)
          return (*answered)(restored<cu::TakeOverReply>(CUDA_ERROR_INVALID_VALUE, "the session is there already"));
        is_over_ = true;
        speaks_.lead_to(*link);
        (*answered)(restored<cu::TakeOverReply>(CUDA_SUCCESS));
      });
}

}  // namespace flexrack::backend::cuda
