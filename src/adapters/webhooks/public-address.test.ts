import { expect, test } from 'vitest'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '100.128.0.1',
  '172.32.0.1',
  '192.169.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82a::200e',
])('%s is on the internet', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  // This network, loopback, private use, link-local (cloud metadata services), carrier-grade NAT.
  ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1'],
  ...['172.31.255.255', '192.168.1.1', '169.254.169.254', '100.64.0.1', '100.127.255.255'],
  // IETF protocols, documentation, 6to4 relays, benchmarks, multicast, reserved, broadcast.
  ...['192.0.0.8', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '198.18.0.1'],
  ...['198.19.255.255', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
  // IPv6 that leads to IPv4: mapped, compatible, translated, NAT64, 6to4, Teredo.
  ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:7f00:1'],
  ...['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001::1'],
  // Documentation, discard, segment routing, unallocated.
  ...['2001:db8::1', '3fff::1', '100::1', '5f00::1', '4000::1', '8000::1'],
  ...['', 'localhost', '8.8.8.8.', '8.8.8.8:443', 'example.com'],
])('"%s" is not', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test('only the machine itself is loopback', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1'].map(isLoopbackAddress)).toEqual([true, true, true])
  const others = ['10.0.0.1', '8.8.8.8', '::', 'localhost', '::ffff:127.0.0.1']
  expect(others.map(isLoopbackAddress)).toEqual(others.map(() => false))
})
