// What machine code (sim/jit) refuses: what the interpreter refuses, with the same fault.
#include <string>

#include "exec_rig.h"
#include "sim/jit/translate.h"

namespace {

using namespace flexrack::test;

/// What a kernel with one access of `type` at `offset` ends with: of global memory behind a buffer of 512 bytes, or of
/// 512 bytes of shared memory.
std::string end_of(const std::string& access, int offset, bool translated) {
  flexrack::sim::jit::use_translations(translated);
  Rig rig(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 at) {\n.reg .b32 %i, %r, %s; .reg .b64 %a, %g, %d; .reg .b16 %h; .reg .pred %p; .shared .align 16 .b8 kept[512];\n"
      "mov.u32 %i, %tid.x; ld.param.u64 %g, [at]; mov.u32 %s, kept; mad.lo.u32 %s, %i, 8, %s; mad.wide.u32 %a, %i, 8, %g; mov.u64 %d, 5; cvt.u16.u64 %h, %d; cvt.u32.u16 %r, %h; setp.ne.u32 %p, %i, 99;\n"
      "ld.global.b32 %r, [%g]; st.global.b32 [%g], %r;\n" +
      access + "+" + std::to_string(offset) + "]" +
      (access.find("st.") == std::string::npos  ? ""
       : access.find("64") != std::string::npos ? ", %d"
                                                : ", %h") +
      ";\nadd.u64 %d, %d, 1;\nret;\n}\n");
  flexrack::sim::jit::use_translations(true);
  Buffer<u64> memory(rig.map, 64);
  const auto fault = rig.run(rig.launch("k", {1, 1, 1}, {32, 1, 1}), Parameters(memory.address()));
  if (!fault) return "none";
  // Two runs have different buffers: of addresses in one only how far from its beginning.
  const bool is_global = fault->address >= memory.address() - 16384 && fault->address < memory.address() + 16384;
  return std::to_string(static_cast<int>(fault->kind)) + " at " +
         std::to_string(is_global ? fault->address - memory.address() : fault->address) + " of " +
         std::to_string(fault->size);
}

TEST_CASE("accesses of a byte, 16 and 64 bits outside of memory are refused as the interpreter refuses them") {
  for (const std::string guard : {"", "@%p "}) {
    for (const std::string access :
         {"ld.global.b64 %d, [%a", "st.global.b64 [%a", "ld.b16 %h, [%a", "st.global.b16 [%a", "ld.global.u8 %h, [%a",
          "st.global.b8 [%a", "ld.shared.b64 %d, [%s", "st.shared.b64 [%s", "ld.shared.s16 %h, [%s",
          "st.shared.b16 [%s", "ld.shared.s8 %h, [%s", "st.shared.b8 [%s"}) {
      for (const int offset : {0, 256, 264, 4, 1, 3, 257, 262, -8, 4096}) {
        CAPTURE(access);
        CAPTURE(offset);
        const auto found = end_of(guard + access, offset, true), wanted = end_of(guard + access, offset, false);
        CHECK(found == wanted);
        if (offset == 0 || offset == 256) CHECK(found == "none");
        if (offset == 264 || offset == 4096) CHECK(found != "none");
      }
    }
  }
}

}  // namespace
