import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { transactionsOf } from './chain.ts'
import { payForVoucher } from './contracts/outcomes.ts'
import { deploy, signingFor, treacherousCode } from './contracts/wallet.ts'
import { bodyFor, termsOf } from './requests.ts'
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
