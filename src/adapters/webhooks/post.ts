import { Resolver } from 'node:dns/promises'
import { request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { PostResult, PostWebhook, WebhookCall } from '../../orders/webhooks/ports.ts'

export interface ReceiverNetwork {
  readonly allowsLoopback: boolean
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
  readonly ca?: string | undefined
  /** The limit of one call, from the connection to the status of the answer; milliseconds. */
  readonly timeoutMs?: number | undefined
}

const defaultTimeoutMs = 10_000

/** To the receiver of the operator, who may have one in the own network. Never throws. */
export const postAnywhere: PostWebhook = async ({ url, headers, body }) => {
  const signal = AbortSignal.timeout(defaultTimeoutMs)
  try {
    const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const
    const response = await fetch(url, init)
    await response.body?.cancel()
    return { status: response.status }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { failure: failureOf(cause as Error, signal) }
  }
}

/** The call connects to an address that was checked, whatever the name resolves to later. */
export function webhookPost(network: ReceiverNetwork): PostWebhook {
  const { resolve = resolveHost, allowsLoopback } = network
  const isAllowed = (address: string) =>
    isPublicAddress(address) || (allowsLoopback && isLoopbackAddress(address))

  return async (call) => {
    const host = new URL(call.url).hostname.replace(/^\[|\]$/g, '')
    const addresses = await addressesOf(host, resolve)
    if (addresses.length === 0) return { failure: 'host_not_found' }
    if (!addresses.every(isAllowed)) return { failure: 'address_not_public' }
    return send(call, network, pinnedTo(addresses))
  }
}

async function addressesOf(
  host: string,
  resolve: NonNullable<ReceiverNetwork['resolve']>,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  if (host === 'localhost') return ['127.0.0.1']
  return resolve(host).catch(() => [])
}

/** The system's resolver runs on the four threads of Node's pool, which slow name servers would block for all. */
async function resolveHost(host: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const none = () => []
  const addresses = await Promise.all([
    resolver.resolve4(host).catch(none),
    resolver.resolve6(host).catch(none),
  ])
  return addresses.flat()
}

function pinnedTo(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_, options, callback) => {
    if (options.all) return callback(null, all)
    const [{ address, family } = { address: '', family: 0 }] = all
    return callback(null, address, family)
  }
}

function send(
  { url, headers, body }: WebhookCall,
  { ca, timeoutMs = defaultTimeoutMs }: ReceiverNetwork,
  lookup: LookupFunction,
): Promise<PostResult> {
  const signal = AbortSignal.timeout(timeoutMs)
  return new Promise((resolve) => {
    const sent = request(
      url,
      // No agent: a kept connection would still go to the address that an earlier call resolved.
      { method: 'POST', headers, lookup, agent: false, signal, ...(ca && { ca }) },
      (response) => {
        resolve({
          status: response.statusCode ?? 0,
          retryAfterMs: retryAfterIn(response.headers['retry-after']),
        })
        response.destroy()
      },
    )
    sent.on('error', (error) => resolve({ failure: failureOf(error, signal) }))
    // A receiver that switches protocols ends the call without an answer and without an error.
    sent.on('close', () => resolve({ failure: 'connection_failed' }))
    sent.end(body)
  })
}

/** `Retry-After`, in seconds or as a date, as milliseconds from now; undefined for anything else. */
function retryAfterIn(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return waitMs > 0 ? waitMs : undefined
}

/** A code only, because the message of an error may contain addresses. */
function failureOf(error: Error, signal: AbortSignal): string {
  if (signal.aborted) return 'timeout'
  const code = 'code' in error ? String(error.code) : ''
  return /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'connection_failed'
}

/** Global unicast, in no IANA special-purpose range (RFC 6890), and no IPv6 form of an IPv4 address. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast)
}

export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback'
}

/** The only IPv6 global unicast space that IANA allocates (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
