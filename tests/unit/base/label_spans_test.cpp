// SPDX-License-Identifier: BSD-3-Clause
// Tests label_spans() (base/label_spans.hpp): spans of words from labels such as "B-PER I-PER O", in the
// schemes IOB1, IOB2 and BIOES, and from malformed labels. The spans must be those of the program conlleval,
// because reports draw them and scores of old predictions are counted with them.
#include "base/label_spans.hpp"

#include <gtest/gtest.h>

namespace encore {
namespace {

using Tags = std::vector<std::string>;
using Spans = std::vector<LabelSpan>;

TEST(LabelSpans, FollowConllevalInEveryScheme) {
  EXPECT_EQ(label_spans(Tags{"B-PER", "I-PER", "O", "B-creative-work"}),
            (Spans{{"PER", 0, 2}, {"creative-work", 3, 4}}));
  EXPECT_EQ(label_spans(Tags{"I-PER", "I-PER", "B-PER"}), (Spans{{"PER", 0, 2}, {"PER", 2, 3}})) << "IOB1";
  EXPECT_EQ(label_spans(Tags{"S-LOC", "B-PER", "E-PER", "E-PER"}),
            (Spans{{"LOC", 0, 1}, {"PER", 1, 3}, {"PER", 3, 4}}))
      << "BIOES";
  EXPECT_TRUE(label_spans(Tags{}).empty());
}

TEST(LabelSpans, FollowConllevalForMalformedTags) {
  EXPECT_EQ(label_spans(Tags{"O", "I-PER", "I-LOC"}), (Spans{{"PER", 1, 2}, {"LOC", 2, 3}}));
  EXPECT_EQ(label_spans(Tags{"B", ""}), (Spans{{"_", 0, 1}}));
}

}  // namespace
}  // namespace encore
