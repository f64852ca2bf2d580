"""How a sweep searches, in Optuna's words: what chooses the values of a trial, what ends one early, and how many there are
to be. For the engine alone (sweep/engine.py): it is the one that has Optuna.
"""

import math
from typing import TYPE_CHECKING, Any, List, cast

import optuna

if TYPE_CHECKING:
    from flexrack_node.schema.sweep import Choices, Parameter, SweepOrder


class Grid(optuna.samplers.GridSampler):  # type: ignore[misc]  # Optuna is not where types are checked
    """Optuna's own, which after the last point stops the loop that it believes to be in: here there is none, and `ask`
    counts.
    """

    def after_trial(self, *_: Any) -> None:
        pass


def sampler_of(spec: "SweepOrder", begun: int) -> optuna.samplers.BaseSampler:
    """`begun`: trials that were asked for by engines before this one."""
    name, seed = spec["sampler"], spec.get("seed")
    if name == "grid":
        return Grid({key: grid_of(one) for key, one in spec["parameters"].items()}, seed=seed)
    if name == "qmc":
        return optuna.samplers.QMCSampler(seed=seed)  # its place in the sequence is in the storage, by seed
    seed = None if seed is None else (seed + begun) % 2**32
    if name == "tpe":
        # Trials that run now are taken for bad ones: else parallel trials would all try nearly the same.
        return optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    made: optuna.samplers.BaseSampler = {
        "random": optuna.samplers.RandomSampler,
        "cmaes": optuna.samplers.CmaEsSampler,
        "gp": optuna.samplers.GPSampler,
    }[name](seed=seed)
    return made


def pruner_of(spec: "SweepOrder") -> optuna.pruners.BasePruner:
    options = spec["pruner"]
    name, warmup = options["name"], int(options.get("warmup") or 0)
    if name == "asha":
        return optuna.pruners.SuccessiveHalvingPruner(
            min_resource=max(1, warmup), reduction_factor=int(options.get("reduction") or 4)
        )
    if name == "hyperband":
        return optuna.pruners.HyperbandPruner(
            min_resource=max(1, warmup),
            max_resource=options.get("steps") or "auto",
            reduction_factor=int(options.get("reduction") or 3),
        )
    if name == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=int(options.get("startup") or 5), n_warmup_steps=warmup)
    return optuna.pruners.NopPruner()


def grid_of(parameter: "Parameter") -> List[Any]:
    """Every value of a parameter: its choices, or from min to max by step."""
    if "choices" in parameter:
        return list(cast("Choices", parameter)["choices"])
    one = parameter
    count = math.floor((one["max"] - one["min"]) / one["step"] + 1e-9) + 1
    values = [one["min"] + index * one["step"] for index in range(count)]
    return [int(value) for value in values] if one["integer"] else [float(f"{value:.12g}") for value in values]


def limit_of(spec: "SweepOrder") -> int:
    """How many trials there are to be: at most the whole grid."""
    wanted = spec.get("trials")
    if spec["sampler"] != "grid":
        return int(wanted or 20)
    points: int = math.prod(len(grid_of(one)) for one in spec["parameters"].values())
    return min(points, int(wanted)) if wanted else points
