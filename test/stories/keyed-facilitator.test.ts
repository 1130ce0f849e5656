import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import type { Asked, Demand } from '../harness/facilitator-process.ts'
import { fundedGasKey } from '../harness/gas.ts'
import { newBuyer } from './buyer.ts'
import { transactionsOf, transfersBetween } from './chain.ts'
import { expectDeliveredOnce, payForVoucher } from './contracts/outcomes.ts'
import { bodyFor, termsOf } from './requests.ts'
import { openNode, openStore, type Store, type StoreOptions } from './store.ts'

// A hosted facilitator that wants to know who asks: in a process of its own, of the package's classes.

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

async function startFacilitator(demand: Demand) {
  const { rpcUrl } = inject('parts')
  const gasKey = await fundedGasKey(rpcUrl)
  const script = fileURLToPath(new URL('../harness/facilitator-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  closing.push(() => ended(child))
  child.stdin.end(JSON.stringify({ rpcUrl, gasKey, demand }))
  const [line] = await once(child.stdout, 'data')
  const url = String(line).trim()
  const { origin } = new URL(url)
  return {
    url,
    wallet: privateKeyToAddress(gasKey),
    asked: async (): Promise<readonly Asked[]> => (await fetch(`${origin}/asked`)).json() as never,
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const token = 'the-key-of-this-store-at-circle'
const id = 'organizations/1b9d6bcd/apiKeys/9b1deb4d'

/** A key as CDP hands it out: 64 bytes in base64, the seed and the public key. */
function ed25519() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  const secret = Buffer.concat([d, x].map((part) => Buffer.from(part, 'base64url')))
  const demand = { id, alg: 'EdDSA', publicKey: publicKey.export({ format: 'jwk' }) }
  return { demand, key: { id, secret: secret.toString('base64') } }
}

/** The other kind, as PEM. */
function p256() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const demand = { id, alg: 'ES256', publicKey: publicKey.export({ format: 'jwk' }) }
  const secret = privateKey.export({ format: 'pem', type: 'sec1' }).toString()
  return { demand, key: { id, secret } }
}

async function newScene(demand: Demand, options: StoreOptions) {
  const facilitator = await startFacilitator(demand)
  const store = await openStore({ facilitatorUrl: facilitator.url, ...options })
  closing.push(store.close)
  return { facilitator, store }
}

/** Buys a voucher, which has to come in the end, for one payment. Tells who sent it to the chain. */
async function boughtBy(store: Store) {
  const buyer = await newBuyer()
  const { header } = await buyer.sign(await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK')))
  const { body } = await payForVoucher(store, header)
  const order = await expectDeliveredOnce(store, buyer.address, body.orderId)
  const paid = await transfersBetween(store.parts, buyer.address, store.payTo)
  expect(paid).toHaveLength(1)
  const { from } = await chainClient(store.parts.rpcUrl).getTransaction({
    hash: order.transactionHash,
  })
  return from.toLowerCase()
}

describe.each([
  ['a token, as Circle does', { demand: { token }, key: { secret: token } }],
  ['a signature of Ed25519 for each request, as CDP does', ed25519()],
  ['a signature of P-256 for each request, as CDP does', p256()],
])('a facilitator that wants %s', (_, { demand, key }) => {
  test('checks and settles for the store, and for nobody with another key', async () => {
    const { store, facilitator } = await newScene(demand, { facilitatorKey: key })
    for (let count = 0; count < 2; count += 1) {
      expect(await boughtBy(store)).toBe(facilitator.wallet.toLowerCase())
    }
    const asked = await facilitator.asked()
    expect(asked.every(({ isKnown }) => isKnown)).toBe(true)
    expect(asked.map(({ path }) => path.split('/').at(-1))).toEqual([
      ...['supported', 'verify', 'settle', 'verify', 'settle'],
    ])
    expect(await transactionsOf(store.parts, store.gasWallet)).toBe(0)

    const stranger = 'id' in key ? ed25519().key : { secret: 'another-key-of-another-store' }
    const settings = { ...store.settings, facilitatorKey: stranger }
    await expect(openNode(settings, store.parts)).rejects.toThrow(
      'FACILITATOR_KEY: the facilitator refuses it',
    )
  })
})
