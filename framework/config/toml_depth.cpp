#include "config/toml_depth.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "config/limits.hpp"

namespace encore {

namespace {

class DepthScan {
 public:
  explicit DepthScan(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  std::optional<TextPosition> run() {
    while (at_ < text_.size()) {
      const TextPosition here = position_;
      letter(text_[at_]);
      if (levels_ + dots_ > most_levels) return here;
    }
    return std::nullopt;
  }

 private:
  struct Bracket {
    char open;
    std::size_t levels;  ///< outside of it
  };

  void letter(char letter) {
    const bool is_first = std::exchange(first_, first_ && (letter == ' ' || letter == '\t'));
    if (letter == '"' || letter == '\'') return skip_text(letter);
    if (letter == '#') return skip_comment();
    if (letter == '\n') end_line();
    if (letter == '.' && in_key_) ++dots_;
    if (letter == '=') in_key_ = false;
    if (letter == '[' && is_first && open_.empty())
      begin_header();
    else if ((letter == '[' || letter == '{') && !in_header_)
      open(letter);
    if (letter == ']' && in_header_)
      end_header();
    else if (letter == ']' || letter == '}')
      close();
    if (letter == ',' && !open_.empty()) next_element();
    advance(1);
  }

  /// Of a text in quotes, which may have several lines where there are three; escapes only in double ones.
  void skip_text(char quote) {
    const std::size_t width = text_.compare(at_, 3, std::string(3, quote)) == 0 ? 3 : 1;
    advance(width);
    while (at_ < text_.size()) {
      if (width == 1 && text_[at_] == '\n') return;  // no TOML; the line's end is looked at next
      if (quote == '"' && text_[at_] == '\\')
        advance(1);
      else if (text_.compare(at_, width, std::string(width, quote)) == 0)
        return end_text(quote, width);
      advance(1);
    }
  }

  /// Of more than three quotes at the end of such a text the first ones, at most two, belong to it.
  void end_text(char quote, std::size_t width) {
    advance(width);
    for (int i = 0; width == 3 && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) advance(1);
  }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') advance(1);
  }

  void end_line() {
    if (!open_.empty()) return;
    levels_ = header_;
    dots_ = 0;
    in_key_ = first_ = true;
    in_header_ = false;
  }

  void begin_header() {
    header_ = levels_ = dots_ = 0;
    in_header_ = in_key_ = true;
  }

  void end_header() {
    header_ = levels_ = dots_ + 1;
    dots_ = 0;
    in_key_ = in_header_ = false;
  }

  void open(char bracket) {
    open_.push_back({bracket, levels_});
    levels_ += dots_ + 1;
    dots_ = 0;
    in_key_ = bracket == '{';
  }

  void close() {
    if (open_.empty()) return;
    levels_ = open_.back().levels;
    open_.pop_back();
    dots_ = 0;
    in_key_ = false;
  }

  void next_element() {
    dots_ = 0;
    in_key_ = open_.back().open == '{';
  }

  void advance(std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      const bool continues = (static_cast<unsigned char>(text_[at_]) & 0xC0U) == 0x80U;
      if (text_[at_] == '\n')
        position_ = {position_.line + 1, 1};
      else if (!continues)
        ++position_.column;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  TextPosition position_;
  std::vector<Bracket> open_;
  std::size_t header_ = 0;  ///< levels of the table that the last [header] opened
  std::size_t levels_ = 0;  ///< of the header and of what is open in the statement
  std::size_t dots_ = 0;    ///< of the key that is being read
  bool first_ = true;       ///< nothing but blanks on this line so far
  bool in_key_ = true;
  bool in_header_ = false;
};

}  // namespace

std::optional<TextPosition> too_deep_in_toml(std::string_view text) {
  return DepthScan(text).run();
}

}  // namespace encore
