// SPDX-License-Identifier: BSD-3-Clause
// FileParts: reads blocks of a file until there is a place to cut, returns the text before it, and keeps the
// rest for the next part. set_files.cpp reads a large training set so. The sizes of parts may change; every
// byte must be hashed and must be in one part. Read file_parts.hpp first.
#include "tasks/file_parts.hpp"

#include <algorithm>
#include <string_view>

#include <encore/lines.hpp>

#include "base/load_file.hpp"

namespace encore::tasks {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 20;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

/// Returns the position after the last place where the text may be cut, or 0 if there is none.
std::size_t last_cut(std::string_view text, Cut cut) {
  // A CR at the end may be the first half of a line end.
  while (text.ends_with('\r')) text.remove_suffix(1);
  for (std::size_t end = text.find_last_of("\r\n"); end != std::string_view::npos;) {
    if (cut == Cut::lines) return end + 1;
    if (end == 0) return 1;
    std::size_t before = end - 1;
    if (text[end] == '\n')
      while (text[before] == '\r' && before > 0) --before;
    before = text.find_last_of("\r\n", before);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (is_blank(text.substr(begin, end - begin))) return end + 1;
    end = before;
  }
  return 0;
}

}  // namespace

FileParts::FileParts(std::vector<std::string> paths, Cut cut, std::size_t part_bytes, std::string what)
    : paths_(std::move(paths)), cut_(cut), part_bytes_(part_bytes), what_(std::move(what)) {}

std::optional<FileParts::Part> FileParts::next() {
  while (number_ < paths_.size()) {
    if (!file_) {
      file_.emplace(open_file(paths_[number_], what_));
      hash_.emplace();
      line_ = 1;
      ended_ = false;
    }
    Part part{.file = number_, .first_line = line_, .text = next_text()};
    require_utf8(part.text, paths_[number_], what_, line_);
    const std::int64_t line_ends = count_line_ends(part.text);
    line_ += line_ends;
    part.last_line = part.text.ends_with('\n') || part.text.ends_with('\r') ? line_ - 1 : line_;
    if (ended_ && left_.empty()) {
      hashes_.push_back(hash_->hex());
      file_.reset();
      ++number_;
    }
    if (!is_blank(part.text)) return part;
  }
  return std::nullopt;
}

std::string FileParts::next_text() {
  std::string text = std::move(left_);
  left_.clear();
  for (std::size_t wanted = part_bytes_;; wanted = text.size() + part_bytes_) {
    while (!ended_ && text.size() < wanted) {
      const std::size_t before = text.size();
      text.resize(before + std::min(bytes_at_once, part_bytes_));
      const std::size_t count = file_->read(text.data() + before, text.size() - before);
      text.resize(before + count);
      hash_->add(std::string_view(text).substr(before));
      ended_ = count == 0;
    }
    if (ended_) return text;
    if (const std::size_t end = last_cut(text, cut_); end > 0) {
      left_ = text.substr(end);
      text.resize(end);
      return text;
    }
  }
}

}  // namespace encore::tasks
