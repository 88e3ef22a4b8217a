// Sentences to rows: where labels stand, and what max_length costs.
#include "data/encode.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

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

Numbers numbers(std::span<const std::int32_t> values) {
  return {values.begin(), values.end()};
}

const Labels labels({"O", "B-X", "I-X"});

TEST(Encode, PutsTheLabelOnTheFirstPieceOfAWord) {
  const std::vector<Sentence> sentences = {{{"abb", "c", "z"}, {"B-X", "I-X", "O"}}};
  const encore::EncodedSet set = encore::encode_sentences(sentences, make_tokenizer(), labels, 16);
  const Example& example = set.examples.at(0);
  EXPECT_EQ(numbers(example.ids), (Numbers{2, 4, 5, 5, 6, 1, 3}));
  EXPECT_EQ(numbers(example.targets), (Numbers{-1, 1, -1, -1, 2, 0, -1}));
  EXPECT_EQ(numbers(example.first_pieces), (Numbers{1, 4, 5}));
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
  const encore::EncodedSet set = encore::encode_sentences(sentences, make_tokenizer(), labels, 16);
  const Example& example = set.examples.at(0);
  EXPECT_EQ(numbers(example.ids), (Numbers{2, 4, 1, 3}));
  EXPECT_EQ(numbers(example.targets), (Numbers{-1, 0, 1, -1}));
}

TEST(Encode, CutsAtAWordBorderAndReportsIt) {
  const std::vector<Sentence> sentences = {
      {{"a", "abb", "c", "c"}, {"O", "B-X", "I-X", "B-X"}},  // "abb" would pass row 3
      {{"a", "c"}, {"O", "O"}},
      {{"c", "a", "c"}, {"B-X", "I-X", "I-X"}},
  };
  const encore::EncodedSet set = encore::encode_sentences(sentences, make_tokenizer(), labels, 4);
  EXPECT_EQ(numbers(set.examples[0].ids), (Numbers{2, 4, 3}));
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
  EXPECT_EQ(numbers(set.examples[0].targets), (Numbers{-1, -1, -1, 1, -1}));
  EXPECT_EQ(numbers(set.examples[0].first_pieces), (Numbers{1, 2, 3}));
  EXPECT_EQ(set.report.unseen_entities, (std::map<std::string, std::int64_t>{{"Y", 1}}));
}

TEST(Encode, MarksTheRowsToDecodeInPrediction) {
  const std::vector<std::vector<std::string>> texts = {{"ab", "c"}, {}};
  const encore::EncodedSet set = encore::encode_words(texts, make_tokenizer(), 16);
  EXPECT_EQ(numbers(set.examples.at(0).ids), (Numbers{2, 4, 5, 6, 3}));
  EXPECT_EQ(numbers(set.examples.at(0).targets), (Numbers{-1, 0, -1, 0, -1}));
  EXPECT_EQ(numbers(set.examples.at(1).ids), (Numbers{2, 3}));
}

TEST(Encode, IsTheSameOnAnyNumberOfThreads) {
  std::vector<Sentence> sentences;
  for (int i = 0; i < 5000; ++i) {
    Sentence& sentence = sentences.emplace_back();
    for (int k = 0; k <= i % 9; ++k) {
      sentence.words.push_back(k % 3 == 0 ? "abb" : k % 3 == 1 ? "c" : "z");
      sentence.tags.push_back(k % 4 == 0 ? "B-X" : k % 4 == 1 ? "B-Y" : "O");
    }
  }
  const encore::EncodedSet one = encore::encode_sentences(sentences, make_tokenizer(), labels, 12, 1);
  ASSERT_EQ(one.examples.size(), sentences.size());
  for (const int threads : {2, 7}) {
    const encore::EncodedSet many =
        encore::encode_sentences(sentences, make_tokenizer(), labels, 12, threads);
    EXPECT_EQ(numbers(many.arrays.rows), numbers(one.arrays.rows));
    EXPECT_EQ(numbers(many.arrays.ids), numbers(one.arrays.ids));
    EXPECT_EQ(numbers(many.arrays.targets), numbers(one.arrays.targets));
    EXPECT_EQ(numbers(many.arrays.first_pieces), numbers(one.arrays.first_pieces));
    EXPECT_EQ(numbers(many.arrays.cut_words), numbers(one.arrays.cut_words));
    EXPECT_EQ(many.report.unseen_entities, one.report.unseen_entities);
    EXPECT_EQ(many.report.cut_entities, one.report.cut_entities);
    EXPECT_EQ(many.report.unknown_pieces, one.report.unknown_pieces);
  }
}

TEST(Encode, RefusesArraysThatDoNotAddUp) {
  const Numbers two = {2}, one = {1}, ids = {2, 3};
  EXPECT_NO_THROW(encore::EncodedSet({two, one, one, ids, ids, one}, {}, nullptr));
  const auto refused = [&](const encore::ExampleArrays& arrays) {
    try {
      encore::EncodedSet set(arrays, {}, nullptr);
      return std::string("accepted");
    } catch (const encore::Error& error) {
      return std::string(error.what());
    }
  };
  const Numbers negative = {-1}, none;
  EXPECT_EQ(refused({one, one, one, ids, ids, one}), "the arrays of the encoded set do not add up");
  EXPECT_EQ(refused({negative, one, one, ids, ids, one}), "the arrays of the encoded set do not add up");
  EXPECT_EQ(refused({two, two, one, ids, ids, one}), "the arrays of the encoded set do not add up");
  EXPECT_EQ(refused({two, one, none, ids, ids, one}), "the arrays of the encoded set do not add up");
  EXPECT_EQ(refused({two, one, one, ids, two, one}), "the arrays of the encoded set do not add up");
}

TEST(Encode, RequiresRoomForOnePiece) {
  EXPECT_THROW(encore::encode_words({}, make_tokenizer(), 2), std::logic_error);
}

}  // namespace
