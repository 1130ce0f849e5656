import { expect, it } from 'vitest'
import { invoiceJson, payoutJson, pullJson, type Reply, scripted } from './scripted.fixture.ts'

const list = 'GET /api/v1/stores/S1/pull-payments?includeArchived=true'
const transaction = 'ab'.repeat(32)
const isOurs = (name: string) => name.startsWith('ref_')

/** A BTCPay Server with these pull payments, and what was claimed from each. */
function holding(pulls: readonly object[], payouts: Readonly<Record<string, readonly object[]>>) {
  return scripted(({ call }) => {
    if (call === list) return { json: pulls }
    const [, id = ''] = /pull-payments\/(\w+)\/payouts/.exec(call) ?? []
    return payouts[id] ? { json: payouts[id] } : { status: 500, text: 'not in the script' }
  })
}

it('tells what was claimed under such names, sent or not, and nothing of others', async () => {
  const proof = { proofType: 'PayoutTransactionOnChainBlob', transactionId: transaction }
  const { processor, unfit } = holding(
    [
      pullJson('P1', 'ref_1'),
      pullJson('P2', 'ref_2', { currency: 'btc' }),
      pullJson('P3', 'tips'),
      pullJson('P4', 'ref_4', { archived: true }),
      pullJson('P5', 'ref_5'),
    ],
    {
      P1: [payoutJson('Completed', { paymentProof: proof }), payoutJson('Cancelled')],
      P2: [payoutJson('InProgress', { originalAmount: '0.000000001' })],
      P4: [],
      P5: [],
    },
  )
  expect(await processor.payouts(isOurs)).toEqual({
    outcome: 'found',
    hidden: ['ref_4'],
    payouts: [
      {
        reference: 'ref_1',
        coin: 'BTC',
        to: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
        units: 120_000n,
        isSent: true,
        transaction,
      },
      {
        reference: 'ref_2',
        coin: 'BTC',
        to: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
        units: undefined,
        isSent: false,
        transaction: undefined,
      },
    ],
  })
  expect(unfit).toEqual([])
})

it('has no amount for what is in another currency', async () => {
  const other = pullJson('P1', 'ref_1', { currency: 'USD' })
  const { processor } = holding([other], { P1: [payoutJson('Completed')] })
  expect(await processor.payouts(isOurs)).toMatchObject({
    payouts: [{ coin: 'USD', units: undefined, isSent: true }],
  })
})

it('tells nothing rather than a part', async () => {
  const half = holding([pullJson('P1', 'ref_1'), pullJson('P2', 'ref_2')], {
    P1: [payoutJson('Completed')],
  })
  expect(await half.processor.payouts(isOurs)).toMatchObject({ outcome: 'unknown' })
  const refused = scripted(() => ({
    status: 403,
    json: { code: 'missing-permission', message: '' },
  }))
  expect(await refused.processor.payouts(isOurs)).toEqual({
    outcome: 'unknown',
    reason: 'BTCPay answers 403 missing-permission',
  })
})

const invoices = 'GET /api/v1/stores/S1/invoices'

/** Lists these invoices in the requested pages. */
function listing(all: readonly object[]) {
  return scripted(({ call }) => {
    const [, skip = '', take = ''] = /skip=(\d+)&take=(\d+)$/.exec(call) ?? []
    // Archived invoices may have been paid too.
    const isAsked = call.startsWith(`${invoices}?includeArchived=true&`)
    return isAsked ? { json: all.slice(+skip, +skip + +take) } : { status: 500 }
  })
}

const made = (id: string, changes: object = {}) =>
  invoiceJson({ id, metadata: { orderId: `ref_${id}`, storeOrder: `ord_${id}` }, ...changes })

it('tells the invoices that somebody has paid, and no other', async () => {
  const { processor, unfit } = listing([
    made('New'),
    made('Expired', { status: 'Expired' }),
    made('Marked', { status: 'Settled', additionalStatus: 'Marked' }),
    made('Settled', { status: 'Settled' }),
    made('MarkedPaid', { status: 'Settled', additionalStatus: 'Marked', paidAmount: '0.10' }),
    made('Invalid', { status: 'Invalid', paidAmount: '25.00' }),
    made('Processing', { status: 'Processing' }),
    made('Late', { status: 'Expired', additionalStatus: 'PaidLate' }),
    made('Partial', { additionalStatus: 'PaidPartial' }),
    made('Foreign', { status: 'Settled', metadata: { orderId: 'of-a-shop' } }),
    made('Nameless', { status: 'Settled', metadata: {} }),
  ])
  const read = await processor.paidInvoices(isOurs)
  expect(read).toMatchObject({ outcome: 'found' })
  if (read.outcome === 'unknown') return
  expect(read.invoices.map(({ id }) => id)).toEqual([
    'Settled',
    'MarkedPaid',
    'Invalid',
    'Processing',
    'Late',
    'Partial',
  ])
  expect(read.invoices[0]).toEqual({
    id: 'Settled',
    checkout: 'ref_Settled',
    order: 'ord_Settled',
    madeAt: new Date('2026-07-01T12:00:00Z'),
  })
  expect(unfit).toEqual([])
})

it('reads every page of invoices, and tells nothing rather than a part', async () => {
  const all = Array.from({ length: 1_001 }, (_, at) => made(`I${at}`, { status: 'Settled' }))
  const { processor, asked } = listing(all)
  const read = await processor.paidInvoices(isOurs)
  expect(read.outcome === 'found' && read.invoices.length).toBe(all.length)
  expect(asked.map(({ call }) => call)).toEqual(
    [0, 500, 1_000].map((skip) => `${invoices}?includeArchived=true&skip=${skip}&take=500`),
  )
  const broken = scripted(({ call }) =>
    call.includes('skip=0') ? { json: all.slice(0, 500) } : 'unreached',
  )
  expect(await broken.processor.paidInvoices(isOurs)).toMatchObject({ outcome: 'unknown' })
})

it('reads what each coin is worth, and leaves out what BTCPay does not know', async () => {
  const { processor, asked, unfit } = scripted(() => ({
    json: [
      { currencyPair: 'BTC_USD', errors: [], rate: '64392.23' },
      { currencyPair: 'XMR_USD', errors: ['no source'] },
      { currencyPair: 'DOGE_USD', errors: [], rate: '0.1' },
    ],
  }))
  expect([...(await processor.rates())]).toEqual([['BTC', '64392.23']])
  const pairs = ['BTC', 'LTC', 'XMR', 'ETH', 'USDT'].map((coin) => `currencyPair=${coin}_USD`)
  expect(asked.map(({ call }) => call)).toEqual([`GET /api/v1/stores/S1/rates?${pairs.join('&')}`])
  expect(unfit).toEqual([])
})

it.each<readonly [Reply, string]>([
  ['unreached', 'ECONNREFUSED'],
  [{ status: 403, json: { code: 'missing-permission', message: 'x' } }, 'gives no rates'],
  [{ json: [{ currencyPair: 'BTC_USD', rate: 64_392.23 }] }, 'does not fit'],
])('says that it could not read them: %j', async (reply, reason) => {
  await expect(scripted(() => reply).processor.rates()).rejects.toThrow(reason)
})
