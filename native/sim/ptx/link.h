// Several texts as one module, as cuLink* makes them.
#pragma once

#include <memory>
#include <span>

#include "sim/ptx/parse.h"

namespace flexrack::sim::ptx {

/// External functions and variables are found by name in the others; two definitions of one name are an error unless
/// all but one are weak or common. Throws ParseError.
std::unique_ptr<Module> link(std::span<const Source> sources);

/// Whether a text could be part of a link: as parse(), but what it leaves undefined is no error.
void check(const Source& source);

/// Whether a definition gives way to another one of its name.
inline bool is_replaceable(Linkage linkage) { return linkage == Linkage::weak || linkage == Linkage::common; }

}  // namespace flexrack::sim::ptx
