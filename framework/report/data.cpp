// The data: which files, how large, how long the sentences, how many words carry which label, what was cut.
#include <algorithm>

#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

/// One file in one role, with what the workers told of the set that they read from it.
struct Set {
  std::string role, path, sha256;
  std::size_t runs = 0;
  nlohmann::json told;  ///< of started_event.data; null where no worker told
  nlohmann::json max_length;
};

std::vector<Set> sets_of(const Material& material) {
  std::vector<Set> sets;
  for (const RunRow& run : material.runs) {
    const auto files = material.datasets.find(run.number);
    if (files == material.datasets.end()) continue;
    const AttemptRow* told = material.told(run);
    const nlohmann::json data = told == nullptr ? nlohmann::json::object()
                                                : told->started_event.value("data", nlohmann::json::object());
    const nlohmann::json max_length = material.setting(run, "data.max_length");
    for (const DatasetRow& file : files->second) {
      const nlohmann::json here = data.value(file.role, nlohmann::json());
      const auto known = std::find_if(sets.begin(), sets.end(), [&](const Set& set) {
        // Another tokenizer or limit makes other lengths of the same file.
        return set.role == file.role && set.sha256 == file.sha256 &&
               (set.told == here || here.is_null() || set.told.is_null());
      });
      if (known == sets.end()) {
        sets.push_back({file.role, file.path, file.sha256, 1, here, max_length});
        continue;
      }
      ++known->runs;
      if (known->told.is_null()) known->told = here;
    }
  }
  const auto rank = [](const Set& set) {
    const std::vector<std::string> roles = {"train", "dev", "test"};
    return std::find(roles.begin(), roles.end(), set.role) - roles.begin();
  };
  std::stable_sort(sets.begin(), sets.end(), [&](const Set& a, const Set& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return natural_less(a.path, b.path);
  });
  return sets;
}

TableCell told_cell(const Set& set, const char* name) {
  const nlohmann::json value =
      set.told.is_object() ? set.told.value(name, nlohmann::json()) : nlohmann::json();
  return value.is_number_integer() ? count_cell(value.get<std::int64_t>()) : TableCell();
}

TableBlock file_table(const std::vector<Set>& sets) {
  TableBlock table;
  table.id = "data-files";
  table.caption = "Files by their content. A run counts by the hash, not by the path.";
  table.columns = {{"set", "", false}, {"file", "", false}, {"SHA-256", "", false}, {"runs", "", true}};
  for (const Set& set : sets)
    table.rows.push_back({set.role, setting_text(set.path), code_cell(set.sha256),
                          count_cell(static_cast<std::int64_t>(set.runs))});
  table.notes.push_back("Licences of the data are not recorded.");
  return table;
}

TableBlock size_table(const std::vector<Set>& sets) {
  TableBlock table;
  table.id = "data-sizes";
  table.caption =
      "Sizes as the model sees them: tokens are pieces with [CLS] and [SEP]; what is longer than "
      "data.max_length is cut, and the entities in it are scored as missed.";
  table.columns = {{"set", "", false},           {"file", "", false},         {"sentences", "", true},
                   {"tokens", "", true},         {"longest", "tokens", true}, {"max_length", "tokens", true},
                   {"unknown pieces", "", true}, {"cut sentences", "", true}, {"cut words", "", true},
                   {"cut entities", "", true}};
  for (const Set& set : sets)
    if (set.told.is_object())
      table.rows.push_back(
          {set.role, setting_text(set.path), told_cell(set, "examples"), told_cell(set, "tokens"),
           told_cell(set, "longest"),
           set.max_length.is_number_integer() ? count_cell(set.max_length.get<std::int64_t>()) : TableCell(),
           told_cell(set, "unknown_pieces"), told_cell(set, "cut_sentences"), told_cell(set, "cut_words"),
           told_cell(set, "cut_entities")});
  return table;
}

/// The labels of a set, or null where its worker told none.
nlohmann::json labels_of(const Set& set) {
  if (!set.told.is_object()) return nullptr;
  return set.told.value("labels", nlohmann::json::object()).value("words", nlohmann::json());
}

/// One column per set; sets that several tokenizers saw have their labels once.
TableBlock label_table(const std::vector<Set>& sets) {
  TableBlock table;
  table.id = "data-labels";
  table.caption = "Words by their label (those that were cut are not counted).";
  table.columns = {{"label", "", false}};
  std::vector<const Set*> shown;
  std::vector<std::string> labels;
  for (const Set& set : sets) {
    const nlohmann::json counts = labels_of(set);
    const bool again = std::any_of(shown.begin(), shown.end(), [&](const Set* other) {
      return other->role == set.role && other->sha256 == set.sha256 && labels_of(*other) == counts;
    });
    if (!counts.is_object() || again || shown.size() == 9) continue;
    shown.push_back(&set);
    table.columns.push_back({set.role + ", " + setting_text(set.path), "", true});
    for (const auto& [label, count] : counts.items())
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  // O first, then by type, its beginning before its inside.
  std::sort(labels.begin(), labels.end(), [](const std::string& a, const std::string& b) {
    if ((a == "O") != (b == "O")) return a == "O";
    const std::string left = a.substr(std::min<std::size_t>(2, a.size())),
                      right = b.substr(std::min<std::size_t>(2, b.size()));
    return left != right ? left < right : a < b;
  });
  for (const std::string& label : labels) {
    std::vector<TableCell> row = {label};
    for (const Set* set : shown) {
      const nlohmann::json count = labels_of(*set).value(label, nlohmann::json());
      row.push_back(count.is_number_integer() ? count_cell(count.get<std::int64_t>()) : TableCell());
    }
    table.rows.push_back(std::move(row));
  }
  std::vector<TableCell> unseen = {Text("label not in the training set")};
  for (const Set* set : shown)
    unseen.push_back(count_cell(set->told["labels"].value("unseen", std::int64_t{0})));
  if (!shown.empty()) table.rows.push_back(std::move(unseen));
  return table;
}

void add_histograms(const std::vector<Set>& sets, std::vector<Block>& blocks) {
  constexpr std::size_t most = 3;
  std::size_t number = 0;
  for (const Set& set : sets) {
    if (set.role != "train" || !set.told.is_object() || !set.told.contains("lengths") || number == most)
      continue;
    const nlohmann::json& lengths = set.told["lengths"];
    Histogram chart{
        {"length of a sentence", "tokens"}, {"sentences", ""}, 0.5, lengths.value("width", 1.0), {}, {}, {}};
    chart.counts = lengths.value("counts", std::vector<double>());
    if (set.max_length.is_number() &&
        set.max_length.get<double>() <= 1.5 * told_cell(set, "longest").number.value_or(0.0)) {
      chart.mark = set.max_length.get<double>();
      chart.mark_name = "max_length";
    }
    Figure figure;
    figure.id = "lengths" + (++number > 1 ? "-" + std::to_string(number) : "");
    figure.caption =
        "Lengths of the training sentences of " + setting_text(set.path) + ", in tokens, after cutting.";
    figure.alternative = "A histogram of " + told_cell(set, "examples").text.plain() +
                         " sentences; the longest has " + told_cell(set, "longest").text.plain() + " tokens.";
    figure.chart = std::move(chart);
    blocks.push_back(std::move(figure));
  }
}

}  // namespace

Section data_section(const Material& material) {
  Section section{"data", "Data"};
  const std::vector<Set> sets = sets_of(material);
  if (sets.empty()) {
    section.blocks.push_back(Notice{"No data files were recorded."});
    return section;
  }
  section.blocks.push_back(file_table(sets));
  TableBlock sizes = size_table(sets);
  if (sizes.rows.empty())
    section.blocks.push_back(Notice{"No worker told the sizes of its data."});
  else
    section.blocks.push_back(std::move(sizes));
  TableBlock labels = label_table(sets);
  if (!labels.rows.empty()) section.blocks.push_back(std::move(labels));
  add_histograms(sets, section.blocks);
  return section;
}

}  // namespace encore
