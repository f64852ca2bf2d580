#include "backend/cuda/collectives.h"

#include <cstring>

#include "backend/cuda/call_context.h"

namespace flexrack::backend::cuda {
namespace {

/// What NCCL takes of a device for a communicator of its defaults besides its kernels: buffers of 4 MiB, and what
/// belongs to them. An estimate: it makes them when it first needs them.
constexpr std::uint64_t kCommunicatorMemory = std::uint64_t{32} << 20;
/// What the thread of a communicator has until it ends.
using Use = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
constexpr std::size_t kMostCalls = 4096,   ///< of a group
    kMostCallsWaiting = std::size_t{1} << 20;   ///< of a client, splits and what is to be finalized among them
constexpr std::uint32_t kMostRanks = 1 << 16;
constexpr std::int32_t kNoColor = -1;   ///< NCCL_SPLIT_NOCOLOR

std::int32_t as_wire(ncclResult_t result) { return static_cast<std::int32_t>(result); }

/// Bytes of an element, by ncclDataType_t; nothing for a number that is none.
std::uint64_t size_of(std::uint32_t type) {
  constexpr std::uint64_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type < std::size(kSizes) ? kSizes[type] : 0;
}

}  // namespace

void Collectives::on(const cu::CollectiveVersion&, Respond<cu::CollectiveVersionReply> respond) {
  const auto* library = library_.open(core_.library);
  if (!library) return respond({.status = as_wire(ncclSystemError), .text = library_.why()});
  int version = 0;
  const auto result = library->ncclGetVersion(&version);
  respond({.status = as_wire(result), .version = version});
}

void Collectives::on(const cu::CollectiveId&, Respond<cu::CollectiveIdReply> respond) {
  const auto* library = library_.open(core_.library);
  if (!library) return respond({.status = as_wire(ncclSystemError), .text = library_.why()});
  if (!core_.waiters.has_room()) return respond({.status = as_wire(ncclSystemError)});
  // It looks for the way to other machines, which may take a while.
  core_.later(0, [this, library, answer = std::make_shared<Respond<cu::CollectiveIdReply>>(std::move(respond))] {
    ncclUniqueId id{};
    const auto result = library->ncclGetUniqueId(&id);
    const auto text = result == ncclSuccess ? std::string() : library_.text_of(result);
    (*answer)({.status = as_wire(result), .id = wire::bytes_of(id), .text = text});
  });
}

void Collectives::on(const cu::JoinCollectives& m, Respond<cu::JoinCollectivesReply> respond) {
  const auto refuse = [&](ncclResult_t result, std::string_view why) {
    respond({.status = as_wire(result), .text = why});
  };
  const auto* library = library_.open(core_.library);
  if (!library) return refuse(ncclSystemError, library_.why());
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  if (!call.is_good()) return refuse(ncclInvalidArgument, "no such context");
  ncclUniqueId id;
  if (m.ranks == 0 || m.ranks > kMostRanks || m.rank >= m.ranks || m.id.size() != sizeof id.internal)
    return refuse(ncclInvalidArgument, "a rank is one of 0 to ranks - 1, an id has 128 bytes");
  std::memcpy(id.internal, m.id.data(), sizeof id.internal);
  std::string_view why;
  const auto made = make(*library, m.context, m.communicator, why);
  if (!made) return refuse(ncclInvalidUsage, why);
  made->rank = m.rank;
  made->ranks = m.ranks;
  made->join(
      static_cast<int>(m.ranks), static_cast<int>(m.rank), id,
      [this, answer = std::make_shared<Respond<cu::JoinCollectivesReply>>(std::move(respond))](ncclResult_t over) {
        const auto text = over == ncclSuccess ? std::string() : library_.text_of(over);
        (*answer)({.status = as_wire(over), .text = text});
      });
}

std::shared_ptr<Communicator> Collectives::make(const nccl::LibraryTable& library, std::uint64_t in,
                                                std::uint64_t handle, std::string_view& why) {
  const auto* context = core_.handles.find(in);
  const auto device = context->device;
  // Its kernels wait for those of other ranks: while they do, nobody else would get a turn.
  if (core_.grant.is_time_sliced(device))
    return why = "collectives need whole GPUs: the lease has a share of this one's time", nullptr;
  if (handle == 0 || core_.handles.find(handle) || !core_.handles.has_room(Kind::communicator))
    return why = "too many communicators, or one of that handle", nullptr;
  if (!core_.charge(device, kCommunicatorMemory))
    return why = "the lease has too little memory left of this GPU", nullptr;
  auto made = std::make_shared<Communicator>(library, core_.table, static_cast<CUcontext>(context->native),
                                             std::make_shared<Use>(Users::one_of(context->users), threads_));
  std::erase_if(made_, [](const auto& one) { return one.expired(); });
  made_.push_back(made);
  made->context = in;
  Record record{.kind = Kind::communicator, .context = in, .device = device, .charged = kCommunicatorMemory};
  record.held = made;
  if (core_.handles.insert(handle, std::move(record))) return made;
  core_.refund(device, kCommunicatorMemory);
  return why = "that is no handle", nullptr;
}

/// Told to the communicator's thread, behind what is under way: the others of it do the same.
void Collectives::on(const cu::SplitCollectives& m, Respond<cu::SplitCollectivesReply> respond) {
  const auto refuse = [&](ncclResult_t result, std::string_view why) {
    respond({.status = as_wire(result), .text = why});
  };
  const auto* record = core_.handles.find(m.communicator);
  if (!record || record->kind != Kind::communicator) return refuse(ncclInvalidArgument, "no such communicator");
  CallContext call(core_, m.kOp, record->context);
  if (!call.is_good() || m.color < kNoColor || (m.color == kNoColor) != (m.made == 0))
    return refuse(ncclInvalidArgument, "a rank of a color has a handle, one of none has none");
  const auto parent = std::static_pointer_cast<Communicator>(record->held);
  // One of no color has no handle that would be counted, so it is counted as a call.
  auto turn = wait_for_turn(1);
  if (!turn) return refuse(ncclSystemError, "too many calls wait for their turn");
  std::string_view why;
  const auto made = m.made == 0 ? nullptr : make(*library_.open(core_.library), record->context, m.made, why);
  if (m.made != 0 && !made) return refuse(ncclInvalidUsage, why);
  parent->split(
      m.color, m.key, made,
      [this, made, turn = std::move(turn),
       answer = std::make_shared<Respond<cu::SplitCollectivesReply>>(std::move(respond))](ncclResult_t over) mutable {
        turn.reset();
        const auto text = over == ncclSuccess ? std::string() : library_.text_of(over);
        (*answer)({.status = as_wire(over),
                   .ranks = made ? made->ranks.load() : 0,
                   .rank = made ? made->rank.load() : 0,
                   .text = text});
      });
}

std::shared_ptr<void> Collectives::wait_for_turn(std::size_t calls) {
  if (*waiting_ + calls > kMostCallsWaiting) return nullptr;
  *waiting_ += calls;
  return {waiting_.get(), [waiting = waiting_, calls](void*) { *waiting -= calls; }};
}

std::shared_ptr<Communicator> Collectives::find(CallContext& call, std::uint64_t handle) {
  const auto* record = call.record(handle, Kind::communicator);
  return record ? std::static_pointer_cast<Communicator>(record->held) : nullptr;
}

void Collectives::check(CallContext& call, const cu::Collective& one, const Communicator& communicator) {
  const auto* shape = nccl::shape_of(one.which);
  const auto element = size_of(one.type);
  call.check(shape != nullptr && element != 0);
  if (!call.is_good()) return;
  call.check(!shape->has_reduction || one.reduction <= ncclAvg);
  call.check(!shape->has_peer || one.peer < communicator.ranks);
  const auto bytes = call.product(one.count, element);
  const auto side = [&](const nccl::Side& about, std::uint64_t at) {
    const bool is_used = about.is_there && (!about.is_at_root || one.peer == communicator.rank);
    if (is_used) call.address(at, about.is_for_each_rank ? call.product(bytes, communicator.ranks) : bytes);
    // NCCL may look at any that it is given.
    else call.check(at == 0 || core_.allocations.holds(at, 1));
  };
  side(shape->source, one.source);
  side(shape->target, one.target);
}

/// The stream stops at a latch until the group is over; the group goes on a stream of its communicator's, behind what
/// is on the client's.
void Collectives::on(const cu::Collectives& m) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  const auto stream = call.get<CUstream>(m.stream);
  const auto communicator = find(call, m.communicator);
  call.check(communicator && communicator->context == m.context && communicator->ranks != 0);
  call.check(!m.calls.empty() && m.calls.size() <= kMostCalls);
  for (const auto& one : m.calls) {
    if (!call.is_good()) break;
    check(call, one, *communicator);
  }
  auto turn = call.is_good() ? wait_for_turn(m.calls.size()) : nullptr;
  if (call.is_good() && !turn) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (!call.is_good()) return call.end();
  const auto host = core_.host_of(m.context);
  const auto latch = HostSide::latch(host);
  const auto start = HostSide::event(host);
  if (!latch || !start) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  call.run(core_.table.cuEventRecord, start, stream);
  if (call.is_good()) call.fail(latch.wait(stream));
  if (!call.is_good()) {
    if (latch) latch.open_and_recycle();
    if (start) HostSide::give_back(*host, {start});
    return call.end();
  }
  communicator->run(
      m.calls, start,
      [this, host, latch, start, context = m.context, handle = m.communicator,
       turn = std::move(turn)](ncclResult_t over) mutable {
        turn.reset();
        if (over != ncclSuccess) {
          core_.tell(
              cu::CollectivesFailed{.communicator = handle, .status = as_wire(over), .text = library_.text_of(over)});
          core_.tell(cu::Failed{
              .context = context, .op = cu::Collectives::kOp, .status = CUDA_ERROR_UNKNOWN, .object = handle});
        }
        HostSide::give_back(*host, {start});
        latch.open_and_recycle();
      });
}

void Collectives::on(const cu::EndCollectives& m, Respond<cu::EndCollectivesReply> respond) {
  CallContext call(core_, m.kOp, 0);
  const auto communicator = find(call, m.communicator);
  if (!communicator) return respond({.status = as_wire(ncclInvalidArgument)});
  const bool is_abort = m.how == 1, stays = m.how == 2;
  // The end itself comes once a handle; to be finalized may be asked again and again.
  auto turn = stays ? wait_for_turn(1) : nullptr;
  if (stays && !turn) return respond({.status = as_wire(ncclSystemError)});
  if (is_abort) communicator->abort();
  auto answer = std::make_shared<Respond<cu::EndCollectivesReply>>(std::move(respond));
  // Its memory is the share's again when NCCL has given it back.
  std::shared_ptr<void> share;
  if (!stays) {
    auto record = core_.handles.take(m.communicator);
    share = core_.hold(record->device, record->charged);
  }
  communicator->leave(stays, [answer, is_abort, communicator = stays ? nullptr : communicator, share = std::move(share),
                              turn = std::move(turn)](ncclResult_t over) mutable {
    turn.reset();
    (*answer)({.status = as_wire(is_abort ? ncclSuccess : over)});
  });
}

void Collectives::end(std::chrono::milliseconds patience) {
  {
    const std::lock_guard guard(core_.lock);
    core_.handles.take_if([&](const Record& one) {
      if (one.kind == Kind::communicator) core_.refund(one.device, one.charged);
      return one.kind == Kind::communicator;
    });
    // Those that are being left have no handle any more.
    for (const auto& one : made_)
      if (const auto left = one.lock()) left->abort();
  }
  const auto until = std::chrono::steady_clock::now() + patience;
  while (threads_.use_count() > 1 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace flexrack::backend::cuda
