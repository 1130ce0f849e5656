import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'

/** The credentials of the store at a hosted facilitator. */
export interface FacilitatorKey {
  /** Without an id, the bearer token of each request; with one, the key that signs a token for each request. */
  readonly secret: string
  readonly id?: string | undefined
}

/** The requests that the store makes to a facilitator, with their methods. */
const requests = { verify: 'POST', settle: 'POST', supported: 'GET' } as const
type Headers = Record<keyof typeof requests, Record<string, string>>

/** CDP accepts no token that is valid for longer. */
const tokenSeconds = 120
/** Ends a request that hangs, because the start of the store waits for it. */
const maxLookMs = 5_000

/** Makes the headers of the next request, or throws because the key is not usable. */
export function authHeaders(url: string, { secret, id }: FacilitatorKey): () => Promise<Headers> {
  if (id === undefined) return () => eachWith(async () => secret)
  const { host, pathname } = new URL(url)
  const path = pathname.replace(/\/+$/, '')
  return async () => {
    const key = signingKeyIn(secret)
    return eachWith((name) => tokenFor(`${requests[name]} ${host}${path}/${name}`, { key, id }))
  }
}

async function eachWith(tokenOf: (name: keyof Headers) => Promise<string>): Promise<Headers> {
  const headerOf = async (name: keyof Headers) => ({
    authorization: `Bearer ${await tokenOf(name)}`,
  })
  const [verify, settle, supported] = await Promise.all([
    headerOf('verify'),
    headerOf('settle'),
    headerOf('supported'),
  ])
  return { verify, settle, supported }
}

/** A token for CDP, valid once, for one method at one URL. */
function tokenFor(use: string, { key, id }: { readonly key: KeyObject; readonly id: string }) {
  const alg = key.asymmetricKeyType === 'ec' ? 'ES256' : 'EdDSA'
  const now = Math.floor(Date.now() / 1_000)
  return new SignJWT({ uris: [use] })
    .setProtectedHeader({ alg, kid: id, typ: 'JWT', nonce: randomBytes(16).toString('hex') })
    .setIssuer('cdp')
    .setSubject(id)
    .setAudience(['cdp_service'])
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + tokenSeconds)
    .sign(key)
}

/** An EC key as PEM, or an Ed25519 key as base64 of its seed and its public key. */
function signingKeyIn(secret: string): KeyObject {
  if (secret.includes('-----BEGIN')) {
    const key = createPrivateKey(secret)
    const curve = key.asymmetricKeyDetails?.namedCurve
    if (curve !== 'prime256v1') throw new Error('it is no key of the curve P-256')
    return key
  }
  const bytes = Buffer.from(secret, 'base64')
  if (bytes.length !== 64) throw new Error('it is neither PEM nor 64 bytes in base64')
  const part = (from: number, to: number) => bytes.subarray(from, to).toString('base64url')
  const key = { kty: 'OKP', crv: 'Ed25519', d: part(0, 32), x: part(32, 64) }
  return createPrivateKey({ format: 'jwk', key })
}

/** What is wrong with the key; undefined if nothing is, or the facilitator does not answer. */
export async function keyProblem(url: string, key: FacilitatorKey): Promise<string | undefined> {
  const signed = await authHeaders(url, key)().catch((error: Error) => error)
  if (signed instanceof Error) return `nothing can be signed with it: ${signed.message}`
  const init = { headers: signed.supported, signal: AbortSignal.timeout(maxLookMs) }
  const status = await fetch(`${url.replace(/\/+$/, '')}/supported`, init).then(
    (told) => told.status,
    () => undefined,
  )
  return status === 401 || status === 403 ? 'the facilitator refuses it' : undefined
}
