import { type Keys, NotAReceipt } from './verify-receipt.ts'

const timeoutMs = 10_000
const here = ['localhost', '127.0.0.1', '[::1]']

/**
 * The keys that a store publishes. Only over TLS, which is what says that they are the store's own; a store
 * on this machine needs none.
 *
 * @throws NotAReceipt when the keys cannot be had
 */
export async function fetchedKeys(issuer: string): Promise<Keys> {
  const from = `${issuer}/.well-known/jwks.json`
  const { protocol, hostname } = new URL(issuer)
  if (protocol !== 'https:' && !(protocol === 'http:' && here.includes(hostname))) {
    throw new NotAReceipt(
      `The receipt names ${issuer} as its store, and keys that come without TLS prove nothing. If you have its keys, give them with --keys.`,
    )
  }
  return { keys: await jsonAt(from), from }
}

async function jsonAt(url: string): Promise<unknown> {
  try {
    // A redirect would have another site speak for this one.
    const options = { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) } as const
    const response = await fetch(url, options)
    if (!response.ok) throw new Error(`it answers ${response.status}`)
    return await response.json()
  } catch (error) {
    const why = error instanceof Error ? causeOf(error) : String(error)
    throw new NotAReceipt(`The keys at ${url} cannot be read: ${why}`)
  }
}

function causeOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message
}
