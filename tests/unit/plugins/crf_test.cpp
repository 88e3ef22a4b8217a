// SPDX-License-Identifier: BSD-3-Clause
// Tests the head "crf" (plugins/heads/crf.cpp) against an enumeration of all sequences of labels: loss,
// marginals, gradients of the chain, and the best sequence. The projection is the identity, so the states are
// the emissions, and their gradients are the marginals less the targets. Bits must not depend on the number
// of threads.
#include "support/child_threads.hpp"
#include "unit/plugins/built_in.hpp"
#include "unit/record/temporary_folder.hpp"

#include <cstdio>
#include <functional>
#include <utility>

#include "contract/head_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;
using Path = std::vector<std::int64_t>;

constexpr double none = no_target;

HeadContext context(std::int64_t classes, std::vector<std::string> labels = {}) {
  return {.width = classes, .classes = classes, .label_smoothing = 0.0, .labels = std::move(labels)};
}

/// A head with its memory. Parameters have the order in which declare() names them.
struct World {
  enum Place : std::size_t { weight, bias, transitions, start, end };

  World(const std::vector<std::int64_t>& lengths, std::int64_t class_count, const Values& target_values,
        std::vector<std::string> labels = {}, const Settings& settings = {}, DType type = DType::float64)
      : classes(class_count),
        batch(lengths),
        rows(batch.batch().size.tokens),
        head(make_built_in<Kind::head>("crf_head", "crf", settings, context(classes, std::move(labels)))),
        memory(device, *head, classes, batch, type, 1, 0.2),
        owned(memory.memory()),
        states(memory.inputs()[0]),
        state_gradients(memory.input_gradients()[0]),
        losses(memory.losses().front()),
        predictions(memory.outputs()[0]) {
    Values identity(static_cast<std::size_t>(classes * classes), 0.0);
    for (std::int64_t k = 0; k < classes; ++k) identity[static_cast<std::size_t>(k * (classes + 1))] = 1.0;
    owned.parameters()[weight].set(identity);
    owned.parameters()[bias].fill(0.0);
    for (const Place place : {transitions, start, end})
      owned.parameters()[place].set(
          contract::normal_values(owned.parameters()[place].tensor().size(), 40 + place));
    states.set(contract::normal_values(rows * classes, 7, 1.5));
    memory.columns()[0].set(target_values);
    Values labelled = target_values;
    for (double& value : labelled) value = std::min(value, 0.0);
    memory.columns()[1].set(labelled);
    for (contract::OwnedTensor& gradient : owned.gradients()) gradient.fill(0.0);
  }

  void loss() {
    owned.poison();
    losses.fill(std::numeric_limits<double>::quiet_NaN());
    head->score(memory.step(true, true));
    head->loss(memory.step(true, true));
    device.fence();
  }
  void backward(double scale) {
    owned.poison({Lifetime::saved});
    memory.scales() = {scale};
    head->backward(memory.step(true, true));
    device.fence();
  }
  Path decode() {
    owned.poison();
    predictions.fill(-7);
    head->score(memory.step(false, false));
    head->decode(memory.step(false, false));
    device.fence();
    Path result;
    for (const double value : predictions.values()) result.push_back(static_cast<std::int64_t>(value));
    return result;
  }
  Values parameter(Place place) { return owned.parameters()[place].values(); }
  Values gradient(Place place) { return owned.gradients()[place].values(); }

  Device device;
  std::int64_t classes;
  contract::OwnedBatch batch;
  std::int64_t rows;
  std::unique_ptr<Head> head;
  contract::HeadMemory memory;
  contract::OwnedPlan& owned;
  contract::OwnedTensor &states, &state_gradients, &losses, &predictions;
};

/// Returns, for each sequence, its rows that have a target.
std::vector<std::vector<std::size_t>> chains(const std::vector<std::int64_t>& lengths,
                                             const Values& targets) {
  std::vector<std::vector<std::size_t>> result;
  std::size_t row = 0;
  for (const std::int64_t length : lengths) {
    result.emplace_back();
    for (std::int64_t t = 0; t < length; ++t, ++row)
      if (targets[row] >= 0) result.back().push_back(row);
  }
  return result;
}

/// Returns all sequences of labels of this length, in ascending order.
std::vector<Path> all_paths(std::size_t length, std::int64_t classes) {
  std::vector<Path> paths{{}};
  for (std::size_t t = 0; t < length; ++t) {
    std::vector<Path> longer;
    for (const Path& path : paths)
      for (std::int64_t k = 0; k < classes; ++k) {
        longer.push_back(path);
        longer.back().push_back(k);
      }
    paths = std::move(longer);
  }
  return paths;
}

double score(World& world, const std::vector<std::size_t>& rows, const Path& path) {
  const auto classes = static_cast<std::size_t>(world.classes);
  const Values e = world.states.values(), transitions = world.parameter(World::transitions);
  double sum = world.parameter(World::start)[static_cast<std::size_t>(path.front())] +
               world.parameter(World::end)[static_cast<std::size_t>(path.back())];
  for (std::size_t t = 0; t < rows.size(); ++t) {
    sum += e[rows[t] * classes + static_cast<std::size_t>(path[t])];
    if (t > 0)
      sum += transitions[static_cast<std::size_t>(path[t - 1]) * classes + static_cast<std::size_t>(path[t])];
  }
  return sum;
}

/// What summing over all paths gives: the loss of each sequence, and how often each emission and transition
/// is expected, less how often the targets have it.
struct Expected {
  Values losses;
  Values states, transitions, start, end;
};

Expected enumerate(World& world, const std::vector<std::int64_t>& lengths, const Values& targets) {
  const auto classes = static_cast<std::size_t>(world.classes);
  Expected expected;
  expected.states.assign(targets.size() * classes, 0.0);
  expected.transitions.assign(classes * classes, 0.0);
  expected.start.assign(classes, 0.0);
  expected.end.assign(classes, 0.0);
  const auto count = [&](const std::vector<std::size_t>& rows, const Path& path, double weight) {
    expected.start[static_cast<std::size_t>(path.front())] += weight;
    expected.end[static_cast<std::size_t>(path.back())] += weight;
    for (std::size_t t = 0; t < rows.size(); ++t) {
      expected.states[rows[t] * classes + static_cast<std::size_t>(path[t])] += weight;
      if (t > 0)
        expected.transitions[static_cast<std::size_t>(path[t - 1]) * classes +
                             static_cast<std::size_t>(path[t])] += weight;
    }
  };
  for (const std::vector<std::size_t>& rows : chains(lengths, targets)) {
    expected.losses.push_back(0.0);
    if (rows.empty()) continue;
    Path truth;
    for (const std::size_t row : rows) truth.push_back(static_cast<std::int64_t>(targets[row]));
    double sum = 0.0;
    for (const Path& path : all_paths(rows.size(), world.classes)) sum += std::exp(score(world, rows, path));
    for (const Path& path : all_paths(rows.size(), world.classes))
      count(rows, path, std::exp(score(world, rows, path)) / sum);
    count(rows, truth, -1.0);
    expected.losses.back() = std::log(sum) - score(world, rows, truth);
  }
  return expected;
}

void expect_near(const Values& found, const Values& expected, double factor, const char* what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], factor * expected[i], 1e-12) << what << " " << i;
}

struct Case {
  std::int64_t classes;
  std::vector<std::int64_t> lengths;
  Values targets;
};

const std::vector<Case> cases = {
    {3, {4}, {0, 2, 1, 1}},                                   // every row labelled
    {4, {5, 1, 3}, {none, 3, none, 0, 2, 1, none, 2, none}},  // gaps at the start, inside, at the end
    {2, {3, 2, 1}, {none, none, none, 1, none, none}},        // sequences without any label
    {1, {2}, {0, 0}},                                         // one class: nothing to choose
    {4, {5}, {3, 3, 3, 0, 3}},
};

TEST(CrfHead, LossMarginalsAndGradientsEqualTheSumOverAllPaths) {
  constexpr double scale = 0.7;
  for (const Case& each : cases) {
    World world(each.lengths, each.classes, each.targets);
    world.loss();
    const Expected expected = enumerate(world, each.lengths, each.targets);
    const Values losses = world.losses.values();
    std::size_t row = 0;
    for (std::size_t b = 0; b < each.lengths.size(); ++b) {
      double sum = 0.0;
      for (std::int64_t t = 0; t < each.lengths[b]; ++t, ++row) {
        sum += losses[row];
        if (each.targets[row] < 0) {
          EXPECT_EQ(losses[row], 0.0) << "row " << row;
        }
      }
      EXPECT_NEAR(sum, expected.losses[b], 1e-12);
    }
    world.backward(scale);
    expect_near(world.state_gradients.values(), expected.states, scale, "states");
    expect_near(world.gradient(World::transitions), expected.transitions, scale, "transitions");
    expect_near(world.gradient(World::start), expected.start, scale, "start");
    expect_near(world.gradient(World::end), expected.end, scale, "end");
  }
}

/// Returns the first path with the highest score among those for which `allowed` is true.
Path best_path(World& world, const std::vector<std::size_t>& rows,
               const std::function<bool(const Path&)>& allowed) {
  Path best;
  for (const Path& path : all_paths(rows.size(), world.classes))
    if (allowed(path) && (best.empty() || score(world, rows, path) > score(world, rows, best))) best = path;
  return best;
}

void expect_best_paths(World& world, const Case& each, const std::function<bool(const Path&)>& allowed) {
  const Path predictions = world.decode();
  for (const std::vector<std::size_t>& rows : chains(each.lengths, each.targets)) {
    if (rows.empty()) continue;
    Path found;
    for (const std::size_t row : rows) found.push_back(predictions[row]);
    EXPECT_EQ(found, best_path(world, rows, allowed));
  }
  for (const std::int64_t prediction : predictions) EXPECT_TRUE(prediction >= 0 && prediction < each.classes);
}

TEST(CrfHead, DecodesTheBestOfAllPaths) {
  for (const Case& each : cases)
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      World world(each.lengths, each.classes, each.targets);
      world.states.set(contract::normal_values(world.rows * each.classes, seed, 1.5));
      expect_best_paths(world, each, [](const Path&) { return true; });
    }
}

const std::vector<std::string> bio = {"O", "B-X", "I-X", "I-Y"};

bool follows_bio(const Path& path) {
  for (std::size_t t = 0; t < path.size(); ++t) {
    const std::int64_t before = t == 0 ? 0 : path[t - 1];
    if (path[t] == 2 && before != 1 && before != 2) return false;
    if (path[t] == 3 && before != 3) return false;
  }
  return true;
}

TEST(CrfHead, KeepsToBioWhereTheLabelsAreBio) {
  int differing = 0;
  const Case each{4, {5, 3}, {0, 0, none, 0, 0, 0, none, 0}};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    World free(each.lengths, 4, each.targets, bio, {{"constrained", false}});
    World bound(each.lengths, 4, each.targets, bio);
    World other(each.lengths, 4, each.targets, {"O", "B-X", "I-X", "S-Y"});
    const Values states = contract::normal_values(free.rows * 4, seed, 1.5);
    for (World* world : {&free, &bound, &other}) world->states.set(states);
    expect_best_paths(bound, each, follows_bio);
    expect_best_paths(free, each, [](const Path&) { return true; });
    EXPECT_EQ(other.decode(), free.decode()) << "labels that are not BIO bind nothing";
    differing += bound.decode() != free.decode();
  }
  EXPECT_GT(differing, 3) << "the constraint must have had something to forbid";
}

/// Returns, for each row and class, the probability of the allowed paths that pass there, by enumeration; 0
/// on rows without a target.
Values marginals_by_paths(World& world, const Case& each, const std::function<bool(const Path&)>& allowed) {
  const auto classes = static_cast<std::size_t>(each.classes);
  Values shares(each.targets.size() * classes, 0.0);
  for (const std::vector<std::size_t>& rows : chains(each.lengths, each.targets)) {
    if (rows.empty()) continue;
    double sum = 0.0;
    std::vector<std::pair<Path, double>> weights;
    for (const Path& path : all_paths(rows.size(), world.classes))
      if (allowed(path)) weights.emplace_back(path, std::exp(score(world, rows, path)));
    for (const auto& [path, weight] : weights) sum += weight;
    for (const auto& [path, weight] : weights)
      for (std::size_t t = 0; t < rows.size(); ++t)
        shares[rows[t] * classes + static_cast<std::size_t>(path[t])] += weight / sum;
  }
  return shares;
}

void expect_marginals(World& world, const Case& each, const std::function<bool(const Path&)>& allowed) {
  world.memory.outputs()[1].fill(std::numeric_limits<double>::quiet_NaN());
  world.decode();
  const Values found = world.memory.outputs()[1].values(),
               expected = marginals_by_paths(world, each, allowed);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-6) << "they are float32; value " << i;
}

TEST(CrfHead, MarginalsEqualTheSumOverAllPaths) {
  for (const Case& each : cases)
    for (const std::uint64_t seed : {1, 2, 3}) {
      World world(each.lengths, each.classes, each.targets);
      world.states.set(contract::normal_values(world.rows * each.classes, seed, 1.5));
      expect_marginals(world, each, [](const Path&) { return true; });
    }
}

TEST(CrfHead, MarginalsAreThoseOfThePathsThatBioAllows) {
  const Case each{4, {5, 3}, {0, 0, none, 0, 0, 0, none, 0}};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    World bound(each.lengths, 4, each.targets, bio),
        free(each.lengths, 4, each.targets, bio, {{"constrained", false}});
    for (World* world : {&bound, &free})
      world->states.set(contract::normal_values(world->rows * 4, seed, 1.5));
    expect_marginals(bound, each, follows_bio);
    expect_marginals(free, each, [](const Path&) { return true; });
  }
}

/// 512 labelled rows: each sums to 1, and float32 gives what float64 does.
TEST(CrfHead, MarginalsOfLongSequencesSumToOne) {
  constexpr std::int64_t length = 512;
  Values of_type[2];
  for (const DType type : {DType::float64, DType::float32}) {
    World world({length}, 4, Values(length, 0.0), bio, {}, type);
    world.states.set(contract::normal_values(length * 4, 3, 4.0));
    world.decode();
    of_type[type == DType::float64 ? 0 : 1] = world.memory.outputs()[1].values();
  }
  for (const Values& shares : of_type)
    for (std::size_t row = 0; row < static_cast<std::size_t>(length); ++row)
      EXPECT_NEAR(std::accumulate(shares.begin() + static_cast<std::ptrdiff_t>(4 * row),
                                  shares.begin() + static_cast<std::ptrdiff_t>(4 * row + 4), 0.0),
                  1.0, 1e-6);
  for (std::size_t i = 0; i < of_type[0].size(); ++i) EXPECT_NEAR(of_type[1][i], of_type[0][i], 2e-5) << i;
}

/// HeadStep::output is empty without a request.
TEST(CrfHead, DecodesAlikeWithoutTheRequestForMarginals) {
  const Case each = cases[1];
  World world(each.lengths, each.classes, each.targets);
  const Path with = world.decode();
  world.owned.poison();
  world.predictions.fill(-7);
  const HeadStep step = world.memory.step(false, false);
  world.head->score(step);
  world.head->decode(world.memory.step_without_requested());
  world.device.fence();
  Path without;
  for (const double value : world.predictions.values()) without.push_back(static_cast<std::int64_t>(value));
  EXPECT_EQ(without, with);
}

TEST(CrfHead, LabelsOfWhichNoneMayBeFirstBindNothing) {
  World world({2}, 2, {0, 0}, {"I-X", "I-Y"});
  world.states.set({0, 5, 0, 5});
  EXPECT_EQ(world.decode(), (Path{1, 1}));
}

TEST(CrfHead, EqualScoresGiveTheLowestClass) {
  World world({3}, 4, {0, none, 0});
  for (const World::Place place : {World::transitions, World::start, World::end})
    world.owned.parameters()[place].fill(0.0);
  world.states.set({1, 2, 2, 0, 9, 9, 9, 9, 0, 0, 3, 3});
  EXPECT_EQ(world.decode(), (Path{1, 0, 2}));
}

TEST(CrfHead, TakesABatchWithoutRows) {
  World world({}, 3, {});
  world.loss();
  world.backward(1.0);
  EXPECT_EQ(world.decode(), Path{});
  EXPECT_EQ(world.gradient(World::transitions), Values(9, 0.0));
}

/// 512 labelled rows whose scores grow far beyond what float32 resolves at once.
TEST(CrfHead, LongSequencesKeepTheirPrecisionInFloat32) {
  constexpr std::int64_t length = 512;
  Values targets(length);
  for (std::size_t t = 0; t < targets.size(); ++t) targets[t] = static_cast<double>(t % 4);
  double sums[2], gradients[2];
  for (const DType type : {DType::float64, DType::float32}) {
    World world({length}, 4, targets, {}, {}, type);
    world.states.set(contract::normal_values(length * 4, 3, 20.0));
    world.loss();
    world.backward(1.0);
    const Values losses = world.losses.values(), states = world.state_gradients.values();
    const std::size_t place = type == DType::float64 ? 0 : 1;
    sums[place] = std::accumulate(losses.begin(), losses.end(), 0.0);
    gradients[place] = 0.0;
    for (std::size_t i = 0; i < states.size(); ++i) gradients[place] += std::cos(double(i)) * states[i];
  }
  EXPECT_NEAR(sums[1] / sums[0], 1.0, 2e-6);
  EXPECT_NEAR(gradients[1], gradients[0], 2e-3);
}

TEST(CrfHead, RefusesLabelSmoothing) {
  HeadContext smoothed = context(3);
  smoothed.label_smoothing = 0.1;
  EXPECT_EQ(
      encore::testing::message_of<Error>([&] { make_built_in<Kind::head>("crf_head", "crf", {}, smoothed); }),
      "the crf head cannot smooth labels: set train.label_smoothing = 0");
}

/// Runs in a child process with a number of threads: prints every bit of a loss, a backward pass and a
/// decoding.
TEST(CrfHeadThreads, DISABLED_Child) {
  std::vector<std::int64_t> lengths;
  Values targets;
  for (std::int64_t b = 0; b < 37; ++b) {
    lengths.push_back(1 + b * 7 % 23);
    for (std::int64_t t = 0; t < lengths.back(); ++t)
      targets.push_back(t % 4 == 1 ? none : double((t + b) % 9));
  }
  World world(lengths, 9, targets, {}, {}, DType::float32);
  world.loss();
  world.backward(0.01);
  std::string bits;
  const auto add = [&](const Values& values) {
    char text[32];
    for (const double value : values) {
      std::snprintf(text, sizeof(text), "%a,", value);
      bits += text;
    }
  };
  add(world.losses.values());
  add(world.state_gradients.values());
  for (contract::OwnedTensor& gradient : world.owned.gradients()) add(gradient.values());
  for (const std::int64_t prediction : world.decode()) bits += std::to_string(prediction) + ",";
  add(world.memory.outputs()[1].values());
  testing::print_digest(bits);
}

TEST(CrfHeadThreads, OneTwoAndThreeGiveEqualBits) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
  const auto child = [](int threads) {
    return testing::digest_of_child("plugins_test", "CrfHeadThreads.DISABLED_Child", threads);
  };
  const std::string one = child(1);
  EXPECT_GT(one.size(), 1000U);
  EXPECT_EQ(child(2), one);
  EXPECT_EQ(child(3), one);
}

}  // namespace
}  // namespace encore::test
