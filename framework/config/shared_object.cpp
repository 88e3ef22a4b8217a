// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a plugin file is whole: reads the header of the ELF file and compares the size that it
// declares with that of the file. catalogue.cpp calls it. It reads only the header, because the file may be
// damaged. Read manifest.hpp first.
#include "config/manifest.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/input_file.hpp"

namespace encore::config {

namespace {

std::uint64_t end_of(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return count == 0 ? 0 : offset + count * size;
}

/// Returns the size of the file that its header declares: the end of the tables of segments and sections.
/// Linkers write the table of sections last.
std::uint64_t declared_size(const Elf64_Ehdr& header) {
  return std::max({std::uint64_t{sizeof header}, end_of(header.e_phoff, header.e_phnum, header.e_phentsize),
                   end_of(header.e_shoff, header.e_shnum, header.e_shentsize)});
}

}  // namespace

std::string shared_object_problem(const std::filesystem::path& file) {
  const std::string begin = file.string() + ": ";
  Elf64_Ehdr header{};
  std::uint64_t size = 0;
  try {
    InputFile stream(file);
    size = stream.size();
    stream.read(reinterpret_cast<char*>(&header), sizeof header);
  } catch (const UnreadableFile& error) {
    if (error.missing())
      return begin + "there is a manifest but no such file; build the plugin again, or remove its manifest";
    return begin + "cannot be read: " + error.why();
  }
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return begin + "is not a shared object (not an ELF file); build the plugin again";
  if (size >= sizeof header && (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN))
    return begin + "is an ELF file but not a 64-bit shared object; build the plugin again";
  if (size < declared_size(header))
    return begin + "is cut off at " + std::to_string(size) + " of " + std::to_string(declared_size(header)) +
           " bytes; build it again or copy it whole";
  return "";
}

}  // namespace encore::config
