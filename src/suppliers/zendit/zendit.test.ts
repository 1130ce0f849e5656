import { expect, it } from 'vitest'
import type { Recipient } from '../../catalog/offer.ts'
import { type Reply, type ScriptOf, scriptedClient } from '../scripted-server.fixture.ts'
import type { SupplierOrder } from '../supplier.ts'
import { createZenditSupplier } from './zendit.ts'

const now = new Date('2026-03-01T10:00:00Z')
const reference = 'ord0123456789abc'
const accepted = { json: { status: 'ACCEPTED', transactionId: reference } }
const notFound = { status: 404, json: { errorCode: 'NOT_FOUND', message: 'none', fields: {} } }

/** A short timeout only for a supplier that never answers, so that answers arrive in time on slow machines too. */
function patienceMs(...replies: Reply[]): number {
  return replies.some((reply) => reply === 'hang' || reply === 'stall') ? 1_000 : 60_000
}

async function supplierFor(script: ScriptOf, timeoutMs?: number) {
  const { server, client } = await scriptedClient(script, timeoutMs)
  return { server, supplier: createZenditSupplier(client, () => now) }
}

function orderFor(recipient: Recipient, value?: number): SupplierOrder {
  const { kind } = recipient
  const order = { reference, kind, product: 'OFFER_1', recipient, isRepeat: false, notAfter: now }
  return value === undefined ? order : { ...order, value }
}

const topup = orderFor({ kind: 'topup', msisdn: '+5355564362' })

/** A supplier with one reply to the POST and another to the lookup. */
function postThenGet(post: Reply, get: Reply): ScriptOf {
  return ({ method }) => (method === 'POST' ? post : get)
}

it.each<[string, SupplierOrder, string, object]>([
  [
    'a voucher with all that the buyer gave',
    orderFor({ kind: 'voucher', firstName: 'Ada', lastName: 'Lovelace', country: 'GB' }, 2500),
    '/vouchers/purchases',
    {
      value: { type: 'PRICE', value: 2500 },
      fields: [
        { key: 'recipient.firstName', value: 'Ada' },
        { key: 'recipient.lastName', value: 'Lovelace' },
        { key: 'recipient.country', value: 'GB' },
        { key: 'sender.firstName', value: 'Ada' },
        { key: 'sender.lastName', value: 'Lovelace' },
        { key: 'sender.country', value: 'GB' },
      ],
    },
  ],
  [
    'a voucher of a brand that asks for more',
    orderFor({
      kind: 'voucher',
      firstName: 'Ada',
      lastName: 'Lovelace',
      deliveryChallengeQuestion: 'My cat?',
      recipientMsisdn: '+12024561111',
      senderAddressPostal: 'SW1A 1AA',
    }),
    '/vouchers/purchases',
    {
      fields: [
        { key: 'recipient.firstName', value: 'Ada' },
        { key: 'recipient.lastName', value: 'Lovelace' },
        { key: 'sender.firstName', value: 'Ada' },
        { key: 'sender.lastName', value: 'Lovelace' },
        { key: 'recipient.msisdn', value: '+12024561111' },
        { key: 'sender.address.postal', value: 'SW1A 1AA' },
        { key: 'delivery.challenge.question', value: 'My cat?' },
      ],
    },
  ],
  ['a topup', topup, '/topups/purchases', { recipientPhoneNumber: '+5355564362' }],
  ['a new eSIM', orderFor({ kind: 'esim' }), '/esim/purchases', {}],
  [
    'a plan for an eSIM',
    orderFor({ kind: 'esim', iccid: '8901260862291230917' }),
    '/esim/purchases',
    { iccid: '8901260862291230917' },
  ],
])('places %s', async (_name, order, path, special) => {
  const { supplier, server } = await supplierFor(() => accepted)
  expect(await supplier.place(order)).toEqual({ outcome: 'held' })
  expect(server.asked).toHaveLength(1)
  expect(server.asked[0]).toMatchObject({ method: 'POST', path })
  expect(server.asked[0]?.body).toEqual({
    offerId: 'OFFER_1',
    transactionId: reference,
    ...special,
  })
})

it.each<[string, Reply]>([
  ['another transaction', { json: { status: 'ACCEPTED', transactionId: 'other' } }],
  ['no JSON', { text: '<html>' }],
  ['401', { status: 401, json: { errorCode: 'NOT_AUTHORIZED', message: '' } }],
  ['403', { status: 403, json: { errorCode: 'FORBIDDEN', message: '' } }],
  ['429', { status: 429, json: { errorCode: 'SLOW_DOWN', message: '' } }],
  ['500', { status: 500, json: { errorCode: 'X', message: '' } }],
  ['503', { status: 503, json: { errorCode: 'SYSTEM_UNAVAILABLE', message: '' } }],
  ['a 404 that is not the supplier speaking', { status: 404, json: { message: 'no route' } }],
  ['a 400 that is not the supplier speaking', { status: 400, text: 'Bad Request' }],
  ['silence', 'hang'],
  ['half an answer', 'stall'],
  ['a broken connection', 'reset'],
])('does not know whether it bought after %s', async (_name, reply) => {
  const { supplier, server } = await supplierFor(postThenGet(reply, notFound), patienceMs(reply))
  expect(await supplier.place(topup)).toMatchObject({ outcome: 'unknown' })
  expect(server.asked).toHaveLength(1)
})

const invalid = {
  status: 400,
  json: {
    errorCode: 'INVALID_REQUEST',
    message: 'Bad number +5355564362 of Ada',
    fields: { recipientPhoneNumber: '+5355564362 is not valid', '+5355564362': 'x' },
  },
}

it('is declined only when the refused purchase is not held either', async () => {
  const { supplier, server } = await supplierFor(postThenGet(invalid, notFound))
  expect(await supplier.place(topup)).toEqual({
    outcome: 'declined',
    code: 'INVALID_REQUEST',
    reason: 'The supplier refused the purchase as invalid. It named recipientPhoneNumber.',
  })
  expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /topups/purchases',
    `GET /topups/purchases/${reference}`,
  ])
})

it.each(['ACCEPTED', 'DONE', 'FAILED', 'PONDERING'])(
  'holds a repeated purchase that is %s',
  async (status) => {
    const get = { json: { transactionId: reference, status } }
    const { supplier } = await supplierFor(postThenGet(invalid, get))
    expect(await supplier.place(topup)).toEqual({ outcome: 'held' })
  },
)

it.each<[string, Reply]>([
  ['is silent', 'hang'],
  ['fails', { status: 500, json: { errorCode: 'X' } }],
  ['is a 404 of someone else', { status: 404, text: 'nginx' }],
  ['is about another purchase', { json: { transactionId: 'other', status: 'DONE' } }],
])('does not take a refusal for a no while the look-up %s', async (_name, get) => {
  const { supplier } = await supplierFor(postThenGet(invalid, get), patienceMs(get))
  expect(await supplier.place(topup)).toMatchObject({ outcome: 'unknown' })
})

const used = { errorCode: 'INVALID_REQUEST', fields: { transactionId: 'used' } }
const duplicate = { errorCode: 'DUPLICATE_TRANSACTION', fields: {} }

it.each([
  ['first', 'names the reference', 'held', used],
  ['repeated', 'names the reference', 'held', used],
  // It may be a duplicate of somebody else's purchase for the same phone.
  ['first', 'calls it a duplicate', 'declined', duplicate],
  ['repeated', 'calls it a duplicate', 'held', duplicate],
])('when the refusal of a %s request %s, what no look-up shows is %s', async (...row) => {
  const [request, , outcome, json] = row
  const { supplier } = await supplierFor(postThenGet({ status: 400, json }, notFound))
  const isRepeat = request === 'repeated'
  expect(await supplier.place({ ...topup, isRepeat })).toMatchObject({ outcome })
})

it('sends nothing that would leave too late', async () => {
  const { supplier, server } = await supplierFor(() => accepted)
  const late = { ...topup, notAfter: new Date(now.getTime() - 1) }
  expect(await supplier.place(late)).toMatchObject({ outcome: 'unknown' })
  expect(server.asked).toEqual([])
})

it('is declined when the offer is gone', async () => {
  const { supplier } = await supplierFor(postThenGet(notFound, notFound))
  expect(await supplier.place(topup)).toMatchObject({ outcome: 'declined', code: 'NOT_FOUND' })
})

it('passes unknown codes through, but nothing that is no code', async () => {
  const refusing = (errorCode: string) => {
    return postThenGet({ status: 400, json: { errorCode, message: 'secret' } }, notFound)
  }
  const known = await supplierFor(refusing('SOME_NEW_CODE'))
  expect(await known.supplier.place(topup)).toEqual({
    outcome: 'declined',
    code: 'SOME_NEW_CODE',
    reason: 'The supplier could not complete the purchase (SOME_NEW_CODE).',
  })
  const odd = await supplierFor(refusing('number +53 555'))
  expect(await odd.supplier.place(topup)).toMatchObject({ code: 'FAILED' })
})

it.each([
  ['ACCEPTED', 'pending'],
  ['PENDING', 'pending'],
  ['AUTHORIZED', 'pending'],
  ['IN_PROGRESS', 'pending'],
  ['DONE', 'done'],
  ['PONDERING', 'pending'],
  [undefined, 'pending'],
])('looks up a purchase in state %s without goods: %s', async (status, outcome) => {
  const { supplier } = await supplierFor(() => ({ json: { transactionId: reference, status } }))
  expect(await supplier.lookup('esim', reference)).toMatchObject({ outcome })
})

it.each(['FAILED', 'FAIL'])('looks up a purchase that is %s', async (status) => {
  const error = { code: 'INSUFFICIENT_FUNDS', message: 'wallet of Ada', description: '' }
  const { supplier } = await supplierFor(() => ({
    json: { transactionId: reference, status, error },
  }))
  expect(await supplier.lookup('voucher', reference)).toEqual({
    outcome: 'declined',
    code: 'INSUFFICIENT_FUNDS',
    reason: 'The supplier could not take the purchase from this store now.',
  })
})

it('holds nothing only when the supplier itself says so', async () => {
  const { supplier } = await supplierFor(() => notFound)
  expect(await supplier.lookup('topup', reference)).toEqual({ outcome: 'none' })
  const proxy = await supplierFor(() => ({ status: 404, json: { error: 'not found' } }))
  expect(await proxy.supplier.lookup('topup', reference)).toMatchObject({ outcome: 'unknown' })
  const refused = await supplierFor(() => ({ status: 401, json: { errorCode: 'NOT_AUTHORIZED' } }))
  expect(await refused.supplier.lookup('topup', reference)).toMatchObject({ outcome: 'unknown' })
})

it('never lets a reference become a path', async () => {
  const { supplier, server } = await supplierFor(() => notFound)
  await expect(supplier.lookup('topup', '../balance')).rejects.toThrow('alphanumeric')
  await expect(supplier.cancel('esim', 'a/b', false)).rejects.toThrow('alphanumeric')
  expect(server.asked).toEqual([])
})

const refused = { status: 400, json: { errorCode: 'INVALID_REQUEST', message: '' } }
const asked = ['GET', 'POST']
const known = ['GET']

it.each<[string, Reply, Reply, string, string[], boolean?]>([
  ['accepted', { json: { status: 'ACCEPTED' } }, notFound, 'pending', asked],
  ['done at once', { json: { status: 'DONE' } }, notFound, 'cancelled', asked],
  ['refused', refused, notFound, 'refused', asked],
  ['refused after an earlier request', refused, notFound, 'unknown', asked, true],
  ['failed at once', { json: { status: 'FAILED' } }, notFound, 'refused', asked],
  ['not answered', 'hang', notFound, 'unknown', asked],
  ['answered with an error', { status: 500, json: {} }, notFound, 'unknown', asked],
  ['answered oddly', { json: {} }, notFound, 'unknown', asked],
  ['asked for before', refused, { json: { status: 'IN_PROGRESS' } }, 'pending', known],
  ['done since', refused, { json: { status: 'DONE' } }, 'cancelled', known],
  ['failed since', refused, { json: { status: 'FAILED' } }, 'refused', known],
  ['nobody knows', refused, 'hang', 'unknown', known],
])('gives an eSIM back: %s', async (_name, post, get, outcome, methods, isRepeat = false) => {
  const { supplier, server } = await supplierFor(postThenGet(post, get), patienceMs(post, get))
  expect(await supplier.cancel('esim', reference, isRepeat)).toMatchObject({ outcome })
  expect(server.asked.map(({ method }) => method)).toEqual(methods)
  expect(server.asked[0]?.path).toBe(`/esim/purchases/${reference}/refund`)
})

it.each(['voucher', 'topup'] as const)('takes no %s back, without asking', async (kind) => {
  const { supplier, server } = await supplierFor(() => accepted)
  expect(await supplier.cancel(kind, reference, false)).toMatchObject({ outcome: 'refused' })
  expect(server.asked).toEqual([])
})

it.each<[string, Reply, string]>([
  ['lists its plans', { json: { firstInstalledAt: '', list: [], total: 0 } }, 'yes'],
  ['has no such eSIM', notFound, 'no'],
  ['is silent', 'hang', 'unknown'],
  ['fails', { status: 503, json: { errorCode: 'SYSTEM_UNAVAILABLE' } }, 'unknown'],
  ['is not the one speaking', { status: 404, text: 'nginx' }, 'unknown'],
])('knows an eSIM when the supplier %s: %s', async (_name, reply, known) => {
  const { supplier } = await supplierFor(() => reply, patienceMs(reply))
  expect(await supplier.knowsIccid('8901260862291230917')).toBe(known)
})

it('asks about nothing that is no ICCID', async () => {
  const { supplier, server } = await supplierFor(() => notFound)
  expect(await supplier.knowsIccid('89/../../balance')).toBe('no')
  expect(server.asked).toEqual([])
})

it('knows the balance, or says that it does not', async () => {
  const balance = { availableBalance: 123_456, currency: 'USD', currencyDivisor: 100 }
  const { supplier } = await supplierFor(() => ({ json: balance }))
  expect(await supplier.balance()).toEqual({
    outcome: 'known',
    available: 123_456,
    currency: 'USD',
    divisor: 100,
  })
  for (const odd of [
    { availableBalance: '1' },
    { currencyDivisor: 0 },
    { currencyDivisor: -100 },
  ]) {
    const { supplier } = await supplierFor(() => ({ json: { ...balance, ...odd } }))
    expect(await supplier.balance()).toMatchObject({ outcome: 'unknown' })
  }
})

it.each<[string, Reply, string]>([
  ['gives the balance', { json: { availableBalance: 1 } }, 'yes'],
  ['asks for another key', { status: 401, json: {} }, 'no'],
  ['forbids it', { status: 403, json: {} }, 'no'],
  ['fails', { status: 503, json: {} }, 'unknown'],
  ['is silent', 'hang', 'unknown'],
])('accepts the key when the supplier %s: %s', async (_name, reply, accepted) => {
  const { supplier } = await supplierFor(() => reply, patienceMs(reply))
  expect(await supplier.acceptsKey()).toBe(accepted)
})
