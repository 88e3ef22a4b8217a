// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp run --launcher ssh` (runner/launched_runs.hpp) over a real sshd, which listens on a free port of
// 127.0.0.1 with a host key and one authorized key of its own, all in the test's folder. Two names in an ssh
// client's configuration stand for two machines. Runs only if ENCORE_TEST_SSHD is set. The bits must be those
// of a local run.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <encore/error.hpp>

#include "system/control/hold.hpp"

namespace encore::system_test {
namespace {

/// Returns a free port, which the kernel chooses.
int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = ::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(listener);
  if (!bound) throw Error("no port of 127.0.0.1 is free");
  return ntohs(address.sin_port);
}

/// Returns the direct children of a process.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "stat");
    std::string line;
    std::getline(in, line);
    const std::size_t behind_name = line.rfind(')');
    if (behind_name == std::string::npos) continue;
    std::istringstream fields(line.substr(behind_name + 1));
    char state = 0;
    pid_t its_parent = 0;
    if (fields >> state >> its_parent && its_parent == parent) children.push_back(std::stoi(name));
  }
  return children;
}

class SshLauncher : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("ENCORE_TEST_SSHD") == nullptr)
      GTEST_SKIP() << "starts an sshd on 127.0.0.1 only where ENCORE_TEST_SSHD=1 is set";
    sshd_ = sandbox_.shell("PATH=$PATH:/usr/sbin command -v sshd").output;
    sshd_ = sshd_.substr(0, sshd_.find('\n'));
    if (sshd_.empty() || !Sandbox::has("ssh"))
      GTEST_SKIP() << "sshd is missing: apt-get install openssh-server openssh-client";
    write_configuration();
    // A machine may exclude its users from every sshd, which is not a fault of the launcher.
    if (const runner::ProgramOutput login = sandbox_.shell("bin/ssh one true"); !login.end.success())
      GTEST_SKIP() << "sshd does not let this user in: " << login.errors << sandbox_.read("ssh/sshd.log");
    sandbox_.set("FAKE_STEP_MS", "1");
    write_sweep(sandbox_);
  }
  void TearDown() override {
    if (daemon_ == 0) return;
    for (const pid_t connection : children_of(daemon_)) ::kill(connection, SIGKILL);
    ::kill(daemon_, SIGTERM);
  }

  /// Starts the daemon as well.
  void write_configuration() {
    const std::string folder = (sandbox_.folder() / "ssh").string();
    const std::string port = std::to_string(free_port());
    sandbox_.write("ssh/sshd_config", "ListenAddress 127.0.0.1\nPort " + port + "\nHostKey " + folder +
                                          "/host_key\nPidFile " + folder + "/sshd.pid\nAuthorizedKeysFile " +
                                          folder +
                                          "/authorized_keys\nStrictModes no\nPasswordAuthentication no\n"
                                          "PermitRootLogin prohibit-password\nAcceptEnv *\n");
    sandbox_.write("ssh/config", "Host dark\n  Port " + std::to_string(free_port()) +
                                     "\nHost one two\n  Port " + port +
                                     "\nHost *\n  HostName 127.0.0.1\n  IdentityFile " + folder +
                                     "/key\n  IdentitiesOnly yes\n  UserKnownHostsFile " + folder +
                                     "/known_hosts\n  StrictHostKeyChecking accept-new\n  LogLevel ERROR\n"
                                     "  SendEnv FAKE_* PAUSE_AT\n");
    // `--launcher ssh` itself takes no options; a user has them in ~/.ssh/config.
    std::string ssh = sandbox_.shell("command -v ssh").output;
    ssh.resize(ssh.find('\n'));
    sandbox_.write("bin/ssh", "#!/bin/sh\nexec " + ssh + " -F " + folder + "/config \"$@\"\n");
    const char* path = std::getenv("PATH");
    sandbox_.set("PATH",
                 (sandbox_.folder() / "bin").string() + ":" + (path == nullptr ? "/usr/bin:/bin" : path));
    const std::string make_keys =
        "chmod +x bin/ssh; ssh-keygen -q -t ed25519 -N '' -f ssh/key && cp ssh/key.pub ssh/authorized_keys "
        "&& "
        "ssh-keygen -q -t ed25519 -N '' -f ssh/host_key";
    const std::string make_folder = "{ [ $(id -u) != 0 ] || mkdir -p -m 755 /run/sshd; }";
    const runner::ProgramOutput started =
        sandbox_.shell(make_keys + " && " + make_folder + " && " + sshd_ + " -f " + folder +
                       "/sshd_config -E " + folder + "/sshd.log </dev/null >ssh/printed 2>&1");
    ASSERT_TRUE(started.end.success()) << started.errors << sandbox_.read("ssh/printed");
    ASSERT_TRUE(eventually([&] {
      std::ifstream(folder + "/sshd.pid") >> daemon_;
      return daemon_ > 0;
    }));
  }

  static void write_sweep(const Sandbox& sandbox) {
    std::string text = tiny_experiment("s");
    replace_first(text, "seed = 1", "seeds = [1, 2, 3, 4]");
    sandbox.write("sweep.toml", text);
  }
  static std::vector<std::string> launched(const std::string& hosts) {
    return {"run", "sweep.toml", "--launcher", "ssh", "--hosts", hosts};
  }

  /// Training over ssh gives the same bits as one machine, and each point once.
  void expect_like_local() {
    EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run WHERE state = 'completed'"), "4");
    EXPECT_EQ(
        sandbox_.one("SELECT count(*) FROM (SELECT 1 FROM current_point GROUP BY run, metric, step HAVING "
                     "count(*) > 1)"),
        "0");
    const char* digests =
        "SELECT group_concat(text) FROM (SELECT run.name || ' ' || scope || ' ' || step || ' ' || value AS "
        "text FROM current_digest JOIN run ON run.number = current_digest.run ORDER BY text)";
    Sandbox local;
    write_sweep(local);
    EXPECT_EQ(local.exp({"run", "sweep.toml"}).end.exit_code, 0);
    const std::string expected = local.one(digests);
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(sandbox_.one(digests), expected);
  }

  Sandbox sandbox_;
  std::string sshd_;
  pid_t daemon_ = 0;
};

TEST_F(SshLauncher, ASweepOverTwoHostsHasTheBitsOfALocalOne) {
  const runner::ProgramOutput output = sandbox_.exp(launched("one,two"));
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_EQ(
      sandbox_.one("SELECT group_concat(DISTINCT host_name) FROM (SELECT host_name FROM attempt ORDER BY 1)"),
      "one,two");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), "4");
  expect_like_local();
}

TEST_F(SshLauncher, ACommandOfOnesOwnTakesOptionsOfSsh) {
  const runner::ProgramOutput output =
      sandbox_.exp({"run", "sweep.toml", "--launcher", "ssh -F ssh/config -o BatchMode=yes {host} {command}",
                    "--hosts", "one,two"});
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  expect_like_local();
}

TEST_F(SshLauncher, ConnectionsThatBreakInTheMiddleLoseNothing) {
  Hold hold(sandbox_, 8);
  const pid_t exp = sandbox_.start(launched("one,two"));
  ASSERT_EQ(hold.wait_for(2).size(), 2u) << sandbox_.read("output.txt");
  const std::vector<pid_t> connections = children_of(daemon_);
  EXPECT_EQ(connections.size(), 2u);
  for (const pid_t connection : connections) ::kill(connection, SIGKILL);
  EXPECT_TRUE(eventually([&] { return children_of(daemon_).empty(); }));
  hold.release();
  const std::optional<runner::ProcessEnd> end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0) << sandbox_.read("output.txt");
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), "4") << "no worker had to begin again";
  expect_like_local();
}

TEST_F(SshLauncher, ConnectionsThatBreakTogetherWithTheirExpLoseNothing) {
  Hold hold(sandbox_, 8);
  const pid_t exp = sandbox_.start(launched("one,two"));
  ASSERT_EQ(hold.wait_for(2).size(), 2u) << sandbox_.read("output.txt");
  ::kill(exp, SIGKILL);
  Sandbox::wait(exp);
  for (const pid_t connection : children_of(daemon_)) ::kill(connection, SIGKILL);
  hold.release();
  EXPECT_TRUE(eventually([&] {
    sandbox_.exp({"status"});
    return sandbox_.one("SELECT count(*) FROM run WHERE state = 'completed'") == "2";
  }));
  const runner::ProgramOutput rest = sandbox_.exp(launched("one,two"));
  EXPECT_EQ(rest.end.exit_code, 0) << rest.output << rest.errors;
  EXPECT_EQ(sandbox_.one("SELECT count(*) FROM attempt"), "4");
  expect_like_local();
}

TEST_F(SshLauncher, AHostThatRefusesTheConnectionIsNamedAndTheOtherOneDoesTheWork) {
  const runner::ProgramOutput output = sandbox_.exp(launched("dark,one"));
  EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors, "could not be started on dark")) << output.errors;
  EXPECT_TRUE(contains(output.errors, "Connection refused")) << output.errors;
  expect_like_local();
}

TEST_F(SshLauncher, AKeyThatIsNotAuthorizedIsTheReason) {
  sandbox_.write("ssh/authorized_keys", "");
  const runner::ProgramOutput output = sandbox_.exp(launched("one"));
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors, "Permission denied")) << output.errors;
}

}  // namespace
}  // namespace encore::system_test
