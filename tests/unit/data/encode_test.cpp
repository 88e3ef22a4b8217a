// Sentences to rows: where labels stand, and what max_length costs.
#include "data/encode.hpp"

#include <gtest/gtest.h>

#include "wordpiece.hpp"

namespace {

using encore::Example;
using encore::Labels;
using encore::Sentence;
using Numbers = std::vector<std::int32_t>;

encore::wordpiece::WordPiece make_tokenizer() {
  encore::Options options;
  options.set("vocab", std::string("none"));
  options.set("min_frequency", std::int64_t{2});
  options.set("lowercase", false);
  encore::wordpiece::WordPiece tokenizer(options, {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "c"});
  return tokenizer;
}

const Labels labels({"O", "B-X", "I-X"});

TEST(Encode, PutsTheLabelOnTheFirstPieceOfAWord) {
  const std::vector<Sentence> sentences = {{{"abb", "c", "z"}, {"B-X", "I-X", "O"}}};
  const encore::EncodedSet set = encore::encode_sentences(sentences, make_tokenizer(), labels, 16);
  const Example& example = set.examples.at(0);
  EXPECT_EQ(example.ids, (Numbers{2, 4, 5, 5, 6, 1, 3}));
  EXPECT_EQ(example.targets, (Numbers{-1, 1, -1, -1, 2, 0, -1}));
  EXPECT_EQ(example.first_pieces, (Numbers{1, 4, 5}));
  EXPECT_EQ(example.cut_words, 0);
  EXPECT_EQ(set.report.rows, 7);
  EXPECT_EQ(set.report.pieces, 5);
  EXPECT_EQ(set.report.unknown_pieces, 1);
  EXPECT_EQ(set.report.longest, 7);
  EXPECT_EQ(set.lengths(), Numbers{7});
  EXPECT_EQ(set.report.cut_message(1, 16), "");
}

TEST(Encode, GivesAWordWithoutPiecesTheUnknownPiece) {
  const std::vector<Sentence> sentences = {{{"a", "\u200b"}, {"O", "B-X"}}};
  const Example example = encore::encode_sentences(sentences, make_tokenizer(), labels, 16).examples.at(0);
  EXPECT_EQ(example.ids, (Numbers{2, 4, 1, 3}));
  EXPECT_EQ(example.targets, (Numbers{-1, 0, 1, -1}));
}

TEST(Encode, CutsAtAWordBorderAndReportsIt) {
  const std::vector<Sentence> sentences = {
      {{"a", "abb", "c", "c"}, {"O", "B-X", "I-X", "B-X"}},  // "abb" would pass row 3
      {{"a", "c"}, {"O", "O"}},
      {{"c", "a", "c"}, {"B-X", "I-X", "I-X"}},
  };
  const encore::EncodedSet set = encore::encode_sentences(sentences, make_tokenizer(), labels, 4);
  EXPECT_EQ(set.examples[0].ids, (Numbers{2, 4, 3}));
  EXPECT_EQ(set.examples[0].cut_words, 3);
  EXPECT_EQ(set.examples[1].ids.size(), 4u);
  EXPECT_EQ(set.report.cut_sentences, 2);
  EXPECT_EQ(set.report.cut_words, 4);
  EXPECT_EQ(set.report.cut_entities, 3);  // two of the first sentence, and the third's, which lost its end
  EXPECT_EQ(set.report.cut_message(3, 4),
            "2 of 3 sentences are longer than max_length = 4: 4 words are cut, 3 entities with them count as "
            "missed");
}

TEST(Encode, GivesLabelsTheListLacksNoTarget) {
  const std::vector<Sentence> sentences = {{{"a", "c", "a"}, {"B-Y", "I-Y", "B-X"}}};
  const encore::EncodedSet set = encore::encode_sentences(sentences, make_tokenizer(), labels, 16);
  EXPECT_EQ(set.examples[0].targets, (Numbers{-1, -1, -1, 1, -1}));
  EXPECT_EQ(set.examples[0].first_pieces, (Numbers{1, 2, 3}));
  EXPECT_EQ(set.report.unseen_entities, (std::map<std::string, std::int64_t>{{"Y", 1}}));
}

TEST(Encode, MarksTheRowsToDecodeInPrediction) {
  const std::vector<std::string> words = {"ab", "c"};
  const Example example = encore::encode_words(words, make_tokenizer(), 16);
  EXPECT_EQ(example.ids, (Numbers{2, 4, 5, 6, 3}));
  EXPECT_EQ(example.targets, (Numbers{-1, 0, -1, 0, -1}));
  EXPECT_EQ(encore::encode_words({}, make_tokenizer(), 16).ids, (Numbers{2, 3}));
}

TEST(Encode, RequiresRoomForOnePiece) {
  EXPECT_THROW(encore::encode_words({}, make_tokenizer(), 2), std::logic_error);
}

}  // namespace
