# SPDX-License-Identifier: Apache-2.0
"""Checks that sizes are near within a factor of 2, and that sizes decided by the data do not count."""

import unittest

from tests.acceptance import own_sizes


class OwnSizesTest(unittest.TestCase):

    def test_a_size_is_near_up_to_a_factor_of_two(self):
        self.assertTrue(own_sizes.is_near(224, 448))
        self.assertTrue(own_sizes.is_near(224, 112))
        self.assertFalse(own_sizes.is_near(224, 449))
        self.assertFalse(own_sizes.is_near(224, 111))

    def test_a_range_is_near_from_half_its_least_to_twice_its_largest(self):
        self.assertTrue(own_sizes.is_near(128, (1, 512)))
        self.assertTrue(own_sizes.is_near(368, (736, None)))
        self.assertFalse(own_sizes.is_near(367, (736, None)))
        self.assertTrue(own_sizes.is_near(12, (1, 6)))
        self.assertFalse(own_sizes.is_near(13, (1, 6)))

    def test_judges_each_dimension_once(self):
        shapes = {"input": ("batch", "samples"), "state": (2, "batch", 128), "rate": ()}
        judged = own_sizes.judge(shapes, {"batch": 1, "samples": 576},
                                 {"input": (1, 256), "state": (2, 1, 128), "rate": ()})
        self.assertEqual(judged, own_sizes.Judgement(2, 1, {"samples": 256}))

    def test_no_size_is_near_without_a_compiled_model(self):
        judged = own_sizes.judge({"x": ("batch", 3)}, {"batch": 1}, {})
        self.assertEqual(judged, own_sizes.Judgement(1, 0, {}))

    def test_counts_no_size_that_the_data_decides(self):
        judged = own_sizes.judge({"ids": ("batch", "letters")},
                                 {"batch": 1, "letters": own_sizes.ANY}, {"ids": (1, 128)})
        self.assertEqual(judged, own_sizes.Judgement(1, 1, {}))

    def test_writes_sizes(self):
        self.assertEqual(
            own_sizes.text({"batch": 1, "tokens": (1, 512), "height": (736, None),
                            "width": own_sizes.ANY}),
            "batch 1, tokens 1 to 512, height 736 or more, width any")


if __name__ == "__main__":
    unittest.main()
