"""Parts of logs of ranks, as the rack's page shows them. Generated from protocol/logs.json by `npm run protocol`; for type checkers alone."""
from typing import List, Optional, TypedDict


_LogQuestion = TypedDict("_LogQuestion", {"run": "str"})
_LogQuestionMay = TypedDict("_LogQuestionMay", {"attempt": "Optional[int]", "rank": "Optional[int]", "from": "Optional[int]", "search": "Optional[str]", "failure": "bool", "after": "int"}, total=False)


class LogQuestion(_LogQuestion, _LogQuestionMay):
    pass


LogWindow = TypedDict("LogWindow", {"rank": "int", "attempt": "int", "ranks": "List[int]", "attempts": "List[int]", "from": "int", "to": "int", "size": "int", "text": "str", "found": "Optional[int]", "live": "bool"})


_MergedQuestion = TypedDict("_MergedQuestion", {"run": "str"})
_MergedQuestionMay = TypedDict("_MergedQuestionMay", {"attempt": "Optional[int]", "ranks": "Optional[List[int]]", "from": "Optional[int]", "before": "Optional[int]", "search": "Optional[str]", "failure": "bool", "after": "int", "only": "Optional[str]"}, total=False)


class MergedQuestion(_MergedQuestion, _MergedQuestionMay):
    pass


class MergedPiece(TypedDict):
    """Whole lines that a rank wrote between two looks; `t`: the second one."""
    t: int
    rank: int
    text: str


MergedLog = TypedDict("MergedLog", {"attempt": "int", "ranks": "List[int]", "attempts": "List[int]", "from": "int", "to": "int", "size": "int", "pieces": "List[MergedPiece]", "found": "Optional[int]", "live": "bool"})
