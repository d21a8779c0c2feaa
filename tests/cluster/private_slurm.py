"""A Slurm of two nodes on this machine, of the user who starts it, that listens on the loopback address alone.

    python3 tests/cluster/private_slurm.py      starts it, prints what to export, and waits for Ctrl-C

Needs slurmctld, slurmd and the user's commands (Debian: slurm-wlm). No systemd, no cgroups, no munge.
"""
import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NODES = ("n1", "n2")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo")


def program(name):
    """The path of a program of Slurm; the daemons lie where a user's PATH does not look."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/sbin")


def missing():
    """Programs that a test needs and this machine does not have."""
    return [name for name in PROGRAMS if not program(name)]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def until(condition, seconds, what):
    """Waits for a condition; what it came to, or an exception that says what was waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.1)
    raise TimeoutError(f"after {seconds} s: {what}")


class PrivateSlurm:
    def __init__(self, cores=2, forget_after=300):
        self.folder = Path(tempfile.mkdtemp(prefix="heed-slurm-"))
        self.cores, self.forget_after = cores, forget_after
        self.processes = {}
        atexit.register(self.stop)

    # ---- the files ---------------------------------------------------------------------------------------------------

    def configure(self):
        host, user = socket.gethostname().split(".")[0], pwd.getpwuid(os.getuid()).pw_name
        control, *ports = free_ports(1 + len(NODES))
        for name in ("state", "spool", "log"):
            (self.folder / name).mkdir(exist_ok=True)
        lines = [
            "ClusterName=heedtest", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmUser={user}", f"SlurmdUser={user}",
            f"SlurmctldPort={control}", "AuthType=auth/none", "CredType=cred/none", "AuthInfo=cred_expire=5",
            "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "MpiDefault=none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core",
            "SlurmdParameters=config_overrides", "AccountingStorageType=accounting_storage/none",
            "JobAcctGatherType=jobacct_gather/none", "JobCompType=jobcomp/filetxt",
            f"JobCompLoc={self.folder}/log/jobs.txt", "ReturnToService=2", "MailProg=/bin/true",
            "SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1",
            f"StateSaveLocation={self.folder}/state", f"SlurmdSpoolDir={self.folder}/spool/%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid", f"SlurmdPidFile={self.folder}/slurmd-%n.pid",
            f"SlurmctldLogFile={self.folder}/log/slurmctld.txt", f"SlurmdLogFile={self.folder}/log/slurmd-%n.txt",
            "SlurmdTimeout=10", "SlurmctldTimeout=10", "KillWait=10", f"MinJobAge={self.forget_after}",
            "InactiveLimit=0", "EnforcePartLimits=ALL", "MessageTimeout=5", "PreemptMode=REQUEUE",
            "PreemptType=preempt/partition_prio",
        ]
        for node, port in zip(NODES, ports):
            lines.append(f"NodeName={node} NodeHostName={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cores} "
                         "RealMemory=4000 State=UNKNOWN")
        lines += ["PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1",
                  "PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10",
                  "PartitionName=short Nodes=ALL MaxTime=5 State=UP PriorityTier=1"]
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        if self.version() >= 24:  # which else looks for cgroups; before, it doesn't know the word
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")

    @staticmethod
    def version():
        """22 for "slurm-wlm 22.05.8"."""
        words = subprocess.run([program("slurmctld"), "-V"], capture_output=True, text=True, timeout=60).stdout.split()
        return int(words[-1].split(".")[0])

    def environment(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "SQUEUE_"))}
        environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        return environment

    # ---- processes ---------------------------------------------------------------------------------------------------

    def _start(self, name, words):
        out = open(self.folder / "log" / f"{name}-out.txt", "ab")
        self.processes[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                env=self.environment(), start_new_session=True)

    def start(self):
        self.configure()
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        until(lambda: self.idle_nodes() == len(NODES), 60, f"the nodes are idle\n{self.logs()}")
        return self

    def start_controller(self):
        self._start("slurmctld", [program("slurmctld"), "-D"])

    def start_node(self, node):
        self._start(node, [program("slurmd"), "-D", "-N", node])

    def kill_controller(self):
        self._end("slurmctld", signal.SIGKILL)

    def kill_node(self, node):
        """As if its power were cut: the daemon with all that runs under it. All are halted before the first is killed, and
        those first that would report the others' end."""
        steps = self._steps(node)  # a step's own daemon leaves slurmd's family
        all_of_it = [one for pid in [self.processes[node].pid, *steps] for one in self._family(pid)]
        all_of_it.sort(key=lambda pid: "slurmstepd" not in self._name(pid))
        for how in (signal.SIGSTOP, signal.SIGKILL):
            for pid in all_of_it:
                try:
                    os.kill(pid, how)
                except ProcessLookupError:
                    pass
        self._end(node, signal.SIGKILL)
        for pid in self._steps(node):  # that began meanwhile
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def _end(self, name, how):
        process = self.processes.pop(name, None)
        if process and process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @staticmethod
    def _stats():
        """Of all processes: the parent of each."""
        parents = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                except (OSError, IndexError, ValueError):
                    pass
        return parents

    def _family(self, pid):
        parents, family = self._stats(), [pid]
        for one in family:
            family += [child for child, parent in parents.items() if parent == one]
        return family

    def _all(self, *more):
        """Processes that have this Slurm's configuration in their environment, and these words."""
        wanted = {word.encode() for word in (f"SLURM_CONF={self.folder}/slurm.conf", *more)}
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and wanted <= set((entry / "environ").read_bytes().split(b"\0")):
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def _steps(self, node):
        """Processes of steps that run on the node."""
        found = []
        for pid in self._all(f"SLURMD_NODENAME={node}"):
            found.append(pid)
            parent = self._stats().get(pid)
            if parent and "slurmstepd" in self._name(parent):
                found.append(parent)
        return found

    @staticmethod
    def _name(pid):
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""

    def stop(self):
        for node in NODES:
            if node in self.processes:
                self.kill_node(node)
        self._end("slurmctld", signal.SIGTERM)
        for pid in self._all():  # steps of nodes that were killed before
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- its commands ------------------------------------------------------------------------------------------------

    def command(self, *words, check=False):
        return subprocess.run([program(words[0]), *words[1:]], env=self.environment(), capture_output=True, text=True,
                              timeout=60, check=check)

    def save(self):
        """Has the controller save all that it knows now: one that is killed goes on from there. By itself it does so
        when jobs are submitted, and not when they start."""
        begin = time.time()
        self.command("scontrol", "reconfigure", check=True)
        until(lambda: (self.folder / "state" / "job_state").stat().st_mtime > begin, 60, "the controller saves its state")

    def idle_nodes(self):
        return self.command("sinfo", "-h", "-N", "-p", "main", "-o", "%N %T").stdout.split().count("idle")

    def jobs(self):
        """Of each task: its job, state and node."""
        lines = self.command("squeue", "-h", "-r", "--states=all", "-o", "%F_%K|%T|%N|%j").stdout.splitlines()
        return [line.split("|") for line in lines]

    def logs(self):
        text = ""
        for file in sorted((self.folder / "log").glob("*")):
            text += f"---- {file.name}\n" + "".join(file.read_text(errors="replace").splitlines(keepends=True)[-15:])
        return text


def main():
    gone = missing()
    if gone:
        sys.exit(f"these programs of Slurm are missing: {', '.join(gone)} (Debian: slurm-wlm)")
    slurm = PrivateSlurm()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    slurm.start()
    print(f"export SLURM_CONF={slurm.folder}/slurm.conf", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
