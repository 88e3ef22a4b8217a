// Reader "my_plugin": one example per line: its label, a tab, its text. An error names file and line of all
// invalid lines, up to ten. The worker calls it through Reader (encore/reader.hpp). You may change everything
// here; README.md lists the rules.
#include <encore/lines.hpp>
#include <encore/plugin.hpp>

namespace my_plugin_reader {

using namespace encore;

class MyPluginReader final : public Reader {
 public:
  static constexpr const char* summary = "one example per line: its label, a tab, its text";
  static Schema options() {
    return Schema().boolean("header", false,
                            {.help = "the first line names the columns and is not an example"});
  }
  /// Names of fields are shared (encore/records.hpp): a task that reads `text` and `label` works with any
  /// reader that provides them.
  static std::vector<std::string> fields() { return {"text", "label"}; }

  MyPluginReader(const Options& options, const ReaderContext&) : header_(options.flag("header")) {}

  /// Reads files of UTF-8; the result depends only on their bytes. `what` names the set: "training set".
  Records read(std::span<const InputText> files, const std::string& what) const override {
    Records::Texts texts, labels;
    std::vector<std::string> mistakes;
    for (const InputText& file : files) read_lines(file, texts, labels, mistakes);
    if (texts.empty() && mistakes.empty() && !files.empty())
      mistakes.push_back(files.front().name + ": the " + what + " has no example");
    if (!mistakes.empty()) throw Error(first_of(mistakes));
    Records records;
    records.add("text", std::move(texts));
    records.add("label", std::move(labels));
    return records;
  }

  /// Writes predictions, perhaps in several parts; only the first part has the headings.
  std::string write(const Records& records, FilePart part) const override {
    std::string text = header_ && part == FilePart::first ? "label\ttext\n" : "";
    for (std::size_t i = 0; i < records.size(); ++i)
      text += records.texts("label")[i] + "\t" + records.texts("text")[i] + "\n";
    return text;
  }

  /// Reads lines without a label: a line without a tab is only text, and a label is ignored.
  std::optional<Records> read_questions(const InputText& file) const override {
    Records::Texts texts;
    each_line(file, [&](std::string_view line, std::int64_t) {
      const std::size_t tab = line.find('\t');
      texts.emplace_back(tab == std::string_view::npos ? line : line.substr(tab + 1));
    });
    Records records;
    records.add("text", std::move(texts));
    return records;
  }
  /// Adds a tab and the model's label to each line with text; all other bytes stay unchanged.
  std::string write_answers(const InputText& file, const Records& answers) const override {
    const std::string_view text = without_mark(file.text);
    std::string all;
    std::size_t done = 0, record = 0;
    each_line(file, [&](std::string_view line, std::int64_t) {
      const auto end = static_cast<std::size_t>(line.data() + line.size() - text.data());
      all.append(text.substr(done, end - done)).append("\t").append(answers.texts("label")[record++]);
      done = end;
    });
    return all.append(text.substr(done));
  }

 private:
  static std::string_view without_mark(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // the byte order mark of some editors
    return text;
  }
  /// Calls call(line, its number) for each line that is an example.
  template <class Call>
  void each_line(const InputText& file, const Call& call) const {
    for (Lines lines(without_mark(file.text)); lines.next();)  // LF, CRLF or CR ends a line
      if (!lines.line().empty() && (!header_ || lines.number() > 1)) call(lines.line(), lines.number());
  }
  void read_lines(const InputText& file, Records::Texts& texts, Records::Texts& labels,
                  std::vector<std::string>& mistakes) const {
    each_line(file, [&](std::string_view line, std::int64_t number) {
      const std::size_t tab = line.find('\t');
      if (tab == 0 || tab == std::string_view::npos) {
        mistakes.push_back(file.name + ":" + std::to_string(number) + ": expected a label, a tab and a text");
        return;
      }
      labels.emplace_back(line.substr(0, tab));
      texts.emplace_back(line.substr(tab + 1));
    });
  }

  static std::string first_of(const std::vector<std::string>& mistakes) {
    constexpr std::size_t shown = 10;
    std::string text = mistakes.front();
    for (std::size_t i = 1; i < std::min(shown, mistakes.size()); ++i) text += "\n" + mistakes[i];
    if (mistakes.size() > shown) text += "\nand " + std::to_string(mistakes.size() - shown) + " more";
    return text;
  }

  bool header_;
};

}  // namespace my_plugin_reader

ENCORE_PLUGIN("my_plugin", "1.0.0") {
  plugin.add<encore::Kind::reader, my_plugin_reader::MyPluginReader>("my_plugin");
}
