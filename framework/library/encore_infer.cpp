// SPDX-License-Identifier: BSD-3-Clause
// Implements the C interface of encore_infer.h, libencore_infer: loads models and answers inputs for programs
// outside of Encore. Place in the flow: a program of a user -> here -> infer/engine.hpp. Every function
// catches what is thrown, and calls of a process take turns, because they share one set of threads (Kokkos).
// Signatures are the ABI: a change that breaks programs raises ENCORE_INFER_ABI.
#include "library/encore_infer.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "archive/bundled_run.hpp"
#include "infer/engine.hpp"
#include "record/run_paths.hpp"
#include "tasks/input_use.hpp"
#include "tasks/prediction_file.hpp"
#include "world/cores.hpp"

using encore::infer::Engine;

/// The loaded model of a caller. The unpacked folder of a bundle is deleted after loading; mapped files stay
/// readable without a name.
struct encore_model {
  encore_model(const std::string& folder, const std::vector<std::string>& plugins,
               encore::infer::Weights weights, bool cuts)
      : engine(folder, plugins, device, weights), truncates(cuts) {
    engine.make_batch_invariant();
  }

  encore::Device device;
  encore::infer::Engine engine;
  bool truncates;
};

namespace {

namespace fs = std::filesystem;

thread_local std::string last_error;

/// Returns the mutex by which calls that compute take turns.
std::mutex& turns() {
  static std::mutex mutex;
  return mutex;
}

/// A failure whose status is known where it is thrown.
struct Refused {
  encore_status status;
  std::string message;
};

/// Calls `work`, which may throw; an Error becomes `status`.
encore_status guarded(encore_status status, const auto& work) noexcept {
  try {
    const std::scoped_lock lock(turns());
    work();
    return ENCORE_OK;
  } catch (const Refused& refused) {
    last_error = refused.message;
    return refused.status;
  } catch (const std::bad_alloc&) {
    last_error = "not enough memory";
    return ENCORE_NO_MEMORY;
  } catch (const encore::Error& error) {
    last_error = error.what();
    return status;
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an exception that is not a std::exception was thrown";
  }
  return ENCORE_FAILED;
}

void require(bool condition, const char* message) {
  if (!condition) throw Refused{ENCORE_BAD_ARGUMENT, message};
}

/// Returns lib/encore/plugins beside this library; the build tree has the same folders.
std::string installed_plugins() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<void*>(&encore_open), &info) == 0 || info.dli_fname == nullptr)
    throw encore::Error(
        "the path of libencore_infer.so is unknown; give the folder of the plugins as plugin_path");
  return (fs::canonical(info.dli_fname).parent_path() / "encore" / "plugins").string();
}

std::vector<std::string> plugin_folders(const char* path) {
  std::vector<std::string> folders;
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  folders.push_back(installed_plugins());
  return folders;
}

/// Opens Kokkos with the first model. Kokkos stays open, because a process cannot open it twice.
void open_kokkos(int threads) {
  encore::world::require_threads(threads);
  static const auto* const session =
      new encore::KokkosSession(threads > 0 ? threads
                                            : encore::world::default_threads(encore::world::usable_cores(),
                                                                             encore::world::openmp_wishes()));
  static_cast<void>(session);
}

/// Returns the options of a caller. An older program knows fewer options (its `size` is smaller): the others
/// keep their defaults. A newer program that knows more is rejected.
encore_options options_of(const encore_options* given) {
  encore_options options = encore_default_options();
  if (given == nullptr) return options;
  require(
      given->size >= offsetof(encore_options, plugin_path) + sizeof(char*) && given->size <= sizeof options,
      "invalid encore_options.size: expected the size in a version of this library up to 1; begin with "
      "encore_default_options(), and install the library of this header");
  std::memcpy(&options, given, given->size);
  return options;
}

encore::infer::Weights weights_of(int integer_bits) {
  require(integer_bits == 0 || integer_bits == 4 || integer_bits == 8,
          "invalid encore_options.integer_bits: expected 0, 8 or 4");
  return integer_bits == 8   ? encore::infer::Weights::int8
         : integer_bits == 4 ? encore::infer::Weights::int4
                             : encore::infer::Weights::chosen;
}

/// Loads the model at `path`, a folder or a bundle. Messages about a bundle do not name the temporary folder.
std::unique_ptr<encore_model> loaded(const std::string& path, const encore_options& wishes) {
  const std::string run = wishes.run == nullptr ? "" : wishes.run;
  const auto load = [&](const std::string& folder) {
    encore::record::require_run_folder(folder);
    open_kokkos(wishes.threads);
    return std::make_unique<encore_model>(folder, plugin_folders(wishes.plugin_path),
                                          weights_of(wishes.integer_bits), wishes.truncate != 0);
  };
  if (!fs::is_regular_file(path)) {
    require(run.empty(), "encore_options.run chooses a run of a bundle, but the path is a folder");
    return load(path);
  }
  const encore::archive::BundledRun bundled(path, run, "say which in encore_options.run");
  try {
    return load(bundled.folder().string());
  } catch (const encore::Error& error) {
    throw encore::Error(bundled.named(error.what()));
  }
}

char* copied(const std::string& text) {
  auto* memory = static_cast<char*>(std::malloc(text.size() + 1));
  if (memory == nullptr) throw std::bad_alloc();
  std::memcpy(memory, text.c_str(), text.size() + 1);
  return memory;
}

std::vector<std::string> texts_of(const char* const* texts, std::size_t count) {
  require(texts != nullptr || count == 0, "the list of inputs is NULL");
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) {
    require(texts[i] != nullptr, "one of the inputs is NULL");
    all.emplace_back(texts[i]);
  }
  return all;
}

[[noreturn]] void refuse_length(const encore::infer::Engine& engine, std::size_t number,
                                const std::string& what) {
  throw encore::Error("text " + std::to_string(number + 1) + " is longer than data.max_length = " +
                      std::to_string(engine.experiment().data.max_length) + " of the model: " + what +
                      "; shorten it, or set encore_options.truncate to use its beginning only");
}

/// Throws if an input has a line break, because tasks read one input per line.
void require_single_lines(const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (texts[i].find('\n') != std::string::npos)
      throw encore::Error("text " + std::to_string(i + 1) +
                          " has a line break; each text is one line, as for exp predict");
}

std::string answers_to(encore_model& model, const std::vector<std::string>& texts,
                       encore::infer::Scores scores) {
  encore::infer::Engine& engine = model.engine;
  require_single_lines(texts);
  if (texts.empty()) return {};
  const encore::Records records = engine.task().from_text(texts);
  const encore::tasks::EncodedSet set = engine.encode(records);
  std::vector<encore::tasks::InputUse> uses;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    uses.push_back(encore::tasks::input_use(engine.task(), set.set, i));
    if (!uses[i].left_out.empty() && !model.truncates) refuse_length(engine, i, uses[i].left_out);
  }
  const encore::Records answers = engine.answer(records, set, scores).answers;
  std::string lines;
  for (std::size_t i = 0; i < answers.size(); ++i)
    lines += encore::tasks::answer_json(answers, i, encore::tasks::members_of(uses[i])) + "\n";
  return lines;
}

encore_status predict(encore_model* model, const char* const* texts, std::size_t count, char** lines,
                      encore::infer::Scores scores) noexcept {
  return guarded(ENCORE_BAD_TEXT, [&] {
    require(model != nullptr && lines != nullptr, "model or lines is NULL");
    *lines = copied(answers_to(*model, texts_of(texts, count), scores));
  });
}

std::size_t vector_width(const encore::infer::Engine& engine) {
  return engine.no_vectors().empty() ? static_cast<std::size_t>(engine.experiment().model.width) : 0;
}

nlohmann::json description_of(const encore::infer::Engine& engine) {
  return {{"task", engine.experiment().task.type},
          {"labels", engine.task().labels()},
          {"max_length", engine.experiment().data.max_length},
          {"step", engine.step()},
          {"digest", engine.digest()},
          {"vector_width", vector_width(engine)},
          {"notes", engine.notes()}};
}

}  // namespace

extern "C" {

const char* encore_infer_version(void) {
  return ENCORE_VERSION;
}

int encore_infer_abi(void) {
  return ENCORE_INFER_ABI;
}

const char* encore_last_error(void) {
  return last_error.c_str();
}

encore_options encore_default_options(void) {
  return {.size = sizeof(encore_options),
          .plugin_path = nullptr,
          .threads = 0,
          .integer_bits = 0,
          .truncate = 0,
          .run = nullptr};
}

encore_status encore_open(const char* path, const encore_options* options, encore_model** model) {
  return guarded(ENCORE_BAD_MODEL, [&] {
    require(path != nullptr && model != nullptr, "path or model is NULL");
    const encore_options wishes = options_of(options);
    require(wishes.threads >= 0 && wishes.threads <= encore::world::most_threads,
            "invalid encore_options.threads: expected 0 to 512");
    *model = loaded(path, wishes).release();
  });
}

void encore_close(encore_model* model) {
  static_cast<void>(guarded(ENCORE_FAILED, [&] { delete model; }));
}

encore_status encore_describe(encore_model* model, char** json) {
  return guarded(ENCORE_FAILED, [&] {
    require(model != nullptr && json != nullptr, "model or json is NULL");
    *json =
        copied(description_of(model->engine).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

encore_status encore_predict(encore_model* model, const char* const* texts, size_t count, char** lines) {
  return predict(model, texts, count, lines, encore::infer::Scores::without);
}

encore_status encore_predict_scores(encore_model* model, const char* const* texts, size_t count,
                                    char** lines) {
  return predict(model, texts, count, lines, encore::infer::Scores::with);
}

size_t encore_vector_width(encore_model* model) {
  size_t width = 0;
  static_cast<void>(guarded(ENCORE_FAILED, [&] {
    require(model != nullptr, "model is NULL");
    width = vector_width(model->engine);
  }));
  return width;
}

encore_status encore_embed(encore_model* model, const char* const* texts, size_t count, float* vectors) {
  return guarded(ENCORE_BAD_TEXT, [&] {
    require(model != nullptr && (vectors != nullptr || count == 0), "model or vectors is NULL");
    if (count == 0) return;
    encore::infer::Engine& engine = model->engine;
    const encore::infer::EncodedTexts encoded = engine.encode_texts(texts_of(texts, count));
    for (std::size_t i = 0; i < count && !model->truncates; ++i)
      if (const std::string what = encoded.use(i).left_out; !what.empty()) refuse_length(engine, i, what);
    std::ranges::copy(engine.embed(encoded).values, vectors);
  });
}

void encore_free(char* text) {
  std::free(text);
}

}  // extern "C"
