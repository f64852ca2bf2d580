"""Users of a rack, their teams, and the projects that they have roles in, as the head keeps them. Generated from protocol/people.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, TypedDict

HeadRole = Literal["viewer", "member", "maintainer", "admin"]


class _HeadUser(TypedDict):
    admin: bool
    keys: List[str]
    source: Literal["admin", "oidc", "ldap"]
    createdAt: float


class HeadUser(_HeadUser, total=False):
    """A person who may log in."""
    subject: str


class HeadTeam(TypedDict):
    """People who are given roles together."""
    members: List[str]
    provided: List[str]
    createdAt: float


class HeadProject(TypedDict):
    """A project whose runs and models only some people reach."""
    roles: Dict[str, HeadRole]
    createdAt: float


class HeadPeople(TypedDict):
    """Who may what, by names."""
    users: Dict[str, HeadUser]
    teams: Dict[str, HeadTeam]
    projects: Dict[str, HeadProject]
