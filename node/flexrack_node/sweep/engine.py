"""A sweep's side of Optuna: a program of its own, run by the Python of the environment that has Optuna, with the
sweep's folder as its argument.

It answers JSON lines from its stdin, {"id": n, "do": WORD, ...}, by {"event": "done", "id": n, ...}, and ends with its
stdin, or after minutes of silence. Every answer has `stop`: somebody asked for the end of the sweep.

    ask                                    {number, params, texts, attempt} of a new trial, or {over: why there is none}
    bind    {number, run}                  the run that the trial is from now on: noted before it is started
    drop    {number}                       its run is over and told nothing: it will be started again, as another run
    report  {number, values: [[step, value]]}     {prune}
    tell    {number, state, value?, why?}  state: complete, pruned or failed
    look                                   {}
    finish  {status}                       {best, importance}

Optuna's own journal is the truth. trials.json is made from it for those who only look: they need no Optuna.
"""

import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, cast

import optuna
from optuna.storages.journal import JournalFileBackend, JournalStorage
from optuna.trial import FrozenTrial, Trial, TrialState

if __package__ in (None, ""):  # started as a file: make the package importable by its name
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base import stored
from flexrack_node.base.line_reader import lines
from flexrack_node.sweep.searching import limit_of, pruner_of, sampler_of

if TYPE_CHECKING:
    from flexrack_node.schema.nodefiles import KeptSweep, KeptTrials
    from flexrack_node.schema.sweep import (
        AskCommand,
        BindCommand,
        Choices,
        DropCommand,
        EngineCommand,
        FinishCommand,
        ReportCommand,
        TellCommand,
    )
    from flexrack_node.schema.sweep import Trial as TrialRow

    Status = Literal["running", "interrupted", "finished", "stopped", "failed"]
    TrialWord = Literal["running", "complete", "pruned", "failed"]

# Seconds. Who drives a sweep looks every two seconds while it goes on, and ends it within one or two minutes; the lock
# is not to stay with a dead link.
SILENCE = 300.0

STATES = {"complete": TrialState.COMPLETE, "pruned": TrialState.PRUNED, "failed": TrialState.FAIL}
WORDS: "Dict[TrialState, TrialWord]" = {
    TrialState.COMPLETE: "complete",
    TrialState.PRUNED: "pruned",
    TrialState.FAIL: "failed",
    TrialState.RUNNING: "running",
    TrialState.WAITING: "running",
}


class Engine:
    """One study in one folder. The caller holds the sweep's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        path = folder / "sweep.json"
        self._sweep: KeptSweep = stored.current("sweep.record", json.loads(path.read_text()), path)
        self._spec = self._sweep["spec"]
        journal = folder / "journal.log"
        mend(journal)
        (folder / "journal.log.lock").unlink(missing_ok=True)  # of an engine that was killed; ours is the only one now
        self._study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(journal))),
            study_name=self._sweep["sweep"],
            load_if_exists=True,
            direction=self._spec["goal"],
            pruner=pruner_of(self._spec),
        )
        # A sampler begins with its seed again where a sweep is resumed, and would choose what it has chosen before.
        self._study.sampler = sampler_of(self._spec, len(self._trials()))
        self._status: Status = "running"
        self._importance: Optional[Dict[str, float]] = None
        self._complete_requested()

    def ready(self) -> Mapping[str, object]:
        self._write()
        return {"trials": self._rows(), "limit": limit_of(self._spec)}

    def answer(self, command: "EngineCommand") -> Mapping[str, object]:
        word = command["do"]
        if word == "look":
            return {}
        found: Mapping[str, object] = getattr(self, f"_{word}")(command)
        self._write()
        return found

    def _ask(self, _command: "AskCommand") -> Mapping[str, object]:
        requested = sum(1 for one in self._trials() if not one.user_attrs.get("lost"))
        if requested >= limit_of(self._spec):
            return {"over": f"all {requested} trials were started"}
        trial = self._study.ask()
        self._suggest(trial)
        return row_of(self._frozen(trial.number))

    def _bind(self, command: "BindCommand") -> Mapping[str, object]:
        trial = self._trial(command["number"])
        trial.set_user_attr("run", command["run"])
        trial.set_user_attr("started", time.time())
        return {}

    def _drop(self, command: "DropCommand") -> Mapping[str, object]:
        trial = self._trial(command["number"])
        attempt = int(trial.user_attrs.get("attempt", 1))
        trial.set_user_attr("attempt", attempt + 1)
        trial.set_user_attr("run", None)
        return {"attempt": attempt + 1}

    def _report(self, command: "ReportCommand") -> Mapping[str, object]:
        trial, known = self._trial(command["number"]), self._frozen(command["number"]).intermediate_values
        prune = False
        for step, value in command["values"]:
            if step not in known and math.isfinite(value):
                trial.report(value, step)
                # asked at every step: successive halving judges the one it was told last
                prune = prune or trial.should_prune()
        return {"prune": prune}

    def _tell(self, command: "TellCommand") -> Mapping[str, object]:
        trial, state = self._trial(command["number"]), STATES[command["state"]]
        trial.set_user_attr("ended", time.time())
        if command.get("why"):
            trial.set_user_attr("why", command["why"])
        if state == TrialState.COMPLETE:
            self._study.tell(command["number"], float(command["value"]))
        else:
            self._study.tell(command["number"], state=state)
        return {}

    def _finish(self, command: "FinishCommand") -> Mapping[str, object]:
        self._status = command["status"]
        self._importance = importance_of(self._study)
        return {"importance": self._importance}

    def _complete_requested(self) -> None:
        """A trial whose asking was cut short has no values yet, or not all: they are chosen now, so that no point of a
        grid is passed over.
        """
        for one in self._trials():
            if one.state != TrialState.RUNNING or one.user_attrs.get("ready"):
                continue
            try:
                self._suggest(self._trial(one.number))
            except (ValueError, RuntimeError):
                trial = self._trial(one.number)
                trial.set_user_attr("lost", True)
                self._study.tell(one.number, state=TrialState.FAIL)

    def _suggest(self, trial: Trial) -> None:
        for name, one in self._spec["parameters"].items():
            if "choices" in one:
                trial.suggest_categorical(name, cast("Choices", one)["choices"])
                continue
            if one["integer"]:
                trial.suggest_int(
                    name, int(one["min"]), int(one["max"]), step=int(one.get("step") or 1), log=one["log"]
                )
            else:
                trial.suggest_float(name, one["min"], one["max"], step=one.get("step"), log=one["log"])
        trial.set_user_attr("ready", True)

    def _trials(self) -> List[FrozenTrial]:
        found: List[FrozenTrial] = self._study.get_trials(deepcopy=False)
        return found

    def _frozen(self, number: int) -> FrozenTrial:
        return self._trials()[number]

    def _trial(self, number: int) -> Trial:
        return Trial(self._study, self._frozen(number)._trial_id)

    def _rows(self) -> "List[TrialRow]":
        return [row_of(one) for one in self._trials() if not one.user_attrs.get("lost")]

    def _write(self) -> None:
        trials: KeptTrials = {
            "status": self._status,
            "at": time.time(),
            "trials": self._rows(),
            "importance": self._importance,
        }
        stored.write("sweep.trials", self._folder / "trials.json", trials, durable=False)


def row_of(trial: FrozenTrial) -> "TrialRow":
    notes = trial.user_attrs
    return {
        "number": trial.number,
        "state": WORDS[trial.state],
        "params": trial.params,
        "texts": {name: text_of(value) for name, value in trial.params.items()},
        "value": trial.value if trial.state == TrialState.COMPLETE else None,
        "last": last_of(trial),
        "steps": len(trial.intermediate_values),
        "run": notes.get("run"),
        "attempt": notes.get("attempt", 1),
        "started": notes.get("started"),
        "ended": notes.get("ended"),
        "why": notes.get("why"),
    }


def last_of(trial: FrozenTrial) -> Optional[float]:
    """The newest value that was reported on the way."""
    step = trial.last_step
    return None if step is None else trial.intermediate_values[step]


def text_of(value: Any) -> str:
    """As the command line gets it: numbers as Python writes them, so that a script that logs what it was given logs the
    same.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def importance_of(study: optuna.Study) -> Optional[Dict[str, float]]:
    """How much of the difference each parameter makes, by PED-ANOVA (Watanabe et al., IJCAI 2023), which needs nothing
    beside Optuna; None where there are too few trials.
    """
    done = [one for one in study.get_trials(deepcopy=False) if one.state == TrialState.COMPLETE]
    if len(done) < 4 or len({one.value for one in done}) < 2 or len(study.get_trials(deepcopy=False)[0].params) < 2:
        return None
    try:
        found = optuna.importance.get_param_importances(
            study, evaluator=optuna.importance.PedAnovaImportanceEvaluator()
        )
    except (ValueError, RuntimeError, ArithmeticError):
        return None
    return {name: value for name, value in found.items() if math.isfinite(value)} or None


def mend(journal: Path) -> None:
    """Cuts off a last line that was not written to its end; SystemExit with the place where another one cannot be read."""
    if not journal.exists():
        return
    data = journal.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            json.loads(line)
        except ValueError:
            sys.exit(f"{journal} is damaged in line {number}")
    if len(whole) < len(data):
        with open(journal, "r+b") as file:
            file.truncate(len(whole))


def main(folder: Path) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    engine = Engine(folder)
    say({"event": "ready", **engine.ready()})
    for line in lines(sys.stdin.fileno(), SILENCE):
        command = json.loads(line)
        say({"event": "done", "id": command["id"], **engine.answer(command), "stop": (folder / "stop.json").exists()})


def say(value: Mapping[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(value, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # of Optuna: which of its parts are young
    main(Path(sys.argv[1]))
