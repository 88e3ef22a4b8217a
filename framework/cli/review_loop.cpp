// SPDX-License-Identifier: BSD-3-Clause
// review_on_terminal(): the dialog of `exp review next`, one item after the other, with its labels numbered,
// the proposed one first. review_verb.cpp calls it. An answer is a number, a name, or the beginning of one
// name; other words search the labels. The words of the dialog may change, but an empty line must decide
// nothing. Read review_loop.hpp first.
#include "cli/review_loop.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>

#include "cli/table.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

namespace {

using Labels = std::vector<std::string>;

/// The most labels that are shown without being asked for.
constexpr std::size_t most_shown = 12;
constexpr const char* question = "label, or s: skip, u: undo, q: quit, ?: all labels > ";

Labels labels_for(review::Queue& queue, const review::Item& item) {
  Labels labels = queue.classes();
  const auto proposed = std::ranges::find(labels, item.proposed);
  if (proposed != labels.end()) std::rotate(labels.begin(), proposed, proposed + 1);
  return labels;
}

void print_labels(const Labels& labels, const std::string& part, std::size_t most, std::ostream& out) {
  std::size_t shown = 0;
  for (std::size_t i = 0; i < labels.size() && shown < most; ++i)
    if (labels[i].find(part) != std::string::npos) {
      out << "  " << i + 1 << ' ' << printable(labels[i]) << '\n';
      ++shown;
    }
  if (labels.size() > most && shown == most)
    out << "  ... of " << labels.size() << " labels; type a part of a name to search them\n";
}

/// Returns the label that the words mean: a number, a name, or the beginning of exactly one name.
std::optional<std::string> label_in(const std::string& words, const Labels& labels) {
  if (std::ranges::find(labels, words) != labels.end()) return words;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), number);
  if (error == std::errc() && end == words.data() + words.size())
    return number >= 1 && number <= labels.size() ? std::optional(labels[number - 1]) : std::nullopt;
  const auto begins = [&](const std::string& label) { return label.starts_with(words); };
  if (std::ranges::count_if(labels, begins) != 1) return std::nullopt;
  return *std::ranges::find_if(labels, begins);
}

std::string without_blanks(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t\r");
  return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

void print_item(const review::Item& item, std::int64_t waiting, std::ostream& out, const Terminal& terminal) {
  const double age = world::now_seconds() - item.queued;
  out << styled(terminal, Style::bold, item.id) << "  "
      << (item.reason == review::Reason::audit ? std::string("audit of ") + review::name_of(item.band)
                                               : std::string("review"))
      << ", " << document::duration_text(age) << " old, " << waiting << " waiting\n  ";
  if (item.proposed.empty())
    out << "no proposal";
  else
    out << "proposed: " << printable(item.proposed);
  if (item.confidence) out << " (" << percent(*item.confidence) << " %)";
  if (item.scope) out << ", out of scope " << percent(*item.scope) << " %";
  out << "\n\n";
  if (item.text)
    out << printable_lines(*item.text) << "\n\n";
  else
    out << "The queue does not have the text; look up the request " << item.id << " where it came from.\n\n";
}

std::size_t review_on_terminal(review::Queue& queue, const std::string& reviewer, review::Order order,
                               std::ostream& out, const Terminal& terminal, const AskLine& ask) {
  std::size_t decided = 0;
  std::vector<std::string> history;
  while (const std::optional<review::Item> item = queue.claim(reviewer, order)) {
    print_item(*item, queue.counts().waiting, out, terminal);
    const Labels labels = labels_for(queue, *item);
    print_labels(labels, "", most_shown, out);
    for (;;) {
      const std::optional<std::string> line = ask(question);
      const std::string words = line ? without_blanks(*line) : "q";
      try {
        if (words == "q") {
          queue.release(item->id, reviewer);
          return decided;
        }
        if (words == "s") {
          queue.release(item->id, reviewer, true);
          break;
        }
        if (words == "u") {
          if (history.empty()) {
            out << "nothing was decided here yet\n";
            continue;
          }
          queue.undo(history.back(), reviewer);
          history.pop_back();
          --decided;
          break;
        }
        if (words == "?" || words.empty()) {
          print_labels(labels, "", words.empty() ? most_shown : labels.size(), out);
          continue;
        }
        const std::optional<std::string> label =
            labels.empty() ? std::optional(words) : label_in(words, labels);
        if (!label) {
          out << "not one label; labels with \"" << printable(words) << "\":\n";
          print_labels(labels, words, labels.size(), out);
          continue;
        }
        queue.decide(item->id, *label, reviewer);
        out << "decided: " << printable(*label) << "\n\n";
        history.push_back(item->id);
        ++decided;
        break;
      } catch (const review::ItemRefused& refused) {  // the lease ended, and another reviewer has it
        out << refused.what() << '\n';
        break;
      }
    }
  }
  out << "no item waits for " << printable(reviewer) << '\n';
  return decided;
}

}  // namespace encore::cli
