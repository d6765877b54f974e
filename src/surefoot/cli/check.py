"""``surefoot check``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.cli.checked_policy import interface_member, interface_text
from surefoot.cli.checked_repair import AcceptedRepair, checked_repair, repair_in
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import CertificateRejected, InputError, OutOfBudget, SurefootError, printable
from surefoot.options import CheckOptions
from surefoot.text import counted

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
        """The policy that the claim is about, if it is about one: that which was asked, if any."""
        name: str | None = self.content["policy"] if self.policy is None else self.policy.name
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
        proved |= interface_member(self.policy)
        why = self.not_recomputed
        return proved if why is None else {**proved, "not_recomputed": why}

    def text(self) -> Text:
        """Return what is proved, in words."""
        from rich.text import Text

        from surefoot.cli.decide_text import STYLES
        from surefoot.cli.state_text import labels_of, text_of

        proved = self.proved()
        state = text_of(proved["state"], labels_of(self.task))
        summary = (
            f"{counted(proved['entries'], _kind(self.content))} checked in {self.seconds:,.3f} s"
        )
        within = _within(self.content["radius"], self.policy_name)
        return Text.assemble(
            (proved["claim"], STYLES[proved["claim"]]),
            f"{within}: {state} ({summary}{_not_recomputed(self.not_recomputed)})",
            interface_text(proved),
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
        """The policy that the finding is about: that which was asked, if any."""
        named = self.finding.content["policy"]["name"]
        return str(named) if self.policy is None else self.policy.name

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
        proved |= interface_member(self.policy)
        why = self.not_recomputed
        return proved if why is None else {**proved, "not_recomputed": why}

    def _about(self, variables: list[str]) -> dict[str, object]:
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
        summary = f"{run}; {certificates} checked in {self.seconds:,.3f} s"
        return Text.assemble(
            (self.finding.kind, "bold red"),
            f"{self._what(proved)} ({summary}{_not_recomputed(self.not_recomputed)})",
            interface_text(proved),
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
        text = f"{within}: {printable(proved['action'])} in {state}; safe alternative: "
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

    def proved(self) -> dict[str, object]:
        """Return what is proved, as plain data."""
        kind = self._kind
        claim, count = self.head["claim"], self.head[kind]
        proved = {"accepted": True, "claim": claim, kind: count, "recomputed": True}
        return proved | interface_member(self.policy)

    @property
    def _kind(self) -> str:
        """What the lines of the certificate are."""
        return next(kind for kind in ("states", "boxes", "blocked") if kind in self.head)

    def text(self) -> Text:
        """Return what is proved, in words."""
        from rich.text import Text

        from surefoot.cli.decide_text import STYLES

        word = {"states": "state", "boxes": "box", "blocked": "blocked box"}[self._kind]
        summary = f"{counted(self.head[self._kind], word)} checked in {self.seconds:,.3f} s"
        what = f": no run of policy {printable(self.policy.name)} fails ({summary})"
        return Text.assemble(("safe", STYLES["safe"]), what, interface_text(self.proved()))


def _not_recomputed(why: str | None) -> str:
    return "" if why is None else f"; decisions not recomputed: {why}"


Checked = Accepted | AcceptedFinding | AcceptedPolicy | AcceptedRepair


def check(
    *given: Given,
    task: OtherTask = None,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
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
    deadline = Deadline(options.max_seconds, options.memory_mb)
    begin = time.perf_counter()
    files, source = _files_and_task(given, task)
    tasks = Tasks(source, task_arguments)
    arguments = {**asdict(options), **policy.given(), **task_arguments.given()}
    if len(files) == 1:
        checked = _accepted_file(files[0], tasks, policy, deadline)
        if json:
            arguments = {**arguments, "file": str(files[0])}
            print(json_text(_document(checked, arguments, seed, time.perf_counter() - begin)))
        else:
            _print(checked)
        return 0
    about, worst = [], 0
    for file in files:
        result = _checked_or_error(file, tasks, policy, deadline)
        about.append(_about(file, result))
        if isinstance(result, SurefootError):
            worst = max(worst, result.exit_code)
        if not json:
            _tell(result)
    if json:
        arguments = {**arguments, "files": list(map(str, files)), "task": source}
        print(json_text(_documents(about, arguments, seed, time.perf_counter() - begin)))
    return worst


def _files_and_task(given: Sequence[str], task: str | None) -> tuple[list[Path], str | None]:
    """Return the files and the task, which may be the last of what is given."""
    files = list(given)
    if task is None and len(files) > 1 and not files[-1].endswith((".json", ".jsonl")):
        task = files.pop()
    if not files:
        raise InputError("bad-option", "give the file of a certificate or finding")
    return list(map(Path, files)), task


def _accepted_file(
    file: Path, tasks: Tasks, policy: PolicyArguments, deadline: Deadline
) -> Checked:
    """Return the certificate or finding of a file if it is accepted. Raises CertificateRejected,
    OutOfBudget, and InputError for what is neither or about another task.
    """

    with deadline.working("reading the file"):
        from surefoot.certificates import certificate_from, read_policy_head
        from surefoot.files import read_json
        from surefoot.findings import finding_from

        head = read_policy_head(file)
        if head is not None:
            return _checked_policy(head, file, tasks, policy, deadline)
        content = read_json(file)
        repair = repair_in(content, file)
        is_finding = isinstance(content, dict) and "finding" in content
        finding = finding_from(content, file) if is_finding else None
        content = content if is_finding or repair else certificate_from(content, file)
        task = tasks.of(file, content["task"])
    try:
        if repair is not None:
            return checked_repair(repair, file, task, policy, deadline)
        if finding is not None:
            return _checked_finding(finding, file, task, policy, deadline)
        return _checked_certificate(content, file, task, policy, deadline)
    except (CertificateRejected, OutOfBudget) as error:
        raise error.at(file=str(file)) from None


def _checked_certificate(
    content: dict[str, object],
    file: Path,
    task: Task,
    policy: PolicyArguments,
    deadline: Deadline,
) -> Accepted:
    from surefoot.certificates import check_content
    from surefoot.cli.certificate_task import policy_of

    with deadline.working("checking"):
        loaded_policy, why = policy_of(file, content, policy, task)
        begin = time.perf_counter()
        check_content(task, content, policy=loaded_policy, max_seconds=deadline.left)
    return Accepted(file, task, content, loaded_policy, why, time.perf_counter() - begin)


def _checked_finding(
    finding: Finding,
    file: Path,
    task: Task,
    policy: PolicyArguments,
    deadline: Deadline,
) -> AcceptedFinding:
    from surefoot.cli.certificate_task import policy_of_finding

    with deadline.working("checking"):
        loaded_policy, why = policy_of_finding(finding, policy, task)
        begin = time.perf_counter()
        finding.check(
            task,
            loaded_policy,
            max_seconds=deadline.left,
            recompute=loaded_policy is not None,
        )
    return AcceptedFinding(file, task, finding, loaded_policy, why, time.perf_counter() - begin)


def _checked_policy(
    head: dict[str, Any], file: Path, tasks: Tasks, policy: PolicyArguments, deadline: Deadline
) -> AcceptedPolicy:
    """Return the certificate of a policy if it is accepted, as ``_accepted_file`` does."""
    from surefoot.certificates import check_policy_certificate

    task = tasks.of(file, head["task"])
    loaded_policy = _policy_of_head(head, file, task, policy)
    begin = time.perf_counter()
    try:
        with deadline.working("checking"):
            check_policy_certificate(task, file, policy=loaded_policy, max_seconds=deadline.left)
    except (CertificateRejected, OutOfBudget) as error:
        raise error.at(file=str(file)) from None
    return AcceptedPolicy(file, task, head, loaded_policy, time.perf_counter() - begin)


def _policy_of_head(
    head: dict[str, object], file: Path, task: Task, given: PolicyArguments
) -> Policy:
    """Return the policy given, or the one that the certificate names; without it there is nothing
    to check. Raises InputError if it cannot be found, or if that would run code.
    """
    from surefoot.findings import Finding

    if (policy := given.load_if_given(task)) is not None:
        return policy
    try:
        return Finding({"policy": head["policy"]}, file=file).find_policy(task)
    except InputError as error:
        if error.code == "finding-runs-code":
            error.code = "certificate-runs-code"
        if error.code in ("certificate-runs-code", "unknown-policy"):
            error.hint = f"give the policy: surefoot check {printable(str(file))} --policy POLICY"
        raise


def _checked_or_error(
    file: Path, tasks: Tasks, policy: PolicyArguments, deadline: Deadline
) -> Checked | SurefootError:
    try:
        return _accepted_file(file, tasks, policy, deadline)
    except SurefootError as error:
        return error.at(file=str(file))


def _document(
    checked: Checked, options: dict[str, object], seed: int, seconds: float
) -> dict[str, object]:
    from surefoot.cli.output import document

    return document(
        "check",
        checked.task,
        policy=checked.policy_name,
        policy_sha256=None if checked.policy is None else checked.policy.sha256,
        options=options,
        seed=seed,
        seconds=seconds,
        result=checked.proved(),
    )


def _about(file: Path, result: Checked | SurefootError) -> dict[str, object]:
    """Return what became of one file of several, as plain data."""
    if isinstance(result, SurefootError):
        return {"file": str(file), "accepted": False, "error": result.to_dict()}
    return {"file": str(file), "task": result.task.name, **result.proved()}


def _documents(
    about: list[dict[str, object]], options: dict[str, object], seed: int, seconds: float
) -> dict[str, object]:
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


def _kind(content: dict[str, object]) -> str:
    return "choice" if content["claim"] == "safe" else "rank"


def _tell(result: Checked | SurefootError) -> None:
    """Print what became of one file of several."""
    if isinstance(result, SurefootError):
        sys.stdout.flush()
        print(f"error: {result}", file=sys.stderr, flush=True)
    else:
        _print(result, name=f"{printable(str(result.file))}: ")


def _print(checked: Checked, *, name: str = "") -> None:
    from rich.text import Text

    from surefoot.cli.output import console
    from surefoot.tasks.task import Feature

    out = console()
    out.print(Text.assemble(f"{name}accepted: ", checked.text()))
    if checked.not_recomputed is not None:
        what = {Accepted: "certificate", AcceptedRepair: "repair"}.get(type(checked), "finding")
        out.print(f"the policy's decisions are those of the {what}; --policy recomputes them")
    if Feature.IDENTITY not in checked.task.features:
        out.print("Python code defines the task: it cannot be told whether it is the same one")


def _within(radius: int | str | None, policy_name: str | None) -> str:
    if radius is None:
        return ""
    policy = printable(policy_name or "")
    if isinstance(radius, str):
        return f" within every finite number of differences from {policy}"
    return f" within {counted(radius, 'difference')} from {policy}"
