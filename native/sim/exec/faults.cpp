// What a warp says when it cannot go on.
#include <bit>

#include "sim/exec/block.h"
#include "sim/exec/opcode_text.h"
#include "sim/exec/warp.h"

namespace flexrack::sim::exec {

const Step* Warp::fault(Fault::Kind kind, const Step* step, unsigned lane, std::uint64_t address, std::uint32_t size,
                        bool is_write, std::string text) {
  const auto& function = *frame->code->function;
  Fault made;
  made.kind = kind;
  made.kernel = block->grid().launch.kernel->name;
  made.block = block->at();
  made.thread = {thread[0][lane], thread[1][lane], thread[2][lane]};
  made.address = address;
  made.size = size;
  made.is_write = is_write;
  if (step != nullptr && step->source != nullptr) {
    const auto number = static_cast<std::size_t>(step->source - function.code.data());
    if (number < function.lines.size()) {
      const auto& line = function.lines[number];
      made.file = block->grid().image.module().files[line.file];
      made.line = line.line;
    }
    made.text = text.empty() ? opcode_text(*step->source) : std::move(text);
  }
  block->fail(std::move(made));
  why = Why::fault;
  return nullptr;
}

const Step* Warp::unsupported(const Step* step, std::string text) {
  return fault(Fault::Kind::illegal_instruction, step, static_cast<unsigned>(std::countr_zero(mask)), 0, 0, false,
               std::move(text));
}

}  // namespace flexrack::sim::exec
