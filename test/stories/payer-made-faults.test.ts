import { type Address, type Hex, toFunctionSelector } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { type NodeBefore, startNodeBefore } from '../../src/adapters/chain/chain.fixture.ts'
import type { Accepts } from '../harness/payer.ts'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { expectSold, payForVoucher } from './contracts/outcomes.ts'
import { deploy, fickleCode, hungryCode, partialCode, signingFor } from './contracts/wallet.ts'
import { type Answer, bodyFor, buy, get, post, purchasePath, termsOf, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

// Nothing that a payer can cause is evidence about the parts of the store.

const voucher = bodyFor('voucher', 'OK')

let store: Store
let node: NodeBefore
let supplier: StoryProxy
let terms: Accepts

beforeAll(async () => {
  node = await startNodeBefore(inject('parts').rpcUrl)
  store = await openStore({
    rpcUrl: node.url,
    env: { PURCHASE_WAIT_SECONDS: '1', FULFILLMENT_DEADLINE_SECONDS: '600' },
    supplierVia: async (url) => {
      supplier = await startProxy(url)
      return supplier.url
    },
  })
  terms = await termsOf(store.url, 'voucher', voucher)
})
afterAll(async () => {
  await store.close()
  await supplier.close()
  await node.stop()
})
afterEach(() => {
  node.tamper()
  supplier.breakCalls()
})

const transferWithAuthorization =
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)'

async function expectOpen(): Promise<void> {
  const { parts } = (await get(store.url, '/readyz')).body
  const states = Object.entries(parts as Record<string, { state: string }>)
  expect(states.filter(([, { state }]) => state !== 'healthy')).toEqual([])
}

const { usdc } = inject('parts')

/** Wallets whose `isValidSignature` does not say the same to everybody. */
const wallets = [
  ['needs 4.4 million gas', (owner: Address) => hungryCode(owner, 4_400_000)],
  ['agrees to all but the token', (owner: Address) => partialCode(owner, usdc as Address, false)],
] as const

/** Three payments from a wallet with this code, as each was answered. */
async function payThreeTimes(codeOf: (owner: Address) => Hex) {
  const owner = privateKeyToAccount(generatePrivateKey())
  const wallet = await deploy(store.parts, codeOf(owner.address))
  const buyer = await newBuyer(1_000_000_000n, store.parts, signingFor(wallet, owner))
  const heard = []
  for (let payment = 1; payment <= 3; payment += 1) {
    heard.push(await payForVoucher(store, (await buyer.sign(terms)).header))
  }
  const bought = await Promise.all(heard.map(isBought))
  const paid = await transfersBetween(store.parts, buyer.address, store.payTo)
  return {
    heard: heard.map(({ status, body }) => ({ status, charged: body.charged })),
    bought: bought.filter(Boolean).length,
    paid: paid.length,
  }
}

/** Whether the goods came: with the answer or, on a busy machine, some time after it. */
async function isBought({ status, body }: Answer): Promise<boolean> {
  if (status !== 202) return status === 200
  const ends = ['FULFILLED', 'PAYMENT_FAILED']
  const order = await until(store, body.orderId, ({ orders: [{ state }] }) => ends.includes(state))
  return order.orders[0].state === 'FULFILLED'
}

test.each(wallets)(
  'a wallet that %s is refused every time, and the store stays open',
  async (_, codeOf) => {
    const { heard, paid } = await payThreeTimes(codeOf)
    expect(heard).toEqual(Array(3).fill({ status: 402, charged: 'no' }))
    expect(paid).toBe(0)
    await expectOpen()
  },
)

test.each([4])(
  'a wallet that follows bit %d of the gas pays for what it gets, and the store stays open',
  async (bit) => {
    const { heard, bought, paid } = await payThreeTimes((owner) => fickleCode(owner, bit))
    // By the luck of the gas it may agree each time it is asked, the last time on the chain.
    expect(paid).toBe(bought)
    expect(heard.map(({ charged }) => charged)).not.toContain('yes')
    await expectOpen()
  },
)

test('payments that a node cannot check are put off one by one, and others still buy', async () => {
  // What code of a payer makes a node do is as unanswered as a node that is away.
  node.tamper((method, [call]) => {
    const { data = '' } = (call ?? {}) as { data?: string }
    const isSettlement = data.startsWith(toFunctionSelector(transferWithAuthorization))
    return method === 'eth_estimateGas' && isSettlement ? 'silence' : undefined
  })
  for (let payment = 1; payment <= 6; payment += 1) {
    const answer = await payForVoucher(store, (await (await newBuyer()).sign(terms)).header)
    expect(answer).toMatchObject({ status: 503, body: { code: 'try_again', charged: 'unknown' } })
  }
  node.tamper()
  await expectOpen()
  expectSold((await buy(store, await newBuyer(), 'voucher', voucher)).answer)
})

test('purchases that the supplier answers strangely say nothing of its health', async () => {
  supplier.breakCalls((call) => (/^POST .*\/purchases$/.test(call) ? 'swallow' : 'none'))
  for (let purchase = 1; purchase <= 4; purchase += 1) {
    const { header } = await (await newBuyer()).sign(terms)
    const answer = await post(store.url, purchasePath('voucher'), voucher, {
      'payment-signature': header,
    })
    expect(answer).toMatchObject({ status: 202, body: { orders: [{ state: 'FULFILLING' }] } })
  }
  await expectOpen()
})
