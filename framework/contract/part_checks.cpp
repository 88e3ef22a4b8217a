// The checks of optimizers, schedules and tokenizers.
#include <algorithm>
#include <cmath>
#include <future>
#include <set>

#include "contract/suite.hpp"
#include "contract/test_memory.hpp"
#include "memory/parameter_block.hpp"
#include "plugin_host/make_offer.hpp"
#include "record/crash_line.hpp"

namespace encore {
namespace {

// --- optimizers ---

/// An optimizer with three parameters, one of them longer than a chunk, pulled towards a target: the gradient
/// of half the squared distance.
class OptimizerTrial {
 public:
  OptimizerTrial(const Device& device, const Offer& offer, DType type, bool scaled = false)
      : device_(device),
        optimizer_(make_offer<Kind::optimizer>(offer, default_options(offer.options), {})),
        block_(device,
               {{"layer.bias", {"bias", {64}, Initializer::zeros, 0.0, false}},
                {"layer.gain", {"gain", {3}, Initializer::ones, 0.0, false}},
                {"layer.weight", {"weight", {90, 100}, Initializer::normal, 1.0, true}}},
               type, 1),
        scale_(DType::float64, {1}),
        scaled_(scaled) {
    block_.make_states(optimizer_->states());
    scale_.fill(0.5);
    std::uint64_t seed = 0;
    for (const ParameterSlice& slice : block_.slices()) {
      const OwnedTensor start = owned(slice, ++seed);
      kernels::copy(device_, start, ParameterBlock::slice(block_.values(), slice));
      targets_.push_back(owned(slice, 50 + seed));
    }
  }

  std::vector<std::string> states() const { return optimizer_->states(); }

  void prepare(double factor = 1.0) {
    for (std::size_t i = 0; i < block_.slices().size(); ++i) {
      const ParameterSlice& slice = block_.slices()[i];
      std::vector<double> gradient = read(slice, block_.values());
      const std::vector<double> target = targets_[i].values();
      for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] = factor * (gradient[k] - target[k]);
      OwnedTensor tensor(block_.dtype(), slice.spec.shape);
      tensor.set(gradient);
      kernels::copy(device_, tensor, ParameterBlock::slice(block_.gradients(), slice));
    }
    device_.fence();
  }
  void launch() {
    const CurrentWork work("update");
    optimizer_->update(device_,
                       block_.blocks(scaled_ ? static_cast<const double*>(scale_.tensor().data) : nullptr),
                       0.01, ++step_);
    device_.fence();
  }
  void steps(int count, double factor = 1.0) {
    for (int i = 0; i < count; ++i) {
      prepare(factor);
      launch();
    }
  }
  double distance() const {
    double squares = 0.0;
    for (std::size_t i = 0; i < block_.slices().size(); ++i) {
      const std::vector<double> values = read(block_.slices()[i], block_.values()),
                                target = targets_[i].values();
      for (std::size_t k = 0; k < values.size(); ++k)
        squares += (values[k] - target[k]) * (values[k] - target[k]);
    }
    return squares;
  }
  /// Values, then each state, of all parameters.
  std::vector<double> everything() const {
    std::vector<double> all;
    const auto append = [&](Tensor block) {
      for (const ParameterSlice& slice : block_.slices())
        for (const double value : read(slice, block)) all.push_back(value);
    };
    append(block_.values());
    for (std::size_t i = 0; i < optimizer_->states().size(); ++i) append(block_.state(i));
    return all;
  }

 private:
  OwnedTensor owned(const ParameterSlice& slice, std::uint64_t seed) const {
    OwnedTensor tensor(block_.dtype(), slice.spec.shape);
    tensor.set(normal_values(slice.size, seed));
    return tensor;
  }
  std::vector<double> read(const ParameterSlice& slice, Tensor block) const {
    const OwnedTensor copy(block_.dtype(), slice.spec.shape);
    kernels::copy(device_, ParameterBlock::slice(block, slice), copy);
    device_.fence();
    return copy.values();
  }

  const Device& device_;
  std::unique_ptr<Optimizer> optimizer_;
  ParameterBlock block_;
  OwnedTensor scale_;
  bool scaled_;
  std::vector<OwnedTensor> targets_;
  std::int64_t step_ = 0;
};

std::string check_states(const Device& device, const Offer& offer) {
  const OptimizerTrial trial(device, offer, DType::float32);
  const std::vector<std::string> names = trial.states();
  for (const std::string& name : names) require(!name.empty(), "a state has no name");
  require(std::set<std::string>(names.begin(), names.end()).size() == names.size(),
          "two states have one name");
  return std::to_string(names.size()) + " states with names of their own";
}

std::string check_descent(const Device& device, const Offer& offer) {
  OptimizerTrial trial(device, offer, DType::float64);
  const double before = trial.distance();
  trial.steps(50);
  const double after = trial.distance();
  require(std::isfinite(after) && after < before, "50 steps on half a squared distance lead from " +
                                                      std::to_string(before) + " to " +
                                                      std::to_string(after) + ", not down");
  return "50 steps on a quadratic go from " + std::to_string(before) + " down to " + std::to_string(after);
}

std::string check_gradient_scale(const Device& device, const Offer& offer) {
  OptimizerTrial scaled(device, offer, DType::float64, true), plain(device, offer, DType::float64);
  scaled.steps(3);
  plain.steps(3, 0.5);
  require(digest_of(scaled.everything()) == digest_of(plain.everything()),
          "gradient_scale = 0.5 does not equal gradients of half the size; clipping would have no effect");
  return "the factor of clipping is applied to each gradient";
}

std::string check_same_bits(const Device& device, const Offer& offer) {
  OptimizerTrial one(device, offer, DType::float32), two(device, offer, DType::float32);
  one.steps(5);
  two.steps(5);
  require(digest_of(one.everything()) == digest_of(two.everything()), "two equal runs of five steps differ");
  return "two objects compute equal bits";
}

std::string check_optimizer_precision(const Device& device, const Offer& offer) {
  OptimizerTrial narrow(device, offer, DType::float32), wide(device, offer, DType::float64);
  narrow.steps(5);
  wide.steps(5);
  const std::vector<double> a = narrow.everything(), b = wide.everything();
  for (std::size_t i = 0; i < a.size(); ++i)
    require(std::abs(a[i] - b[i]) <= 1e-4 * (1.0 + std::abs(b[i])),
            "after five steps a value is " + std::to_string(a[i]) + " in float32 and " +
                std::to_string(b[i]) + " in float64");
  return "float32 agrees with float64 over five steps";
}

std::string check_optimizer_launches(const Device& device, const Offer& offer) {
  OptimizerTrial trial(device, offer, DType::float32);
  trial.steps(1);
  trial.prepare();
  const KokkosWatch watch;
  trial.launch();
  require(watch.allocations().empty(), "update allocates \"" +
                                           (watch.allocations().empty() ? "" : watch.allocations().front()) +
                                           "\"; ask Device::workspace, or for a state");
  require_labels(watch);
  return "a second step allocates no Kokkos memory, every kernel has a label";
}

// --- schedules ---

std::string check_schedule(const Offer& offer) {
  for (const OptionsVariant& variant : option_variants(offer.options))
    for (const std::int64_t total : {1, 2, 3, 1000}) {
      std::unique_ptr<Schedule> schedule;
      try {
        schedule = make_offer<Kind::schedule>(offer, variant.options, {total, 384});
      } catch (const OptionError&) {  // a combination that cannot be
        continue;
      }
      std::vector<double> forward;
      for (std::int64_t step = 1; step <= total; ++step) forward.push_back(schedule->factor(step));
      for (std::int64_t step = total; step >= 1; --step) {
        const double factor = forward[static_cast<std::size_t>(step) - 1];
        const std::string where =
            " at step " + std::to_string(step) + " of " + std::to_string(total) + " with " + variant.name;
        require(std::isfinite(factor) && factor >= 0.0, "the factor is " + std::to_string(factor) + where);
        require(schedule->factor(step) == factor, "asked again, the factor is another one" + where +
                                                      "; a schedule is a pure function of the step");
      }
    }
  return "finite, not negative and a pure function of the step, for 1, 2, 3 and 1000 steps";
}

// --- tokenizers ---

const std::map<std::string, std::int64_t>& small_text() {
  static const std::map<std::string, std::int64_t> words = {
      {"the", 40},  {"then", 12},  {"other", 9}, {"Paris", 7}, {"paris", 1}, {"low", 5},
      {"lower", 4}, {"lowest", 3}, {"new", 6},   {"newer", 5}, {"wide", 2},  {"widest", 3},
      {".", 30},    {"naïve", 1},  {"Ωmega", 1}, {"2026", 2}};
  return words;
}

std::unique_ptr<Tokenizer> untrained(const Offer& offer) {
  Options options = default_options(offer.options);
  if (offer.options.find("vocab_size") != nullptr) options.set("vocab_size", std::int64_t{400});
  return make_offer<Kind::tokenizer>(offer, options, {});
}

std::unique_ptr<Tokenizer> trained(const Offer& offer) {
  std::unique_ptr<Tokenizer> tokenizer = untrained(offer);
  tokenizer->train(small_text());
  return tokenizer;
}

std::vector<std::int32_t> encode_all(const Tokenizer& tokenizer) {
  std::vector<std::int32_t> pieces;
  for (const auto& [word, count] : small_text()) tokenizer.encode(word, pieces);
  for (const char* word :
       {"unseen", "Zürich", "\xF0\x9F\x99\x82", "a-b", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"})
    tokenizer.encode(word, pieces);
  return pieces;
}

std::string check_training(const Offer& offer) {
  const auto one = trained(offer), two = trained(offer);
  require(!one->vocabulary().empty(), "training leaves an empty vocabulary");
  require(std::ranges::equal(one->vocabulary(), two->vocabulary()),
          "training twice on one text gives two vocabularies");
  return std::to_string(one->vocabulary().size()) + " pieces from a small text, the same ones twice";
}

std::string check_encoding(const Offer& offer) {
  const auto tokenizer = trained(offer);
  const auto size = static_cast<std::int32_t>(tokenizer->vocabulary().size());
  const SpecialPieces special = tokenizer->special();
  for (const std::int32_t piece : {special.padding, special.unknown, special.start, special.end})
    require(piece >= 0 && piece < size,
            "a special piece has the number " + std::to_string(piece) + ", which is not in the vocabulary");
  for (const auto& [word, count] : small_text()) {
    std::vector<std::int32_t> pieces;
    tokenizer->encode(word, pieces);
    require(!pieces.empty(), "\"" + word + "\" has no piece");
  }
  for (const std::int32_t piece : encode_all(*tokenizer))
    require(piece >= 0 && piece < size,
            "encode gives the number " + std::to_string(piece) + " of " + std::to_string(size));
  std::vector<std::int32_t> pieces{-5};
  tokenizer->encode("low", pieces);
  require(pieces.front() == -5, "encode overwrites what is in the list; it must append");
  pieces.clear();
  tokenizer->encode("", pieces);
  require(pieces.empty(), "the empty text has pieces");
  return "numbers within the vocabulary, appended to the list";
}

std::string check_loading(const Offer& offer) {
  const auto first = trained(offer);
  const std::vector<std::string> vocabulary(first->vocabulary().begin(), first->vocabulary().end());
  const auto second = untrained(offer);
  second->load(vocabulary);
  require(encode_all(*first) == encode_all(*second),
          "a tokenizer that loads the trained vocabulary encodes otherwise");
  std::vector<std::string> without = vocabulary, twice = vocabulary;
  without.erase(without.begin() + first->special().unknown);
  twice.push_back(vocabulary.back());
  for (const auto& [broken, what] :
       {std::pair{without, "without the unknown piece"}, std::pair{twice, "with a piece twice"}}) {
    const auto refusing = untrained(offer);
    bool refused = false;
    try {
      refusing->load(broken);
    } catch (const Error&) {
      refused = true;
    }
    require(refused, std::string("a vocabulary ") + what + " is accepted");
  }
  return "a loaded vocabulary encodes as the trained one; broken ones are refused";
}

std::string check_threads(const Offer& offer) {
  const auto tokenizer = trained(offer);
  const std::vector<std::int32_t> expected = encode_all(*tokenizer);
  std::vector<std::future<bool>> threads;
  for (int i = 0; i < 4; ++i)
    threads.push_back(std::async(std::launch::async, [&] {
      bool equal = true;
      for (int round = 0; round < 50; ++round) equal = equal && encode_all(*tokenizer) == expected;
      return equal;
    }));
  for (std::future<bool>& thread : threads)
    require(thread.get(), "four threads that encode at once disturb each other");
  return "four threads at once encode as one";
}

}  // namespace

std::vector<Check> optimizer_checks(const Device& device, const Offer& offer) {
  return {{"states", [&] { return check_states(device, offer); }},
          {"descent", [&] { return check_descent(device, offer); }},
          {"gradient scale", [&] { return check_gradient_scale(device, offer); }},
          {"same seed", [&] { return check_same_bits(device, offer); }},
          {"precision", [&] { return check_optimizer_precision(device, offer); }},
          {"rows without a gradient", [&] { return check_token_rows(device, offer); }},
          {"allocation and labels", [&] { return check_optimizer_launches(device, offer); }}};
}

std::map<std::string, std::string> optimizer_digests(const Device& device, const Offer& offer) {
  std::map<std::string, std::string> all;
  for (const DType type : {DType::float32, DType::float64}) {
    OptimizerTrial trial(device, offer, type);
    trial.steps(5);
    all[std::string(name_of(type)) + " values and states"] = digest_of(trial.everything());
  }
  return all;
}

std::vector<Check> schedule_checks(const Offer& offer) {
  return {{"factors", [&] { return check_schedule(offer); }}};
}

std::vector<Check> tokenizer_checks(const Offer& offer) {
  return {{"training", [&] { return check_training(offer); }},
          {"encoding", [&] { return check_encoding(offer); }},
          {"loading", [&] { return check_loading(offer); }},
          {"parallel encoding", [&] { return check_threads(offer); }}};
}

}  // namespace encore
