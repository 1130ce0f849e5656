import { createHash } from 'node:crypto'
import { base58xmr, createBase58check } from '@scure/base'
import { keccak256 } from 'viem/utils'
import { expect, test } from 'vitest'
import type { Script } from '../../test/doubles/orders.ts'
import { topup, voucher } from '../../test/fixtures/offers.ts'
import { identityOf } from './denylist.ts'
import { declined, minute, newLife } from './life.fixture.ts'
import { type Refunding, withPayout } from './order.ts'
import { price } from './price.ts'
import { ada, card, purchaseWorld } from './purchase.fixture.ts'
import { claimRefund } from './refund.ts'
import { moveAside } from './workflow.ts'

const held = { payout: { state: 'FAILED', code: 'payee_declined' } }

/** An order that the supplier declines, whose payer the denylist of its store may name. */
async function declinedOrder(script: Partial<Script>, isListed: boolean) {
  const life = newLife({ ...declined, ...script })
  const denylist = new Set<string>()
  Object.assign(life.deps, { denylist })
  const list = () => denylist.add(`0x${'2'.repeat(40)}`)
  if (isListed) list()
  await life.begin()
  const claim = (key: string) => claimRefund(life.deps, life.now(), { key, bodyHash: 'body' })
  return { ...life, denylist, list, claim }
}

test('no refund is signed for a payee on the list, until it is off the list', async () => {
  const { denylist, now, live, claim, times } = await declinedOrder({}, true)
  expect(now()).toMatchObject(held)
  await claim('while it is listed')
  expect(await live(minute)).toMatchObject(held)
  expect([times('sign'), times('payBack')]).toEqual([0, 0])
  denylist.clear()
  await claim('once it is not')
  expect(await live(minute)).toMatchObject({ payout: { state: 'CONFIRMED' } })
})

test('a person releases a refund to a payee who stays on the list', async () => {
  const { deps, now, live, times } = await declinedOrder({}, true)
  const order = now() as Refunding
  await moveAside(deps.orders, order, withPayout(order, { state: 'DUE', isReleased: true }))
  const pending = { outcome: 'pending', reason: 'sent' } as const
  expect(await live(minute, { paidBack: pending })).toMatchObject({ payout: { state: 'APPROVED' } })
  const paidBack = { outcome: 'paid', transaction: `0x${'b'.repeat(64)}` } as const
  expect(await live(minute, { paidBack })).toMatchObject({ payout: { state: 'CONFIRMED' } })
  expect(times('sign')).toBe(1)
})

test('a released refund that fails for another reason is held again when it is retried', async () => {
  const { deps, now, live, claim } = await declinedOrder({}, true)
  const order = now() as Refunding
  await moveAside(deps.orders, order, withPayout(order, { state: 'DUE', isReleased: true }))
  const paidBack = { outcome: 'blocked', code: 'no_float', reason: 'x', mayStillPay: true } as const
  expect(await live(minute, { paidBack })).toMatchObject({ payout: { code: 'no_float' } })
  await claim('of the buyer')
  expect(await live(minute)).toMatchObject(held)
})

test('a refund that is signed already is not sent again, and stays the same refund', async () => {
  const pending = { outcome: 'pending', reason: 'sent' } as const
  const { denylist, list, now, live, claim, times } = await declinedOrder(
    { paidBack: pending },
    false,
  )
  expect(now()).toMatchObject({ payout: { state: 'APPROVED' } })
  const sent = times('payBack')
  list()
  expect(await live(minute)).toMatchObject({ payout: { state: 'FAILED', signed: {} } })
  expect(times('payBack')).toBe(sent)
  denylist.clear()
  await claim('once it is off the list')
  const paidBack = { outcome: 'paid', transaction: `0x${'b'.repeat(64)}` } as const
  expect(await live(minute, { paidBack })).toMatchObject({ payout: { state: 'CONFIRMED' } })
  expect(times('sign')).toBe(1)
})

test('nothing is sold for a receiver on the list, whichever field names it', () => {
  const denylist = new Set(['eve@example.com', '+50255512345'])
  const { deps, putOnSale } = purchaseWorld({}, { denylist })
  putOnSale(card, voucher('PHONE', { requiredFields: ['recipient.msisdn'] }), topup('CREDIT'))
  const priced = (fields: object) => price(deps, undefined, { ...fields })
  for (const email of ['eve@example.com', 'EVE@example.com']) {
    expect(() => priced({ ...ada, email })).toThrow('declines')
  }
  const byPhone = { ...ada, offerId: 'PHONE', email: 'ada@example.com' }
  expect(() => priced({ ...byPhone, recipientMsisdn: '+502 5551-2345' })).toThrow('declines')
  expect(() => priced({ offerId: 'CREDIT', msisdn: '+50255512345' })).toThrow('declines')
  expect(priced({ ...byPhone, recipientMsisdn: '+50255512346' }).offer.id).toBe('PHONE')
})

const base58check = createBase58check((bytes: Uint8Array) =>
  createHash('sha256').update(bytes).digest(),
)
const hash = Buffer.from('751e76e8199196d454941c45d1b3a323f1433bd6', 'hex')
const versioned = (version: number) => base58check.encode(Buffer.from([version, ...hash]))
const monero =
  '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A'

/** The address of the same wallet with a payment id. */
function integrated(paymentId: number): string {
  const keys = base58xmr.decode(monero).subarray(1, 65)
  const bytes = Uint8Array.from([19, ...keys, ...Array(8).fill(paymentId)])
  return base58xmr.encode(Uint8Array.from([...bytes, ...keccak256(bytes, 'bytes').subarray(0, 4)]))
}

test.each<[string, readonly string[]]>([
  ['a Monero wallet, whatever payment id it is paid with', [monero, integrated(0), integrated(7)]],
  [
    'a key on every EVM chain and on Tron',
    [`0x${hash.toString('hex')}`, `0x${hash.toString('hex').toUpperCase()}`, versioned(65)],
  ],
  [
    'a key on Bitcoin and Litecoin, in both of its address formats',
    [
      '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
      versioned(48),
    ],
  ],
  ['a script on Bitcoin and Litecoin', [versioned(5), versioned(50)]],
  [
    'a mailbox',
    ['ada.b@example.com', 'AdaB@Example.com', 'a.dab+1@example.com', 'adab+x+y@example.com'],
  ],
  ['a mailbox of Google', ['ada@gmail.com', 'a.da+1@googlemail.com']],
  ['a phone number', ['+12025550123']],
])('the list knows %s, and no other', (_, spellings) => {
  const identities = new Set(spellings.map(identityOf))
  expect(identities.size).toBe(1)
  const others = [
    'adac@example.com',
    'adab@example.org',
    '+12025550124',
    versioned(0).replace('1', '2'),
  ]
  for (const other of [...others, `0x${'1'.repeat(40)}`, '+5']) {
    expect(identities).not.toContain(identityOf(other))
  }
})

test('a script with the hash of a key is not that key', () => {
  expect(new Set([0, 5, 65].map((version) => identityOf(versioned(version)))).size).toBe(3)
})
