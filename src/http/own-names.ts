const ownNames = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)(:\d+)?$/i

/**
 * Whether a host, with or without a port, is called by a name of this machine. A page whose own name was
 * pointed here (DNS rebinding) calls the store by that name.
 */
export function isOwnName(host: string): boolean {
  return ownNames.test(host)
}
