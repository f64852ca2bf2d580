// Loads, stores, atomics, fences. Facts: PTX ISA 9.0, 9.7.9 and 9.7.13.
#include "sim/ptx/decoder.h"

namespace flexrack::sim::ptx {

namespace {

/// What a load or store may say about caches and policies means nothing here; a policy is one more operand.
std::size_t without_policy(Decoder& in) {
  auto count = in.item_count();
  if (in.has("L2::cache_hint") || in.has("level::cache_hint")) count = count ? count - 1 : 0;
  in.take_cache();
  return count;
}

bool is_memory_type(Type type) {
  return bytes_of(type) > 0 && type != Type::texref && type != Type::samplerref && type != Type::surfref;
}

Operand value(Decoder& in, const Item& item, Decoder::Use use) {
  const auto type = in.out.type;
  const bool is_list = in.out.count > 1;
  if (is_list) {
    const auto made = in.list(item, type, use, true);
    if (made.count != in.out.count) in.mismatch();
    return made;
  }
  // One element may be written in braces.
  const auto& one = item.form == Item::Form::vector && item.count == 1 ? in.child(item, 0) : item;
  return use == Decoder::Use::write ? in.loose_destination(one, type) : in.loose_source(one, type);
}

}  // namespace

bool decode_load(Decoder& in) {
  const auto count = without_policy(in);
  in.take_order_and_scope();
  in.out.op = Op::ld;
  const auto space = in.take_space(Space::generic);
  in.take_vector();
  in.out.type = in.take_type();
  if (!is_memory_type(in.out.type)) return false;
  if (count != 2) in.mismatch();
  in.out.o[0] = value(in, in.item(0), Decoder::Use::write);
  in.out.o[1] = in.address(in.item(1), space);
  return true;
}

bool decode_store(Decoder& in) {
  if (in.has("async") || in.has("bulk")) return false;
  const auto count = without_policy(in);
  in.take_order_and_scope();
  in.out.op = Op::st;
  const auto space = in.take_space(Space::generic);
  in.take_vector();
  in.out.type = in.take_type();
  if (!is_memory_type(in.out.type)) return false;
  if (count != 2) in.mismatch();
  in.out.o[1] = value(in, in.item(1), Decoder::Use::read);
  in.out.o[0] = in.address(in.item(0), space);
  return true;
}

namespace {

AtomicOp take_atomic_op(Decoder& in) {
  static constexpr std::pair<std::string_view, AtomicOp> kOps[] = {
      {"add", AtomicOp::add},          {"min", AtomicOp::min},       {"max", AtomicOp::max},
      {"inc", AtomicOp::inc},          {"dec", AtomicOp::dec},       {"and", AtomicOp::logic_and},
      {"or", AtomicOp::logic_or},      {"xor", AtomicOp::logic_xor}, {"exch", AtomicOp::exchange},
      {"cas", AtomicOp::compare_swap},
  };
  for (const auto& [text, op] : kOps) {
    if (in.take(text)) return op;
  }
  return AtomicOp::none;
}

Operand atomic_value(Decoder& in, const Item& item, Decoder::Use use) {
  if (in.out.count == 1)
    return use == Decoder::Use::write ? in.destination_or_sink(item, in.out.type) : in.source(item, in.out.type);
  const auto made = in.list(item, in.out.type, use);
  if (made.count != in.out.count) in.mismatch();
  return made;
}

}  // namespace

bool decode_atomic(Decoder& in) {
  if (in.has("async")) return false;
  const auto count = without_policy(in);
  const bool is_red = in.name() == "red";
  in.take_order_and_scope();
  in.out.op = Op::atom;
  in.out.atomic = take_atomic_op(in);
  const auto space = in.take_space(Space::generic);
  in.take_vector();
  in.take_flags(kNoFtz);
  // `.vec_32_bit` and its like only repeat what vector and type say.
  in.take_all_starting("vec_");
  in.out.type = in.take_type();
  if (in.out.atomic == AtomicOp::none || !is_memory_type(in.out.type)) return false;
  const std::size_t first = is_red ? 0 : 1;
  if (count != first + (in.out.atomic == AtomicOp::compare_swap ? 3 : 2)) { in.mismatch(); }
  in.out.o[0] =
      is_red ? Operand{Operand::Kind::sink, width_of(in.out.type)} : atomic_value(in, in.item(0), Decoder::Use::write);
  in.out.o[2] = atomic_value(in, in.item(first + 1), Decoder::Use::read);
  if (in.out.atomic == AtomicOp::compare_swap) in.out.o[3] = atomic_value(in, in.item(first + 2), Decoder::Use::read);
  in.out.o[1] = in.address(in.item(first), space);
  return true;
}

bool decode_fence(Decoder& in) {
  in.out.op = Op::membar;
  in.out.order = Order::seq_cst;
  in.take_order_and_scope();
  // Proxies, mbarrier_init and the like: all memory is one here, so the strongest fence serves.
  in.take_all_starting("proxy");
  in.take_all_starting("alias");
  in.take_all_starting("async");
  in.take_all_starting("tensormap");
  in.take_all_starting("generic");
  in.take_all_starting("mbarrier_init");
  in.take_all_starting("op_restrict");
  in.take_all_starting("sync_restrict");
  in.take_all_starting("to_proxykind");
  while (in.has_space()) in.take_space(Space::generic);
  return true;
}

bool decode_hint(Decoder& in) {
  in.out.op = Op::nop;
  in.take_all_starting("");
  return true;
}

bool decode_createpolicy(Decoder& in) {
  // A policy is a number that only caches understand.
  in.take_all_starting("");
  in.out.op = Op::mov;
  in.out.type = Type::b64;
  in.out.o[0] = in.destination(in.item(0), Type::b64);
  in.out.o[1] = in.builder().constant(0, Width::w64);
  return true;
}

namespace {

bool copy_async(Decoder& in) {
  auto count = without_policy(in);
  const auto to = in.take_space(Space::generic);
  const auto from = in.take_space(Space::generic);
  if (to != Space::shared || from != Space::global || count < 3 || count > 4) return false;
  const auto bytes = in.immediate(in.item(2));
  if (bytes != 4 && bytes != 8 && bytes != 16) in.mismatch();
  in.out.op = Op::cp_async;
  in.out.count = static_cast<std::uint8_t>(bytes);
  in.out.o[1] = in.address_value(in.item(1), Width::w64);
  if (count == 4) {
    const auto& last = in.item(3);
    if (in.register_width(last) == Width::w1) in.out.o[3] = in.source(last, Type::pred);
    else in.out.o[2] = in.source(last, Type::b32);
  }
  in.out.o[0] = in.address(in.item(0), to);
  return true;
}

bool copy_bulk(Decoder& in) {
  if (in.take("commit_group")) {
    in.out.op = Op::cp_async_bulk_commit;
    return in.item_count() == 0;
  }
  if (in.take("wait_group")) {
    in.take("read");
    in.out.op = Op::cp_async_bulk_wait;
    in.operands("i");
    return true;
  }
  if (in.has("prefetch")) return decode_hint(in);
  const auto count = without_policy(in);
  const auto to = in.take_space(Space::generic);
  const auto from = in.take_space(Space::generic);
  const bool has_barrier = in.take("mbarrier::complete_tx::bytes");
  if (to == Space::generic || from == Space::generic || count != (has_barrier ? 4u : 3u) ||
      (!has_barrier && !in.take("bulk_group")))
    return false;
  in.out.op = Op::cp_async_bulk;
  in.out.detail = static_cast<std::uint8_t>(from);
  in.out.o[1] = in.address_value(in.item(1), from == Space::global ? Width::w64 : Width::w32);
  in.out.o[2] = in.source(in.item(2), Type::b32);
  if (has_barrier) in.out.o[3] = in.address_value(in.item(3), Width::w32);
  in.out.o[0] = in.address(in.item(0), to);
  return true;
}

}  // namespace

bool decode_cp(Decoder& in) {
  if (!in.take("async")) return false;
  if (in.take("bulk")) return copy_bulk(in);
  if (in.take("commit_group")) {
    in.out.op = Op::cp_async_commit;
    return in.item_count() == 0;
  }
  if (in.take("wait_all")) {
    in.out.op = Op::cp_async_wait;
    in.out.flags |= kAll;
    return in.item_count() == 0;
  }
  if (in.take("wait_group")) {
    in.out.op = Op::cp_async_wait;
    in.operands("i");
    return true;
  }
  if (!in.take("mbarrier")) return copy_async(in);
  if (!in.take("arrive")) return false;
  in.out.op = Op::cp_async_mbarrier_arrive;
  in.out.detail = in.take("noinc");
  const auto space = in.take_space(Space::generic);
  if (in.take_type() != Type::b64 || in.item_count() != 1) return false;
  in.out.o[0] = in.address(in.item(0), space);
  return true;
}

}  // namespace flexrack::sim::ptx
