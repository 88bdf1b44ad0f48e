# SPDX-License-Identifier: Apache-2.0
"""Writes the provenance of the files of a release: an in-toto statement with the predicate of SLSA's provenance, version 1.

    make_provenance.py --packages packages.json --output kiln.provenance.json --version 0.1.0 FILE...

packages.json is the same file as for the SBOM: Debian's packages whose code is in the files. The statement is level 1 of SLSA: it is not signed
and names no accountable builder. A build of the same sources with the same packages gives the same bytes, so anyone can compare.
"""

import argparse
import hashlib
import json
import os

_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://slsa.dev/provenance/v1"
_BUILD_TYPE = "urn:kiln:bazel-build:v1"
_BUILDER = "urn:kiln:builder:unverified"


def _digest(path):
    with open(path, "rb") as file:
        return {"sha256": hashlib.sha256(file.read()).hexdigest()}


def _dependency(package):
    purl = "pkg:deb/debian/{name}@{version}?distro=bookworm".format(**package)
    return {"uri": purl.replace("+", "%2B"), "name": package["name"], "annotations": {"linkage": package["linkage"]}}


def make_provenance(packages, version, files):
    return {
        "_type": _STATEMENT,
        "subject": [{"name": os.path.basename(path), "digest": _digest(path)} for path in sorted(files, key=os.path.basename)],
        "predicateType": _PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD_TYPE,
                "externalParameters": {"target": "//release", "version": version},
                "resolvedDependencies": [_dependency(package) for package in packages],
            },
            "runDetails": {"builder": {"id": _BUILDER}},
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("packages", "output", "version"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    with open(arguments.packages, encoding="utf-8") as file:
        packages = json.load(file)["packages"]
    with open(arguments.output, "w", encoding="utf-8") as file:
        json.dump(make_provenance(packages, arguments.version, arguments.files), file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
