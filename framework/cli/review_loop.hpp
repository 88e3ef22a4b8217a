// SPDX-License-Identifier: BSD-3-Clause
// review_on_terminal(): shows one item of a review queue after the other and asks for its label. `exp review
// next` calls it on a terminal (review_verb.cpp); a test passes lines of its own. Nothing is accepted by an
// empty line, so that no label is given by accident.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "cli/terminal.hpp"
#include "review/queue.hpp"

namespace encore::cli {

/// Returns a line that the user typed after `question`; nothing at the end of the input.
using AskLine = std::function<std::optional<std::string>(const std::string& question)>;

/// Returns the number of decided items. An item that is not decided is given back.
std::size_t review_on_terminal(review::Queue& queue, const std::string& reviewer, review::Order order,
                               std::ostream& out, const Terminal& terminal, const AskLine& ask);

/// Prints an item for a person.
void print_item(const review::Item& item, std::int64_t waiting, std::ostream& out, const Terminal& terminal);

}  // namespace encore::cli
