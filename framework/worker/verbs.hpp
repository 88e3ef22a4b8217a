// SPDX-License-Identifier: BSD-3-Clause
// The verbs of encore-worker, one file each, listed in main.cpp. Each returns the exit code; errors throw.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "infer/run_weights.hpp"
#include "infer/scores.hpp"

namespace encore {

struct TrainArguments {
  std::filesystem::path run_folder;
  std::int64_t attempt = 1;
  std::string lease;    ///< empty: this attempt owns its run without a check
  int control_fd = -1;  ///< -1: there are no requests
  int threads = 1;
  int ranks = 1;                ///< that a launcher of MPI has started together with this process
  std::int64_t stop_after = 0;  ///< these as in Milestones (train/trainer.hpp)
  std::int64_t die_after = 0;
  std::set<std::int64_t> save_at;
  std::int64_t stop_after_epoch = 0;
  std::int64_t pause_after_step = 0;
};

/// A run to evaluate or predict with.
struct TrainedRunArguments {
  std::filesystem::path folder;
  std::vector<std::string> plugin_folders;  ///< those of its specification are not looked at
  Weights weights = Weights::chosen;
};

/// The shape of the batches of a size; 0: that of the experiment, or an assumed one.
struct SizeArguments {
  std::int64_t length = 0;      ///< rows of each sequence; 0: data.max_length
  std::int64_t batch = 0;       ///< sequences; 0: those of train.batch_size or batch_tokens
  std::int64_t vocabulary = 0;  ///< tokens; 0: those of tokenizer.vocab, or tokenizer.vocab_size
  std::int64_t labels = 0;      ///< 0: those of the training set
  double picked = 0.0;          ///< share of the rows that the task picks, of a head that reads such rows
};

struct QuantizeArguments {
  int bits = 8;                   ///< or 4
  double tolerance = 0.0;         ///< by what share the cost may grow
  std::size_t examples = 0;       ///< of the development set or the lines, for that decision
  std::vector<std::string> keep;  ///< matrices that stay as they are
  std::filesystem::path
      texts;  ///< lines by whose vectors it is decided; empty: by the development set's loss
};

struct BenchArguments {
  std::filesystem::path run_folder;  ///< holds bench.json (record/bench_request.hpp)
  std::int64_t attempt = 1;          ///< number of the spool
  int control_fd = -1;               ///< -1: every round at once, without being asked
  int threads = 1;
  int ranks = 1;  ///< that a launcher of MPI has started together with this process
};

/// Trains or resumes. Returns 0 completed, 1 failed, 75 interrupted.
int train_verb(const TrainArguments& arguments);
/// Reads a JSON array of specifications from standard input, builds everything but the training of each, and
/// writes a JSON array of {index, key, message} to standard output. Returns 0 when that is empty, else 2.
int check_verb();
/// Reads a JSON array of specifications from standard input and writes for each what its model costs
/// (model/model_cost.hpp) as a JSON array to standard output; or {key, message} if it has none. Returns 0.
int size_verb(const SizeArguments& arguments);
/// Reads lines of text from standard input, writes the task's answers to standard output; format: text,
/// jsonl, or the type of the reader with which the run was trained. Scores go with text and jsonl.
int predict_verb(const TrainedRunArguments& run, const std::string& format, Scores scores);
/// Reads a file in the format of the run's data from standard input, and writes the same file with what the
/// task predicts to standard output. `file` names it in messages.
int predict_file_verb(const TrainedRunArguments& run, const std::string& file);
struct EvaluateArguments {
  std::vector<std::string> files;
  std::int64_t beam = 0;    ///< of the task's generated outputs; 0: the task's own
  double held_out = 0.0;    ///< only the examples that data.held_out = this would hold out; 0: all
  bool statistics = false;  ///< also what each example adds to the measures
  bool reference = false;   ///< the set becomes what `exp monitor` compares with (record/text_reference.hpp)
};

/// Scores a set of files that the run's reader reads; writes the measures as JSON to standard output.
int evaluate_verb(const TrainedRunArguments& run, const EvaluateArguments& arguments);

/// Reads a request (record/embed_request.hpp) from standard input and writes vectors of inputs or words, or
/// their nearest neighbours, as JSON to standard output.
int embed_verb(const TrainedRunArguments& run);

/// Reads a request (record/attention.hpp) from standard input and writes what the model attends to as JSON to
/// standard output.
int attention_verb(const TrainedRunArguments& run);

/// Reads a request (record/generate_request.hpp) from standard input and writes outputs while they grow, or
/// JSON, to standard output.
int generate_verb(const TrainedRunArguments& run);

/// Answers batches of inputs that come over a socket (record/serve_messages.hpp) until it is closed.
int serve_verb(const TrainedRunArguments& run, int socket_fd);

struct ExportArguments {
  std::filesystem::path folder;  ///< which is there
  std::string format;            ///< "huggingface", "onnx" or "encore"
  std::string dtype;             ///< of the weights of a Hugging Face folder; "": as they are
  bool external_data = false;    ///< weights of ONNX in a file of their own
};

/// Writes the model into the folder, for other programs, and its description as JSON to standard output.
int export_verb(const TrainedRunArguments& run, const ExportArguments& arguments);

/// Writes the weights of the model as integers into the run's folder, and the choices and the scores before
/// and after as JSON to standard output.
int quantize_verb(const TrainedRunArguments& run, const QuantizeArguments& arguments);

/// Measures what the request in the folder asks for, into the spool of the attempt. Returns 0, or throws.
int bench_verb(const BenchArguments& arguments);

struct CheckPluginArguments {
  std::filesystem::path file;           ///< of the plugin
  std::vector<std::string> data;        ///< files of one set, for readers and tasks
  std::filesystem::path reader_plugin;  ///< has the reader of `data.type=NAME`; empty: the plugin itself
  std::vector<std::string> settings;    ///< KEY=VALUE, in place of defaults (contract/settings.hpp)
  std::int64_t width = 0, length = 0;   ///< instead of the large sizes of the suite; 0: those
  bool only_digests = false;            ///< computes only what is compared between numbers of threads
};

/// Puts a plugin through the contract suite and writes its findings as JSON lines to standard output. Returns
/// 0 when every check passed, else 1.
int check_plugin_verb(const CheckPluginArguments& arguments);
/// Loads every plugin of the folders and writes {milliseconds, loaded: [...], refused: [{file, reason}]} as
/// JSON.
int plugins_verb(const std::vector<std::filesystem::path>& folders);

}  // namespace encore
