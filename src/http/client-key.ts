import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The key under which the limits count a client: the whole of an IPv4 address, the /64 of an IPv6 address,
 * because one subscriber has a whole /64. An IPv4 address mapped into IPv6 counts as the IPv4 address. A text
 * that is no address comes from a proxy that forwards what its clients write. All such texts count as one
 * client, so that nobody can pose as a new client each time and fill the memory with keys.
 */
export function clientKeyOf(address: string): string {
  const [plain = ''] = address.split('%')
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return 'no address'
  const parsed = ipaddr.process(plain)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const prefix = parsed.parts.slice(0, 4).map((group) => group.toString(16))
  return `${prefix.join(':')}::/64`
}
