import { isIP } from 'node:net'

const names = ['loopback', 'linklocal', 'uniquelocal']

/** A number of hops, or addresses. */
export type TrustedProxies = number | readonly string[]

/** Undefined for a host name, or "true", which would trust everyone. */
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

/** A network of every address is none, nor is an IPv4 network mapped into IPv6 whose prefix counts only IPv4 bits. */
function fits(address: string, version: number, bits: number): boolean {
  const least = /^::ffff:/i.test(address) ? 97 : 1
  return bits >= least && bits <= (version === 4 ? 32 : 128)
}
