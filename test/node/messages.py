"""Holds what verbs answer and say against protocol/, as the suites of the command line do (test/support/messages.ts).

A validator of the part of JSON Schema that protocol/ uses. Strict: a field that the protocol does not name is a
finding.
"""

import functools
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent.parent / "protocol"
TYPES = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


@functools.cache
def topics():
    return {path.name: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}


@functools.cache
def verbs():
    """Verb to its topic and what protocol/ says of it."""
    return {verb: (name, known) for name, topic in topics().items() for verb, known in topic.get("verbs", {}).items()}


ALWAYS = ("BUG", "USAGE", "NODE_UNFIT", "INTERRUPTED", "NEWER_VERSION")  # errors that every verb may give


def check(verb, part, value):
    """Raises AssertionError where the value is not what the verb takes (`input`), answers (`result`) or says before
    (`events`).
    """
    topic, known = verbs()[verb]
    schema = event_schema(known.get("events"), value) if part == "events" else known[part]
    if not schema:
        refuse(f"{verb} says {value!r}, and protocol/{topic} knows no such event of it")
    else:
        refuse_findings(f"{verb}: {part} is not as protocol/{topic} says", findings(plain(value), schema, topic, ""))


def check_error(verb, code):
    topic, known = verbs()[verb]
    if code not in (*ALWAYS, *known.get("errors", [])):
        refuse(f"{verb} fails with {code}, which protocol/{topic} does not name")


def check_lines(verb, given, lines):
    """A whole call of the program: its input, and the lines that it has printed."""
    for line in lines:
        if "event" in line:
            check(verb, "events", line)
        elif "error" in line:
            check_error(verb, line["error"]["code"])
        else:
            check(verb, "input", given)  # of what is refused it may be wrong on purpose
            check(verb, "result", line["result"])


def check_as(topic, name, value):
    """The same of a definition: ("run.json", "NodeRun")."""
    refuse_findings(
        f"not as {name} in protocol/{topic} is", findings(plain(value), topics()[topic]["$defs"][name], topic, "")
    )


def refuse_findings(what, found):
    found = list(found)
    if found:
        refuse(f"{what}: {'; '.join(found[:5])}")


def refuse(text):
    raise AssertionError(text)


def plain(value):
    """As it travels."""
    return json.loads(json.dumps(value))


def kinds():
    """Of files that outlive their writer: kind to (what is known of it, its topic)."""
    return {kind: (known, name) for name, topic in topics().items() for kind, known in topic.get("files", {}).items()}


def check_stored(kind, value, where):
    """The value of a file as it lies on the disk: with the number of today, and else as protocol/ says."""
    known, topic = kinds()[kind]
    if value.get("schema") != known["schema"]:
        refuse(f"{where}: schema {value.get('schema')!r}, not {known['schema']}")
    refuse_findings(
        f"{where} is not as protocol/{topic} says of {kind}",
        findings({key: one for key, one in value.items() if key != "schema"}, known["content"], topic, ""),
    )


@functools.cache
def patterns():
    """[(what a path below flexrack's folder looks like, its kind)]. A part of a run under Slurm is as a run."""
    found = []
    for kind, (known, _) in kinds().items():
        place, _, path = known["path"].partition("/")
        if place == "NODE":
            pattern = "[^/]+".join(re.escape(part) for part in re.split(r"[A-Z]+", path)).replace(
                "runs/[^/]+/", r"runs/[^/]+/(?:members[^/]*/\d+/)?"
            )
            found.append((re.compile(pattern), kind))
    return found


def check_files(root):
    """Every file of a kind that lies in a folder of flexrack. What is just being written is looked at as it was."""
    for path in Path(root).rglob("*"):
        relative = path.relative_to(root).as_posix()
        kind = next((kind for pattern, kind in patterns() if pattern.fullmatch(relative)), None)
        try:
            text = path.read_text(errors="replace") if kind and not path.is_symlink() else ""
        except OSError:
            continue
        is_lines = kind and kinds()[kind][0].get("lines")
        for line in text.splitlines() if is_lines else [text]:
            try:
                value = json.loads(line) if line.strip() else None
            except ValueError:
                if not is_lines:
                    refuse(f"{path} is not whole")
                continue  # a line that was cut off
            if value is not None:
                check_stored(kind, value, path)


def event_schema(events, value):
    """Of the events of a verb the one that has this name, so that what is wrong with it is told and not what it has
    less than the others.
    """
    names = {
        definition: schema["properties"]["event"]["const"]
        for topic in topics().values()
        for definition, schema in topic["$defs"].items()
        if "const" in schema.get("properties", {}).get("event", {})
    }
    known = (events or {}).get("anyOf", [events] if events else [])
    return next((one for one in known if names.get(one["$ref"].rpartition("/")[2]) == value["event"]), None)


def findings(value, schema, topic, at):
    """What is wrong, as text. `at`: path of the value."""
    if "$ref" in schema:
        where, _, pointer = schema["$ref"].partition("#/$defs/")
        yield from findings(value, topics()[where or topic]["$defs"][pointer], where or topic, at)
        return
    if "anyOf" in schema:
        tried = [list(findings(value, one, topic, at)) for one in schema["anyOf"]]
        if all(tried):
            yield from max(tried, key=lambda one: one[0].split(" ")[0].count("/"))  # the one that fits the furthest
        return
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        yield f"{at or '/'} is {value!r}, not {schema.get('const', schema.get('enum'))!r}"
        return
    types = schema.get("type", [])
    names = types if isinstance(types, list) else [types]
    if names and not any(TYPES[name](value) for name in names):
        yield f"{at or '/'} is {value!r}, not {' or '.join(names)}"
    elif isinstance(value, list):
        first = schema.get("prefixItems", [])
        if len(value) < schema.get("minItems", 0) or (schema.get("items") is False and len(value) > len(first)):
            yield f"{at or '/'} has {len(value)} parts"
        for index, one in enumerate(value):
            inner = first[index] if index < len(first) else schema.get("items")
            if isinstance(inner, dict):
                yield from findings(one, inner, topic, f"{at}/{index}")
    elif isinstance(value, dict):
        yield from of_object(value, schema, topic, at)


def of_object(value, schema, topic, at):
    fields, required = whole(schema, topic)
    for key in sorted(required - set(value)):
        yield f"{at or '/'} lacks {key}"
    more = schema.get("additionalProperties", False)
    for key, one in value.items():
        if key in fields:
            yield from findings(one, fields[key][0], fields[key][1], f"{at}/{key}")
        elif more is False and ("properties" in schema or "allOf" in schema):
            yield f"{at}/{key} has no place there"
        elif isinstance(more, dict):
            yield from findings(one, more, topic, f"{at}/{key}")


def whole(schema, topic):
    """{key: (its schema, the topic that it is in)} with what it has from others, and the keys that must be there."""
    fields, required = {}, set(schema.get("required", []))
    for base in schema.get("allOf", []):
        where, _, name = base["$ref"].partition("#/$defs/")
        more, must = whole(topics()[where or topic]["$defs"][name], where or topic)
        fields.update(more)
        required |= must
    fields.update({key: (one, topic) for key, one in schema.get("properties", {}).items()})
    return fields, required


# In these tests their answers come from stand-ins that tell no more than is asked of them: a daemon's socket, files of
# a sweep.
_STAND_INS = ("gpu.lease", "gpu.state", "sweep.list", "sweep.show")


def hold():
    """From here on the verbs of all loaded modules check what they are given, say and answer, wherever a test has them
    from.
    """
    known = sys.modules.get("flexrack_node.verbs")
    if known is None:
        from flexrack_node import verbs as known
    for verb, place in known.VERBS.items():
        name, function = place.split(":")
        module = sys.modules.get(f"flexrack_node.{name}")
        if module is None or verb in _STAND_INS:
            continue
        original = getattr(module, function)
        held = checked(verb, original)
        for other in list(sys.modules.values()):
            path = getattr(other, "__file__", None) or ""
            if other is module or path.startswith(str(HERE)):
                for key in [key for key, value in vars(other).items() if value is original]:
                    setattr(other, key, held)
    hold_ways()


def hold_ways():
    """And what the nodes of a preflight say on their connections."""
    link = sys.modules.get("flexrack_node.preflight.link")
    if link is None:
        return
    original = link._send

    def held(connection, value):
        check_as(
            "preflight_link.json",
            "WayChallenge"
            if "challenge" in value
            else "WayHello"
            if "what" in value
            else "WayProof"
            if "proof" in value
            else "FloodCount",
            value,
        )
        original(connection, value)

    link._send = held


def checked(verb, function):
    @functools.wraps(function)
    def held(given, channel):
        try:
            answer = function(given, Listening(channel, verb))
        except Exception as error:
            if hasattr(error, "code") and hasattr(error, "hint"):  # a NodeError
                check_error(verb, error.code)
            raise
        check(verb, "input", given)  # of what is refused it may be wrong on purpose
        check(verb, "result", answer)
        return answer

    return held


class Listening:
    """The channel of a call, whose events are checked."""

    def __init__(self, channel, verb):
        self._channel, self._verb = channel, verb

    def event(self, kind, **fields):
        check(self._verb, "events", {"event": kind, **fields})
        self._channel.event(kind, **fields)

    def __getattr__(self, name):
        return getattr(self._channel, name)


if __name__ == "__main__":  # messages.py FOLDER ...: looks at the files in folders of flexrack
    for folder in sys.argv[1:]:
        check_files(folder)
