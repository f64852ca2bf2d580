// What an instruction is to a translation, by what it does: each fills an item in; false: not to be translated.
#pragma once

#include "sim/jit/segment.h"

namespace flexrack::sim::jit {

/// What a register of a width is made of.
Form form_of(ptx::Width width);

inline bool is_32(Type type) { return type == Type::u32 || type == Type::s32 || type == Type::b32; }

bool describe_memory(Item& item);
bool describe_sum_in_shared(Item& item);
bool describe_shuffle(const exec::Code& code, Item& item);

}  // namespace flexrack::sim::jit
