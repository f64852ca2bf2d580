// Where the objects behind handles live: memory that stays mapped, so that any pointer an application passes can be
// checked without touching what is not ours.
#pragma once

#include <cstddef>

namespace flexrack::client {

/// A slot for an object of that size (1 KiB at most), zeroed in its first 16 bytes. Throws std::bad_alloc when there is
/// no more.
void* take_slot(std::size_t size);
/// The slot may be given out again; until then its first 16 bytes are zero.
void give_slot(void* slot, std::size_t size);

/// True for the start of a slot that was given out at some time in this process; false in a child after fork(), where
/// nothing may be used any more.
bool is_slot(const void* pointer);

/// Makes is_slot() false for good. What was mapped stays mapped.
void forget_slots();

}  // namespace flexrack::client
