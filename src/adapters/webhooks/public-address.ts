import ipaddr from 'ipaddr.js'

/**
 * Whether packets to this address go out to the internet: global unicast, and in no range of the IANA
 * special-purpose registries (RFC 6890). IPv6 addresses that lead to an IPv4 address (mapped, NAT64,
 * 6to4, Teredo) are refused, whatever that address is.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast)
}

/** Whether this is a loopback address. */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback'
}

/** The only IPv6 global unicast space that IANA allocates (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
