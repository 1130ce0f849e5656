import ipaddr from 'ipaddr.js'

/**
 * Whether packets to this address go out to the internet: global unicast, and no range of the IANA
 * special-purpose registries (RFC 6890). IPv6 addresses that lead to an IPv4 address (mapped, NAT64,
 * 6to4, Teredo) are refused, whatever that address is.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast)
}

/** Whether this is the machine itself. */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback'
}

/** All IPv6 that IANA has handed out for use (RFC 4291, 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
