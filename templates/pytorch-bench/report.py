"""What was measured, as bench.json (README.md describes it), as lines for people, and as metrics."""

from measure import communication_share, spread

SCHEMA = "pytorch-bench/1"


def assemble(facts: dict, checks: dict, ranks: list[dict], count: int) -> dict:
    """`ranks`: of each its node and the seconds of its windows; `count`: images or tokens a rank and step. The gang is
    as fast as its slowest rank.
    """
    steps = facts["steps"]
    slowest = {kind: [max(window) for window in zip(*(rank[kind] for rank in ranks))] for kind in ("together", "alone")}
    total = measured(slowest, steps, count * len(ranks))
    return {
        "schema": SCHEMA,
        **facts,
        **checks,
        "nodes": len({rank["node"] for rank in ranks}),
        "total": {**total, "windows": [count * len(ranks) * steps / seconds for seconds in slowest["together"]]},
        "ranks": [{"rank": rank["rank"], "node": rank["node"], **measured(rank, steps, count)} for rank in ranks],
    }


def measured(times: dict, steps: int, count: int) -> dict:
    return {
        "per_second": spread([count * steps / seconds for seconds in times["together"]]),
        "step_ms": spread([1000 * seconds / steps for seconds in times["together"]]),
        "communication": communication_share(times["together"], times["alone"]),
    }


def headline(facts: dict) -> str:
    what = f"{facts['length']} x {facts['length']} pixels" if facts["unit"] == "images" else f"{facts['length']} tokens"
    return (
        f"{facts['model']}, {facts['parameters']:,} parameters, {facts['precision']}, batch {facts['batch']} of {what} a rank, "
        f"{number(facts['world_size'], 'rank')}, {facts['device']}"
    )


def rank_line(result: dict, rank: int) -> str:
    one = result["ranks"][rank]
    return f"rank {rank} on {one['node']}: {line(one, result['unit'])}"


def total_line(result: dict) -> str:
    loss = result["loss"]
    where = f"{number(result['world_size'], 'rank')} on {number(result['nodes'], 'node')}"
    return f"total, {where}: {line(result['total'], result['unit'])}; loss {loss['first']:.3f} to {loss['last']:.3f} while warming up"


def number(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def line(one: dict, unit: str) -> str:
    speed, step = one["per_second"], one["step_ms"]
    return f"{speed['median']:,.1f} {unit}/s ({speed['min']:,.1f} to {speed['max']:,.1f}), {step['median']:,.1f} ms a step, {one['communication']:.0%} communication"


def metrics(result: dict) -> dict[str, float]:
    unit, total = result["unit"], result["total"]
    return {
        f"{unit}_per_second": total["per_second"]["median"],
        f"{unit}_per_second_per_rank": total["per_second"]["median"] / result["world_size"],
        "step_ms": total["step_ms"]["median"],
        "communication_share": total["communication"],
        "loss": result["loss"]["last"],
    }
