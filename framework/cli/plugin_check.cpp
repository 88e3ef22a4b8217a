// SPDX-License-Identifier: BSD-3-Clause
// exp plugin check: prints each check of the contract suite when it ends. app/plugin_check.cpp starts the
// workers that run the checks; plugin_verb.cpp lists the action. The exit code and the JSON are read by the
// CI of plugin authors, so members and names of checks stay.
#include "app/plugin_check.hpp"

#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

class CheckScreen final : public app::CheckEvents {
 public:
  CheckScreen(Console& console, bool json)
      : console_(console), json_(json), lines_(console.out, json ? Terminal{} : console.terminal) {}

  void began(const std::string& check) override { show("      " + check + " ..."); }

  void waited(const std::string& check, std::chrono::seconds time) override {
    const std::string text = check + ": still running after " + std::to_string(time.count()) + " s";
    show("      " + text);
    if (!lines_.terminal().live) console_.noticed(text);
  }

  void found(const nlohmann::json& finding) override {
    if (json_) return;
    const bool passed = finding["passed"].get<bool>(), skipped = finding["skipped"].get<bool>(),
               unchecked = finding.value("unchecked", false);
    const Terminal& terminal = lines_.terminal();
    const std::string verdict = skipped     ? styled(terminal, Style::yellow, "skip  ")
                                : unchecked ? styled(terminal, Style::yellow, "open  ")
                                : passed    ? styled(terminal, Style::green, "ok    ")
                                            : styled(terminal, Style::red, "FAIL  ");
    lines_.remove(0);
    lines_.print(verdict + finding["subject"].get<std::string>() + ": " +
                 finding["check"].get<std::string>() + ": " + (unchecked ? "not checked: " : "") +
                 printable_lines(finding["detail"].get<std::string>()));
  }

 private:
  void show(const std::string& text) {
    lines_.set(0, text);
    lines_.refresh();
  }

  Console& console_;
  const bool json_;
  LiveLines lines_;
};

std::string summary(const app::CheckResult& result) {
  const std::string all = std::to_string(result.checks.size());
  if (result.failed == 0)
    return std::to_string(static_cast<int>(result.checks.size()) - result.unchecked) + " checks passed" +
           (result.unchecked > 0 ? ", " + std::to_string(result.unchecked) + " not checked" : "");
  if (!result.opened) return "the plugin could not be opened, so nothing was checked";
  return std::to_string(result.failed) + " of " + all + " checks failed" +
         (result.skipped > 0 ? ", " + std::to_string(result.skipped) + " skipped because of " +
                                   (result.failed == 1 ? "it" : "them")
                             : "");
}

int plugin_check_action(const app::PluginCheckRequest& request, app::App&, Console& console) {
  app::CheckResult result;
  {
    CheckScreen screen(console, request.json);
    result = app::check_plugin(request, screen);
  }
  if (request.json)
    console.out << nlohmann::json{{"version", 1},
                                  {"file", request.file},
                                  {"passed", result.failed == 0},
                                  {"checks", result.checks}}
                       .dump(1)
                << '\n';
  else
    console.out << summary(result) << '\n';
  return result.failed == 0 ? exit_done : exit_failed;
}

}  // namespace

Verb plugin_check() {
  return make_verb("check", "run the contract suite on a plugin", app::plugin_check_form,
                   plugin_check_action);
}

}  // namespace encore::cli
