# SPDX-License-Identifier: Apache-2.0
"""model_copts: compiler flags for the C of a model. cc_model and the measurement of figures use
them.
"""

# Cores with Helium. For vector code, gcc's -Os saves no bytes compared with -O2 but needs a quarter
# more instructions.
_HELIUM = ("cortex-m52", "cortex-m55", "cortex-m85")

def _machine_copts(target, platform):
    """Returns flags for an x86-64 level and its features. Empty if the platform sets them."""
    words = target.split(" ")
    if platform.target != "x86-64" or not words[0].startswith("x86-64"):
        return []
    flags = ["-march=" + words[0]]
    for word in words[1:]:
        if word.startswith("-mattr="):
            features = word[len("-mattr="):].split(",")
            flags.extend([("-m" if f[0] == "+" else "-mno-") + f[1:] for f in features if len(f) > 1])
    return flags

def size_level(target):
    """Returns the optimization level for C compiled for `target` with --optimize size."""
    return "-O2" if target.startswith(_HELIUM) else "-Os"

def model_copts(platform, optimize = "speed", target = ""):
    """Returns the flags for generated C. Warnings are off, because users cannot fix generated code.

    Args:
      platform: the ModelPlatformInfo of the build.
      optimize: the attribute `optimize` of cc_model.
      target: the value of `kiln compile --target`; "" means the platform's machine.

    Returns:
      Flags of the C compiler.
    """

    # Firmware gets the flags of docs/embedded.md. On other machines, -fno-math-errno lets gcc
    # vectorize square roots. -DKILN_SLOW_FMA lets code for a machine with multiply-add, such as the
    # reference of a board, call the C library for it on this machine.
    flags = ["-O2"] if platform.firmware else ["-O3", "-fno-math-errno", "-DKILN_SLOW_FMA"] + _machine_copts(target, platform)
    if optimize == "size":
        flags[0] = size_level(target or platform.target)
    return ["-std=c99", "-ffp-contract=off", "-w"] + flags
