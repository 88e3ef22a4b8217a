// SPDX-License-Identifier: BSD-3-Clause
// Spans of words from labels of single words: "B-PER I-PER O" is one span PER of two words. Place in the
// flow: reports draw these spans, and predictions of older versions are counted with them.
// report/examples.cpp and store/legacy_metrics.cpp call it; published scores depend on the rules, so they
// must not change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// A span: the words [begin, end), which have one label.
struct LabelSpan {
  std::string label;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  auto operator<=>(const LabelSpan&) const = default;
};

/// Returns "PER" for "B-PER", "_" for a prefix alone and "" for O. It splits at the first hyphen only, since
/// "creative-work" is a label.
std::string_view label_of_tag(std::string_view tag);

/// Returns the spans in the order of the words, by the rules of the conlleval script for IOB1, IOB2 and
/// BIOES. An I- after O or after another label starts a span.
std::vector<LabelSpan> label_spans(std::span<const std::string> tags);

}  // namespace encore
