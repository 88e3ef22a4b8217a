// Tests spans of tags, well formed and not.
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
