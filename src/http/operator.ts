import type { FastifyRequest } from 'fastify'
import { hashOf, sameHash } from '../secrets/secrets.ts'

const ownNames = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)(:\d+)?$/i

/** In a DNS rebinding attack, a page of another host calls the store by the name of that host. */
export function isOwnName(host: string): boolean {
  return ownNames.test(host)
}

export interface OperatorAccess {
  readonly token: string | undefined
  /** Never in live mode: a request that a bare proxy on this machine forwards looks like a local one. */
  readonly isOpenHere: boolean
}

export function isOperator(
  request: FastifyRequest,
  { token, isOpenHere }: OperatorAccess,
): boolean {
  return token === undefined ? isOpenHere && isFromHere(request) : carries(request, token)
}

/** Compares hashes, so that the time reveals neither the length of the token nor where it differs. */
function carries({ headers }: FastifyRequest, token: string): boolean {
  const [, bearer] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? []
  return bearer !== undefined && sameHash(hashOf(bearer), hashOf(token))
}

/** They show that a proxy forwarded the request or a web page sent it. */
const broughtBy = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via', 'origin']
const loopback = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/

/** Checks the address of the socket, and never what proxies say about the client. */
function isFromHere({ headers, socket }: FastifyRequest): boolean {
  return (
    loopback.test(socket.remoteAddress ?? '') &&
    isOwnName(headers.host ?? '') &&
    broughtBy.every((name) => headers[name] === undefined)
  )
}
