// SPDX-License-Identifier: BSD-3-Clause
// Checks that a pass of the Engine (infer/engine.hpp) allocates nothing once a batch of the same bucket
// (sizes rounded up) was seen: no memory of Kokkos, no primitive of the library of products, no heap block of
// a kilobyte or more besides the answer. A server must not slow down or grow with each request. This test is
// a program of its own, because support/counted_allocations.hpp replaces malloc.
#include <algorithm>
#include <functional>

#include "infer/engine.hpp"
#include "kernels/products/gemm.hpp"
#include "support/counted_allocations.hpp"
#include "unit/infer/engine_fixture.hpp"

namespace encore::infer {
namespace {

using namespace testing;

/// What a pass allocated. All zero is what a seen bucket must give.
struct Taken {
  long blocks = 0;              ///< blocks of the heap, of a kilobyte or more
  int kokkos = 0;               ///< allocations through Kokkos
  std::int64_t primitives = 0;  ///< products that the library prepared

  bool operator==(const Taken&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Taken& taken) {
  return out << taken.blocks << " blocks, " << taken.kokkos << " of Kokkos, " << taken.primitives
             << " primitives";
}

class EngineAllocation : public EngineTest, public ::testing::WithParamInterface<config::Precision> {
 protected:
  void SetUp() override {
    if (GetParam() == config::Precision::bfloat16 && !device_.gemm().multiplies(DType::bfloat16))
      GTEST_SKIP() << "no bfloat16 products on this backend";
    EngineTest::SetUp();
    const bool half = GetParam() == config::Precision::bfloat16;
    train({half ? "train.precision=bfloat16" : "train.precision=float32", "model.width=128"});
    engine_.emplace(run_, record::Specification::load(run_).plugin_folders, device_, Weights::chosen);
    engine_->make_batch_invariant();
  }

  /// Returns one input of each length, in words.
  static std::vector<std::string> texts_of(const std::vector<int>& lengths) {
    std::vector<std::string> texts;
    for (const int length : lengths) {
      texts.emplace_back("well");
      for (int word = 1; word < length; ++word) texts.back() += " well";
    }
    return texts;
  }
  Taken taken_by(const std::function<void()>& work) const {
    Kokkos::Tools::Experimental::set_allocate_data_callback(count_kokkos_allocation);
    kokkos_allocations = 0;
    const std::int64_t made = device_.gemm().prepared();
    const long before = large_allocations;
    work();
    Taken taken = {.blocks = large_allocations - before};
    taken.kokkos = kokkos_allocations;
    taken.primitives = device_.gemm().prepared() - made;
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    return taken;
  }
  /// Returns what answering takes. The outputs, a block each, are the answer and do not count.
  Taken answered(const std::vector<int>& lengths) {
    const tasks::EncodedSet set = engine_->encode(engine_->task().from_text(texts_of(lengths)));
    Evaluation answer;
    Taken taken = taken_by([&] { answer = engine_->run(set); });
    for (const Outputs::Values& values : answer.outputs.all())
      if (sizeof(float) * (values.integers.size() + values.numbers.size()) >= large) --taken.blocks;
    return taken;
  }
  /// Returns what embedding takes. The vectors themselves, one block, do not count.
  Taken embedded(const std::vector<int>& lengths) {
    const EncodedTexts texts = engine_->encode_texts(texts_of(lengths));
    Taken taken = taken_by([&] { engine_->embed(texts); });
    if (lengths.size() * 128 * sizeof(float) >= large) --taken.blocks;
    return taken;
  }
  /// Returns whether products take memory without a plan: a library may prepare each new shape and take
  /// memory of its own for it. Then only batches of equal sizes are free of allocations.
  bool products_prepare() const {
    const bool may =
        GetParam() == config::Precision::bfloat16 || std::string(ENCORE_BACKEND_NAME) != "openmp";
    return may && device_.gemm().prepared() > 0;
  }

  std::optional<Engine> engine_;
};

TEST_P(EngineAllocation, APassOfASeenBucketTakesNone) {
  const std::vector<int> seen = {14, 3, 9, 1}, longer = {14, 14, 14, 14};
  for (const bool vectors : {false, true}) {
    const auto ask = [&](const std::vector<int>& lengths) {
      return vectors ? embedded(lengths) : answered(lengths);
    };
    const Taken first = ask(seen);
    EXPECT_GT(first.kokkos, 0) << "the first batch of a bucket has memory planned, and the hooks see it";
    EXPECT_EQ(ask(seen), Taken()) << "the same inputs again";
    if (!products_prepare()) {
      EXPECT_EQ(ask({13, 4, 8, 1}), Taken()) << "others of the same bucket";
      EXPECT_EQ(ask({1}), Taken()) << "one of a smaller bucket";
    }
    const long before_all = allocations;
    EXPECT_EQ(ask(seen), Taken()) << "the largest again";
    RecordProperty(vectors ? "blocks_of_embedding_four_texts" : "blocks_of_answering_four_texts",
                   static_cast<int>(allocations - before_all));
    EXPECT_GT(ask(longer).kokkos, 0) << "a larger bucket";
    EXPECT_EQ(ask(longer), Taken());
    EXPECT_EQ(ask(seen), Taken());
    engine_.emplace(run_, record::Specification::load(run_).plugin_folders, device_, Weights::chosen);
    engine_->make_batch_invariant();
  }
}

/// Answers and vectors are computed in turn: neither discards the memory of the other.
TEST_P(EngineAllocation, AnswersAndVectorsShareTheirMemory) {
  const std::vector<int> lengths = {14, 3, 9, 1};
  answered(lengths);
  embedded(lengths);
  EXPECT_EQ(answered(lengths), Taken());
  EXPECT_EQ(embedded(lengths), Taken());
  EXPECT_EQ(answered(lengths), Taken());
}

/// Each input is one token longer than the last; memory is planned for few of them.
TEST_P(EngineAllocation, GrowingInputsAreSeldomPlanned) {
  int plans = 0;
  const int longest = static_cast<int>(engine_->experiment().data.max_length) - 2;
  for (int length = 1; length <= longest; ++length) plans += answered({length}).kokkos > 0 ? 1 : 0;
  EXPECT_GE(plans, 2);
  EXPECT_LE(plans, 2 + longest / 3) << "of " << longest << " lengths";
}

INSTANTIATE_TEST_SUITE_P(Precisions, EngineAllocation,
                         ::testing::Values(config::Precision::float32, config::Precision::bfloat16),
                         [](const auto& info) {
                           return info.param == config::Precision::bfloat16 ? "bfloat16" : "float32";
                         });

}  // namespace
}  // namespace encore::infer
