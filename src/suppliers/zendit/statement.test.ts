import { expect, test } from 'vitest'
import type { Answer } from '../../lib/http-call.ts'
import type { SupplierPurchase } from '../supplier.ts'
import type { ZenditClient } from './client.ts'
import { zenditStatement } from './zendit.ts'

const now = () => new Date('2026-03-01T10:00:00Z')

function record(transactionId: string, status: string, more: object = {}) {
  const money = { cost: 45, costCurrency: 'USD', costCurrencyDivisor: 100 }
  return {
    transactionId,
    offerId: 'OFFER',
    brandName: 'Brand',
    country: 'US',
    status,
    ...money,
    ...more,
  }
}

/** The statement of a supplier with these answers by path; every other list is empty. */
function statement(answers: Readonly<Record<string, Answer>>) {
  const asked: string[] = []
  const empty = { limit: 1024, offset: 0, total: 0, list: [] }
  const client: ZenditClient = {
    async get(path) {
      asked.push(path)
      const [name = ''] = path.split('?')
      return answers[name] ?? { outcome: 'answered', status: 200, body: empty }
    },
    post: () => Promise.reject(new Error('Books are only read')),
  }
  return {
    asked,
    statement: zenditStatement(client, { now, signal: new AbortController().signal }),
  }
}

function page(list: readonly unknown[]): Answer {
  return {
    outcome: 'answered',
    status: 200,
    body: { limit: 1024, offset: 0, total: list.length, list },
  }
}

async function listed(answers: Readonly<Record<string, Answer>>) {
  const all: SupplierPurchase[] = []
  const { asked, statement: read } = statement(answers)
  for await (const purchases of read.purchases()) all.push(...purchases)
  return { all, asked }
}

test('all kinds are listed, up to the moment at which the reading began', async () => {
  const { all, asked } = await listed({
    '/vouchers/purchases': page([record('ord1', 'DONE')]),
    '/esim/purchases': page([record('ord2', 'IN_PROGRESS')]),
  })
  expect(all).toMatchObject([
    {
      ...{ reference: 'ord1', kind: 'voucher', state: 'delivered' },
      ...{ product: 'OFFER', brandName: 'Brand', country: 'US' },
    },
    { reference: 'ord2', kind: 'esim', state: 'pending' },
  ])
  expect(all[0]?.cost).toEqual({ amount: 45, currency: 'USD', divisor: 100 })
  expect(asked).toHaveLength(3)
  for (const path of asked) expect(path).toContain('createdAt=lt2026-03-01T10%3A00%3A00.000Z')
})

test.each([
  ['DONE', {}, 'delivered'],
  ['DONE', { refund: { status: 'ACCEPTED' } }, 'delivered'],
  ['DONE', { refund: { status: 'DONE' } }, 'returned'],
  ['FAILED', {}, 'failed'],
  ['FAIL', {}, 'failed'],
  ['ACCEPTED', {}, 'pending'],
  ['SOMETHING NEW', {}, 'pending'],
])('%s with %j is %s', async (status, more, state) => {
  const { all } = await listed({ '/topups/purchases': page([record('ord1', status, more)]) })
  expect(all).toMatchObject([{ state }])
})

test('a purchase names its country as an offer does, and none that has no code', async () => {
  const codes = ['FRA', 'UK', 'NCY', '']
  const records = codes.map((country, at) => record(`ord${at}`, 'DONE', { country }))
  const { all } = await listed({ '/esim/purchases': page(records) })
  expect(all.map(({ country }) => country)).toEqual(['FR', 'GB', undefined, undefined])
})

test.each([
  ['a call that fails', { outcome: 'unknown', reason: 'away' } as Answer],
  ['another status', { outcome: 'answered', status: 500, body: {} } as Answer],
  ['a record without a name', page([{ status: 'DONE' }])],
])('%s ends the reading: a list that is not whole is none', async (_, answer) => {
  await expect(listed({ '/topups/purchases': answer })).rejects.toThrow()
})

test('one purchase is found with its goods, not found, or not known', async () => {
  const receipt = { receipt: { epin: 'SECRET' } }
  const answered = (body: unknown, status = 200): Answer => ({ outcome: 'answered', status, body })
  const { statement: read } = statement({
    '/vouchers/purchases/ord1': answered(record('ord1', 'DONE', receipt)),
    '/vouchers/purchases/ord2': answered(record('ord2', 'DONE')),
    '/vouchers/purchases/ord3': answered({ errorCode: 'NOT_FOUND' }, 404),
    '/vouchers/purchases/ord4': answered('<html>', 404),
    '/vouchers/purchases/ord5': answered(record('ord1', 'DONE', receipt)),
    '/vouchers/purchases/ord6': { outcome: 'unknown', reason: 'away' },
    '/vouchers/purchases/ord7': answered(record('ord7', 'FAILED')),
  })
  const look = (reference: string) => read.purchase('voucher', reference)
  expect(await look('ord1')).toMatchObject({ outcome: 'found', delivery: { code: 'SECRET' } })
  expect(await look('ord2')).toMatchObject({ outcome: 'found', purchase: { state: 'pending' } })
  expect(await look('ord3')).toEqual({ outcome: 'none' })
  expect(await look('ord4')).toMatchObject({ outcome: 'unknown' })
  expect(await look('ord5')).toMatchObject({ outcome: 'unknown' })
  expect(await look('ord6')).toMatchObject({ outcome: 'unknown' })
  expect(await look('ord7')).toMatchObject({ outcome: 'found', purchase: { state: 'failed' } })
})
