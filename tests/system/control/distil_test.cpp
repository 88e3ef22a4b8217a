// SPDX-License-Identifier: BSD-3-Clause
// Tests a run that learns from another one, its teacher ([distil]; infer/teacher.hpp), with the real worker:
// the order, equal bits over threads, kills and verifications, what commands print about the teacher, and
// what is rejected before anything starts. The bits of a run must not depend on threads, ranks, kills or how
// the file names its teacher; the printed words may change. The "question" of a run is the text of all that
// its bits depend on, by which `exp` recognizes equal runs.
#include <gtest/gtest.h>
#include <signal.h>

#include <set>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Returns tiny.toml with two blocks.
std::string teacher_experiment() {
  return replaced(tiny_experiment("teacher"), "layers = 1", "layers = 2");
}

/// Returns tiny.toml with gradient shards and [distil]: the run learns from scores, states and attention of
/// `teacher`, the value of distil.teacher.
std::string student(const std::string& teacher, const std::string& name = "student") {
  return tiny_experiment(name) + "gradient_shards = 2\ncheckpoint_every = 3\n[distil]\nteacher = " + teacher +
         "\ntemperature = 3.0\nhard_weight = 0.25\nstates = 0.5\nattention = 0.75\nrelation_heads = 4\n";
}

class Distil : public RealWorkerTest {
 protected:
  Distil() { write(sandbox_); }
  static void write(const Sandbox& sandbox) {
    sandbox.write("teacher.toml", teacher_experiment());
    sandbox.write("student.toml", student("{ experiment = \"teacher.toml\" }"));
    sandbox.write("named.toml", student("{ run = \"teacher\" }", "named"));
  }
  static std::vector<std::string> digests(const Sandbox& sandbox, const std::string& name) {
    return sandbox.query(
        "SELECT step || scope || value FROM current_digest JOIN run ON run.number = run WHERE name = '" +
        name + "' ORDER BY 1");
  }
  static std::string id_of(const Sandbox& sandbox, const std::string& name) {
    return sandbox.one("SELECT id FROM run WHERE name = '" + name + "'");
  }
};

TEST_F(Distil, OneCommandTrainsTeacherAndStudentAndBothAreNamed) {
  const json plan = json::parse(output_of({"plan", "student.toml", "--json"}));
  ASSERT_EQ(plan.at("runs").size(), 2U);
  EXPECT_EQ(plan.at("runs")[0].at("name"), "teacher");
  EXPECT_EQ(plan.at("runs")[1].at("learns_from"), "teacher");
  EXPECT_TRUE(contains(output_of({"plan", "student.toml"}), "learns from teacher"));

  output_of({"run", "student.toml", "-q", "-j", "2"});
  const std::string id = id_of(sandbox_, "teacher");
  const std::string sha256 = sandbox_.one(
      "SELECT artifact.sha256 FROM artifact JOIN run ON run.number = run WHERE artifact.name = 'weights' AND "
      "run.name = "
      "'teacher'");
  const json shown = json::parse(output_of({"show", "student", "--json"})).at("learns_from");
  EXPECT_EQ(shown.at("id"), id);
  EXPECT_EQ(shown.at("sha256"), sha256);
  EXPECT_TRUE(contains(output_of({"show", "student"}),
                       "learns from teacher (" + id + "), weights " + sha256.substr(0, 8)))
      << output_of({"show", "student"});
  EXPECT_EQ(json::parse(output_of({"show", "teacher", "--json"})).at("learns_from"), nullptr);
  EXPECT_TRUE(contains(output_of({"explain", "student"}), "learns from teacher"));
  EXPECT_TRUE(contains(output_of({"report", "student", "--format", "json"}),
                       "student learns from the scores of teacher (" + id + "), SHA-256 " + sha256));
  EXPECT_FALSE(output_of({"predict", "student", "Anna slept"}).empty());
  EXPECT_TRUE(contains(output_of({"run", "student.toml"}), "nothing to do: 2 of 2 runs are complete"));

  EXPECT_TRUE(contains(refusal_of({"rm", "teacher", "-y"}), "student needs its weights for exp verify"));
}

TEST_F(Distil, ATeacherOfTheDatabaseGivesTheSameBitsAndCountsByItsWeights) {
  output_of({"run", "student.toml", "-q"});
  EXPECT_TRUE(contains(output_of({"plan", "named.toml"}), "new; learns from teacher"));
  output_of({"run", "named.toml", "-q"});
  EXPECT_EQ(digests(sandbox_, "named"), digests(sandbox_, "student"));
  // A teacher of the database is in the question by the SHA-256 of its weights, a teacher that the command
  // trains first by its own question, because its weights do not exist when the plan is made.
  EXPECT_NE(sandbox_.one("SELECT question FROM run WHERE name = 'named'"),
            sandbox_.one("SELECT question FROM run WHERE name = 'student'"));
  // A teacher that is named by its id instead of its name is the same teacher; other weights are another one.
  const std::string question = sandbox_.one("SELECT question FROM run WHERE name = 'named'");
  output_of({"run", "teacher.toml", "-q", "--seed", "7", "--name", "other"});
  const auto planned = [&](const std::string& teacher) {
    return json::parse(output_of({"plan", "named.toml", "--json", "-S",
                                  "distil.teacher={ run = \"" + teacher + "\" }"}))
        .at("runs")
        .back()
        .at("question");
  };
  EXPECT_EQ(planned(id_of(sandbox_, "teacher")), question);
  EXPECT_NE(planned("other"), question);
}

TEST_F(Distil, AnyThreadsAndAnyKillEndWithTheSameBits) {
  output_of({"run", "student.toml", "-q", "--threads", "1"});
  const std::vector<std::string> whole = digests(sandbox_, "student");
  ASSERT_GT(whole.size(), 10U);
  Sandbox other(true);
  write(other);
  const pid_t process = other.start({"run", "student.toml", "-q", "--threads", "2"});
  ASSERT_TRUE(other.wait_until([&] {
    return std::filesystem::exists(other.folder() / "encore.db") &&
           other.one("SELECT count(*) FROM checkpoint JOIN run ON run.number = run WHERE name = 'student'") !=
               "0";
  }));
  ::kill(process, SIGKILL);
  for (const pid_t worker : other.workers()) ::kill(worker, SIGKILL);
  Sandbox::wait(process);
  ASSERT_TRUE(other.wait_until_no_workers());
  const runner::ProgramOutput output = other.exp({"run", "student.toml", "-q", "--threads", "2"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(digests(other, "student"), whole);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--threads", "2"}, {"--kill-at", "7"}}) {
    std::vector<std::string> arguments = {"verify", "student", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(json::parse(output_of(arguments)).at("outcome"), "equal") << options[0];
  }
  // If learning does not help on the development set, an earlier checkpoint is kept.
  write_contrary_set(sandbox_);
  output_of({"run", "student.toml", "-q", "--name", "scores", "-S", "distil.states=0", "-S",
             "distil.attention=0", "-S", "data.dev=contrary.conll"});
  const std::string best = sandbox_.one("SELECT result ->> '$.best_step' FROM run WHERE name = 'scores'");
  constexpr int last_step = 20;  // of tiny.toml
  EXPECT_LT(std::stoi(best), last_step);
  EXPECT_EQ(json::parse(output_of({"verify", "scores", "--json", "--from-checkpoint", best})).at("outcome"),
            "equal");
}

TEST_F(Distil, RanksTrainTheBitsOfOneProcess) {
  if (!Sandbox::has("mpirun")) GTEST_SKIP() << "mpirun is missing (on Debian openmpi-bin)";
  const runner::ProgramOutput version =
      runner::run_program(ENCORE_BUILD_DIR "/bin/encore-worker", {"version"});
  if (json::parse(version.output).at("mpi") == "") GTEST_SKIP() << "this worker has no MPI";
  output_of({"run", "student.toml", "-q"});
  output_of({"run", "named.toml", "-q", "--ranks", "2", "-t", "1"});
  EXPECT_EQ(digests(sandbox_, "named"), digests(sandbox_, "student"));
}

TEST_F(Distil, ScoresStatesAndAttentionAreLearned) {
  output_of({"run", "student.toml", "-q"});
  std::set<std::string> last = {digests(sandbox_, "student").back()};
  int students = 1;
  for (const std::string without : {"distil.hard_weight=1.0", "distil.states=0", "distil.attention=0"}) {
    const std::string name = "student" + std::to_string(++students);
    output_of({"run", "student.toml", "-q", "-S", without, "--name", name});
    EXPECT_TRUE(last.insert(digests(sandbox_, name).back()).second) << without;
  }
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run"), "5") << "all students share the teacher";
}

TEST_F(Distil, AWeightOfZeroIsTheSameQuestion) {
  output_of({"run", "teacher.toml", "-q"});
  const auto question = [&](const std::string& more) {
    sandbox_.write("named.toml",
                   tiny_experiment("named") + "[distil]\nteacher = { run = \"teacher\" }\n" + more);
    return json::parse(output_of({"plan", "named.toml", "--json"})).at("runs")[0].at("question");
  };
  EXPECT_EQ(question(""), question("states = 0.0\nattention = 0.0\n"));
  EXPECT_NE(question(""), question("states = 0.1\n"));
}

TEST_F(Distil, AMaskedLanguageModelLearnsFromAnother) {
  for (const std::string set : {"train", "dev", "test"}) {
    std::string words, line;
    std::istringstream in(sandbox_.read(set + ".conll"));
    while (std::getline(in, line))
      words += line.empty() ? "\n" : line.substr(0, line.find_first_of(" \t")) + " ";
    sandbox_.write(set + ".txt", words);
  }
  const auto language_model = [](std::string text) {
    text = replaced(text, "\"ner\"", "\"mlm\"\nprobability = 0.3");
    text = replaced(text, "\"conll\"", "\"text_file\"");
    for (int i = 0; i < 3; ++i) text = replaced(text, ".conll", ".txt");
    return replaced(text, "\"linear\"", "\"language_model\"");
  };
  sandbox_.write("teacher.toml", language_model(teacher_experiment()));
  sandbox_.write("student.toml", language_model(student("{ experiment = \"teacher.toml\" }")));
  output_of({"run", "student.toml", "-q"});
  EXPECT_EQ(json::parse(output_of({"verify", "student", "--threads", "2", "--json"})).at("outcome"), "equal");
}

TEST_F(Distil, RejectsTeachersThatDoNotFitBeforeTheStart) {
  output_of({"run", "teacher.toml", "-q"});
  const std::string named = student("{ run = \"teacher\" }", "named");
  // refusal() of the fixture expects that there is no database; here the teacher is in it.
  const auto refused = [&](const std::string& text) {
    sandbox_.write("named.toml", text);
    const std::string errors = refusal_of({"run", "named.toml"});
    EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run"), "1");
    return errors;
  };
  std::string text = replaced(named, "type = \"linear\"", "type = \"crf\"");
  EXPECT_TRUE(contains(refused(text),
                       "the head \"crf\" has no scores of classes by a softmax, so it cannot learn from a "
                       "teacher"));
  for (const std::string& student : {named, student("{ experiment = \"teacher.toml\" }", "named")}) {
    EXPECT_TRUE(contains(refused(replaced(student, "relation_heads = 4", "relation_heads = 3")),
                         "distil.relation_heads = 3 does not divide the 16 channels of this model's states"));
    text = replaced(student, "max_length = 32", "max_length = 64");
    EXPECT_TRUE(contains(
        refused(text),
        "named.toml:10:14: data.max_length = 64, and the teacher reads sequences of up to 32 tokens"))
        << refused(text);
    text = replaced(student, "type = \"wordpiece\"", "type = \"wordpiece\"\nlowercase = true");
    EXPECT_TRUE(contains(refused(text), "tokenizer.lowercase = true, and the teacher has false; "))
        << refused(text);
  }
  std::string tokens = sandbox_.read("encore.db.runs/" + id_of(sandbox_, "teacher") + "/vocab.txt");
  const std::size_t last = tokens.rfind('\n', tokens.size() - 2) + 1;
  const std::string token = tokens.substr(last, tokens.size() - last - 1);
  sandbox_.write("other.txt", tokens.substr(0, last) + "zz\n");
  const std::string vocabulary = refused(replaced(named, "vocab_size = 60", "vocab = \"other.txt\""));
  EXPECT_TRUE(contains(vocabulary, "the teacher cannot teach this model: \"" + token + "\" is number ") &&
              contains(vocabulary, " of its lines of vocabulary, and \"zz\" here"))
      << vocabulary;
  std::string corpus = sandbox_.read("train.conll");
  for (std::size_t at = 0; (at = corpus.find("-LOC", at)) != std::string::npos;)
    corpus.replace(at, 4, "-GPE");
  sandbox_.write("other.conll", corpus);
  text = replaced(replaced(named, "\"train.conll\"", "\"other.conll\""), "\"dev.conll\"", "\"other.conll\"");
  const std::string labels = refused(replaced(text, "\"test.conll\"", "\"other.conll\""));
  EXPECT_TRUE(contains(labels, "of its labels, and \"") && contains(labels, "-GPE\" here")) << labels;
}

TEST_F(Distil, TheTableIsExact) {
  const std::string named = student("{ run = \"teacher\" }", "named");
  EXPECT_TRUE(contains(refusal(named), "[distil] teacher: there is no run \"teacher\": the database"));
  EXPECT_TRUE(contains(refusal(replaced(named, "teacher = { run = \"teacher\" }\n", "")),
                       "[distil] names no teacher; write teacher = { run = \"NAME\" }"));
  EXPECT_TRUE(contains(refusal(replaced(named, "{ run = \"teacher\" }", "\"folder\"")),
                       "\"teacher\" of [distil] must be a table"));
  EXPECT_TRUE(contains(refusal(replaced(named, "{ run = \"teacher\" }", "{}")),
                       "[distil] teacher names no run; write teacher = { run = \"NAME\" }"));
  const std::string by_file = student("{ experiment = \"teacher.toml\" }");
  EXPECT_TRUE(contains(refusal(replaced(by_file, "temperature = 3.0", "temperature = 0.0")), "temperature"));
  EXPECT_TRUE(contains(refusal(replaced(by_file, "hard_weight = 0.25", "hard_weight = 1.5")), "hard_weight"));
  EXPECT_TRUE(
      contains(refusal(replaced(by_file, "hard_weight", "hard_wait")), "did you mean \"hard_weight\"?"));
  sandbox_.write("ring.toml", student("{ experiment = \"ring.toml\" }"));
  EXPECT_TRUE(contains(refusal_of({"plan", "ring.toml"}), "a run cannot start from itself"));
}

TEST_F(Distil, AChangedTeacherIsNamed) {
  output_of({"run", "student.toml", "-q"});
  const std::string file = "encore.db.runs/" + id_of(sandbox_, "teacher") + "/weights.safetensors";
  std::string bytes = sandbox_.read(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  sandbox_.write(file, bytes);
  const runner::ProgramOutput output = sandbox_.exp({"verify", "student"});
  EXPECT_NE(output.end.exit_code, 0);
  EXPECT_TRUE(contains(output.output + output.errors, "distil.teacher")) << output.output << output.errors;
}

}  // namespace
}  // namespace encore::system_test
