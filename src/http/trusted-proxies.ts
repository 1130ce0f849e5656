import { isIP } from 'node:net'

/** Networks that have a name: this machine, and addresses that are not routed on the internet. */
const names = ['loopback', 'linklocal', 'uniquelocal']

/** Which proxies are believed: how many hops, or which addresses. */
export type TrustedProxies = number | readonly string[]

/**
 * Reads a number of hops, or addresses and networks separated by commas. Undefined when it is
 * neither: a host name, or "true", which would believe everyone.
 */
export function trustedProxiesIn(text: string): TrustedProxies | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text)
  const parts = text.split(',').map((part) => part.trim())
  return parts.every((part) => names.includes(part) || isNetwork(part)) ? parts : undefined
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && fits(address, version, Number(bits)))
}

/**
 * A network of no bits is everybody. So is one that is written as IPv4 in IPv6 and counts its bits
 * as if it were IPv4: `::ffff:10.0.0.0/8` holds every address there is.
 */
function fits(address: string, version: number, bits: number): boolean {
  const least = /^::ffff:/i.test(address) ? 97 : 1
  return bits >= least && bits <= (version === 4 ? 32 : 128)
}
