"""Puts what is really there into the requests that schemathesis draws: ids, tokens and cookies of the seeded site.

`STOA_SEEDED` names the file that seed.mjs wrote, `STOA_COUNTS` the one that gets how often each operation answered with
which status. A request that names only what isn't there tests nothing but 404.
"""

import atexit
import json
import os
import random
import re
import threading
from collections import Counter, defaultdict
from pathlib import Path

import schemathesis

SEEDED = json.loads(Path(os.environ["STOA_SEEDED"]).read_text())
COUNTS = Path(os.environ["STOA_COUNTS"])
RANDOM = random.Random(SEEDED["seed"])

# How often a value is put in its place: what is drawn has its turn as well.
OFTEN = 0.8

# Who asks, and how often.
CALLERS = {"app": 5, "owner": 3, "member": 4, "visitor": 2, "none": 1}

# What a name in a path, a query or a body stands for.
NAMES = {
    "assignmentId": "assignment",
    "badgeAssignmentIds": "assignment",
    "badgeId": "badge",
    "badgeIds": "badge",
    "clientId": "client",
    "client_id": "client",
    "collectionId": "collection",
    "connectedMemberIds": "member",
    "customFieldId": "field",
    "customFieldIds": "field",
    "dataCollectionId": "collection",
    "dataCollectionIds": "collection",
    "dataItemId": "item",
    "dataItemIds": "item",
    "fieldIds": "field",
    "fieldKey": "key",
    "fieldName": "key",
    "fieldPath": "key",
    "indexName": "index",
    "invite": "nothing",
    "memberId": "member",
    "memberIds": "member",
    "member_id": "member",
    "moveAfterBadgeId": "badge",
    "referencedCollectionId": "collection",
    "referencedItemId": "item",
    "referencedItemIds": "item",
    "referringItemFieldName": "reference",
    "referringItemId": "item",
    "reportedMemberId": "member",
    "roleIds": "role",
    "roleKey": "role",
}

# What `{id}` and `{key}` in a path stand for, the longer beginnings first.
PATHS = [
    ("/_api/identity/v1/members/", "member"),
    ("/_api/identity/v1/sessions/", "nothing"),
    ("/_api/account/v1/flows/", "flow"),
    ("/badges/v4/assignments/", "assignment"),
    ("/badges/v4/badges/", "badge"),
    ("/members/v1/custom-fields-applications/", "field"),
    ("/members/v1/custom-fields/", "field"),
    ("/members/v1/roles/definitions/", "role"),
    ("/members/v3/badges/", "badge"),
    ("/v1/permissions/special/", "permission"),
    ("/v2/collections/", "collection"),
    ("/v2/items/", "item"),
    ("/members/", "member"),
    ("/wix-sm/", "member"),
]

# What would end the things that others ask for gets those that are there to be ended.
ENDS = re.compile(
    r"^DELETE |/(?:truncate|remove|delete|delete-field|disconnect|block|refuse-password|change-login-email|end|end-others)$"
    r"|/bulk/(?:delete|block)|remove-references|leave-community"
)
# Calls that choose by a filter: one that is drawn may choose all.
BY_FILTER = re.compile(r"-by-filter$")

lock = threading.Lock()
counts: dict[str, Counter[str]] = defaultdict(Counter)


def pick(kind: str, ends: bool) -> str | None:
    """One of a kind: of the first half, or of the second if it may not be there afterwards."""
    pool = SEEDED["pools"].get(kind) or []
    half = (len(pool) + 1) // 2
    part = pool[half:] if ends else pool[:half]
    return RANDOM.choice(part or pool) if pool else None


def often() -> bool:
    return RANDOM.random() < OFTEN


def placed(value, ends: bool, name: str = ""):
    """The value with ids of what is there where names say so."""
    if isinstance(value, dict):
        found = {key: placed(it, ends, key) for key, it in value.items()}
        if name == "dataItem" and isinstance(found.get("id"), str) and often():
            found["id"] = pick("item", ends)
            if isinstance(found.get("data"), dict):
                found["data"]["_id"] = found["id"]
        return found
    kind = NAMES.get(name)
    if isinstance(value, list):
        if kind and value and often():
            return [it for it in [pick(kind, ends)] if it]
        return [placed(it, ends, name) for it in value]
    if kind and isinstance(value, str) and often():
        return pick(kind, ends) or value
    return value


def path_kind(path: str) -> str:
    return next((kind for beginning, kind in PATHS if path.startswith(beginning)), "nothing")


def put_caller(case, ends: bool) -> None:
    if case.path.startswith("/_api/account/"):
        case.cookies = {}
        case.headers["Cookie"] = SEEDED["cookies"]
        return
    caller = RANDOM.choices(list(CALLERS), list(CALLERS.values()))[0]
    # Who leaves must not be one whom others ask as.
    kind = "leaver" if ends and "/my" in case.path else caller
    tokens = SEEDED["tokens"].get(kind)
    if tokens:
        case.headers["Authorization"] = RANDOM.choice(tokens)
    else:
        case.headers.pop("Authorization", None)


@schemathesis.hook
def before_call(context, case, kwargs) -> None:
    with lock:
        ends = ENDS.search(f"{case.method.upper()} {case.path}") is not None
        put_caller(case, ends)
        for name in case.path_parameters or {}:
            one = pick(path_kind(case.path), ends) if often() else None
            if one is not None:
                case.path_parameters[name] = one
        if isinstance(case.query, dict):
            case.query = placed(case.query, ends)
        if isinstance(case.body, dict):
            if BY_FILTER.search(case.path) and case.path.startswith("/v2/"):
                case.body = {**placed(case.body, ends), "filter": {"_id": pick("item", ends=True)}}
            elif BY_FILTER.search(case.path):
                case.body = {**case.body, "filter": {"id": pick("member", ends=True)}}
            else:
                case.body = placed(case.body, ends)


@schemathesis.hook
def after_call(context, case, response) -> None:
    with lock:
        counts[case.operation.label][str(response.status_code)] += 1


@atexit.register
def write_counts() -> None:
    COUNTS.write_text(json.dumps(counts))
