import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Chain, startChain } from '../../sandbox/chain/chain.ts'
import type { Accepts } from '../harness/payer.ts'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { blacklist, pause, transactionsOf, unBlacklist, unpause } from './chain.ts'
import {
  expectDeliveredOnce,
  expectNotNow,
  expectRefundedOnce,
  expectRefused,
  expectSold,
  payForVoucher,
} from './contracts/outcomes.ts'
import { bodyFor, buy, eventually, get, post, supplierSays, termsOf, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

// What Circle may do to a wallet or to the whole token, at the worst moment. A paused token stops
// every store on the chain, and the last story moves its clock, so the chain is theirs alone.

let dataDir: string
let chain: Chain
let rpc: StoryProxy
let store: Store
let terms: Accepts
let buyer: Buyer

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kiosk402-token-'))
  chain = await startChain({ dataDir })
  rpc = await startProxy(chain.rpcUrl)
  const env = {
    PURCHASE_WAIT_SECONDS: '2',
    FULFILLMENT_DEADLINE_SECONDS: '1',
  }
  store = await openStore({ chain, rpcUrl: rpc.url, env })
  terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
})
afterAll(async () => {
  await store.close()
  await rpc.close()
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
})
beforeEach(async () => {
  buyer = await newBuyer(1_000_000_000n, chain)
})
afterEach(() => rpc.breakCalls())

test('a payer whom USDC has blacklisted is refused before anything is written', async () => {
  await blacklist(chain, buyer.address)
  const { header } = await buyer.sign(terms)
  await expectRefused(store, buyer.address, header, 'would_fail')
})

/** What closes the token to everybody who would pay this store, and what opens it again. */
const closures = [
  {
    what: 'USDC is paused',
    close: () => pause(chain),
    open: () => unpause(chain),
  },
  {
    what: 'USDC has blacklisted the store',
    close: () => blacklist(chain, store.payTo),
    open: () => unBlacklist(chain, store.payTo),
  },
]

test.each(closures)(
  'while $what nobody is asked to sign again, and the same payment is good afterwards',
  async ({ close, open }) => {
    const { header } = await buyer.sign(terms)
    await close()
    await expectNotNow(store, buyer.address, header)
    await open()
    const answer = await payForVoucher(store, header)
    expectSold(answer)
    await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
  },
)

const obstacles = [
  { code: 'token_paused', close: () => pause(chain), open: () => unpause(chain) },
  {
    code: 'payer_blacklisted',
    close: () => blacklist(chain, buyer.address),
    open: () => unBlacklist(chain, buyer.address),
  },
  {
    code: 'wallet_blacklisted',
    close: () => blacklist(chain, store.refundWallet),
    open: () => unBlacklist(chain, store.refundWallet),
  },
]

test.each(obstacles)(
  'a refund that meets $code is left to the operator, and paid once when it can be',
  async ({ code, close, open }) => {
    const before = await buyer.balance()
    const { answer } = await buy(store, buyer, 'topup', bodyFor('topup', 'HANG'))
    const { orderId } = answer.body
    await until(store, orderId, ({ refund_state }) => refund_state === 'REFUND_PENDING')
    await close()
    const gasSpent = await transactionsOf(chain, store.gasWallet)
    await supplierSays(store, orderId, 'FAILED')
    const stuck = await until(
      store,
      orderId,
      ({ refund_state }) => refund_state === 'REFUND_FAILED',
    )
    expect(stuck.orders).toMatchObject([{ state: 'EXPIRED', agent_action: 'stop' }])
    const path = `/api/catalog/orders/${orderId}/refund`
    expect((await get(store.url, path)).body).toMatchObject({ error: { code } })
    // No gas was spent on it, and nobody looks at the order again by himself.
    expect(await transactionsOf(chain, store.gasWallet)).toBe(gasSpent)
    const dueAt = async () => {
      const [row] = await store.query('select due_at from orders where id = $1', [orderId])
      return row.due_at as Date | null
    }
    await eventually(dueAt, (due) => due === null)

    await open()
    const key = { 'idempotency-key': `after-${code}-it-is-paid` }
    expect((await post(store.url, path, {}, key)).status).toBe(202)
    await expectRefundedOnce(store, buyer.address, orderId)
    expect(await buyer.balance()).toBe(before)
  },
)
