#include "config/shared_object.hpp"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace encore {

namespace {

std::uint64_t end_of(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return count == 0 ? 0 : offset + count * size;
}

/// Up to where the header says that the file reaches: the tables of segments and sections, of which linkers
/// write the latter last.
std::uint64_t told_size(const Elf64_Ehdr& header) {
  return std::max({std::uint64_t{sizeof header}, end_of(header.e_phoff, header.e_phnum, header.e_phentsize),
                   end_of(header.e_shoff, header.e_shnum, header.e_shentsize)});
}

}  // namespace

std::string shared_object_problem(const std::filesystem::path& file) {
  const std::string begin = file.string() + ": ";
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(file, failure);
  if (failure == std::errc::no_such_file_or_directory)
    return begin + "there is a manifest but no such file; build the plugin again, or remove its manifest";
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (failure || !stream)
    return begin + "cannot be read: " + (failure ? failure.message() : std::strerror(errno));

  Elf64_Ehdr header{};
  stream.read(reinterpret_cast<char*>(&header), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return begin + "is no shared object (no ELF file); build the plugin again";
  if (size >= sizeof header && (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN))
    return begin + "is an ELF file but no 64-bit shared object; build the plugin again";
  if (size < told_size(header))
    return begin + "is cut off at " + std::to_string(size) + " of " + std::to_string(told_size(header)) +
           " bytes; build it again or copy it whole";
  return "";
}

}  // namespace encore
