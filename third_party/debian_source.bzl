# SPDX-License-Identifier: Apache-2.0
"""A repository rule that unpacks a source package of Debian, with Debian's patches."""

load(":system_library.bzl", "require_files")

# The source packages are in the same archives as the machine's binary packages.
_SOURCE = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(REPO_URI) $(RELEASE) main"

def _run(repository_ctx, command):
    result = repository_ctx.execute(command, timeout = 600)
    if result.return_code != 0:
        fail("@{}: cannot get the source of {} from where apt has its packages; it takes a network, and the version that is installed has to be the archive's:\n{}".format(
            repository_ctx.name,
            repository_ctx.attr.package,
            result.stderr + result.stdout,
        ))
    return result.stdout

def _debian_source_impl(repository_ctx):
    attr = repository_ctx.attr
    require_files(repository_ctx, ["/usr/bin/dpkg-source"], "dpkg-dev")
    sources = _run(repository_ctx, ["apt-get", "indextargets", "--format", _SOURCE, "Created-By: Packages"]).split("\n")
    repository_ctx.file("apt/sources.list", "\n".join({source: None for source in sources}.keys()) + "\n")
    repository_ctx.file("apt/lists/partial/.keep", "")
    repository_ctx.file("apt/archives/partial/.keep", "")
    version = _run(repository_ctx, ["dpkg-query", "--show", "--showformat=${source:Package}=${source:Version}", attr.package])

    # A private set of lists and packages: the machine's own are not changed, and no root rights are
    # needed.
    folder = str(repository_ctx.path("apt"))
    apt = [
        "apt-get",
        "-qq",
        "-o=Dir::Etc::sourcelist=" + folder + "/sources.list",
        "-o=Dir::Etc::sourceparts=/dev/null",
        "-o=Dir::State::lists=" + folder + "/lists",
        "-o=Dir::Cache=" + folder,
        "-o=APT::Sandbox::User=",
    ]
    _run(repository_ctx, apt + ["update"])
    _run(repository_ctx, apt + ["source", version])
    repository_ctx.delete("apt")

    # BUILD files of the sources would be packages of their own and hide files from this
    # repository's build file.
    _run(repository_ctx, ["find", ".", "-mindepth", "2", "(", "-name", "BUILD", "-o", "-name", "BUILD.bazel", ")", "-delete"])
    for entry in repository_ctx.path(".").readdir():
        if repository_ctx.path(str(entry) + "/debian").exists:
            repository_ctx.symlink(str(entry) + "/" + attr.folder, attr.folder)
    repository_ctx.symlink(attr.build_file, "BUILD.bazel")

debian_source = repository_rule(
    implementation = _debian_source_impl,
    doc = "Sources of a library that is installed, at the version of its package.",
    attrs = {
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "folder": attr.string(mandatory = True, doc = "The part of the sources that the repository shows."),
        "package": attr.string(mandatory = True, doc = "The installed Debian package that was made of them."),
    },
)
