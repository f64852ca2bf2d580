// One instruction: its words and operands are consumed by the decoder of its name; words that nobody consumed make it
// unsupported.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/ptx/function_builder.h"
#include "sim/ptx/words.h"

namespace flexrack::sim::ptx {

/// Appends what the instruction becomes. Throws ParseError where PTX has no such instruction, names are unknown or
/// operands do not fit; what exists and is not carried out here becomes Op::unsupported.
void decode(FunctionBuilder& to, const InstructionSyntax& syntax);

Width width_of(Type type);
/// u16 to u32 and so on; none where there is no wider.
Type wider(Type type);

/// A displacement and what is added to it; wraps, as addresses do.
constexpr std::int64_t moved(std::int64_t displacement, std::uint64_t by) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(displacement) + by);
}

/// Thrown where an operand has a form that its instruction is not supported with.
struct NotSupported {};

class Decoder {
 public:
  Decoder(FunctionBuilder& to, const InstructionSyntax& syntax);

  Instruction out;   ///< what is being made; emitted by finish()

  std::string_view name() const { return syntax_.name; }

  // Words after the dots. Each is taken once.
  bool take(std::string_view text);
  bool has(std::string_view text) const;
  /// Whether a word starts so; all such are taken.
  bool take_all_starting(std::string_view prefix);
  /// The first word of the two (empty: neither), or that starts so.
  std::string_view take_either(std::string_view one, std::string_view other);
  std::string_view take_starting(std::string_view prefix);
  Type take_type();
  /// The next space word, or `otherwise`.
  Space take_space(Space otherwise);
  bool has_space() const;
  void take_flags(std::uint16_t allowed);
  void take_rounding();
  void take_compare();
  void take_combine();
  void take_vector();
  void take_cache();
  void take_order_and_scope();
  bool all_taken() const;
  std::size_t word_count() const { return words_.size(); }

  // Operands.
  std::size_t item_count() const { return syntax_.item_count; }
  const Item& item(std::size_t at) const;
  const Item& child(const Item& parent, std::size_t at) const;
  /// Letters of a signature, each one operand: D destination of the type, W twice as wide, I 32 bits, P predicate; a,
  /// w, i, p sources alike, s of the source type; `?`: what follows may be left out. Placed in out.o from `first`,
  /// taken from items from `from` to the last.
  void operands(std::string_view signature, std::size_t first = 0, std::size_t from = 0);
  Operand source(const Item& item, Type type);
  /// Registers may be wider than the type; constants are of the type.
  Operand loose_source(const Item& item, Type type);
  Operand destination(const Item& item, Type type);
  Operand loose_destination(const Item& item, Type type);
  /// Where `_` may stand.
  Operand destination_or_sink(const Item& item, Type type, bool is_loose = false);
  /// An operand with a partner (`d|p`).
  Operand partner(const Item& item, Type type);
  /// `[...]` of out: sets out.space (that of a name where `space` is generic) and out.displacement.
  Operand address(const Item& item, Space space);
  /// `[...]` added up in a register: for second addresses.
  Operand address_value(const Item& item, Width width);
  enum class Use : std::uint8_t { read, write };
  Operand list(const Item& item, Type type, Use use, bool is_loose = false);
  Operand list_of(const std::vector<Operand>& operands);
  /// An immediate that decoding itself needs.
  std::uint64_t immediate(const Item& item) const;
  bool is_register(const Item& item) const;

  /// The address of a symbol in a register.
  Operand address_in_register(const Symbol& symbol, const Item& item, Width width);
  /// Makes `out` the move of an address, or of a special register (false: the name is none).
  void make_address(const Symbol& symbol, const Item& item, Operand to);
  bool make_special(const Item& item, Type type);
  /// Of the register that the item is; nullopt: it is none. For operands whose width the instruction does not say.
  std::optional<Width> register_width(const Item& item);
  Operand temporary(Width width, Type type);
  Operand lanes(std::uint32_t reg) const;

  void finish();
  Instruction& emit(const Instruction& instruction) { return to_.emit(instruction); }
  FunctionBuilder& builder() { return to_; }
  Symbol symbol_of(const Item& item, std::uint32_t& number) const;

  [[noreturn]] void mismatch() const;
  [[noreturn]] void fail(const Item& item, std::string said) const;

 private:
  struct Taken {
    std::string_view text;
    Word word;
    bool is_taken = false;
  };

  Taken* find(Word::Kind kind);
  std::uint32_t register_for(const Item& item);
  Operand written(const Item& item, Type type, bool is_loose);
  Operand special(const Item& item, Type type);
  Operand named_source(const Item& item, Type type, bool is_loose);
  void check_fit(std::uint32_t reg, Type type, bool is_loose) const;
  Operand symbol_address(const Symbol& symbol, const Item& base, Space& space);
  std::int64_t displacement_of(const Symbol& symbol, const Item& item) const;

  FunctionBuilder& to_;
  const InstructionSyntax& syntax_;
  std::vector<Taken> words_;
  std::uint32_t shared_ = kNone;   ///< the variable whose place out.displacement waits for
};

/// False: not supported as written.
using Decode = bool (*)(Decoder&);

// By family.
bool decode_arithmetic(Decoder& in);
bool decode_dot_product(Decoder& in);
bool decode_lop3(Decoder& in);
bool decode_set(Decoder& in);
bool decode_setp(Decoder& in);
bool decode_slct(Decoder& in);
bool decode_mov(Decoder& in);
bool decode_cvt(Decoder& in);
bool decode_cvta(Decoder& in);
bool decode_isspacep(Decoder& in);
bool decode_mapa(Decoder& in);
bool decode_getctarank(Decoder& in);
bool decode_alloca(Decoder& in);
bool decode_stack(Decoder& in);
bool decode_load(Decoder& in);
bool decode_store(Decoder& in);
bool decode_atomic(Decoder& in);
bool decode_fence(Decoder& in);
bool decode_hint(Decoder& in);
bool decode_createpolicy(Decoder& in);
bool decode_cp(Decoder& in);
bool decode_shfl(Decoder& in);
bool decode_vote(Decoder& in);
bool decode_match(Decoder& in);
bool decode_activemask(Decoder& in);
bool decode_redux(Decoder& in);
bool decode_elect(Decoder& in);
bool decode_bar(Decoder& in);
bool decode_mbarrier(Decoder& in);
bool decode_control(Decoder& in);
bool decode_call(Decoder& in);
bool decode_texture(Decoder& in);
bool decode_query(Decoder& in);
bool decode_surface(Decoder& in);
bool decode_matrix(Decoder& in);
bool decode_matrix_move(Decoder& in);

}  // namespace flexrack::sim::ptx
