import { describe, expect, it } from 'vitest'
import { type InvoicePayment, settledUnits } from '../../checkouts/checkout.ts'
import type { InvoiceRequest } from '../../checkouts/ports.ts'
import type { CheckoutId, OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import { additionalStatuses, invoiceStatuses } from './greenfield.ts'
import { statusOf } from './invoices.ts'
import {
  apiKey,
  invoiceJson,
  methodJson,
  paymentJson,
  playing,
  type Reply,
} from './scripted.fixture.ts'

const list = 'GET /api/v1/stores/S1/invoices?orderId=chk_1&includePaymentMethods=true'
const create = 'POST /api/v1/stores/S1/invoices'
const methodsCall =
  'GET /api/v1/stores/S1/invoices/Inv1/payment-methods?onlyAccountedPayments=false'

function wanted(changes: Partial<InvoiceRequest> = {}): InvoiceRequest {
  return {
    checkout: 'chk_1' as CheckoutId,
    order: 'ord_1' as OrderId,
    amount: usdc(25_000_000n),
    coin: 'BTC',
    ...changes,
  }
}

describe('open', () => {
  it('looks first, then makes the invoice with one way to pay', async () => {
    const { processor, asked, unfit } = playing({
      [list]: { json: [] },
      [create]: { json: invoiceJson() },
      [methodsCall]: { json: [methodJson()] },
    })
    expect(await processor.openInvoice(wanted())).toEqual({
      outcome: 'open',
      hasOthers: false,
      invoice: {
        id: 'Inv1',
        status: 'NEW',
        address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
        addresses: ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
        paymentLink: 'bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4?amount=0.00038825',
        rate: '64392.23',
        units: 38_825n,
        due: 38_825n,
        expiresAt: new Date(1_782_908_400_000),
        watchedUntil: new Date(1_782_994_800_000),
        payments: [],
      },
    })
    expect(asked.map(({ call }) => call)).toEqual([list, create, methodsCall])
    expect(asked[1]?.body).toEqual({
      amount: '25.00',
      currency: 'USD',
      metadata: { orderId: 'chk_1', storeOrder: 'ord_1' },
      checkout: {
        paymentMethods: ['BTC-CHAIN'],
        lazyPaymentMethods: false,
        expirationMinutes: 20,
        monitoringMinutes: 1_440,
      },
    })
    expect(unfit).toEqual([])
  })

  it('takes an invoice over cents for what it is', async () => {
    const { processor } = playing({
      [list]: { json: [] },
      [create]: { json: invoiceJson({ amount: '25.10' }) },
      [methodsCall]: { json: [methodJson()] },
    })
    const opened = await processor.openInvoice(wanted({ amount: usdc(25_100_000n) }))
    expect(opened).toMatchObject({ outcome: 'open' })
  })

  it('takes the oldest of several, always the same, and says that there are others', async () => {
    const older = { createdTime: 1_782_907_100 }
    const { processor, asked } = playing({
      [list]: {
        json: [
          invoiceJson({ id: 'Inv3' }),
          invoiceJson({ id: 'Inv2', ...older }),
          invoiceJson({ id: 'Inv1', ...older }),
          invoiceJson({ id: 'Inv0', createdTime: 1, metadata: { orderId: 'chk_2' } }),
        ],
      },
      [methodsCall]: { json: [methodJson()] },
    })
    const opened = await processor.openInvoice(wanted())
    expect(opened).toMatchObject({ invoice: { id: 'Inv1' }, hasOthers: true })
    expect(asked.map(({ call }) => call)).toEqual([list, methodsCall])
  })

  const taken = [methodJson({ destination: 'taken' })]
  const readFirst = methodsCall.replace('Inv1', 'Inv0')
  it.each([
    ['is listed with it', { paymentMethods: taken }, []],
    ['is listed without it', {}, [readFirst]],
  ])(
    'makes the next invoice where the address of one that %s is another’s',
    async (_, has, read) => {
      const { processor, asked, unfit } = playing({
        [list]: { json: [invoiceJson({ id: 'Inv0', ...has })] },
        [readFirst]: { json: taken },
        [create]: { json: invoiceJson() },
        [methodsCall]: { json: [methodJson()] },
      })
      const isTaken = async (address: string) => address === 'taken'
      const opened = await processor.openInvoice(wanted({ isTaken }))
      expect(opened).toMatchObject({ invoice: { id: 'Inv1' }, hasOthers: true })
      expect(asked.map(({ call }) => call)).toEqual([list, ...read, create, methodsCall])
      expect(unfit).toEqual([])
    },
  )

  it('does not go on for ever where BTCPay gives the same address again', async () => {
    const { processor, asked } = playing({
      [list]: { json: [] },
      [create]: { json: invoiceJson() },
      [methodsCall]: { json: [methodJson()] },
    })
    const opened = await processor.openInvoice(wanted({ isTaken: async () => true }))
    expect(opened).toMatchObject({ outcome: 'refused', code: 'address_taken' })
    expect(asked.filter(({ call }) => call === create)).toHaveLength(2)
  })

  it('goes on past the addresses of others, ten at a time, and ends them in as many steps', async () => {
    const made = Array.from({ length: 13 }, (_, at) => invoiceJson({ id: `Inv${at}` }))
    const shown = made.map(({ id }) => [
      `GET /api/v1/stores/S1/invoices/${id}/payment-methods?onlyAccountedPayments=false`,
      { json: [methodJson({ destination: `address of ${id}` })] },
    ])
    const ends = made.flatMap(({ id }) => [
      [`POST /api/v1/stores/S1/invoices/${id}/status`, { json: invoiceJson({ id }) }],
      [`DELETE /api/v1/stores/S1/invoices/${id}`, {}],
    ])
    const { processor, asked } = playing({
      ...Object.fromEntries([...shown, ...ends]),
      [list]: [{ json: [] }, { json: made.slice(0, 12) }, { json: made.slice(0, 3) }],
      [create]: made.map((json) => ({ json })),
    })
    const opened = await processor.openInvoice(wanted({ isTaken: async () => true }))
    expect(opened).toEqual({ outcome: 'searching' })
    expect(asked.filter(({ call }) => call === create)).toHaveLength(10)
    expect(await processor.endOthers('chk_1' as CheckoutId, 'Inv0')).toBe(false)
    expect(await processor.endOthers('chk_1' as CheckoutId, 'Inv0')).toBe(true)
  })

  it('only finds an invoice if it shall make none', async () => {
    const { processor, asked } = playing({ [list]: { json: [] } })
    const answer = await processor.openInvoice(wanted({ onlyFinds: true }))
    expect(answer).toMatchObject({ outcome: 'refused', code: 'no_invoice' })
    expect(asked.map(({ call }) => call)).toEqual([list])
  })

  it('finds what was made although the answer was lost', async () => {
    const { processor } = playing({
      [list]: [{ json: [] }, { json: [invoiceJson()] }],
      [create]: 'unreached',
      [methodsCall]: { json: [methodJson()] },
    })
    expect(await processor.openInvoice(wanted())).toMatchObject({ outcome: 'open' })
  })

  it.each<readonly [string, Reply, string]>([
    ['a list of faults', { status: 400, json: [{ path: 'checkout', message: 'x' }] }, 'refused'],
    [
      'a fault with a code',
      { status: 422, json: { code: 'generic-error', message: 'x' } },
      'refused',
    ],
    [
      'no permission',
      { status: 403, json: { code: 'missing-permission', message: 'x' } },
      'unknown',
    ],
    ['no such store', { status: 404, json: { code: 'store-not-found', message: 'x' } }, 'unknown'],
    ['the page of a proxy', { status: 400, text: '<h1>Bad request</h1>' }, 'unknown'],
    ['a server in trouble', { status: 502, text: '' }, 'unknown'],
    ['silence', 'unreached', 'unknown'],
    ['nonsense', { json: { id: 5 } }, 'unknown'],
  ])('after %s', async (_name, reply, outcome) => {
    const { processor } = playing({ [list]: { json: [] }, [create]: reply })
    const answer = await processor.openInvoice(wanted())
    expect(answer.outcome).toBe(outcome)
    expect(JSON.stringify(answer)).not.toContain(apiKey)
  })

  it('makes nothing while it cannot see what is there', async () => {
    const { processor, asked } = playing({ [list]: { status: 503, text: '' } })
    expect(await processor.openInvoice(wanted())).toMatchObject({ outcome: 'unknown' })
    expect(asked.map(({ call }) => call)).toEqual([list])
  })

  it.each([
    ['another price', { amount: '25.01' }],
    ['a price that only rounds to ours', { amount: '25.0000001' }],
    ['another currency', { currency: 'EUR' }],
  ])('takes no invoice with %s', async (_name, changes) => {
    const { processor } = playing({ [list]: { json: [invoiceJson(changes)] } })
    expect(await processor.openInvoice(wanted())).toEqual({
      outcome: 'unknown',
      reason: 'the invoice at BTCPay asks for something else',
    })
  })

  it.each([
    ['a coin that is not configured', { coin: 'DOGE' as 'BTC' }, 'coin_unavailable'],
    ['a price finer than cents', { amount: usdc(25_000_001n) }, 'invalid_amount'],
  ])('refuses %s without asking', async (_name, changes, code) => {
    const { processor, asked } = playing({})
    expect(await processor.openInvoice(wanted(changes))).toMatchObject({ outcome: 'refused', code })
    expect(asked).toEqual([])
  })
})

describe('endOthers', () => {
  const all = ['Inv1', 'Inv2', 'Inv3'].map((id) => invoiceJson({ id }))
  const shown = ['chk_1' as CheckoutId, 'Inv1'] as const
  const ending = (id: string) => [
    `POST /api/v1/stores/S1/invoices/${id}/status`,
    `DELETE /api/v1/stores/S1/invoices/${id}`,
  ]

  it('ends all but the one that was shown, also what BTCPay calls over already', async () => {
    const { processor, asked, unfit } = playing({
      [list]: { json: all },
      'POST /api/v1/stores/S1/invoices/Inv2/status': { json: invoiceJson({ id: 'Inv2' }) },
      'DELETE /api/v1/stores/S1/invoices/Inv2': {},
      'POST /api/v1/stores/S1/invoices/Inv3/status': {
        status: 400,
        json: [{ path: 'Status', message: 'x' }],
      },
      'DELETE /api/v1/stores/S1/invoices/Inv3': {},
    })
    expect(await processor.endOthers(...shown)).toBe(true)
    const calls = asked.map(({ call }) => call)
    expect(calls).toEqual([list, ...ending('Inv2'), ...ending('Inv3')])
    expect(asked[1]?.body).toEqual({ status: 'Invalid' })
    expect(unfit).toEqual([])
  })

  it.each(
    [401, 403, 404].flatMap((status) => ending('Inv2').map((call) => [status, call] as const)),
  )('is not done when BTCPay answers %d to %s', async (status, call) => {
    const { processor } = playing({
      [list]: { json: all.slice(0, 2) },
      'POST /api/v1/stores/S1/invoices/Inv2/status': { json: invoiceJson({ id: 'Inv2' }) },
      'DELETE /api/v1/stores/S1/invoices/Inv2': {},
      [call]: { status, json: { code: 'x', message: 'x' } },
    })
    expect(await processor.endOthers(...shown)).toBe(false)
  })

  it.each(['the list', ...ending('Inv2')])('is not done when %s does not come', async (lost) => {
    const table = {
      [list]: { json: all },
      'POST /api/v1/stores/S1/invoices/Inv2/status': { json: invoiceJson({ id: 'Inv2' }) },
    }
    const { processor } = playing({ ...table, [lost === 'the list' ? list : lost]: 'unreached' })
    expect(await processor.endOthers(...shown)).toBe(false)
  })
})

describe('read', () => {
  const get = 'GET /api/v1/stores/S1/invoices/Inv1'
  const reading = (invoice: object, method: object) =>
    playing({
      [get]: { json: invoiceJson(invoice) },
      [methodsCall]: { json: [methodJson(method)] },
    })

  const no = { status: 403, json: { code: 'missing-permission', message: 'x' } }
  const listed = 'GET /api/v1/stores/S1/invoices?textSearch=Inv1&includeArchived=true'

  it.each<readonly [string, Reply, Reply, boolean]>([
    ['an invoice that is not in the list', no, { json: [] }, true],
    ['an invoice in whose place another is listed', no, { json: [invoiceJson({ id: 'X' })] }, true],
    ['an invoice that is listed, archived or not', no, { json: [invoiceJson()] }, false],
    ['a list that may not be seen either', no, no, false],
    ['a list that does not come', no, 'unreached', false],
    ['a page of a proxy', { status: 403, text: '<h1>no</h1>' }, { json: [] }, false],
    ['silence', 'unreached', { json: [] }, false],
  ])('calls gone only what BTCPay has lost: %s', async (_name, reply, list, isGone) => {
    const { processor } = playing({ [get]: reply, [listed]: list })
    const read = await processor.read('Inv1', 'BTC')
    expect(read).toMatchObject({ outcome: 'unknown' })
    expect('isGone' in read).toBe(isGone)
  })

  it('keeps payments of one id apart, so that no money is lost in another', async () => {
    const payments = [paymentJson(), paymentJson(), paymentJson({ id: 'other' })]
    const { processor } = reading({}, { payments })
    const read = await processor.read('Inv1', 'BTC')
    const id = `${'ab'.repeat(32)}-1`
    expect(read).toMatchObject({
      invoice: { payments: [{ id }, { id: `${id}~2` }, { id: 'other' }] },
    })
  })

  it('reads every payment to the last unit, with its transaction', async () => {
    const { processor, asked, unfit } = playing({
      [get]: { json: invoiceJson({ status: 'Settled', additionalStatus: 'PaidOver' }) },
      'GET /api/v1/stores/S1/invoices/Inv1/payment-methods?onlyAccountedPayments=false': {
        json: [
          methodJson({
            paymentMethodId: 'ETH-CHAIN',
            amount: '0.007812500000000001',
            payments: [
              paymentJson({ id: `0x${'cd'.repeat(32)}`, value: '0.007812500000000001' }),
              paymentJson({ id: `${'ef'.repeat(32)}#0#7`, value: '1.100000000000000000000' }),
              paymentJson({ id: 'odd', value: '12', status: 'Invalid' }),
              paymentJson({ value: '0.5', status: 'Processing' }),
            ],
          }),
        ],
      },
    })
    expect(await processor.read('Inv1', 'ETH')).toMatchObject({
      invoice: {
        status: 'SETTLED',
        units: 7_812_500_000_000_001n,
        payments: [
          { transaction: `0x${'cd'.repeat(32)}`, units: 7_812_500_000_000_001n, status: 'SETTLED' },
          { transaction: 'ef'.repeat(32), units: 1_100_000_000_000_000_000n, status: 'SETTLED' },
          { transaction: 'odd', units: 12n * 10n ** 18n, status: 'INVALID' },
          { transaction: 'ab'.repeat(32), units: 5n * 10n ** 17n, status: 'PROCESSING' },
        ],
      },
    })
    // The status is read before the payments, so it never lacks the money behind it.
    expect(asked.map(({ call }) => call)).toEqual([get, methodsCall])
    expect(unfit).toEqual([])
  })

  it.each([
    // The second payment costs a network fee of 1,410 satoshi.
    ['0.00020823', 20_823n],
    ['0', 0n],
    ['-0.00038825', 0n],
  ])('takes what is still due from BTCPay: %s', async (due, units) => {
    const { processor } = reading({}, { due })
    expect(await processor.read('Inv1', 'BTC')).toMatchObject({ invoice: { due: units } })
  })

  it('reads an invoice that somebody sent thousands of dust payments to', async () => {
    const dust = (_: unknown, index: number) =>
      paymentJson({ id: `${index.toString(16).padStart(64, '0')}-0`, value: '0.00000001' })
    const payments = [...Array.from({ length: 12_000 }, dust), paymentJson()]
    const { processor } = reading({ status: 'Settled' }, { payments })
    const read = await processor.read('Inv1', 'BTC')
    if (read.outcome !== 'found') throw new Error(read.reason)
    expect(read.invoice.status).toBe('SETTLED')
    expect(settledUnits(read.invoice)).toBe(38_825n + 12_000n)
  })

  it('tells payments apart that have one id: neither is lost, none counts twice', async () => {
    const id = `${'cd'.repeat(32)}-7`
    const payments = [paymentJson({ id }), paymentJson({ id }), paymentJson()]
    const { processor } = reading({ status: 'Settled' }, { payments })
    const read = await processor.read('Inv1', 'BTC')
    if (read.outcome !== 'found') throw new Error(read.reason)
    expect(settledUnits(read.invoice)).toBe(3n * 38_825n)
    expect(new Set(read.invoice.payments.map((payment) => payment.id)).size).toBe(3)
  })

  it('reads what was asked for on a network that is not configured any more', async () => {
    const paymentMethodId = 'USDT-TRON'
    const { processor } = reading({}, { paymentMethodId, amount: '25.0', payments: [] })
    expect(await processor.read('Inv1', 'USDT')).toMatchObject({ invoice: { units: 25_000_000n } })
  })

  it('believes no invoice that can be paid in two ways', async () => {
    const { processor } = playing({
      [get]: { json: invoiceJson() },
      [methodsCall]: { json: [methodJson(), methodJson({ paymentMethodId: 'BTC-LN' })] },
    })
    expect(await processor.read('Inv1', 'BTC')).toMatchObject({ outcome: 'unknown' })
  })

  it.each<readonly [string, object, object, string]>([
    ['no address', {}, { destination: '' }, 'does not fit (0.destination)'],
    ['no address yet', {}, { destination: null }, 'no address for BTC of'],
    ['another method', {}, { paymentMethodId: 'LTC-CHAIN' }, 'no address for BTC of'],
    ['an amount finer than the coin', {}, { amount: '0.000000001' }, 'none of BTC'],
    [
      'a payment finer than the coin',
      {},
      { payments: [paymentJson({ value: '0.000000001' })] },
      'none',
    ],
    ['nothing to pay', {}, { amount: '0' }, 'none of BTC'],
    ['money as a number', {}, { amount: 0.1 }, 'does not fit (0.amount'],
    ['a status that nobody knows', { status: 'Paid' }, {}, 'does not fit (status)'],
    ['statuses that contradict each other', { additionalStatus: 'Marked' }, {}, 'New and Marked'],
  ])('knows nothing of an answer with %s', async (_name, invoice, method, reason) => {
    const { processor } = reading(invoice, method)
    expect(await processor.read('Inv1', 'BTC')).toEqual({
      outcome: 'unknown',
      reason: expect.stringContaining(reason),
    })
  })

  it('shows the address where there is no link', async () => {
    const { processor } = reading({}, { paymentLink: '' })
    expect(await processor.read('Inv1', 'BTC')).toMatchObject({
      invoice: { paymentLink: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' },
    })
  })

  it('gives the address of Tron alone: wallets take the amount of its links for TRX', async () => {
    const address = 'TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs'
    const paymentLink = `tron:${address}?amount=25`
    const shown = {
      paymentMethodId: 'USDT-TRON',
      amount: '25.0',
      destination: address,
      paymentLink,
    }
    const { processor } = reading({}, shown)
    expect(await processor.read('Inv1', 'USDT')).toMatchObject({
      invoice: { address, paymentLink: address },
    })
  })
})

const expiresAt = new Date('2026-07-01T12:20:00Z')
const before = new Date('2026-07-01T12:10:00Z')
const after = new Date('2026-07-01T12:30:00Z')

function paid(units: bigint, changes: Partial<InvoicePayment> = {}): InvoicePayment {
  return { id: 'p', transaction: 't', units, status: 'SETTLED', receivedAt: before, ...changes }
}

/** One row for each status of BTCPay, one column for each additional one. */
const table = {
  New: ['NEW', undefined, 'NEW', undefined, undefined, undefined],
  Processing: ['PROCESSING', 'EXPIRED', undefined, undefined, undefined, 'PROCESSING'],
  Expired: ['EXPIRED', 'EXPIRED', 'EXPIRED', 'EXPIRED', 'EXPIRED', 'EXPIRED'],
  Invalid: ['INVALID', 'INVALID', 'INVALID', 'INVALID', 'INVALID', 'INVALID'],
  Settled: ['SETTLED', 'EXPIRED', undefined, 'SETTLED', undefined, 'SETTLED'],
} as const

const pairs = invoiceStatuses.flatMap((status) =>
  additionalStatuses.map((additional, at) => [status, additional, table[status][at]] as const),
)

it.each(pairs)('takes %s and %s for %s', (status, additionalStatus, ours) => {
  const judged = { units: 100n, expiresAt, payments: [paid(100n)] }
  expect(statusOf({ status, additionalStatus }, judged, after)).toBe(ours)
})

it('believes no settlement without confirmed money', () => {
  const settled = { status: 'Settled', additionalStatus: 'None' } as const
  const judged = { units: 100n, expiresAt, payments: [paid(100n, { status: 'PROCESSING' })] }
  expect(statusOf(settled, judged, before)).toBeUndefined()
  expect(statusOf(settled, { ...judged, payments: [] }, before)).toBeUndefined()
  // A store at BTCPay may accept a little less than the price (its payment tolerance).
  expect(statusOf(settled, { ...judged, payments: [paid(99n)] }, before)).toBe('SETTLED')
})

const missing = { status: 'INVALID' } as const

it.each<readonly [string, readonly InvoicePayment[], Date, string]>([
  ['all but 5 % of the price', [paid(95n)], after, 'SETTLED'],
  ['less, with time left', [paid(94n), paid(6n, missing)], before, 'NEW'],
  ['less, and the time is over', [paid(1n), paid(99n, missing)], after, 'EXPIRED'],
  [
    'less, and the rest is not confirmed',
    [paid(1n), paid(99n, { status: 'PROCESSING' })],
    after,
    'PROCESSING',
  ],
])('believes a settlement by %s only within the tolerance', (_name, payments, now, ours) => {
  const settled = { status: 'Settled', additionalStatus: 'None' } as const
  expect(statusOf(settled, { units: 100n, expiresAt, payments }, now)).toBe(ours)
})

it.each<readonly [string, readonly InvoicePayment[], Date, string]>([
  ['what was paid', [paid(60n), paid(40n)], after, 'SETTLED'],
  ['what is not confirmed', [paid(60n), paid(40n, { status: 'PROCESSING' })], after, 'PROCESSING'],
  ['what came to nothing', [paid(100n, { status: 'INVALID' })], before, 'NEW'],
  ['too little, with time left', [paid(99n)], before, 'NEW'],
  ['too little, and the time is over', [paid(99n)], after, 'EXPIRED'],
  ['nothing at all', [], after, 'EXPIRED'],
  ['what came late', [paid(100n, { receivedAt: after })], after, 'EXPIRED'],
])('judges an invoice that was marked by hand by %s', (_name, payments, now, ours) => {
  const marked = { status: 'Settled', additionalStatus: 'Marked' } as const
  expect(statusOf(marked, { units: 100n, expiresAt, payments }, now)).toBe(ours)
})
