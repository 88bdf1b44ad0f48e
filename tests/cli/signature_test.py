# SPDX-License-Identifier: Apache-2.0
"""Signs libraries and checks their signatures, by the tool and by OpenSSL."""

import os
import shutil
import subprocess
import unittest

from tests.cli.cli_case import MY_MOD, CliCase

OPENSSL = shutil.which("openssl")


@unittest.skipUnless(OPENSSL, "no openssl, which makes keys")
class SignatureTest(CliCase):
    def setUp(self):
        super().setUp()
        for name in ("old", "new"):
            self.openssl("genpkey", "-algorithm", "ed25519", "-out", name + ".pem")
            self.openssl("pkey", "-in", name + ".pem", "-pubout", "-out", name + "_public.pem")
        self.succeeds("compile", MY_MOD, "-o", self.path("lib"))
        self.library = self.path("lib/my_mod.so")
        self.signature = self.library + ".sig"

    def openssl(self, *args):
        subprocess.run([OPENSSL, *args], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def verify(self, *keys):
        return ["verify", self.library] + ["--public-key=" + self.path(key + "_public.pem") for key in keys]

    def sign(self, key, *options):
        self.succeeds("sign", self.library, "--key", self.path(key + ".pem"), *options)

    def test_a_signed_library(self):
        self.refuses("my_mod.so: is not signed: found no ", *self.verify("old"))
        self.sign("old")
        self.assertEqual(self.succeeds(*self.verify("old")), self.library + ": is signed by an accepted key\n")
        self.succeeds(*self.verify("new", "old"))
        self.refuses("my_mod.so: found no signature of the 1 accepted keys", *self.verify("new"))

    def test_openssl_makes_and_checks_the_same(self):
        self.sign("old")
        self.openssl("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "old_public.pem", "-in", self.library, "-sigfile", self.signature)
        self.openssl("pkeyutl", "-sign", "-rawin", "-inkey", "new.pem", "-in", self.library, "-out", self.signature)
        self.succeeds(*self.verify("new"))

    def test_a_key_is_replaced(self):
        self.sign("old")
        self.sign("new", "--add")
        for keys in (["old"], ["new"], ["old", "new"]):
            self.succeeds(*self.verify(*keys))
        self.sign("new")
        self.refuses("found no signature", *self.verify("old"))

    def test_a_changed_library(self):
        self.sign("old")
        with open(self.library, "ab") as file:
            file.write(b"\n")
        self.refuses("my_mod.so: found no signature", *self.verify("old"))

    def test_what_is_no_key(self):
        self.refuses("old_public.pem: wanted a private key", "sign", self.library, "--key", self.path("old_public.pem"))
        self.refuses("old.pem: wanted public keys", "verify", self.library, "--public-key", self.path("old.pem"))
        self.refuses("none.pem: no such file", "sign", self.library, "--key", self.path("none.pem"))
        self.sign("old")
        with open(self.signature, "ab") as file:
            file.write(b"x")
        self.refuses("found 65 bytes of signatures, wanted 1 to 16 of 64", *self.verify("old"))

    def test_signatures_to_which_none_can_be_added(self):
        sign = ("sign", self.library, "--key", self.path("old.pem"), "--add")
        for _ in range(16):
            self.succeeds(*sign)
        self.refuses("has 16 signatures, and more are not accepted", *sign)
        self.succeeds(*self.verify("old"))
        with open(self.signature, "r+b") as file:
            file.truncate(60)
        self.refuses("found 60 bytes, wanted signatures of 64", *sign)
        self.assertEqual(os.path.getsize(self.signature), 60)


if __name__ == "__main__":
    unittest.main()
