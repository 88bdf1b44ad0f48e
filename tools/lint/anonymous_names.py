#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of anonymous namespaces in sources that are compiled together (tools/bazel/unity).

    tools/lint/anonymous_names.py        # all C++ libraries and binaries of the tree

Two sources of a target must not declare the same name. A name must not hide one that a header declares in the same or an enclosing namespace, and that
another source of the target uses. Names are those of functions, variables and types. Equal aliases of types may be repeated, and a function may overload
one of the same namespace that a header declares.
"""

import ast
import builtins
import collections
import os
import pathlib
import re
import sys

_RULES = ("cc_binary", "cc_library", "kiln_binary", "kiln_library")
# Comments, strings and lines of the preprocessor have no group, so that they are skipped.
_TOKEN = re.compile(
    r'(?:\bu8|\b[uUL])?R"(?P<delimiter>[^(\s]*)\((?:.|\n)*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\''
    r"|//(?:\\\n|[^\n])*|/\*(?:.|\n)*?\*/|^[ \t]*#(?:\\\n|[^\n])*"
    r"|(?P<token>\w+|::|->|[^\s\w])",
    re.M,
)
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
_WORD = re.compile(r"[A-Za-z_]\w*$")
# A pair of parentheses after one of these is no list of parameters.
_NO_FUNCTIONS = {"alignas", "decltype", "__attribute__", "noexcept"}

# The alias is the text of `using a = b` or `using a::b`.
Declaration = collections.namedtuple("Declaration", "line is_function alias")
# The declarations outside of anonymous namespaces and in them, by namespace and name.
Source = collections.namedtuple("Source", "shared private uses namespaces includes")


def end_of(tokens, start):
    """The index after the bracket that closes the one at `start`."""
    opening = tokens[start][0]
    closing = {"(": ")", "[": "]", "{": "}", "<": ">"}[opening]
    depth = 0
    for i in range(start, len(tokens)):
        depth += (tokens[i][0] == opening) - (tokens[i][0] == closing)
        if depth == 0:
            return i + 1
    return len(tokens)


def declared_name(tokens, i):
    """Reads the declaration at tokens[i]. Returns its name or None, its Declaration, and the index after it."""
    first, head, name, line = i, [], None, tokens[i][1]
    while i < len(tokens):
        token = tokens[i][0]
        if token == "<" or (token == "[" and tokens[i + 1][0] == "[") or (token == "(" and head and head[-1] in _NO_FUNCTIONS):
            i = end_of(tokens, i)
            continue
        if token in ("(", "[", "{", "=", ";", ":"):
            break
        head.append(token)
        line = tokens[i][1]
        i += 1
    is_function = has_body = i < len(tokens) and tokens[i][0] == "("
    words = [word for word in head if word != "final"]
    if len(words) > 1 and _WORD.match(words[-1]) and "operator" not in words and words[-2] != "::":
        # An alias of a namespace may be repeated. It declares nothing here.
        if words[0] != "namespace" and words[:2] != ["using", "namespace"]:
            name = words[-1]
    elif words[:1] == ["using"] and len(words) > 3:  # using a::b;
        name = words[-1]
    has_initializers = False
    while i < len(tokens) and tokens[i][0] != ";":
        if tokens[i][0] in ("(", "[", "{"):
            is_body = tokens[i][0] == "{" and has_body and not (has_initializers and _WORD.match(tokens[i - 1][0]))
            i = end_of(tokens, i)
            if is_body:
                i -= 1
                break
        else:
            # Braces after `=` are a value, and those after a member of a constructor are its initial value.
            has_initializers |= tokens[i][0] == ":"
            has_body = has_body and tokens[i][0] != "="
            i += 1
    alias = " ".join(token for token, _ in tokens[first:i]) if head[:1] == ["using"] else None
    return name, Declaration(line, is_function, alias), i + 1


def parse(text):
    """The names that a source or header declares, as {(namespace, name): line}, and those it uses without a qualification."""
    tokens, line, position = [], 1, 0
    for match in _TOKEN.finditer(text):
        if match.group("token"):
            line += text.count("\n", position, match.start())
            position = match.start()
            tokens.append((match.group("token"), line))
    shared, private, namespaces, scopes, i = {}, {}, set(), [], 0
    while i < len(tokens):
        token = tokens[i][0]
        if token == "}":
            scopes = scopes[:-1]
            i += 1
        elif token == ";":
            i += 1
        elif token == "inline" and tokens[i + 1][0] == "namespace":
            i += 1
        elif token == "namespace" and "{" in [other for other, _ in tokens[i + 1 : i + 10]] and tokens[i + 2][0] != "=":
            end = next(j for j in range(i, len(tokens)) if tokens[j][0] == "{")
            scopes = scopes + ["".join(other for other, _ in tokens[i + 1 : end])]
            namespaces.add("::".join(filter(None, scopes)))
            i = end + 1
        elif token == "extern" and tokens[i + 1][0] == "{":
            scopes, i = scopes + [None], i + 2
        else:
            name, declaration, i = declared_name(tokens, i)
            if name:
                (private if "" in scopes else shared).setdefault(("::".join(filter(None, scopes)), name), declaration)
    uses = {token for (before, _), (token, _) in zip([("", 0)] + tokens, tokens) if before not in ("::", ".", "->")}
    return Source(shared, private, uses, namespaces, _INCLUDE.findall(text))


class Tree:
    """The parsed files below a folder."""

    def __init__(self, root):
        self._root = root
        self._sources, self._reachable = {}, {}

    def source(self, path):
        if path not in self._sources:
            file = self._root / path
            self._sources[path] = parse(file.read_text(encoding="utf-8")) if file.is_file() else Source({}, {}, set(), set(), [])
        return self._sources[path]

    def headers(self, path):
        """The headers of the tree that the file includes, directly or by another header."""
        if path not in self._reachable:
            seen, left = set(), list(self.source(path).includes)
            while left:
                header = left.pop()
                if header not in seen:
                    seen.add(header)
                    left += self.source(header).includes
            self._reachable[path] = seen
        return self._reachable[path]


def enclosing(namespace):
    """The namespace and those around it: a::b, a, and the global one."""
    parts = namespace.split("::")
    return ["::".join(parts[:n]) for n in range(len(parts), -1, -1)]


def hidden(tree, namespace, name, declaration, other):
    """The header that the file `other` includes and whose declaration it no longer finds, or None."""
    source = tree.source(other)
    is_near = any(inner == namespace or inner.startswith(namespace + "::") for inner in source.namespaces)
    if name not in source.uses or not is_near or (namespace, name) in source.private:
        return None
    for header in sorted(tree.headers(other)):
        for outer in enclosing(namespace):
            found = tree.source(header).shared.get((outer, name))
            # Functions of one namespace are overloads, and equal aliases may be repeated.
            overloads = found and outer == namespace and found.is_function and declaration.is_function
            if found and not overloads and not (found.alias and found.alias == declaration.alias):
                return header
    return None


def findings(tree, sources):
    """Yields (path, line, name, message) for the sources of one target."""
    owners = {}
    for path in sources:
        for (namespace, name), declaration in tree.source(path).private.items():
            first, known = owners.setdefault((namespace, name), (path, declaration))
            if first != path and not (declaration.alias and declaration.alias == known.alias):
                yield path, declaration.line, name, "and so does {}".format(first)
            for other in sources:
                header = hidden(tree, namespace, name, declaration, other) if other != path else None
                if header:
                    yield path, declaration.line, name, "which hides that of {} from {}".format(header, other)


def sources_below(folder, include, exclude=()):
    """The glob of a build file. Folders with a build file of their own are other packages."""
    paths = {path for pattern in include for path in folder.glob(pattern)} - {path for pattern in exclude for path in folder.glob(pattern)}
    return sorted(
        str(path.relative_to(folder))
        for path in paths
        if path.is_file() and not any((parent / "BUILD.bazel").exists() for parent in path.parents if folder in parent.parents)
    )


class Select(list):
    """The value of a select. Sources of a select are never joined, nor are those added to it."""

    def __add__(self, other):
        return Select()

    __radd__ = __add__


class OnlySources(ast.NodeTransformer):
    """Removes all attributes of C++ targets but their sources."""

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in _RULES:
            self.found = True
            node.keywords = [keyword for keyword in node.keywords if keyword.arg == "srcs"]
        return self.generic_visit(node)


def targets_of(build_file):
    """Returns the sources of each C++ library and binary of a build file, which has the grammar of Python."""
    tree = ast.parse(build_file.read_text(encoding="utf-8"))
    folder, targets = build_file.parent, []

    def add(srcs=()):
        targets.append([str(folder / source) for source in srcs if source.endswith(".cc") and source[0] not in ":/@"])

    class Names(dict):
        """The constants of the file by name. Other rules make nothing."""

        def __missing__(self, name):
            for node in tree.body:
                if isinstance(node, ast.Assign) and node.targets[0].id == name:
                    return value_of(node.value)
            return getattr(builtins, name, lambda *args, **kwargs: None)

    names = Names({rule: add for rule in _RULES}, glob=lambda *args, **kwargs: sources_below(folder, *args, **kwargs), select=lambda cases: Select())

    def value_of(node):
        return eval(compile(ast.Expression(node), str(build_file), "eval"), names)  # pylint: disable=eval-used

    for node in tree.body:
        only = OnlySources()
        if isinstance(node, ast.Expr) and only.visit(node) and hasattr(only, "found"):
            value_of(node.value)
    return targets


def main():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent.parent)
    tree, reported, targets = Tree(pathlib.Path()), set(), 0
    for build_file in sorted(pathlib.Path().glob("**/BUILD.bazel")):
        if any(part.startswith(("bazel-", ".")) for part in build_file.parts):
            continue
        for sources in targets_of(build_file):
            targets += 1
            reported.update(findings(tree, sources))
    for path, line, name, message in sorted(reported):
        print("{}:{}: declares {}, {}".format(path, line, name, message))
    print("{} targets, {} findings".format(targets, len(reported)))
    return 1 if reported else 0


if __name__ == "__main__":
    sys.exit(main())
