// SPDX-License-Identifier: BSD-3-Clause
// KeptVectors: the file FOLDER.vectors beside the folder of an index, with the vectors that a command has
// computed so far. text_encoder.cpp adds to it and index.cpp removes it when the index is complete, so it is
// only there after an interruption. A process may be killed while it writes: each record has a checksum, and
// reading ends at the first record that is not whole. Only the program that wrote it reads it, so the form
// may change with its number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include <encore/document_index.hpp>

#include "world/file_descriptor.hpp"

namespace encore::app {

class KeptVectors {
 public:
  /// Opens the file, or makes it at the first add(). Vectors of other weights are dropped. Throws Error if
  /// the file cannot be read or written.
  KeptVectors(std::filesystem::path file, const IndexEncoder& encoder);

  bool has(const std::string& text) const;
  /// Returns the vector of a text that the file has.
  std::vector<float> vector_of(const std::string& text) const;
  /// Returns the width of the vectors; 0: there are none.
  std::size_t width() const { return width_; }
  std::size_t size() const { return places_.size(); }

  /// Adds the vector of a text. It is in the file after flush(). Throws Error for another width.
  void add(const std::string& text, const std::vector<float>& vector);
  void flush();
  /// Removes the file.
  void remove();

 private:
  void read_records();
  void begin_file(std::size_t width);
  std::size_t record_bytes() const;

  std::filesystem::path path_;
  std::string weights_;
  world::FileDescriptor file_;
  std::size_t width_ = 0;
  std::uint64_t end_ = 0;                                  ///< of the whole records
  std::string buffer_;                                     ///< records that flush() writes behind them
  std::unordered_map<std::string, std::uint64_t> places_;  ///< of a vector in the file, by key
};

}  // namespace encore::app
