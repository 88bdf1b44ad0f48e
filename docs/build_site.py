# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site: build_site.py MKDOCS_YML KILN OUT PAGE...

The pages are copied to a folder of their own, so that the site has what the target declares and nothing else. The file that a fence shows
(```c main.c) becomes its title. One page is made here: the reference of the command line is what the program itself prints.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

_NAMED_FENCE = re.compile(r"^(```\S+) (\S+)$", re.MULTILINE)
# The search lists pages for readers of the code after pages that answer a question.
_SEARCH_BOOST = {"docs/decisions": 0.1, "docs/ops.md": 0.3}
_PREFACE = """# Command line

What `kiln help` prints, command by command. `kiln help COMMAND` and `kiln COMMAND --help` print the same. A command ends with status 0 when it
did what it should, with 2 when the input or the call is at fault, and with 1 for a fault of Kiln itself.
"""


def help_text(kiln, command):
    return subprocess.run([kiln, *command, "--help"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def subcommands(text):
    """The names below "Subcommands:" in a help text."""
    _, _, below = text.partition("\nSubcommands:\n")
    return re.findall(r"^  ([a-z][a-z-]*)(?: |$)", below.split("\n\n")[0], re.MULTILINE)


def command_sections(kiln, command):
    """Markdown of a command and of its subcommands."""
    text = help_text(kiln, command)
    sections = ["\n## {}\n\n```text\n{}\n```\n".format(" ".join(["kiln", *command]), text.strip())]
    for name in subcommands(text):
        if name not in ("help", "version"):
            sections += command_sections(kiln, [*command, name])
    return sections


def staged(page, text):
    """A page as MkDocs takes it."""
    boost = _SEARCH_BOOST.get(page) or _SEARCH_BOOST.get(os.path.dirname(page))
    front_matter = "---\nsearch:\n  boost: {}\n---\n".format(boost) if boost else ""
    return front_matter + _NAMED_FENCE.sub(r'\1 title="\2"', text)


def main(config, kiln, out, *pages):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copyfile(config, root / "mkdocs.yml")
        for page in pages:
            copy = root / page
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = pathlib.Path(page).read_text(encoding="utf-8")
            copy.write_text(staged(page, text) if copy.suffix == ".md" else text, encoding="utf-8")
        (root / "docs/command_line.md").write_text(_PREFACE + "".join(command_sections(kiln, [])), encoding="utf-8")
        # Equal input, equal bytes: no page says when it was built.
        environment = dict(os.environ, SOURCE_DATE_EPOCH="0", HOME=folder, NO_MKDOCS_2_WARNING="true")
        command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
        command += ["--config-file", str(root / "mkdocs.yml"), "--site-dir", os.path.abspath(out)]
        result = subprocess.run(
            command, env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        )
        if result.returncode != 0:
            sys.stderr.write(result.stdout.replace(folder + "/", ""))
        return result.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
