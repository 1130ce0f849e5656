import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { didOf } from '../api/buying/payment-required.ts'
import type { Site, StoreDeps } from '../api/operation.ts'
import { DidDocument, JwkSet, keySets } from '../api/store.ts'
import { createSigningKeys } from '../secrets/secrets.ts'
import { routeStoreOperations } from './routes.ts'

const oldKey = Buffer.alloc(32, 1)
const newKey = Buffer.alloc(32, 2)
const siteAt = (url: string) => ({ url }) as Site

async function published(url: string, operatorKeys: readonly Buffer[] = [oldKey]) {
  const app = Fastify()
  const keys = createSigningKeys(operatorKeys, 'receipts')
  const deps: Partial<StoreDeps> = { site: siteAt(url), keys }
  const nobody = { token: undefined, isOpenHere: false }
  routeStoreOperations(app, deps as StoreDeps, keySets, nobody)
  const read = async (path: string) => (await app.inject(path)).json()
  return { keys, read }
}

describe('the store as a signer', () => {
  test.each([
    ['https://shop.example', 'did:web:shop.example'],
    ['http://localhost:4021', 'did:web:localhost%3A4021'],
    ['https://shop.example/kiosk/one', 'did:web:shop.example:kiosk:one'],
  ])('%s is named %s', (url, did) => {
    expect(didOf(siteAt(url))).toBe(did)
  })

  test('publishes its key with its thumbprint as a name', async () => {
    const { keys, read } = await published('https://shop.example')
    const set = JwkSet.strict().parse(await read('/.well-known/jwks.json'))
    expect(set.keys).toEqual(keys.published)
    expect(set.keys[0]?.kid).toBe(keys.current.kid)
  })

  test('publishes the same keys for those who look for a DID', async () => {
    const { keys, read } = await published('https://shop.example')
    const document = DidDocument.strict().parse(await read('/.well-known/did.json'))
    const id = `did:web:shop.example#${keys.current.kid}`
    expect(document).toMatchObject({ id: 'did:web:shop.example', assertionMethod: [id] })
    expect(document.verificationMethod).toMatchObject([{ id, publicKeyJwk: keys.published[0] }])
  })

  test('under a path has its document where did:web looks for it', async () => {
    const { read } = await published('https://shop.example/kiosk')
    expect((await read('/did.json')).id).toBe('did:web:shop.example:kiosk')
  })

  test('publishes a key that no longer signs, so that what it signed can be checked', async () => {
    const before = await published('https://shop.example')
    const { keys, read } = await published('https://shop.example', [newKey, oldKey])
    const kids = (await read('/.well-known/jwks.json')).keys.map(({ kid }: { kid: string }) => kid)
    expect(kids).toEqual([keys.current.kid, before.keys.current.kid])
    expect((await read('/.well-known/did.json')).assertionMethod).toHaveLength(2)
  })
})
