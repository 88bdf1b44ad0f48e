# SPDX-License-Identifier: Apache-2.0
"""Random choices for the generators of models."""


class Refused(Exception):
    """The current choice gives no model, so another one is tried."""


class Choices:
    def __init__(self, rng):
        self.rng = rng

    def coin(self, probability=0.5):
        return self.rng.random() < probability

    def pick(self, items):
        items = list(items)
        if not items:
            raise Refused
        return self.rng.choice(items)

    def number(self, low, high):
        if low > high:
            raise Refused
        return self.rng.randint(low, high)
