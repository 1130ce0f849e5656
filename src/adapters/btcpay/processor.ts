import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { HandPayouts, PayoutRecord, Processor } from '../../checkouts/ports.ts'
import type { BtcpayMethod } from '../../payments/btcpay-methods.ts'
import { type Coin, coins } from '../../payments/coins.ts'
import type {
  PaidInvoice,
  PaidInvoices,
  ProcessorPayout,
  ProcessorPayouts,
  ProcessorStatement,
} from '../../reconcile/ports.ts'
import { checkProcessor, type Finding } from './check.ts'
import {
  describe,
  type Greenfield,
  type GreenfieldInvoice,
  invoiceSchema,
  readOfStore,
  storeRateSchema,
  unclear,
} from './greenfield.ts'
import { endOthers, type InvoiceSettings, openInvoice, readInvoice } from './invoices.ts'
import {
  type Claimable,
  claimablesOf,
  listPullPayments,
  payOut,
  transactionOfProof,
  unitsIn,
} from './payouts.ts'

type BtcpaySettings = Greenfield & InvoiceSettings

interface BtcpayDeps {
  readonly hands: HandPayouts
  readonly record: Pick<PayoutRecord, 'find' | 'choose' | 'keep'>
  readonly now: () => Date
}

interface BtcpayProcessor extends Processor, ProcessorStatement {
  check(): Promise<readonly Finding[]>
  /** US dollars per coin. @throws when BTCPay gives no rates */
  rates(): Promise<ReadonlyMap<Coin, string>>
}

export function createProcessor(settings: BtcpaySettings, deps: BtcpayDeps): BtcpayProcessor {
  const { methods } = settings
  const invoices = { ...settings, greenfield: settings, now: deps.now }
  const payouts = { greenfield: settings, methods, ...deps }
  let sent: readonly Coin[] = []
  return {
    methods: methods.map(({ coin, network }) => ({ coin, network })),
    sends: (coin) => sent.includes(coin),
    openInvoice: (request) => openInvoice(invoices, request),
    endOthers: (checkout, except) => endOthers(settings, checkout, except),
    read: (invoice, coin) => readInvoice(invoices, invoice, coin),
    payOut: (payout) => payOut(payouts, payout),
    payouts: (isNamed) => readPayouts(settings, isNamed),
    paidInvoices: (isNamed) => readPaidInvoices(settings, isNamed),
    async check() {
      const result = await checkProcessor(settings, methods, deps.now())
      sent = result.sent ?? sent
      return result.findings
    },
    rates: () => readRates(settings, methods),
  }
}

/** @throws when BTCPay gives none; a coin without a rate is missing */
async function readRates(
  greenfield: Greenfield,
  methods: readonly BtcpayMethod[],
): Promise<ReadonlyMap<Coin, string>> {
  const pairs = methods.map(({ coin }) => `currencyPair=${coin}_USD`).join('&')
  const response = await readOfStore(greenfield, z.array(storeRateSchema), `/rates?${pairs}`)
  if (response.outcome === 'unknown') throw new Error(response.reason)
  if (response.outcome === 'refused')
    throw new Error(`BTCPay gives no rates: ${describe(response)}`)
  const rates = response.value.flatMap(({ currencyPair, rate }) => {
    const coin = methods.find((method) => `${method.coin}_USD` === currencyPair)?.coin
    return coin === undefined || !rate ? [] : [[coin, rate] as const]
  })
  return new Map(rates)
}

async function readPayouts(
  greenfield: Greenfield,
  isNamed: (reference: string) => boolean,
): Promise<ProcessorPayouts> {
  const pulls = await listPullPayments(greenfield, (name) => isNamed(name ?? ''))
  if (pulls.outcome !== 'ok') return unclear(pulls)
  const claimables = await claimablesOf(greenfield, pulls.value)
  if (claimables.outcome !== 'ok') return unclear(claimables)
  const hidden = claimables.value.filter(
    ({ pull, payouts }) => pull.archived && payouts.length === 0,
  )
  return {
    outcome: 'found',
    payouts: claimables.value.flatMap(payoutsIn),
    hidden: hidden.map(({ pull }) => pull.name ?? ''),
  }
}

function payoutsIn({ pull, payouts }: Claimable): ProcessorPayout[] {
  const currency = pull.currency.toUpperCase()
  const coin = coins.find((one) => one === currency)
  return payouts
    .filter(({ state }) => state !== 'Cancelled')
    .map(({ destination, originalAmount, state, paymentProof }) => ({
      reference: pull.name ?? '',
      coin: currency,
      to: destination,
      units: coin && unitsIn(originalAmount, coin),
      isSent: state === 'Completed',
      transaction: transactionOfProof(paymentProof),
    }))
}

const pageSize = 500
const maxPageBytes = 8 * 1024 * 1024

/** BTCPay lists the newest first: an invoice that is created meanwhile shifts the others, and none is missed. */
async function readPaidInvoices(
  greenfield: Greenfield,
  isNamed: (checkout: string) => boolean,
): Promise<PaidInvoices> {
  const invoices = new Map<string, PaidInvoice>()
  for (let skip = 0; ; skip += pageSize) {
    const path = `/invoices?includeArchived=true&skip=${skip}&take=${pageSize}`
    const schema = z.array(invoiceSchema)
    const response = await readOfStore(greenfield, schema, path, maxPageBytes)
    if (response.outcome !== 'ok') return unclear(response)
    const paid = response.value.filter(isPaid).map(paidInvoiceOf)
    for (const one of paid) if (isNamed(one.checkout)) invoices.set(one.id, one)
    if (response.value.length < pageSize)
      return { outcome: 'found', invoices: [...invoices.values()] }
  }
}

function paidInvoiceOf({ id, createdTime, metadata }: GreenfieldInvoice): PaidInvoice {
  const { orderId, storeOrder } = metadata
  const madeAt = new Date(createdTime * 1_000)
  return { id, checkout: orderId ?? '', order: storeOrder ?? undefined, madeAt }
}

/** An operator's mark is not a payment, and does not hide one. */
function isPaid({ status, additionalStatus, paidAmount }: GreenfieldInvoice): boolean {
  if (additionalStatus.startsWith('Paid') || /[1-9]/.test(paidAmount ?? '')) return true
  return (status === 'Processing' || status === 'Settled') && additionalStatus !== 'Marked'
}

/** HMAC-SHA256 over the raw body; without a secret no call is genuine. */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  header: string | readonly string[] | undefined,
  secret: string,
): boolean {
  if (typeof header !== 'string' || secret === '') return false
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(header) ?? []
  if (hex === undefined) return false
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  return timingSafeEqual(expected, Buffer.from(hex, 'hex'))
}

const eventSchema = z.object({
  type: z.string().startsWith('Invoice'),
  storeId: z.string(),
  invoiceId: z.string().regex(/^[\w-]{1,100}$/),
})

/** Undefined for other events and stores. Only a hint: the invoice is read again. */
export function invoiceOfEvent(body: unknown, storeId: string): string | undefined {
  const event = eventSchema.safeParse(body)
  return event.success && event.data.storeId === storeId ? event.data.invoiceId : undefined
}
