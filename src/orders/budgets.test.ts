import { expect, test } from 'vitest'
import { createDigest } from '../secrets/secrets.ts'
import { budgetRules, subjectsOf } from './budgets.ts'

const digest = createDigest([Buffer.alloc(32, 7)], 'orders')
const payer = `0x${'aB'.repeat(20)}`
const recipient = (msisdn: string) => ({ kind: 'topup', msisdn }) as const
const number = '+50255512345'

const of = (msisdn: string, client?: string) =>
  subjectsOf({ digest }, payer, { client, recipient: recipient(msisdn) })

test('a wallet counts once, however its address is written', () => {
  expect(of(number).payer).toBe(payer.toLowerCase())
})

test('a receiver counts for itself, and is kept as a digest', () => {
  const { receiver } = of(number)
  expect(receiver).toBe(of(number).receiver)
  expect(receiver).not.toContain(number)
  expect(receiver).not.toBe(of('+50255512346').receiver)
})

test.each([
  ['recipientMsisdn', ['+34600123456', '+34 600 123 456', '+34 (600) 123-456']],
  ['email', ['anna@x.com', 'Anna@X.com', 'an.na+2@x.com']],
])('a receiver is the same in each spelling of %s', (field, spellings) => {
  const given = spellings.map((text) => {
    const names = { kind: 'voucher', firstName: 'Anna', lastName: 'Bo' } as const
    const sent = { client: undefined, recipient: { ...names, [field]: text } }
    return subjectsOf({ digest }, payer, sent).receiver
  })
  expect(given[0]).toBeDefined()
  expect(new Set(given).size).toBe(1)
})

test('a client is kept as a digest, and one that is not known counts nowhere', () => {
  const { client } = of(number, '192.0.2.1')
  expect(client).toBe(of('+50255512346', '192.0.2.1').client)
  expect(client).not.toContain('192.0.2.1')
  expect(of(number).client).toBeUndefined()
})

test('however much a wallet may fail, a receiver fails three times an hour', () => {
  expect(budgetRules({ unpaid_payments: 5, failed_orders: 5 }).receiver).toEqual({
    failed_orders: 3,
  })
  expect(budgetRules({ unpaid_payments: 5, failed_orders: 2 }).receiver).toEqual({
    failed_orders: 2,
  })
})
