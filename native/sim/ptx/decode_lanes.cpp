// What lanes of a warp tell each other, and barriers. Facts: PTX ISA 9.0, 9.7.9.6, 9.7.13.
#include "sim/ptx/decoder.h"

namespace flexrack::sim::ptx {

bool decode_shfl(Decoder& in) {
  static constexpr std::pair<std::string_view, ShuffleMode> kModes[] = {
      {"up", ShuffleMode::up}, {"down", ShuffleMode::down}, {"bfly", ShuffleMode::bfly}, {"idx", ShuffleMode::idx}};
  const bool is_sync = in.take("sync");
  bool is_known = false;
  for (const auto& [text, mode] : kModes) {
    if (is_known || !in.take(text)) continue;
    is_known = true;
    in.out.detail = static_cast<std::uint8_t>(mode);
  }
  in.out.op = Op::shfl;
  in.out.type = in.take_type();
  if (!is_known || in.out.type != Type::b32) return false;
  if (is_sync) in.out.flags |= kSync;
  in.out.o[0] = in.destination(in.item(0), Type::b32);
  in.out.o[1] = in.partner(in.item(0), Type::pred);
  in.operands(is_sync ? "aiii" : "aii", 2, 1);
  return true;
}

namespace {

bool take_vote_mode(Decoder& in) {
  static constexpr std::pair<std::string_view, VoteMode> kModes[] = {
      {"all", VoteMode::all}, {"any", VoteMode::any}, {"uni", VoteMode::uni}, {"ballot", VoteMode::ballot}};
  for (const auto& [text, mode] : kModes) {
    if (!in.take(text)) continue;
    in.out.detail = static_cast<std::uint8_t>(mode);
    return true;
  }
  return false;
}

}  // namespace

bool decode_vote(Decoder& in) {
  const bool is_sync = in.take("sync");
  if (!take_vote_mode(in)) return false;
  in.out.op = Op::vote;
  in.out.type = in.take_type();
  const bool is_ballot = in.out.detail == static_cast<std::uint8_t>(VoteMode::ballot);
  if (in.out.type != (is_ballot ? Type::b32 : Type::pred)) return false;
  if (is_sync) in.out.flags |= kSync;
  in.operands(is_sync ? "Dpi" : "Dp");
  return true;
}

bool decode_match(Decoder& in) {
  const bool is_all = in.take("all");
  if (!is_all && !in.take("any")) return false;
  if (!in.take("sync")) return false;
  in.out.op = Op::match;
  in.out.type = in.take_type();
  if (in.out.type != Type::b32 && in.out.type != Type::b64) return false;
  in.out.flags |= kSync | (is_all ? kAll : 0);
  in.out.o[0] = in.destination_or_sink(in.item(0), Type::b32);
  in.out.o[1] = in.partner(in.item(0), Type::pred);
  in.operands("ai", 2, 1);
  return true;
}

bool decode_activemask(Decoder& in) {
  in.out.op = Op::activemask;
  in.out.type = in.take_type();
  if (in.out.type != Type::b32) return false;
  in.operands("D");
  return true;
}

bool decode_redux(Decoder& in) {
  static constexpr std::pair<std::string_view, AtomicOp> kOps[] = {
      {"add", AtomicOp::add},       {"min", AtomicOp::min},     {"max", AtomicOp::max},
      {"and", AtomicOp::logic_and}, {"or", AtomicOp::logic_or}, {"xor", AtomicOp::logic_xor}};
  if (!in.take("sync")) return false;
  for (const auto& [text, op] : kOps) {
    if (in.take(text)) in.out.atomic = op;
  }
  in.out.detail = in.take("abs");
  in.take_flags(kNan);
  in.out.op = Op::redux;
  in.out.type = in.take_type();
  if (in.out.atomic == AtomicOp::none || bytes_of(in.out.type) != 4) return false;
  in.operands("Dai");
  return true;
}

bool decode_elect(Decoder& in) {
  if (!in.take("sync") || in.item_count() != 2) return false;
  in.out.op = Op::elect;
  in.out.o[0] = in.destination_or_sink(in.item(0), Type::b32);
  in.out.o[1] = in.partner(in.item(0), Type::pred);
  if (in.out.o[1].kind == Operand::Kind::none) in.mismatch();
  in.out.o[2] = in.source(in.item(1), Type::b32);
  return true;
}

namespace {

bool cluster_barrier(Decoder& in) {
  in.take("cluster");
  in.take("aligned");
  if (in.take("arrive")) in.out.op = Op::barrier_cluster_arrive;
  else if (in.take("wait")) in.out.op = Op::barrier_cluster_wait;
  else return false;
  in.out.order = in.out.op == Op::barrier_cluster_arrive ? Order::release : Order::acquire;
  in.take_order_and_scope();
  return in.item_count() == 0;
}

bool reducing_barrier(Decoder& in) {
  in.out.op = Op::bar_red;
  VoteMode mode = VoteMode::popc;
  if (in.take("and")) mode = VoteMode::all;
  else if (in.take("or")) mode = VoteMode::any;
  else if (!in.take("popc")) return false;
  in.out.detail = static_cast<std::uint8_t>(mode);
  in.out.type = in.take_type();
  if (in.out.type != (mode == VoteMode::popc ? Type::u32 : Type::pred)) return false;
  const auto count = in.item_count();
  if (count != 3 && count != 4) in.mismatch();
  in.out.o[0] = in.destination(in.item(0), in.out.type);
  in.out.o[1] = in.source(in.item(1), Type::b32);
  if (count == 4) in.out.o[2] = in.source(in.item(2), Type::b32);
  in.out.o[3] = in.source(in.item(count - 1), Type::pred);
  return true;
}

void note_barrier(Decoder& in, const Item& item) {
  auto& barriers = in.builder().function().barriers;
  const bool is_constant = item.form == Item::Form::number;
  const auto used = is_constant && in.immediate(item) < 16 ? static_cast<std::uint32_t>(in.immediate(item)) + 1 : 16u;
  barriers = barriers < used ? used : barriers;
}

}  // namespace

bool decode_bar(Decoder& in) {
  // cta and cluster are words of scope elsewhere.
  if (in.has("cluster")) return cluster_barrier(in);
  in.take("cta");
  if (in.take("warp")) {
    if (!in.take("sync")) return false;
    in.out.op = Op::bar_warp;
    in.operands("i");
    return true;
  }
  const bool is_aligned = in.take("aligned") || in.name() == "bar";
  if (in.take("red")) {
    note_barrier(in, in.item(1));
    return reducing_barrier(in);
  }
  if (in.take("sync")) in.out.op = Op::bar_sync;
  else if (in.take("arrive")) in.out.op = Op::bar_arrive;
  else return false;
  in.out.detail = is_aligned;
  note_barrier(in, in.item(0));
  in.operands(in.out.op == Op::bar_arrive ? "ii" : "i?i");
  return true;
}

namespace {

bool arrive(Decoder& in, std::uint8_t mode) {
  in.out.op = Op::mbarrier_arrive;
  if (in.take("expect_tx")) mode |= kMbarrierExpectTx;
  if (in.take("noComplete")) mode |= kMbarrierNoComplete;
  in.out.detail = mode;
  const auto space = in.take_space(Space::generic);
  if (in.take_type() != Type::b64) return false;
  // The state is left out where the barrier is another block's.
  const bool has_state = in.item(0).form != Item::Form::address;
  const std::size_t at = has_state ? 1 : 0;
  if (in.item_count() < at + 1 || in.item_count() > at + 2) in.mismatch();
  in.out.o[0] = has_state ? in.destination_or_sink(in.item(0), Type::b64) : Operand{Operand::Kind::sink, Width::w64};
  if (in.item_count() == at + 2) in.out.o[2] = in.source(in.item(at + 1), Type::b32);
  in.out.o[1] = in.address(in.item(at), space);
  return true;
}

bool wait(Decoder& in, std::uint8_t mode) {
  in.out.op = Op::mbarrier_test_wait;
  const bool has_parity = in.take("parity");
  in.out.detail = static_cast<std::uint8_t>(mode | (has_parity ? kMbarrierParity : 0));
  const auto space = in.take_space(Space::generic);
  if (in.take_type() != Type::b64) return false;
  if (in.item_count() != 3 && in.item_count() != 4) in.mismatch();
  in.out.o[0] = in.destination(in.item(0), Type::pred);
  in.out.o[2] = in.source(in.item(2), has_parity ? Type::b32 : Type::b64);
  if (in.item_count() == 4) in.out.o[3] = in.source(in.item(3), Type::b32);
  in.out.o[1] = in.address(in.item(1), space);
  return true;
}

bool transaction(Decoder& in, Op op) {
  in.out.op = op;
  const auto space = in.take_space(Space::generic);
  if (in.take_type() != Type::b64 || in.item_count() != 2) return false;
  in.out.o[1] = in.source(in.item(1), Type::b32);
  in.out.o[0] = in.address(in.item(0), space);
  return true;
}

}  // namespace

bool decode_mbarrier(Decoder& in) {
  in.take_order_and_scope();
  if (in.take("init")) return transaction(in, Op::mbarrier_init);
  if (in.take("arrive")) return arrive(in, 0);
  if (in.take("arrive_drop")) return arrive(in, kMbarrierDrop);
  if (in.take("test_wait")) return wait(in, 0);
  if (in.take("try_wait")) return wait(in, kMbarrierTry);
  if (in.take("expect_tx")) return transaction(in, Op::mbarrier_expect_tx);
  if (in.take("complete_tx")) return transaction(in, Op::mbarrier_complete_tx);
  if (in.take("inval")) {
    in.out.op = Op::mbarrier_inval;
    const auto space = in.take_space(Space::generic);
    if (in.take_type() != Type::b64 || in.item_count() != 1) return false;
    in.out.o[0] = in.address(in.item(0), space);
    return true;
  }
  if (!in.take("pending_count")) return false;
  in.out.op = Op::mbarrier_pending_count;
  in.out.type = in.take_type();
  if (in.out.type != Type::b64) return false;
  in.operands("Ia");
  return true;
}

}  // namespace flexrack::sim::ptx
