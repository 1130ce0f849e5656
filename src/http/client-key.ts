import { isIPv4, isIPv6 } from 'node:net'

/**
 * The key under which the limits count a client: the whole of an IPv4 address, the /64 of an IPv6 address,
 * because one subscriber has a whole /64. An IPv4 address mapped into IPv6 counts as the IPv4 address. A text
 * that is no address comes from a proxy that forwards what its clients write. All such texts count as one
 * client, so that nobody can pose as a new client each time and fill the memory with keys.
 */
export function clientKeyOf(address: string): string {
  const [plain = ''] = address.split('%')
  // First, because it is cheaper than the test for IPv6.
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return 'no address'
  const groups = groupsOf(plain)
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (mapped) return dottedOf(groups[6] ?? 0, groups[7] ?? 0)
  const prefix = groups.slice(0, 4).map((group) => group.toString(16))
  return `${prefix.join(':')}::/64`
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = withHexTail(address).split('::')
  const before = numbersIn(head)
  if (tail === undefined) return before
  const after = numbersIn(tail)
  return [...before, ...Array(8 - before.length - after.length).fill(0), ...after]
}

/** Rewrites a dotted ending such as `1.2.3.4` as two hexadecimal groups. */
function withHexTail(address: string): string {
  const [ending, ...bytes] = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address) ?? []
  if (ending === undefined) return address
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number)
  const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16))
  return `${address.slice(0, -ending.length)}${groups.join(':')}`
}

function numbersIn(part: string): number[] {
  return part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
}

function dottedOf(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
