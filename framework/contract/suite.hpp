// SPDX-License-Identifier: BSD-3-Clause
// The contract suite: the rules for every layer, head, tokenizer, optimizer, schedule, task, reader and step
// of any author. Place in the flow: `exp plugin check FILE` starts a worker (worker/check_plugin_verb.cpp),
// which opens the plugin and runs every check on all types that it offers; tests/contract runs the same suite
// on the plugins that ship. The observer receives each check before it runs, so that a check that crashes can
// be named. Plugins of other authors must pass the checks, so a check may demand only what the headers of the
// SDK promise.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <encore/device.hpp>
#include <encore/plugin.hpp>

#include "plugin_host/default_options.hpp"

namespace encore::contract {

class Trial;  // trial.hpp

/// The result of one check.
struct Finding {
  std::string subject;  ///< layer "highway"
  std::string check;    ///< "gradients"
  bool passed = false;
  bool skipped = false;    ///< it fails too, for the cause of an earlier check of the offer
  bool unchecked = false;  ///< it passed, but this machine or the plugin did not let it compare anything
  std::string detail;  ///< the comparison, the error and its place, the check with the cause, or the reason
};

/// The exception of a check that cannot compare anything here, with the reason and a remedy.
class NotChecked : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// The receiver of results.
struct SuiteObserver {
  std::function<void(const std::string& subject, std::string_view check)> begin;
  std::function<void(const Finding&)> end;
};

/// One check: its name and its function. The function returns a sentence about the comparison, or throws an
/// exception with the error.
struct Check {
  const char* name;
  std::function<std::string()> run;
};
struct CheckFile {
  std::string name, text;
};
/// Files of the plugin's author (`--data FILE`). Readers are checked with them beside the suite's samples,
/// tasks and steps with them instead of the samples. All of them are one set.
struct CheckData {
  std::vector<CheckFile> files = {};
  std::vector<Offer> readers = {};  ///< the first that gives the fields of a task or step makes its records
  bool chosen = false;              ///< the user has named the only reader: -S data.type=NAME

  bool given() const { return !files.empty(); }
  /// Returns "a.tsv" or "a.src and a.trg", as messages name the set.
  std::string name() const {
    std::string all;
    for (const CheckFile& file : files) all += (all.empty() ? "" : " and ") + file.name;
    return all;
  }
};

/// A larger size at which layers and heads are checked again.
struct LargeSize {
  std::int64_t width = 0;   ///< C
  std::int64_t length = 0;  ///< rows of the longest sequence
  bool exact = false;       ///< false: the next valid width of the defaults, e.g. a multiple of the heads
};
/// Both sizes are beyond the vectors of any processor; the second is also beyond 128 channels and 100 rows.
inline const std::vector<LargeSize> default_sizes = {{40, 70}, {136, 150}};

/// Returns every check for the offer's kind. Device and offer must outlive the list.
std::vector<Check> suite_checks(const Device& device, const Offer& offer, const CheckData& data = {},
                                const std::vector<LargeSize>& sizes = default_sizes);

/// Runs the checks of an offer in their order. One cause is one failure: a later check that fails with the
/// same message is skipped.
void run_suite(const Offer& offer, const std::vector<Check>& checks, const SuiteObserver& observer);

/// Returns digests of all results of an offer on a large batch, by name. A comparison of those of processes
/// with 1, 2 and 3 threads shows whether threads change bits.
std::map<std::string, std::string> suite_digests(const Device& device, const Offer& offer);

/// Returns whether threads can change the results of an offer: layers, heads and optimizers have digests.
bool has_digests(const Offer& offer);

/// Returns the subject in messages: layer "highway".
std::string subject_of(const Offer& offer);

/// A variant of the options. option_variants() returns the defaults, then variants of each single option:
/// every other choice, the other value of a flag, a bounded number in the middle of its range, an integer at
/// its smallest. `name` describes the change ("heads = 1"). An option that the user has
/// given (with_settings) keeps its value.
struct OptionsVariant {
  std::string name;
  Options options;
  bool is_default = false;
};
std::vector<OptionsVariant> option_variants(const Schema& schema);

/// Returns a hash of values, each as the bits of a double.
std::string digest_of(const std::vector<double>& values);

/// Checks the options of an offer of any kind.
std::string check_options(const Offer& offer);

/// These functions return the checks of one kind. Device and offer must outlive the list.
std::vector<Check> layer_checks(const Device& device, const Offer& offer,
                                const std::vector<LargeSize>& sizes);  ///< also of heads
/// Checks layers that take a sum, in each of these types.
std::string check_sum(const Device& device, const Offer& offer, const Options& options, std::int64_t width,
                      const std::vector<DType>& types);
/// Checks layers for generation (LayerPlan::row_wise, Lifetime::persistent), in each of these types and with
/// each of these options.
std::string check_generation(const Device& device, const Offer& offer,
                             const std::vector<OptionsVariant>& variants, std::int64_t width,
                             const std::vector<DType>& types);
/// Checks layers with attention weights (HasAttentionWeights), in each of these types and with each of these
/// options.
std::string check_attention(const Device& device, const Offer& offer,
                            const std::vector<OptionsVariant>& variants, std::int64_t width,
                            const std::vector<DType>& types);
/// Checks layers and heads with an ONNX form (onnx_form.hpp), heads with targets over each of these spaces:
/// with each variant at the first size, with the defaults at the others. Throws NotChecked if onnxruntime is
/// missing.
std::string check_onnx(const Device& device, const Offer& offer, const std::vector<OptionsVariant>& variants,
                       const std::vector<Space>& targets, const std::vector<LargeSize>& sizes);
/// Makes a layer or head with such options, for training or evaluation; may throw OptionError.
using MakeTrial = std::function<std::unique_ptr<Trial>(const Options& options, bool training)>;
/// Checks the names of parameters, and those that a later block shares with the first.
std::string check_declaration(const Offer& offer, const std::vector<OptionsVariant>& variants,
                              std::int64_t width, const MakeTrial& make);
/// Checks that evaluation computes the same as training, with each of these options, and with random draws
/// turned off if the schema has such options.
std::string check_evaluation(const std::vector<OptionsVariant>& variants, const Schema& schema,
                             const MakeTrial& make);
std::vector<Check> optimizer_checks(const Device& device, const Offer& offer);
/// Three of the checks of optimizer_checks(): a new object continues where another ended; a step uses the
/// rate that it gets; a parameter has its own factor on the rate and its own decay.
std::string check_resuming(const Device& device, const Offer& offer);
std::string check_changing_rate(const Device& device, const Offer& offer);
std::string check_segments(const Device& device, const Offer& offer);
/// Checks an optimizer on a table in which most rows have no gradient. It is one of optimizer_checks().
std::string check_token_rows(const Device& device, const Offer& offer);
std::vector<Check> schedule_checks(const Offer& offer);
std::vector<Check> tokenizer_checks(const Offer& offer);
std::vector<Check> task_checks(const Offer& offer, const CheckData& data);
std::vector<Check> reader_checks(const Offer& offer, const CheckData& data);

/// These functions return the parts of suite_digests() by kind. Kinds that run only on the host have none.
std::map<std::string, std::string> layer_digests(const Device& device, const Offer& offer);
std::map<std::string, std::string> optimizer_digests(const Device& device, const Offer& offer);

/// Throws Error with `message` unless `condition`, a requirement on the part, holds.
void require(bool condition, const std::string& message);

/// Throws Error unless a name that becomes part of paths consists of letters, digits, "_", "-" and ".";
/// `what` describes its owner, as in "a state".
void require_word(const std::string& name, const std::string& what);

/// Records, through the callbacks of Kokkos Tools, which kernels are launched and which memory is allocated
/// while it lives (kokkos_watch.cpp). One at a time. Checks watch the passes of a layer and the updates of an
/// optimizer with it: a pass that allocates, or a kernel without a label, fails a check.
class KokkosWatch {
 public:
  KokkosWatch();
  ~KokkosWatch();
  KokkosWatch(const KokkosWatch&) = delete;
  KokkosWatch& operator=(const KokkosWatch&) = delete;

  /// Returns the labels of the kernels that were launched, each once.
  std::vector<std::string> kernels() const;
  /// Returns the labels of the memory that was allocated.
  std::vector<std::string> allocations() const;
};

/// Throws Error when a kernel's label is not of the form "namespace::name".
void require_labels(const KokkosWatch& watch);

// --- settings of `exp plugin check -S KEY=VALUE` (settings.cpp), which worker/check_plugin_verb.cpp applies
// before it runs the checks; scripts of plugin authors have them, so their form must not change ---

/// Returns the reader that `data.type=NAME` among the settings chooses for the file of --data; empty if there
/// is no such setting.
std::string chosen_reader(const std::vector<std::string>& settings);

/// Returns the offers with these settings as their defaults. KEY is an option ("levels"), for every offer
/// that declares it, or one with its table as in an experiment file ("task.levels", "data.header",
/// "model.layer.attention.heads"). Throws Error for a value that does not fit its option, and for a key that
/// no offer has.
std::vector<Offer> with_settings(std::vector<Offer> offers, const std::vector<std::string>& settings);

}  // namespace encore::contract
