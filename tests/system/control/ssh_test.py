#!/usr/bin/env python3
"""exp run --launcher over a real sshd: two hosts of an ssh configuration, both this machine, on a port, with a host key and an authorized
key of their own in a temporary folder. Connections are cut while workers work; the runs end with the digests of local ones.

    ENCORE_TEST_SSHD=1 ssh_test.py EXP FAKE_WORKER

A daemon is started only where ENCORE_TEST_SSHD is set. Exit status 77: skipped, with the reason.
"""
import getpass, glob, os, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from sweep_overhead import EXPERIMENT

PATIENCE = 120  # seconds until something has gone wrong
DIGESTS = """SELECT run.name, digest.scope, value FROM digest JOIN run ON run.number = digest.run
             WHERE step = (SELECT max(step) FROM digest AS other WHERE other.run = digest.run) ORDER BY 1, 2, 3"""


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def query(folder, text):
    with sqlite3.connect(os.path.join(folder, "encore.db")) as database:
        return database.execute(text).fetchall()


def children_of(process):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as stat:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == process:
                    found.append(int(name))
        except OSError:
            pass
    return found


class Server:
    """sshd in the foreground; its configuration lets this user alone in, by one key."""

    def __init__(self, folder, variables):
        sshd = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not sshd or not shutil.which("ssh") or not shutil.which("ssh-keygen"):
            skip("sshd, ssh or ssh-keygen is missing: apt-get install openssh-server openssh-client")
        if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):
            os.makedirs("/run/sshd", mode=0o755)  # without it sshd does not start as root
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, name)], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        shutil.copy(os.path.join(folder, "user.pub"), os.path.join(folder, "authorized"))
        server, self.client = os.path.join(folder, "sshd_config"), os.path.join(folder, "ssh_config")
        with open(server, "w") as file:
            file.write(f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\nPidFile none\n"
                       f"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nAllowUsers {getpass.getuser()}\n"
                       "SetEnv " + " ".join(f"{name}={value}" for name, value in variables.items()) + "\n")
        with open(self.client, "w") as file:
            file.write(f"Host one two\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentityFile {folder}/user\n"
                       "  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  LogLevel ERROR\n"
                       f"  UserKnownHostsFile {folder}/known\n  BatchMode yes\n")
        self.process = subprocess.Popen([sshd, "-D", "-e", "-f", server], stderr=open(os.path.join(folder, "sshd.log"), "w"))
        until = time.monotonic() + PATIENCE
        while subprocess.run(["ssh", "-F", self.client, "one", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > until:
                print(open(os.path.join(folder, "sshd.log")).read())
                self.process.kill()
                sys.exit("sshd lets nobody in")
            time.sleep(0.2)

    def cut(self):
        """Ends every connection, waits until all are gone, and says how many there were."""
        connections = children_of(self.process.pid)
        for connection in connections:
            for process in [*children_of(connection), connection]:
                try:
                    with open(f"/proc/{process}/comm") as comm:
                        if comm.read().startswith("sshd"):
                            os.kill(process, signal.SIGKILL)
                except OSError:
                    pass
        until = time.monotonic() + PATIENCE
        while set(connections) & set(children_of(self.process.pid)):
            assert time.monotonic() < until, "a connection was not cut"
            time.sleep(0.05)
        return len(connections)


def main():
    exp, worker = sys.argv[1:3]
    if not os.environ.get("ENCORE_TEST_SSHD"):
        skip("starts an sshd on the loopback only where ENCORE_TEST_SSHD=1 is set")
    folder = tempfile.mkdtemp()
    local, remote, keys = (os.path.join(folder, name) for name in ("local", "remote", "keys"))
    for name in (local, remote, keys):
        os.mkdir(name)
    for name in (local, remote):
        with open(os.path.join(name, "train.conll"), "w") as file:
            file.write("Anna\tB-PER\nlives\tO\nin\tO\nLund\tB-LOC\n.\tO\n\n" * 20)
        with open(os.path.join(name, "sweep.toml"), "w") as file:
            file.write("seeds = [1, 2, 3, 4]\n" + EXPERIMENT)
    environment = {**os.environ, "ENCORE_WORKER": worker, "ENCORE_DB": "encore.db", "FAKE_STEP_MS": "0"}
    server = Server(keys, {"FAKE_STEP_MS": "100", "OMP_NUM_THREADS": "1"})
    try:
        subprocess.run([exp, "run", "sweep.toml", "-q"], cwd=local, env=environment, check=True)
        command = [exp, "run", "sweep.toml", "--launcher", f"ssh -F {server.client} {{host}} {{command}}", "--hosts", "one,two"]
        with open(os.path.join(folder, "output"), "w") as output:
            first = subprocess.Popen(command, cwd=remote, env=environment, stdout=output, stderr=output)
            until = time.monotonic() + PATIENCE
            while len(glob.glob(os.path.join(remote, "encore.db.runs", "*", "*.spool"))) < 2:
                assert first.poll() is None and time.monotonic() < until, open(os.path.join(folder, "output")).read()
                time.sleep(0.05)
            cut = server.cut()
            try:
                first.wait(PATIENCE)
            finally:
                first.kill()
        print(open(os.path.join(folder, "output")).read())
        assert cut >= 2, f"{cut} connections were there to be cut, two workers worked"
        states = []
        while states != [("completed", 4)]:
            assert time.monotonic() < until + PATIENCE, states
            again = subprocess.run(command, cwd=remote, env=environment, capture_output=True, text=True, timeout=PATIENCE)
            print(again.stdout + again.stderr)
            states = query(remote, "SELECT state, count(*) FROM run GROUP BY state")
            time.sleep(0.5)
        assert {host for (host,) in query(remote, "SELECT DISTINCT host_name FROM attempt")} == {"one", "two"}
        twice = query(remote, "SELECT 1 FROM current_point GROUP BY run, metric, step HAVING count(*) > 1")
        assert twice == [], f"{len(twice)} points stand twice"
        expected = query(local, DIGESTS)
        assert expected and query(remote, DIGESTS) == expected, "other digests than by local runs"
    finally:
        server.cut()
        server.process.terminate()
        server.process.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
