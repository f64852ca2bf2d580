import unittest

from flexrack_node.link.origin import origin_of


class OriginTest(unittest.TestCase):
    def test_an_ipv6_network_is_one_origin_and_an_ipv4_address_is_one_however_it_is_written(self):
        self.assertEqual(origin_of("2001:db8::1"), origin_of("2001:db8:0:0:ffff::2"))
        self.assertNotEqual(origin_of("2001:db8::1"), origin_of("2001:db8:0:1::1"))
        self.assertEqual(origin_of("::ffff:10.0.0.1"), origin_of("10.0.0.1"))
        self.assertNotEqual(origin_of("10.0.0.1"), origin_of("10.0.0.2"))
        self.assertEqual(origin_of("fe80::1%eth0"), origin_of("fe80::2"))
