import { expect, test } from 'vitest'
import { topup } from '../../test/fixtures/offers.ts'
import { createDigest } from '../secrets/tokens.ts'
import { budgetRules, subjectsOf } from './budgets.ts'

const digest = createDigest([Buffer.alloc(32, 7)], 'orders')
const payer = `0x${'aB'.repeat(20)}`
const recipient = (msisdn: string) => ({ kind: 'topup', msisdn }) as const
const number = '+50255512345'

const of = (offerId: string, msisdn: string, client?: string) =>
  subjectsOf({ digest }, payer, { client, offer: topup(offerId), recipient: recipient(msisdn) })

test('a wallet counts once, however its address is written', () => {
  expect(of('A', number).payer).toBe(payer.toLowerCase())
})

test('a receiver counts for each offer by itself, and is kept as a digest', () => {
  const { receiver } = of('A', number)
  expect(receiver).toBe(of('A', number).receiver)
  expect(receiver).not.toContain(number)
  expect(receiver).not.toBe(of('B', number).receiver)
  expect(receiver).not.toBe(of('A', '+50255512346').receiver)
})

test('a client is kept as a digest, and one that is not known counts nowhere', () => {
  const { client } = of('A', number, '192.0.2.1')
  expect(client).toBe(of('B', '+50255512346', '192.0.2.1').client)
  expect(client).not.toContain('192.0.2.1')
  expect(of('A', number).client).toBeUndefined()
})

test('however much a wallet may fail, a receiver of one offer fails three times an hour', () => {
  expect(budgetRules({ unpaid_payments: 5, failed_orders: 5 }).receiver).toEqual({
    failed_orders: 3,
  })
  expect(budgetRules({ unpaid_payments: 5, failed_orders: 2 }).receiver).toEqual({
    failed_orders: 2,
  })
})
