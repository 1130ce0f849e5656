import { Resolver } from 'node:dns/promises'
import { request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { PostResult, PostWebhook, WebhookCall } from '../../orders/webhooks/ports.ts'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'

export interface ReceiverNetwork {
  /** Whether receivers may be on this machine: only in a sandbox. */
  readonly allowsLoopback: boolean
  /** The addresses of a host name. May reject. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
  /** Certificates to trust instead of those of Node, in PEM. */
  readonly ca?: string | undefined
  /** For one call, from connecting to the status of the answer; milliseconds. */
  readonly timeoutMs?: number | undefined
}

const defaultTimeoutMs = 10_000

/**
 * Posts to receivers that buyers named. The host is resolved anew for every call, all its addresses must
 * be public, and the connection goes to one of those that were looked at: what the name leads to a moment
 * later does not count. Redirects are not followed, and of the answer only status and `Retry-After` are read.
 */
export function webhookPost(network: ReceiverNetwork): PostWebhook {
  const { resolve = resolved, allowsLoopback } = network
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

/**
 * Asks the name servers themselves: the system's resolver has four threads for the whole process, which
 * slow name servers of a few receivers would take from all other calls.
 */
async function resolved(host: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const none = () => []
  const found = await Promise.all([
    resolver.resolve4(host).catch(none),
    resolver.resolve6(host).catch(none),
  ])
  return found.flat()
}

/** Answers every look-up of the connection with the addresses that were checked. */
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
      // No agent: a connection that is kept open would go on to where the name led before.
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
    sent.end(body)
  })
}

/** Seconds or a date, in milliseconds from now; undefined for anything else. */
function retryAfterIn(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return waitMs > 0 ? waitMs : undefined
}

/** A code, since the words of an error may name addresses. */
function failureOf(error: Error, signal: AbortSignal): string {
  if (signal.aborted) return 'timeout'
  const code = 'code' in error ? String(error.code) : ''
  return /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'connection_failed'
}
