// SPDX-License-Identifier: BSD-3-Clause
// TileTrap: while it lives, the instructions of AMX run on any x86-64 Linux, so that amx_test.cpp tests the
// machine code that a compiler made for a processor with AMX. A processor without AMX raises SIGILL; the
// handler decodes the machine code (Intel SDM volume 2, "LDTILECFG" to "TILEZERO"), applies the instruction
// to the tiles of the thread by amx::arithmetic, and resumes after it. Code that must not occur ends the
// process: tiles that are used before they are configured, tiles that are not whole, any other instruction.
// Only tests may use it.
#pragma once

#include "kernels/products/amx_tiles.hpp"

#if ENCORE_HAVE_TILE_INSTRUCTIONS && defined(__linux__)

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

namespace encore::test {

class TileTrap {
 public:
  TileTrap() {
    struct sigaction action {};
    action.sa_sigaction = &TileTrap::handle;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGILL, &action, &before_);
  }
  ~TileTrap() { ::sigaction(SIGILL, &before_, nullptr); }
  TileTrap(const TileTrap&) = delete;
  TileTrap& operator=(const TileTrap&) = delete;

  /// The instructions of each kind that the trap has executed, in all threads since the process began.
  static inline std::atomic<std::int64_t> configured = 0, released = 0, multiplied = 0;

 private:
  struct Tiles {
    bool ready = false;
    alignas(64) std::byte data[kernels::amx::tile_count][kernels::amx::tile_bytes];
  };

  [[noreturn]] static void refuse(std::string_view why) {
    static_cast<void>(!::write(2, why.data(), why.size()));
    ::_exit(70);
  }

  static std::int64_t register_of(const mcontext_t& context, int number) {
    constexpr int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return context.gregs[places[number]];
  }

  /// An instruction with a three-byte VEX prefix; the members are the fields of its encoding.
  struct Instruction {
    int prefix, opcode, mod, reg, rm, vvvv;  // prefix: 0 none, 1 66, 2 F3, 3 F2
    std::int64_t length;
    std::byte* base;      // the address of the operand in memory, without the index
    std::int64_t stride;  // the scaled index: the distance of rows of a load or a store
  };

  static Instruction decode(const mcontext_t& context) {
    const auto* code = reinterpret_cast<const std::uint8_t*>(context.gregs[REG_RIP]);
    if (code[0] != 0xC4 || (code[1] & 0x1F) != 2 || (code[2] & 0x84) != 0)
      refuse("tile trap: an instruction that does not belong to AMX\n");
    const int high_index = (code[1] & 0x40) != 0 ? 0 : 8, high_base = (code[1] & 0x20) != 0 ? 0 : 8;
    Instruction found{.prefix = code[2] & 3,
                      .opcode = code[3],
                      .mod = code[4] >> 6,
                      .reg = code[4] >> 3 & 7,
                      .rm = code[4] & 7,
                      .vvvv = ~(code[2] >> 3) & 15,
                      .length = 5,
                      .base = nullptr,
                      .stride = 0};
    if (found.mod == 3) return found;
    std::int64_t address = 0;
    bool wide = found.mod == 2, to_next = false;
    if (found.rm == 4) {
      const int sib = code[found.length++], index = (sib >> 3 & 7) + high_index;
      if (index != 4) found.stride = register_of(context, index) << (sib >> 6);
      if ((sib & 7) == 5 && found.mod == 0)
        wide = true;
      else
        address = register_of(context, (sib & 7) + high_base);
    } else if (found.rm == 5 && found.mod == 0) {
      wide = to_next = true;
    } else {
      address = register_of(context, found.rm + high_base);
    }
    if (wide) {
      std::int32_t displacement;
      std::memcpy(&displacement, code + found.length, sizeof(displacement));
      found.length += 4;
      address += displacement;
    } else if (found.mod == 1) {
      address += static_cast<std::int8_t>(code[found.length++]);
    }
    if (to_next) address += context.gregs[REG_RIP] + found.length;
    found.base = reinterpret_cast<std::byte*>(address);
    return found;
  }

  static void configure(Tiles& tiles, const std::byte* from) {
    const kernels::amx::TileShapes whole;
    if (std::memcmp(from, &whole, sizeof(whole)) != 0) refuse("tile trap: not eight whole tiles\n");
    tiles = {};
    tiles.ready = true;
    ++configured;
  }

  static void handle(int, siginfo_t*, void* given) {
    static thread_local Tiles tiles;
    mcontext_t& context = static_cast<ucontext_t*>(given)->uc_mcontext;
    const Instruction one = decode(context);
    const int what = one.opcode << 8 | one.prefix << 4 | (one.mod == 3 ? 1 : 0);
    if (what != 0x4900 && !tiles.ready) refuse("tile trap: tiles are used that are not configured\n");
    std::byte* const tile = tiles.data[one.reg];
    switch (what) {
      case 0x4900:
        configure(tiles, one.base + one.stride);
        break;
      case 0x4901:
        tiles.ready = false;
        ++released;
        break;
      case 0x4931:
        std::memset(tile, 0, kernels::amx::tile_bytes);
        break;
      case 0x4B30:
        for (int i = 0; i < kernels::amx::tile_rows; ++i)
          std::memcpy(tile + i * kernels::amx::row_bytes, one.base + i * one.stride, kernels::amx::row_bytes);
        break;
      case 0x4B20:
        for (int i = 0; i < kernels::amx::tile_rows; ++i)
          std::memcpy(one.base + i * one.stride, tile + i * kernels::amx::row_bytes, kernels::amx::row_bytes);
        break;
      case 0x5C21:
      case 0x5E11:
        if (one.reg == one.rm || one.reg == one.vvvv || one.rm == one.vvvv || one.vvvv > 7)
          refuse("tile trap: a product of a tile with itself\n");
        if (one.opcode == 0x5C)
          kernels::amx::arithmetic::multiply_pairs(tile, tiles.data[one.rm], tiles.data[one.vvvv]);
        else
          kernels::amx::arithmetic::multiply_bytes(tile, tiles.data[one.rm], tiles.data[one.vvvv]);
        ++multiplied;
        break;
      default:
        refuse("tile trap: an instruction that the program has no use for\n");
    }
    context.gregs[REG_RIP] += one.length;
  }

  struct sigaction before_ {};
};

}  // namespace encore::test

#endif
