// SPDX-License-Identifier: BSD-3-Clause
// elf_file(): the smallest bytes that shared_object_problem() accepts as a plugin's shared object.
// manifest_test.cpp and shared_object_test.cpp write such files, so that tests of config/ need no compiler.
// Only config/manifest.hpp decides what is accepted; these bytes may change with it.
#pragma once

#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace encore::sample {

/// Returns an ELF header, and after it a table of `sections` empty sections: 64 bytes each.
inline std::string elf_file(int sections = 2) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_type = ET_DYN;
  header.e_shoff = sizeof header;
  header.e_shnum = static_cast<Elf64_Half>(sections);
  header.e_shentsize = sizeof(Elf64_Shdr);
  std::string bytes(sizeof header + static_cast<std::size_t>(sections) * sizeof(Elf64_Shdr), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

inline void write_file(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace encore::sample
