// SPDX-License-Identifier: BSD-3-Clause
// TerminalFilter replaces unsafe characters in all output to a terminal. It works on bytes as they arrive: if
// a write ends within a character or a style, the filter keeps these bytes until the next write. All output
// of both programs passes through it, so no unsafe character may get past it. Read terminal_filter.hpp first.
#include "base/terminal_filter.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include "base/terminal_text.hpp"

namespace encore {

namespace {

// The styles of styled() in cli/terminal.cpp, without the escape character.
constexpr std::array<std::string_view, 7> styles = {"[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[36m"};
constexpr char escape = '\033';

}  // namespace

TerminalFilter::TerminalFilter(std::ostream& stream, bool color)
    : stream_(stream), target_(stream.rdbuf()), color_(color) {
  stream_.rdbuf(this);
}

TerminalFilter::~TerminalFilter() {
  put(passes_all_ ? cut_ : printable(cut_));
  target_->pubsync();
  if (stream_.rdbuf() == this) {
    const std::ios_base::iostate state = stream_.rdstate();  // rdbuf() resets the state
    stream_.rdbuf(target_);
    stream_.clear(state);
  }
}

bool TerminalFilter::put(std::string_view text) {
  const auto size = static_cast<std::streamsize>(text.size());
  return target_->sputn(text.data(), size) == size;
}

/// Returns the length of the style at the beginning of the text, 0 if the text begins with another sequence,
/// or npos if it is the beginning of a style.
std::size_t TerminalFilter::style_length(std::string_view text) const {
  if (!color_ || text.front() != escape) return 0;
  const std::string_view rest = text.substr(1);
  for (const std::string_view style : styles) {
    if (rest.starts_with(style)) return 1 + style.size();
    if (style.starts_with(rest)) return std::string_view::npos;
  }
  return 0;
}

void TerminalFilter::pass_all() {
  const std::scoped_lock lock(mutex_);
  passes_all_ = true;
}

void TerminalFilter::write_control(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  put(text);
}

bool TerminalFilter::write(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (passes_all_) return put(text);
  const std::string joined = cut_ + std::string(text);
  cut_.clear();
  std::string clean;
  for (std::string_view rest = joined; !rest.empty();) {
    const std::size_t style = style_length(rest);
    if (style == std::string_view::npos || is_cut_character(rest)) {
      cut_ = rest;
      break;
    }
    const FirstCharacter first = style > 0 ? FirstCharacter{style, true} : first_character(rest);
    if (first.is_printable || rest.front() == '\n')
      clean.append(rest.substr(0, first.bytes));
    else
      clean += '?';
    rest.remove_prefix(first.bytes);
  }
  return put(clean);
}

TerminalFilter::int_type TerminalFilter::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char one = traits_type::to_char_type(letter);
  return write({&one, 1}) ? letter : traits_type::eof();
}

std::streamsize TerminalFilter::xsputn(const char* text, std::streamsize size) {
  return write({text, static_cast<std::size_t>(size)}) ? size : 0;
}

int TerminalFilter::sync() {
  return target_->pubsync();
}

void pass_all(std::ostream& stream) {
  if (auto* filter = dynamic_cast<TerminalFilter*>(stream.rdbuf())) filter->pass_all();
}

void write_control(std::ostream& stream, std::string_view text) {
  if (auto* filter = dynamic_cast<TerminalFilter*>(stream.rdbuf()))
    filter->write_control(text);
  else
    stream << text;
}

}  // namespace encore
