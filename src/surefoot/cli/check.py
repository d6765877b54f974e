"""``surefoot check``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.cli.checked_repair import AcceptedRepair, checked_repair, repair_in
from surefoot.errors import CertificateRejected, InputError, OutOfBudget, SurefootError, printable
from surefoot.options import CheckOptions
from surefoot.results import counted

if TYPE_CHECKING:
    from rich.text import Text

    from surefoot.cli.certificate_task import Tasks
    from surefoot.findings import Finding
    from surefoot.policies import Policy
    from surefoot.tasks.task import Task

Given = Annotated[
    str,
    Parameter(
        name="FILE",
        help="certificates of decide and verify, findings of faults or records of repair; one more "
        "at the end that is not called something.json or something.jsonl is the task",
    ),
]
OtherTask = Annotated[
    str | None,
    Parameter(
        help="the task; needed if the file does not say it, or if it is FILE.py:NAME",
    ),
]
PolicyText = Annotated[
    str | None,
    Parameter(help="the policy, to recompute its decisions; needed if it is FILE.py:NAME"),
]
Seed = Annotated[int, Parameter(help="changes nothing here: checking draws nothing at random")]


@dataclass(frozen=True)
class Accepted:
    """A certificate that proves its claim. If decisions of a policy were not recomputed,
    ``not_recomputed`` says why.
    """

    file: Path
    task: Task
    content: dict[str, Any]
    policy: Policy | None
    not_recomputed: str | None
    seconds: float

    @property
    def policy_name(self) -> str | None:
        """The policy that the claim is about, if it is about one."""
        name: str | None = self.content["policy"]
        return name

    def proved(self) -> dict[str, Any]:
        """Return what is proved, as plain data."""
        content = self.content
        values = content["states"][content["state"]]
        proved = {
            "accepted": True,
            "claim": content["claim"],
            "radius": content["radius"],
            "state": dict(zip(content["variables"], values, strict=True)),
            "states": len(content["states"]),
            "entries": len(content[_kind(content) + "s"]),
            "recomputed": None if content["radius"] is None else self.policy is not None,
        }
        why = self.not_recomputed
        return proved if why is None else {**proved, "not_recomputed": why}

    def text(self) -> Text:
        """Return what is proved, in words."""
        from rich.text import Text

        from surefoot.cli.decide_text import STYLES
        from surefoot.cli.state_text import labels_of, text_of

        proved = self.proved()
        state = text_of(proved["state"], labels_of(self.task))
        how = f"{counted(proved['entries'], _kind(self.content))} checked in {self.seconds:,.3f} s"
        return Text.assemble(
            (proved["claim"], STYLES[proved["claim"]]),
            f"{_within(self.content)}: {state} ({how}{_not_recomputed(self.not_recomputed)})",
        )


@dataclass(frozen=True)
class AcceptedFinding:
    """A finding in which everything is proved; the members as those of Accepted."""

    file: Path
    task: Task
    finding: Finding
    policy: Policy | None
    not_recomputed: str | None
    seconds: float

    @property
    def policy_name(self) -> str | None:
        """The policy that the finding is about."""
        return str(self.finding.content["policy"]["name"])

    def proved(self) -> dict[str, Any]:
        """Return what is proved, as plain data."""
        run = self.finding.content["run"]
        proved = {
            "accepted": True,
            "kind": self.finding.kind,
            "steps": self.finding.steps,
            "known_reachable": run["known_reachable"],
            **self._about(run["variables"]),
            "certificates": self.finding.size,
            "recomputed": self.policy is not None,
        }
        why = self.not_recomputed
        return proved if why is None else {**proved, "not_recomputed": why}

    def _about(self, variables: list[str]) -> dict[str, Any]:
        """Return the fault or bug with its states as objects."""
        about = dict(self.finding.about)
        for name in ("state", "outcome"):
            if name in about:
                about[name] = dict(zip(variables, about[name], strict=True))
        return about

    def text(self) -> Text:
        """Return what is proved, in words."""
        from rich.text import Text

        proved = self.proved()
        run = f"the policy fails after {counted(self.finding.steps, 'step')}"
        if not proved["known_reachable"]:
            run += " from a state that is not known to be reachable"
        certificates = counted(proved["certificates"], "certificate")
        how = f"{run}; {certificates} checked in {self.seconds:,.3f} s"
        return Text.assemble(
            (self.finding.kind, "bold red"),
            f"{self._what(proved)} ({how}{_not_recomputed(self.not_recomputed)})",
        )

    def _what(self, proved: dict[str, Any]) -> str:
        from surefoot.cli.state_text import labels_of, text_of

        radius = self.finding.radius
        within = "" if radius is None else f" within {counted(radius, 'difference')}"
        if "state" not in proved:
            return ""
        state = text_of(proved["state"], labels_of(self.task))
        if "action" not in proved:
            return f"{within}: {state} is safe"
        uncertified = proved["uncertified"]
        names = [printable(name) for name in proved["alternatives"] if name not in uncertified]
        text = f"{within}: {printable(proved['action'])} in {state}; safe instead: "
        text += ", ".join(names)
        if uncertified:
            text += f"; without certificate: {', '.join(map(printable, uncertified))}"
        return text


@dataclass(frozen=True)
class AcceptedPolicy:
    """A certificate that no run of a policy fails; ``head`` is its first line."""

    file: Path
    task: Task
    head: dict[str, Any]
    policy: Policy
    seconds: float
    not_recomputed: str | None = None

    @property
    def policy_name(self) -> str | None:
        """The policy that was asked."""
        return self.policy.name

    def proved(self) -> dict[str, Any]:
        """Return what is proved, as plain data."""
        kind = self._kind
        claim, count = self.head["claim"], self.head[kind]
        return {"accepted": True, "claim": claim, kind: count, "recomputed": True}

    @property
    def _kind(self) -> str:
        """What the lines of the certificate are."""
        return next(kind for kind in ("states", "boxes", "blocked") if kind in self.head)

    def text(self) -> Text:
        """Return what is proved, in words."""
        from rich.text import Text

        from surefoot.cli.decide_text import STYLES

        word = {"states": "state", "boxes": "box", "blocked": "blocked box"}[self._kind]
        how = f"{counted(self.head[self._kind], word)} checked in {self.seconds:,.3f} s"
        what = f": no run of policy {printable(self.policy.name)} fails ({how})"
        return Text.assemble(("safe", STYLES["safe"]), what)


def _not_recomputed(why: str | None) -> str:
    return "" if why is None else f"; decisions not recomputed: {why}"


Checked = Accepted | AcceptedFinding | AcceptedPolicy | AcceptedRepair


def check(
    *given: Given,
    task: OtherTask = None,
    policy: PolicyText = None,
    options: Annotated[CheckOptions, Parameter(name="*")] = CheckOptions(),
    seed: Seed = 0,
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Check certificates and findings: whether they prove what they claim.

    Reads the task that a certificate or finding names, compares its SHA-256, and
    goes through it with code that shares nothing with the oracles. The run of a
    finding is stepped through, and the policy asked for each decision again; for
    that of verify it is asked in each state that it reaches.
    Exit code 0 if all are accepted, 5 if one is rejected, 4 if time runs out.

    For example:
      surefoot check surefoot-certificates/unsafe-2c26b46b68ffc68f.json
      surefoot check findings/fault-*.json
      surefoot check unsafe.json truck.py:truck --policy truck.py:careful
    """
    from surefoot.cli.certificate_task import Tasks
    from surefoot.cli.output import json_text

    options = checked_options(options)
    begin = time.perf_counter()
    files, source = _files_and_task(given, task)
    tasks = Tasks(source, task_arguments)
    said = {**asdict(options), "policy": policy, **task_arguments.given()}
    if len(files) == 1:
        found = _checked(files[0], tasks, policy, options)
        if json:
            said = {**said, "file": str(files[0])}
            print(json_text(_document(found, said, seed, time.perf_counter() - begin)))
        else:
            _print(found)
        return 0
    about, worst = [], 0
    for file in files:
        result = _checked_or_error(file, tasks, policy, options)
        about.append(_about(file, result))
        if isinstance(result, SurefootError):
            worst = max(worst, result.exit_code)
        if not json:
            _tell(result)
    if json:
        said = {**said, "files": list(map(str, files)), "task": source}
        print(json_text(_documents(about, said, seed, time.perf_counter() - begin)))
    return worst


def _files_and_task(given: Sequence[str], task: str | None) -> tuple[list[Path], str | None]:
    """Return the files and the task, which may be the last of what is given."""
    files = list(given)
    if task is None and len(files) > 1 and not files[-1].endswith((".json", ".jsonl")):
        task = files.pop()
    if not files:
        raise InputError("bad-option", "give the file of a certificate or finding")
    return list(map(Path, files)), task


def _checked(file: Path, tasks: Tasks, policy: str | None, options: CheckOptions) -> Checked:
    """Return the certificate or finding of a file if it is accepted. Raises CertificateRejected,
    OutOfBudget, and InputError for what is neither or about another task.
    """
    from surefoot.cli.progress import Progress

    with redirect_stdout(sys.stderr), Progress("reading the file"):
        from surefoot.certificates import certificate_from, read_policy_head
        from surefoot.files import read_json
        from surefoot.findings import finding_from

        head = read_policy_head(file)
        if head is not None:
            return _checked_policy(head, file, tasks, policy, options)
        content = read_json(file)
        repair = repair_in(content, file)
        is_finding = isinstance(content, dict) and "finding" in content
        finding = finding_from(content, file) if is_finding else None
        content = content if is_finding or repair else certificate_from(content, file)
        task = tasks.of(file, content["task"])
    try:
        if repair is not None:
            return checked_repair(repair, file, task, policy, options)
        if finding is not None:
            return _checked_finding(finding, file, task, policy, options)
        return _checked_certificate(content, file, task, policy, options)
    except (CertificateRejected, OutOfBudget) as error:
        raise error.at(file=str(file)) from None


def _checked_certificate(
    content: dict[str, Any],
    file: Path,
    task: Task,
    policy: str | None,
    options: CheckOptions,
) -> Accepted:
    from surefoot.certificates import check_content
    from surefoot.cli.certificate_task import policy_of
    from surefoot.cli.progress import Progress

    with redirect_stdout(sys.stderr), Progress("checking"):
        who, why = policy_of(file, content, policy, task)
        begin = time.perf_counter()
        check_content(task, content, policy=who, max_seconds=options.max_seconds)
    return Accepted(file, task, content, who, why, time.perf_counter() - begin)


def _checked_finding(
    finding: Finding,
    file: Path,
    task: Task,
    policy: str | None,
    options: CheckOptions,
) -> AcceptedFinding:
    from surefoot.cli.certificate_task import policy_of_finding
    from surefoot.cli.progress import Progress

    with redirect_stdout(sys.stderr), Progress("checking"):
        who, why = policy_of_finding(finding, policy, task)
        begin = time.perf_counter()
        finding.check(task, who, max_seconds=options.max_seconds, recompute=who is not None)
    return AcceptedFinding(file, task, finding, who, why, time.perf_counter() - begin)


def _checked_policy(
    head: dict[str, Any], file: Path, tasks: Tasks, policy: str | None, options: CheckOptions
) -> AcceptedPolicy:
    """Return the certificate of a policy if it is accepted, as ``_checked`` does."""
    from surefoot.certificates import check_policy_certificate

    task = tasks.of(file, head["task"])
    who = _policy_of_head(head, file, task, policy)
    begin = time.perf_counter()
    try:
        check_policy_certificate(task, file, policy=who, max_seconds=options.max_seconds)
    except (CertificateRejected, OutOfBudget) as error:
        raise error.at(file=str(file)) from None
    return AcceptedPolicy(file, task, head, who, time.perf_counter() - begin)


def _policy_of_head(head: dict[str, Any], file: Path, task: Task, given: str | None) -> Policy:
    """Return the policy given, or the one that the certificate names; without it there is nothing
    to check. Raises InputError if it cannot be found, or if that would run code.
    """
    from surefoot.findings import Finding
    from surefoot.policies import load_policy

    if given is not None and ".py:" in given:
        return load_policy(given, task)
    name = head["policy"]["name"] if given is None else given
    said = Finding({"policy": {**head["policy"], "name": name}}, file=file)
    try:
        return said.find_policy(task)
    except InputError as error:
        if error.code == "finding-runs-code":
            error.code = "certificate-runs-code"
        if error.code in ("certificate-runs-code", "unknown-policy"):
            error.hint = f"give the policy: surefoot check {printable(str(file))} --policy POLICY"
        raise


def _checked_or_error(
    file: Path, tasks: Tasks, policy: str | None, options: CheckOptions
) -> Checked | SurefootError:
    try:
        return _checked(file, tasks, policy, options)
    except SurefootError as error:
        return error.at(file=str(file))


def _document(found: Checked, options: dict[str, Any], seed: int, seconds: float) -> dict[str, Any]:
    from surefoot.cli.output import document

    return document(
        "check",
        found.task,
        policy=found.policy_name,
        policy_sha256=None if found.policy is None else found.policy.sha256,
        options=options,
        seed=seed,
        seconds=seconds,
        result=found.proved(),
    )


def _about(file: Path, result: Checked | SurefootError) -> dict[str, Any]:
    """Return what became of one file of several, as plain data."""
    if isinstance(result, SurefootError):
        return {"file": str(file), "accepted": False, "error": result.to_dict()}
    return {"file": str(file), "task": result.task.name, **result.proved()}


def _documents(
    about: list[dict[str, Any]], options: dict[str, Any], seed: int, seconds: float
) -> dict[str, Any]:
    from surefoot import __version__
    from surefoot.cli.output import peak_memory_mb

    return {
        "surefoot": __version__,
        "command": "check",
        "options": options,
        "seed": seed,
        "seconds": seconds,
        "peak_memory_mb": peak_memory_mb(),
        "certificates": about,
    }


def _kind(content: dict[str, Any]) -> str:
    return "choice" if content["claim"] == "safe" else "rank"


def _tell(result: Checked | SurefootError) -> None:
    """Print what became of one file of several."""
    if isinstance(result, SurefootError):
        sys.stdout.flush()
        print(f"error: {result}", file=sys.stderr, flush=True)
    else:
        _print(result, name=f"{printable(str(result.file))}: ")


def _print(found: Checked, *, name: str = "") -> None:
    from rich.text import Text

    from surefoot.cli.output import console
    from surefoot.tasks.python_task import PythonTask

    out = console()
    out.print(Text.assemble(f"{name}accepted: ", found.text()))
    if found.not_recomputed is not None:
        what = {Accepted: "certificate", AcceptedRepair: "repair"}.get(type(found), "finding")
        out.print(f"the policy's decisions are those of the {what}; --policy recomputes them")
    if isinstance(found.task, PythonTask):
        out.print("Python code defines the task: whether it is the same one, nobody can tell")


def _within(content: dict[str, Any]) -> str:
    radius = content["radius"]
    if radius is None:
        return ""
    policy = printable(content["policy"])
    if radius == "finite":
        return f" within every finite number of differences from {policy}"
    return f" within {counted(radius, 'difference')} from {policy}"
