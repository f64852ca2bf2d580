// Where a device's printf would have gone.
#pragma once

#include "wire/frame.h"

namespace flexrack::client {

/// The program's standard output, after what the program itself printed so far.
void write_standard_output(wire::View text);

}  // namespace flexrack::client
