import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { expectDeliveredOnce, payForVoucher } from './contracts/outcomes.ts'
import { ledgerOf, rowsKept } from './facts.ts'
import { bodyFor, eventually, get, termsOf } from './requests.ts'
import { letIn, openStore, type Store } from './store.ts'

let store: Store
let buyer: Buyer
let terms: Accepts

beforeAll(async () => {
  store = await openStore({ env: { PURCHASE_WAIT_SECONDS: '3' } })
  terms = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
})
beforeEach(async () => {
  buyer = await newBuyer()
})
afterEach(async () => {
  await letIn(store.databaseUrl, true)
  await becomesReady()
})
afterAll(() => store.close())

/** The signals look at the newest calls; what is told next begins when they are good again. */
const becomesReady = () =>
  eventually(
    () => get(store.url, '/readyz'),
    ({ status }) => status === 200,
  )

async function payment(): Promise<string> {
  return (await buyer.sign(terms)).header
}

const paymentsOf = () => transfersBetween(store.parts, buyer.address, store.payTo)

test('without a database nobody is charged, and the same payment is good when it is back', async () => {
  const header = await payment()
  const before = { rows: await rowsKept(store), bought: (await ledgerOf(store)).length }
  await letIn(store.databaseUrl, false)
  const refused = await payForVoucher(store, header)
  expect(refused.status).toBe(503)
  // It may have been sent and taken before; not even that can be looked up.
  expect(refused.body).toMatchObject({ code: 'try_again', charged: 'unknown', retryable: true })
  expect(refused.headers.get('payment-required')).toBeNull()
  expect(await paymentsOf()).toEqual([])

  await letIn(store.databaseUrl, true)
  expect({ rows: await rowsKept(store), bought: (await ledgerOf(store)).length }).toEqual(before)
  const answer = await eventually(
    () => payForVoucher(store, header),
    ({ status }) => status !== 503,
  )
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

test('a commit that fails when the order would be opened takes nothing', async () => {
  await refuseCommits()
  const header = await payment()
  const refused = await payForVoucher(store, header)
  expect(refused).toMatchObject({ status: 503, body: { code: 'try_again' } })
  await allowCommits()
  expect(await paymentsOf()).toEqual([])
  await becomesReady()
  const { body } = await payForVoucher(store, header)
  await expectDeliveredOnce(store, buyer.address, body.orderId)
})

/** Makes commits fail as PostgreSQL does when its disk is full, until they are allowed again. */
async function refuseCommits(): Promise<void> {
  await store.query(`create function refuse_commit() returns trigger language plpgsql as $$
    begin raise exception using errcode = 'disk_full',
      message = 'could not extend file: No space left on device'; end $$`)
  await store.query(`create constraint trigger a_full_disk after insert on orders
    deferrable initially deferred for each row execute function refuse_commit()`)
}

async function allowCommits(): Promise<void> {
  await store.query('drop trigger a_full_disk on orders')
  await store.query('drop function refuse_commit')
}
