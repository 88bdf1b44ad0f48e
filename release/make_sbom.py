# SPDX-License-Identifier: Apache-2.0
"""Writes the parts of a release as an SPDX 2.3 document.

    make_sbom.py --packages packages.json --output kiln.spdx.json --version 0.1.0 --date 2026-11-25

packages.json comes from third_party/release_libraries.bzl. It lists Debian's packages whose code is linked in or whose shared objects are bundled.
"""

import argparse
import hashlib
import json
import re

_RELATIONSHIPS = {"static": "STATIC_LINK", "shared": "DYNAMIC_LINK"}


def _package(name, version, license_expression, homepage, **rest):
    return {
        "SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "homepage": homepage or "NOASSERTION",
        "licenseConcluded": license_expression,
        "licenseDeclared": license_expression,
        "copyrightText": "NOASSERTION",
        **rest,
    }


def _debian_package(package):
    purl = "pkg:deb/debian/{name}@{version}?distro=bookworm".format(**package)
    return _package(
        package["name"],
        package["version"],
        package["license"],
        package["homepage"],
        supplier="Organization: Debian",
        sourceInfo="built by Debian from {source} {source_version}".format(**package),
        externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl.replace("+", "%2B")}
        ],
    )


def make_sbom(packages, version, date):
    kiln = _package("kiln", version, "Apache-2.0", "", supplier="Organization: The Kiln authors", primaryPackagePurpose="APPLICATION")
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", kiln["SPDXID"])]
    described = [kiln]
    for package in packages:
        described.append(_debian_package(package))
        relationships.append((kiln["SPDXID"], _RELATIONSHIPS[package["linkage"]], described[-1]["SPDXID"]))
    digest = hashlib.sha256(json.dumps(described).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "kiln-" + version,
        "documentNamespace": "https://spdx.org/spdxdocs/kiln-{}-{}".format(version, digest[:32]),
        "creationInfo": {"created": date + "T00:00:00Z", "creators": ["Organization: The Kiln authors", "Tool: make_sbom.py"]},
        "packages": described,
        "relationships": [
            {"spdxElementId": element, "relationshipType": relation, "relatedSpdxElement": related}
            for element, relation, related in relationships
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("packages", "output", "version", "date"):
        parser.add_argument("--" + option, required=True)
    arguments = parser.parse_args()
    with open(arguments.packages, encoding="utf-8") as file:
        packages = json.load(file)["packages"]
    with open(arguments.output, "w", encoding="utf-8") as file:
        json.dump(make_sbom(packages, arguments.version, arguments.date), file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
