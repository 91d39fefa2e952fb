"""Says which packages of this Python have a licence that scripts/deny.json doesn't allow, and fails if any has.

Nothing of them is part of the program: they only test it. So two licences more are fine than for what it carries.
"""

import json
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

TESTS_ONLY = {"MPL-2.0", "PSF-2.0"}
# What packages write that are older than the standard names.
NAMES = {"Apache 2.0": "Apache-2.0", "MIT License": "MIT"}


def licence(package: Distribution) -> str:
    metadata = package.metadata
    named = metadata.get("License-Expression") or metadata.get("License")
    if named and "\n" not in named:
        return named
    classifiers = metadata.get_all("Classifier") or []
    return next((it.split(" :: ")[-1] for it in classifiers if it.startswith("License :: ")), "none that it names")


def is_allowed(expression: str, allowed: set[str]) -> bool:
    every = expression.replace("(", " ").replace(")", " ").split(" AND ")
    return all(any(NAMES.get(it.strip(), it.strip()) in allowed for it in each.split(" OR ")) for each in every)


rules = json.loads((Path(__file__).parent.parent / "deny.json").read_text())
allowed = TESTS_ONLY | set(rules["licences"])
refused = [it for it in distributions() if not is_allowed(licence(it), allowed)]
for it in refused:
    print(f"{it.name} {it.version}: {licence(it)} is not on the list")
sys.exit(bool(refused))
