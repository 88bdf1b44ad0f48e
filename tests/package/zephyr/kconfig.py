# SPDX-License-Identifier: Apache-2.0
"""The part of Zephyr's configuration that a module sees: kconfig.py PRJ_CONF OUTPUT.cmake MODULE…

Reads prj.conf, and zephyr/module.yml and the Kconfig file of every module. Writes the values of all symbols, and the folders
of the modules' CMakeLists.txt. A warning of kconfiglib is an error, as in Zephyr.
"""

import os
import sys
import tempfile

import kconfiglib
import yaml

# Zephyr's own symbols that modules of models refer to.
ZEPHYR = """
config CPU_HAS_FPU
    bool
    default y

config FPU
    bool "Floating point unit"
    depends on CPU_HAS_FPU

config MAIN_STACK_SIZE
    int "Size of the stack of main"
    default 1024
"""

# Keys of module.yml that packages use. Zephyr's schema allows more.
KEYS = {"name": str, "build": dict, "samples": list}
BUILD_KEYS = {"cmake": str, "kconfig": str}


def check(mapping, keys, path):
    for key, value in mapping.items():
        if not isinstance(value, keys.get(key, ())):
            sys.exit("{}: found {}: {!r}, wanted keys of {}".format(path, key, value, sorted(keys)))


def read_module(folder):
    """Returns the folder of CMakeLists.txt and the Kconfig file of a module."""
    path = os.path.join(folder, "zephyr", "module.yml")
    with open(path, encoding="utf-8") as file:
        module = yaml.safe_load(file)
    check(module, KEYS, path)
    check(module["build"], BUILD_KEYS, path)
    for sample in module.get("samples", []):
        if not os.path.isdir(os.path.join(folder, sample)):
            sys.exit("{}: no folder {}".format(path, sample))
    cmake, kconfig = (os.path.join(folder, module["build"][key]) for key in ("cmake", "kconfig"))
    for needed in (os.path.join(cmake, "CMakeLists.txt"), kconfig):
        if not os.path.isfile(needed):
            sys.exit("{}: no file {}".format(path, needed))
    return cmake, kconfig


def main(configuration, output, *modules):
    found = [read_module(folder) for folder in modules]
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, "Kconfig")
        with open(root, "w", encoding="utf-8") as file:
            file.write(ZEPHYR + "".join('\nsource "{}"\n'.format(kconfig) for _, kconfig in found))
        kconfig = kconfiglib.Kconfig(root, warn_to_stderr=False)
        kconfig.warn_assign_undef = True
        kconfig.load_config(configuration)
        if kconfig.warnings:
            sys.exit("\n".join(kconfig.warnings))
        values = {symbol.name: symbol.str_value for symbol in kconfig.unique_defined_syms}
    with open(output, "w", encoding="utf-8") as file:
        for name, value in sorted(values.items()):
            if value != "n":
                file.write('set(CONFIG_{} "{}")\n'.format(name, value))
        file.write("set(ZEPHYR_MODULE_CMAKE_DIRS {})\n".format(" ".join('"' + cmake + '"' for cmake, _ in found)))


if __name__ == "__main__":
    main(*sys.argv[1:])
