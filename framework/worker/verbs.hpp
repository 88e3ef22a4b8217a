// SPDX-License-Identifier: BSD-3-Clause
// Declares the verbs of encore-worker, one file each, and the structs of their arguments. main.cpp and the
// other main files fill the arguments and call them. Each returns the exit code of the process; errors are
// thrown. Standard input, output and exit codes are a contract with `exp`, which starts the worker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "infer/run_weights.hpp"

namespace encore::infer {
enum class Scores : std::uint8_t;  // defined in infer/engine.hpp
}

namespace encore::worker {

struct TrainArguments {
  std::filesystem::path run_folder;
  std::int64_t attempt = 1;
  std::string lease;    ///< token of the lease; empty: the run is owned without a check
  int control_fd = -1;  ///< -1: no control pipe
  int threads = 1;
  int ranks = 1;                ///< number of processes that MPI has started
  std::int64_t stop_after = 0;  ///< this and the next four as in train::Milestones
  std::int64_t die_after = 0;
  std::set<std::int64_t> save_at;
  std::int64_t stop_after_epoch = 0;
  std::int64_t pause_after_step = 0;
};

/// A run to evaluate or predict with.
struct TrainedRunArguments {
  std::filesystem::path folder;
  std::vector<std::string> plugin_folders;  ///< in place of those of its specification
  infer::Weights weights = infer::Weights::chosen;
};

/// The shape of the batches for which a size is computed; 0: as in the experiment, or an assumed value.
struct SizeArguments {
  std::int64_t length = 0;      ///< rows per sequence; 0: data.max_length
  std::int64_t batch = 0;       ///< sequences; 0: from train.batch_size or batch_tokens
  std::int64_t vocabulary = 0;  ///< tokens; 0: from tokenizer.vocab or tokenizer.vocab_size
  std::int64_t labels = 0;      ///< 0: those of the training set
  double picked = 0.0;          ///< share of the rows that the task picks, for heads that read picked rows
};

struct QuantizeArguments {
  int bits = 8;                   ///< 8 or 4
  double tolerance = 0.0;         ///< the share by which the cost may grow
  std::size_t examples = 0;       ///< number of dev examples or lines by which the cost is measured
  std::vector<std::string> keep;  ///< matrices to leave out: a path, or its beginning up to a point
  std::filesystem::path
      texts;  ///< file whose lines' vectors give the cost; empty: the development set's loss does
};

struct BenchArguments {
  std::filesystem::path run_folder;  ///< contains bench.json (record/bench_request.hpp)
  std::int64_t attempt = 1;          ///< number of the attempt, and of its spool
  int control_fd = -1;               ///< -1: all rounds at once, without commands
  int threads = 1;
  int ranks = 1;  ///< number of processes that MPI has started
};

/// Trains or resumes. Returns 0 completed, 1 failed, 75 interrupted.
int train_verb(const TrainArguments& arguments);
/// Reads a record::CheckRequest from standard input, builds everything of each run but trains nothing, and
/// writes a JSON array of record::CheckProblem {index, key, message} to standard output. Returns 0 if the
/// array is empty, else 2.
int check_verb();
/// Reads a JSON array of specifications from standard input and writes for each what its model costs
/// (model/model_cost.hpp) as a JSON array to standard output; or {key, message} if it is invalid
/// (record/size_answer.hpp). Returns 0.
int size_verb(const SizeArguments& arguments);
struct PredictArguments {
  std::string format;    ///< text, jsonl, or the type of the reader with which the run was trained
  infer::Scores scores;  ///< with text and jsonl only
  bool trace = false;    ///< also write what each step of an application did (apply::StepTrace)
};

/// Reads lines of text from standard input, writes the task's answers to standard output.
int predict_verb(const TrainedRunArguments& run, const PredictArguments& arguments);
/// Reads a file in the format of the run's data from standard input, and writes the same file with what the
/// task predicts to standard output. `file` names it in messages.
int predict_file_verb(const TrainedRunArguments& run, const std::string& file);
struct EvaluateArguments {
  std::vector<std::string> files;
  std::int64_t beam = 0;    ///< beams for the task's generated outputs; 0: the task's own
  double held_out = 0.0;    ///< only examples that data.held_out = this would hold out; 0: all
  bool statistics = false;  ///< also write what each example adds to the measures
  bool reference = false;   ///< the set becomes the reference of `exp monitor` (record/text_reference.hpp)
};

/// Scores the model on a set of files that the run's reader reads; writes the measures as JSON to standard
/// output.
int evaluate_verb(const TrainedRunArguments& run, const EvaluateArguments& arguments);

/// Do the same for the run of an application ([app]), which has no model of its own but steps that ask
/// models.
int predict_application_verb(const TrainedRunArguments& run, const PredictArguments& arguments);
int predict_application_file_verb(const TrainedRunArguments& run, const std::string& file);
int evaluate_application_verb(const TrainedRunArguments& run, const EvaluateArguments& arguments);

/// Reads a request (record/embed_request.hpp) from standard input and writes vectors of inputs or words, or
/// their nearest neighbours, as JSON to standard output.
int embed_verb(const TrainedRunArguments& run);

/// Reads a request (record/attention.hpp) from standard input and writes the attention weights as JSON to
/// standard output.
int attention_verb(const TrainedRunArguments& run);

/// Reads a request (record/generate_request.hpp) from standard input and writes outputs while they grow, or
/// JSON, to standard output.
int generate_verb(const TrainedRunArguments& run);

/// Answers batches of inputs that come over a socket (record/serve_messages.hpp) until it is closed, for a
/// run of either kind.
int serve_verb(const TrainedRunArguments& run, int socket_fd);

struct ExportArguments {
  std::filesystem::path folder;  ///< an existing folder
  std::string format;            ///< "huggingface", "onnx" or "encore"
  std::string dtype;             ///< of the weights of a Hugging Face folder; "": unchanged
  bool external_data = false;    ///< ONNX: weights in a separate file
};

/// Writes the model into the folder in the format, and its description as JSON to standard output.
int export_verb(const TrainedRunArguments& run, const ExportArguments& arguments);

/// Writes the weights of the model as integers into the run's folder, and the choices and the scores before
/// and after as JSON to standard output.
int quantize_verb(const TrainedRunArguments& run, const QuantizeArguments& arguments);

/// Measures what the request in the folder asks for, into the spool of the attempt. Returns 0, or throws.
int bench_verb(const BenchArguments& arguments);

struct CheckPluginArguments {
  std::filesystem::path file;           ///< the plugin's file
  std::vector<std::string> data;        ///< files of one set, for readers and tasks
  std::filesystem::path reader_plugin;  ///< contains the reader of `data.type=NAME`; empty: the plugin itself
  std::vector<std::string> settings;    ///< KEY=VALUE, in place of defaults (contract/suite.hpp)
  std::int64_t width = 0, length = 0;   ///< in place of the suite's large sizes; 0: those
  bool only_digests = false;            ///< only what is compared between numbers of threads
};

/// Puts a plugin through the contract suite and writes its findings as JSON lines to standard output. Returns
/// 0 when every check passed, else 1.
int check_plugin_verb(const CheckPluginArguments& arguments);
/// Loads every plugin of the folders and writes {milliseconds, loaded: [...], refused: [{file, reason}]} as
/// JSON.
int plugins_verb(const std::vector<std::filesystem::path>& folders);
/// Writes what a user's own file holds, as record/survey_answer.hpp; standard input has the request.
int survey_verb();

}  // namespace encore::worker
