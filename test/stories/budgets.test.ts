import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { transactionsOf } from './chain.ts'
import { payForVoucher } from './contracts/outcomes.ts'
import { deploy, signingFor, treacherousCode } from './contracts/wallet.ts'
import { bodyFor, buy, eventually, termsOf, until } from './requests.ts'
import { openSibling, useStore } from './store.ts'

// Who costs the store gas, refunds and rows without buying anything is refused after a few times.

const store = useStore({ env: { PURCHASE_WAIT_SECONDS: '1' } })
let sibling: Awaited<ReturnType<typeof openSibling>>

beforeAll(async () => {
  sibling = await openSibling(store)
})
afterAll(async () => {
  await sibling.close()
})

const spent = (budget: string) => ({
  status: 429,
  body: { code: 'budget_spent', budget, whose: 'payer', retryable: true, charged: 'no' },
})

test('a wallet that never pays is refused before it costs more', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const wallet = await deploy(store.parts, treacherousCode(owner.address))
  const buyer = await newBuyer(1_000_000_000n, store.parts, signingFor(wallet, owner))
  const terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
  const headers = await Promise.all(
    Array.from({ length: 8 }, async () => (await buyer.sign(terms)).header),
  )
  const answers = await Promise.all(
    headers.map((header, index) =>
      payForVoucher(index % 2 ? store : { ...store, ...sibling }, header),
    ),
  )
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(3)
  for (const answer of refused) {
    expect(['unpaid_payments', 'reverts']).toContain(answer.body.budget)
    expect(answer).toMatchObject(spent(answer.body.budget))
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  // Each of the five that were opened is sent three times at most.
  expect(await transactionsOf(store.parts, store.gasWallet)).toBeLessThanOrEqual(5 * 3)
  expect((await payForVoucher(store, (await buyer.sign(terms)).header)).status).toBe(429)
})

test('a wallet whose payments are reverted at our expense is refused on every node', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const wallet = await deploy(store.parts, treacherousCode(owner.address))
  const buyer = await newBuyer(1_000_000_000n, store.parts, signingFor(wallet, owner))
  const terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
  const reverts = async () => {
    const [row] = await store.query(
      "select sum((doc ->> 'reverts')::int)::int as reverts from orders where payer = $1",
      [wallet.toLowerCase()],
    )
    return row.reverts
  }
  for (const after of [3, 6]) {
    expect((await payForVoucher(store, (await buyer.sign(terms)).header)).status).toBe(202)
    await eventually(reverts, (count) => count === after)
  }
  for (const node of [store, { ...store, ...sibling }]) {
    const refused = await payForVoucher(node, (await buyer.sign(terms)).header)
    expect(refused).toMatchObject(spent('reverts'))
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000)
  }
  expect(await reverts()).toBe(6)
})

test('buying what fails ends after five refunds, and others go on buying', async () => {
  const buyer = await newBuyer()
  const body = bodyFor('voucher', 'FAIL')
  for (let order = 0; order < 5; order += 1) {
    const { answer } = await buy(store, buyer, 'voucher', body)
    await until(store, answer.body.orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  }
  const { answer, send } = await buy(store, buyer, 'voucher', body)
  expect(answer).toMatchObject(spent('failed_orders'))
  expect(await send()).toMatchObject(spent('failed_orders'))
  const honest = await buy(store, await newBuyer(), 'voucher', bodyFor('voucher', 'OK'))
  expect([200, 202]).toContain(honest.answer.status)
})
