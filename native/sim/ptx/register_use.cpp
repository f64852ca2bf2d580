#include "sim/ptx/register_use.h"

namespace flexrack::sim::ptx {

unsigned written_operands(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::nop:
    case Op::unsupported:
    case Op::st:
    case Op::membar:
    case Op::cp_async:
    case Op::cp_async_commit:
    case Op::cp_async_wait:
    case Op::cp_async_mbarrier_arrive:
    case Op::cp_async_bulk:
    case Op::cp_async_bulk_commit:
    case Op::cp_async_bulk_wait:
    case Op::bar_sync:
    case Op::bar_arrive:
    case Op::bar_warp:
    case Op::barrier_cluster_arrive:
    case Op::barrier_cluster_wait:
    case Op::mbarrier_init:
    case Op::mbarrier_inval:
    case Op::mbarrier_expect_tx:
    case Op::mbarrier_complete_tx:
    case Op::bra:
    case Op::brx:
    case Op::call:
    case Op::ret:
    case Op::exit:
    case Op::trap:
    case Op::brkpt:
    case Op::nanosleep:
    case Op::stackrestore:
    case Op::sust:
    case Op::sured:
    case Op::wmma_store:
    case Op::stmatrix: return 0;
    case Op::setp:
    case Op::shfl:
    case Op::match:
    case Op::elect: return 3;
    case Op::lop3_pred: return 1 | 1 << 4;
    default: return instruction.flags & kCarryOut ? 1 | 1 << 4 : 1;
  }
}

}  // namespace flexrack::sim::ptx
