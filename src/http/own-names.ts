const ownNames = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)(:\d+)?$/i

/**
 * Whether a Host header, with or without a port, names this machine. In a DNS rebinding attack, a page of another
 * host calls the store by the name of that host.
 */
export function isOwnName(host: string): boolean {
  return ownNames.test(host)
}
