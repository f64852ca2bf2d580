// Whole programs by chance, for what must give the same bits whoever carries them out.
#pragma once

#include <string>
#include <vector>

#include "chance_accesses.h"

namespace flexrack::test {

/// A kernel (in, out) whose thread loads all its registers, goes through instructions chosen by chance, some guarded,
/// some behind branches that part the lanes, and stores all registers.
class ChanceProgram : private ChanceAccesses {
 public:
  explicit ChanceProgram(unsigned seed) : ChanceAccesses(seed) {}

  std::string text(unsigned count) {
    std::string body;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned kind = pick(100);
      if (kind < 4) {
        body += branch();
      } else if (kind < 8) {
        body += branch_of_all();
      } else if (kind < 9) {
        body += end();
      } else if (kind < 12) {
        body += pick(3) == 0   ? sum_in_shared()
                : pick(2) == 0 ? numbered_shuffle()
                               : "shfl.sync.bfly.b32 " + word() + ", " + word() + ", " + std::to_string(1 + pick(31)) +
                                     ", 31, -1;\n";
      } else if (kind < 15) {
        body += moved_access();
      } else if (kind < 27) {
        body += (pick(4) == 0 ? guard() : "") + access();
      } else {
        body += (pick(6) == 0 ? guard() : "") + instruction();
      }
    }
    for (const auto& label : open_) body += label + ":\n";
    return head() + body + tail();
  }

 private:
  std::string branch() {
    if (!open_.empty() && pick(2) == 0) {
      const auto label = open_.back();
      open_.pop_back();
      return label + ":\n";
    }
    open_.push_back("L" + std::to_string(labels_++));
    return guard() + "bra " + open_.back() + ";\n";
  }

  /// A predicate that all lanes of a block have alike: branches by it that all take, or none.
  std::string same_for_all() {
    const auto d = predicate();
    return "mov.u32 %n, %ctaid.x;\nsetp." + one_of({"lt", "gt", "ge"}) + ".u32 " + d + ", %n, " + one_of({"0", "1"}) +
           ";\n" + (pick(2) == 0 ? instruction() : "") + (pick(2) == 0 ? "@" : "@!") + d + " ";
  }

  /// Over some instructions, which may go over one of their own.
  std::string branch_of_all() {
    const auto over = "L" + std::to_string(labels_++);
    std::string text = same_for_all() + "bra " + over + ";\n";
    for (unsigned i = 1 + pick(5); i > 0; --i)
      text += pick(8) == 0 ? branch_of_all() : pick(3) == 0 ? access() : (pick(6) == 0 ? guard() : "") + instruction();
    return text + over + ":\n";
  }

  /// Of no lane, mostly; of one, or of all of a block.
  std::string end() {
    if (pick(4) != 0) return "setp.gt.u32 %p0, %l, 31;\n@%p0 " + one_of({"exit", "ret"}) + ";\n";
    if (pick(3) == 0) return same_for_all() + "exit;\n";
    return "setp.eq.u32 %p1, %l, " + std::to_string(pick(32)) + ";\n@%p1 exit;\n";
  }

  template <class F>
  static std::string each(unsigned count, const F& text) {
    std::string all;
    for (unsigned i = 0; i < count; ++i) all += text(i);
    return all;
  }

  static std::string head() {
    return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 scratch) {\n"
           ".reg .b32 %r<10>, %i, %n, %w, %l, %sh1, %sh2, %sh4, %sh8, %sh16, %same, %same8, %apart; .reg .b64 %d<5>, %in, %out, %g, %g1, %g2, %g4, %g8, %g16, %gsame, %gapart; .reg .b16 %h<3>; .reg .pred %p<4>; .shared .align 16 .b8 kept[3072];\n"
           "mov.u32 %i, %tid.x; and.b32 %l, %i, 31; shr.u32 %w, %i, 5; mov.u32 %same, kept; mad.lo.u32 %same, %w, 1024, %same;\n"
           "add.u32 %sh1, %l, %same; mad.lo.u32 %sh2, %l, 2, %same; mad.lo.u32 %sh4, %l, 4, %same; mad.lo.u32 %sh8, %l, 8, %same; mad.lo.u32 %sh16, %l, 16, %same; shr.u32 %n, %l, 3; mad.lo.u32 %same8, %n, 32, %same;\n"
           "mul.lo.u32 %n, %l, 5; and.b32 %n, %n, 31; mad.lo.u32 %apart, %n, 16, %same;\n"
           "ld.param.u64 %g, [scratch]; mov.u32 %n, %ctaid.x; mad.lo.u32 %w, %n, 3, %w; mad.wide.u32 %gsame, %w, 1024, %g; mad.wide.u32 %g1, %l, 1, %gsame; mad.wide.u32 %g2, %l, 2, %gsame; mad.wide.u32 %g4, %l, 4, %gsame; mad.wide.u32 %g8, %l, 8, %gsame;\n"
           "mad.wide.u32 %g16, %l, 16, %gsame; mul.lo.u32 %n, %l, 5; and.b32 %n, %n, 31; mad.wide.u32 %gapart, %n, 16, %gsame; mov.u32 %n, %ctaid.x; mad.lo.u32 %i, %n, 96, %i;\n"
           "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mad.wide.u32 %in, %i, 128, %in; mad.wide.u32 %out, %i, 128, %out;\n" +
           each(kWordRegisters,
                [](unsigned i) {
                  return "ld.global.b32 %r" + std::to_string(i) + ", [%in+" + std::to_string(4 * i) + "];\n";
                }) +
           each(kWideRegisters,
                [](unsigned i) {
                  return "ld.global.b64 %d" + std::to_string(i) + ", [%in+" + std::to_string(40 + 8 * i) + "];\n";
                }) +
           each(kHalfRegisters,
                [](unsigned i) {
                  return "ld.global.b16 %h" + std::to_string(i) + ", [%in+" + std::to_string(80 + 2 * i) + "];\n";
                }) +
           each(kPredicateRegisters, [](unsigned i) {
             return "ld.global.b32 %n, [%in+" + std::to_string(88 + 4 * i) + "]; and.b32 %n, %n, 1; setp.ne.u32 %p" +
                    std::to_string(i) + ", %n, 0;\n";
           });
  }
  static std::string tail() {
    return each(kWordRegisters,
                [](unsigned i) {
                  return "st.global.b32 [%out+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
                }) +
           each(kWideRegisters,
                [](unsigned i) {
                  return "st.global.b64 [%out+" + std::to_string(40 + 8 * i) + "], %d" + std::to_string(i) + ";\n";
                }) +
           each(kHalfRegisters,
                [](unsigned i) {
                  return "st.global.b16 [%out+" + std::to_string(80 + 2 * i) + "], %h" + std::to_string(i) + ";\n";
                }) +
           each(kPredicateRegisters,
                [](unsigned i) {
                  return "selp.b32 %n, 1, 0, %p" + std::to_string(i) + "; st.global.b32 [%out+" +
                         std::to_string(88 + 4 * i) + "], %n;\n";
                }) +
           "ret;\n}\n";
  }

  std::vector<std::string> open_;
  unsigned labels_ = 0;
};

}  // namespace flexrack::test
