# SPDX-License-Identifier: Apache-2.0
"""Names of files in an archive."""

def _path_in_package(target, file):
    root = target.label.workspace_root.replace("external/", "../", 1)
    prefix = "/".join([part for part in [root, target.label.package] if part])
    return file.short_path[len(prefix) + 1:] if prefix else file.short_path

def named_files(targets):
    """Maps the names of files in an archive to files.

    Args:
      targets: the value of an attr.label_keyed_string_dict, which maps targets to places. A place
        that ends with "/**" is a folder for the target's files, which keep their paths in the
        package. A place that ends with "/" is a folder for files without their paths. Any other
        place is the name of the target's only file.

    Returns:
      A dict from names to files.
    """
    files = {}
    for target, place in targets.items():
        for file in target.files.to_list():
            if place.endswith("/**"):
                name = place[:-len("**")] + _path_in_package(target, file)
            elif place.endswith("/"):
                name = place + file.basename
            else:
                name = place
            if name in files:
                fail("{} are to be {}, both".format([files[name], file], name))
            files[name] = file
    return files
