# SPDX-License-Identifier: Apache-2.0
"""model_copts: the flags that the C of a model is compiled with, by cc_model and where its figures are measured."""

# Cores with Helium: of vectors, gcc's -Os makes code of the size of -O2's with a quarter more instructions.
_HELIUM = ("cortex-m52", "cortex-m55", "cortex-m85")

def _machine_copts(target, platform):
    """Flags for the machine of `target`, where the platform does not say them: the instructions of an x86-64 level and its features."""
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
    """The level of optimization for the C of a model that is compiled for `target` with --optimize size."""
    return "-O2" if target.startswith(_HELIUM) else "-Os"

def model_copts(platform, optimize = "speed", target = ""):
    """What generated C is compiled with: small rather than fast where there is flash. Warnings are of no use to who builds it.

    Args:
      platform: the ModelPlatformInfo of the build.
      optimize: what the model is compiled for, as the attribute of cc_model says it.
      target: what `kiln compile --target` was given; "": the platform's machine.

    Returns:
      Flags of the C compiler.
    """

    # Code for another machine's multiply-add, as references of boards are, calls the C library here.
    # Firmware gets the flags of docs/embedded.md. Elsewhere, gcc makes vectors of square roots if they set no errno.
    flags = ["-O2"] if platform.firmware else ["-O3", "-fno-math-errno", "-DKILN_SLOW_FMA"] + _machine_copts(target, platform)
    if optimize == "size":
        flags[0] = size_level(target or platform.target)
    return ["-std=c99", "-ffp-contract=off", "-w"] + flags
