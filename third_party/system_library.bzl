# SPDX-License-Identifier: Apache-2.0
"""Repository rules that present files of a Debian package as an external Bazel repository."""

def require_files(repository_ctx, paths, package):
    """Fails with a message that names the Debian package unless every path exists.

    Args:
      repository_ctx: the context of the repository rule.
      paths: absolute paths of files that the package installs.
      package: the name of the Debian package.
    """
    for path in paths:
        if not repository_ctx.path(path).exists:
            fail("@{} needs {}, which Debian package {} installs. Run: apt-get install {}".format(
                repository_ctx.name,
                path,
                package,
                package,
            ))

def _system_library_impl(repository_ctx):
    attr = repository_ctx.attr
    require_files(repository_ctx, attr.requires + attr.links.values(), attr.package)
    for link, target in attr.links.items():
        repository_ctx.symlink(target, link)
    repository_ctx.symlink(attr.build_file, "BUILD.bazel")

system_library = repository_rule(
    implementation = _system_library_impl,
    doc = "A library whose headers lie under /usr/include: a build file, and links to what must be a file of the repository.",
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "links": attr.string_dict(doc = "Path in the repository to absolute path of what it links to."),
        "package": attr.string(mandatory = True, doc = "Debian package."),
        "requires": attr.string_list(doc = "Absolute paths that must exist."),
    },
    local = True,
)

def _system_directory_impl(repository_ctx):
    attr = repository_ctx.attr
    require_files(repository_ctx, [attr.path], attr.package)
    for entry in repository_ctx.path(attr.path).readdir():
        if not (attr.build_file and entry.basename == "BUILD"):
            repository_ctx.symlink(entry, entry.basename)
    if attr.build_file:
        repository_ctx.symlink(attr.build_file, "BUILD.bazel")

system_directory = repository_rule(
    implementation = _system_directory_impl,
    doc = "A directory that already is a Bazel repository.",
    attrs = {
        "build_file": attr.label(allow_single_file = True, doc = "In the place of the directory's own BUILD."),
        "package": attr.string(mandatory = True, doc = "Debian package."),
        "path": attr.string(mandatory = True, doc = "Absolute path of the repository's root."),
    },
    local = True,
)
