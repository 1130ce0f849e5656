import {
  type Invoice,
  type InvoicePayment,
  seenUnits,
  settledUnits,
} from '../../src/checkouts/checkout.ts'
import type {
  CoinPayout,
  HandPayouts,
  InvoiceOpened,
  InvoiceRead,
  InvoiceRequest,
  PaymentMethod,
  Processor,
} from '../../src/checkouts/ports.ts'
import { type Coin, coinDecimals, formatUnits } from '../../src/payments/coins.ts'
import type { PaidBack } from '../../src/payments/payment.ts'
import { memoryPayouts, noHands } from './memory-payouts.ts'

/** The fault of the next call. */
type ProcessorFault =
  /** The call never arrives. */
  | { readonly fault: 'unreached' }
  /** It is carried out, and its answer is lost. */
  | { readonly fault: 'lost' }
  /** It is refused for good: `refused` for an invoice, `blocked` for a payout. */
  | { readonly fault: 'refused'; readonly code: string }

type Call = 'open' | 'read' | 'payOut'

/** A payout that the processor was asked for, with its state. */
interface PayoutHeld extends CoinPayout {
  state: 'waiting' | 'sent'
  readonly transaction: string
}

interface Rules {
  /** While set, payouts wait until `sendPayouts`. */
  holdsPayouts: boolean
  watchedForMs: number
  /**
   * A fixed list of addresses for all coins, as some plugins have it: an address is reused as soon as no open
   * invoice has it. Without it, every invoice has a new address.
   */
  addresses: readonly string[] | undefined
}

/** The price of one coin in whole US dollars. */
const rates: Record<Coin, bigint> = { BTC: 64_000n, ETH: 3_200n, USDT: 1n, LTC: 80n, XMR: 160n }
const expiresInMs = 30 * 60_000

const methods: readonly PaymentMethod[] = [
  { coin: 'BTC', network: 'Bitcoin' },
  { coin: 'ETH', network: 'Ethereum' },
  { coin: 'USDT', network: 'Tron' },
  { coin: 'LTC', network: 'Litecoin' },
  { coin: 'XMR', network: 'Monero' },
]

/** Whether payouts are sent automatically. BTCPay has no payout processor for Monero, and none in the USDt plugin. */
function isSent(coin: Coin): boolean {
  return coin !== 'XMR' && coin !== 'USDT'
}

interface Held {
  readonly wanted: InvoiceRequest
  readonly id: string
  readonly expiresAt: Date
  readonly watchedUntil: Date
  readonly rate: bigint
  readonly units: bigint
  readonly address: string
  payments: InvoicePayment[]
  isOver: boolean
  isArchived: boolean
  /** The final status, which no longer changes. */
  final: 'SETTLED' | 'INVALID' | undefined
}

/** A payment processor in memory. */
export function memoryProcessor({
  now = () => new Date(),
  hands = noHands,
}: {
  readonly now?: () => Date
  readonly hands?: HandPayouts
} = {}) {
  const record = memoryPayouts(now)
  const rules: Rules = {
    holdsPayouts: false,
    watchedForMs: 24 * 3_600_000,
    addresses: undefined,
  }
  const faults: Record<Call, ProcessorFault[]> = { open: [], read: [], payOut: [] }
  const invoices = new Map<string, Held>()
  const payouts = new Map<string, PayoutHeld>()
  let count = 0

  const next = (name: string) => {
    count += 1
    return `${name}-${count}`
  }
  const held = (id: string): Held => {
    const found = invoices.get(id)
    if (found === undefined) throw new Error(`There is no invoice ${id}`)
    return found
  }

  /** The invoices of a checkout that are not archived, the oldest first. */
  const madeFor = (checkout: string) =>
    [...invoices.values()].filter((one) => one.wanted.checkout === checkout && !one.isArchived)

  async function search(wanted: InvoiceRequest): Promise<InvoiceOpened> {
    const made = madeFor(wanted.checkout)
    const known = await firstFree(wanted, made)
    if (known) return opened(known, made.length > 1)
    return wanted.onlyFinds ? refusedFor(false) : makeFree(wanted, made.length)
  }

  async function makeFree(wanted: InvoiceRequest, before: number): Promise<InvoiceOpened> {
    for (let count = 0; count < madeAtOnce; count += 1) {
      const hasOthers = before + count > 0
      const address = nextAddress(wanted)
      if (address === undefined) return refusedFor(hasOthers)
      const held = make(wanted, address)
      if (await firstFree(wanted, [held])) return opened(held, hasOthers)
    }
    return { outcome: 'searching' }
  }

  async function firstFree({ isTaken }: InvoiceRequest, all: readonly Held[]) {
    for (const held of all) if (!(await isTaken?.(held.address))) return held
    return undefined
  }

  const opened = (held: Held, hasOthers: boolean): InvoiceOpened => {
    return { outcome: 'open', invoice: shown(held, now()), hasOthers }
  }

  function make(wanted: InvoiceRequest, address: string): Held {
    const rate = rates[wanted.coin]
    const scale = 10n ** BigInt(coinDecimals[wanted.coin])
    const expiresAt = new Date(now().getTime() + expiresInMs)
    const id = next('invoice')
    const made: Held = {
      wanted,
      id,
      address,
      expiresAt,
      watchedUntil: new Date(expiresAt.getTime() + rules.watchedForMs),
      rate,
      // Rounded up to the coin's smallest unit, so that the buyer never pays less than the price.
      units: (wanted.amount * scale + rate * 1_000_000n - 1n) / (rate * 1_000_000n),
      payments: [],
      isOver: false,
      isArchived: false,
      final: undefined,
    }
    invoices.set(made.id, made)
    return made
  }

  function nextAddress({ coin }: InvoiceRequest): string | undefined {
    if (!rules.addresses) return `${coin.toLowerCase()}-address-of-invoice-${count + 1}`
    const reserved = [...invoices.values()]
      .filter((one) => ['NEW', 'PROCESSING'].includes(statusOf(one, now())))
      .map(({ address }) => address)
    return rules.addresses.find((address) => !reserved.includes(address))
  }

  /** Applies the next fault of this call; `act` is the processor's work if the call arrives. */
  function faulty<T>(call: Call, act: () => T, no: (code: string) => T, unclear: T): T {
    const fault = faults[call].shift()
    if (fault?.fault === 'refused') return no(fault.code)
    if (fault?.fault === 'lost') act()
    return fault === undefined ? act() : unclear
  }

  async function sendUnlessGone(payout: CoinPayout): Promise<PaidBack> {
    const seen = await record.find(payout.reference)
    if (seen.payouts.length > 0 && !payouts.has(payout.reference)) return blocked('payout_gone')
    const answer = faulty('payOut', () => send(payout), blocked, { outcome: 'pending', reason })
    const isHeard = answer.outcome === 'paid' || payouts.has(payout.reference)
    if (isHeard) await record.keep(payout.reference, ['payout'])
    return answer
  }

  function send(payout: CoinPayout): PaidBack {
    const { reference } = payout
    const known = payouts.get(reference) ?? { ...payout, state: 'waiting', transaction: next('tx') }
    payouts.set(reference, known)
    if (!rules.holdsPayouts) known.state = 'sent'
    return known.state === 'sent'
      ? { outcome: 'paid', transaction: known.transaction }
      : { outcome: 'pending', reason: 'the payout waits to be sent' }
  }

  const reason = 'the processor does not answer'
  const unknown = { outcome: 'unknown', reason } as const

  const processor: Processor = {
    methods,
    sends: (coin) => isSent(coin),

    async openInvoice(wanted) {
      return faulty<Promise<InvoiceOpened>>(
        'open',
        () => search(wanted),
        async (code) => {
          return { outcome: 'refused', code, reason: `The processor refused it (${code}).` }
        },
        Promise.resolve(unknown),
      )
    },
    async endOthers(checkout, shown) {
      for (const one of madeFor(checkout).filter(({ id }) => id !== shown)) {
        one.final = 'INVALID'
        one.isArchived = true
      }
      return true
    },
    async read(invoice) {
      const found = invoices.get(invoice)
      const isGone = {
        outcome: 'unknown',
        reason: 'there is no such invoice',
        isGone: true,
      } as const
      return faulty<InvoiceRead>(
        'read',
        () => (found ? { outcome: 'found', invoice: shown(found, now()) } : isGone),
        () => unknown,
        unknown,
      )
    },
    async payOut(payout) {
      const transaction = await hands.find(payout.reference)
      if (transaction !== undefined) return { outcome: 'paid', transaction }
      if (!isSent(payout.coin)) return blocked('operator_pays')
      return sendUnlessGone(payout)
    },
  }

  return {
    ...processor,
    rules,
    /** All payouts by their references. */
    payouts: payouts as ReadonlyMap<string, PayoutHeld>,
    /** Makes the next call of this kind fail in this way; several faults are queued. */
    failNext(call: Call, fault: ProcessorFault): void {
      faults[call].push(fault)
    },
    /** A payment to the address of the invoice; by default confirmed and in time. */
    pay(
      invoice: string,
      units: bigint,
      { late: isLate = false, confirmed = true }: { late?: boolean; confirmed?: boolean } = {},
    ): InvoicePayment {
      const found = held(invoice)
      if (isLate) found.isOver = true
      const payment: InvoicePayment = {
        id: next('payment'),
        transaction: next('tx'),
        units,
        status: confirmed ? 'SETTLED' : 'PROCESSING',
        // A late payment comes after the expiry, whatever the clock of the test says.
        receivedAt: isLate ? new Date(found.expiresAt.getTime() + 1_000) : now(),
      }
      found.payments.push(payment)
      decide(found, now())
      return payment
    },
    confirm(invoice: string): void {
      const found = held(invoice)
      found.payments = found.payments.map((payment) =>
        payment.status === 'PROCESSING' ? { ...payment, status: 'SETTLED' } : payment,
      )
      decide(found, now())
    },
    /** Makes all unconfirmed payments invalid, as after a double spend. */
    drop(invoice: string): void {
      const found = held(invoice)
      found.payments = found.payments.map((payment) =>
        payment.status === 'PROCESSING' ? { ...payment, status: 'INVALID' } : payment,
      )
    },
    invoicesOf(checkout: string): readonly Invoice[] {
      const all = [...invoices.values()].filter(({ wanted }) => wanted.checkout === checkout)
      return all.map((one) => shown(one, now()))
    },
    sendPayouts(): void {
      for (const payout of payouts.values()) payout.state = 'sent'
    },
    /** Restores its database from a backup without any invoice or payout. */
    restore(): void {
      payouts.clear()
      invoices.clear()
    },
  }
}

/** How many invoices one call makes at most, as in the adapter of BTCPay Server. */
const madeAtOnce = 10

function refusedFor(hasMade: boolean): InvoiceOpened {
  const code = hasMade ? 'address_taken' : 'processor_refused'
  return { outcome: 'refused', code, reason: 'The processor has no address.' }
}

function blocked(code: string): PaidBack {
  return { outcome: 'blocked', code, reason: `The processor cannot pay it (${code}).` }
}

function inTime({ payments, expiresAt }: Held): { readonly payments: readonly InvoicePayment[] } {
  return { payments: payments.filter(({ receivedAt }) => receivedAt <= expiresAt) }
}

/** An invoice that is paid in full, in time and confirmed stays settled. */
function decide(held: Held, at: Date): void {
  if (statusOf(held, at) === 'SETTLED') held.final = 'SETTLED'
}

function statusOf(held: Held, at: Date): Invoice['status'] {
  if (held.final !== undefined) return held.final
  if (settledUnits(inTime(held)) >= held.units) return 'SETTLED'
  if (seenUnits(inTime(held)) >= held.units) return 'PROCESSING'
  return held.isOver || at > held.expiresAt ? 'EXPIRED' : 'NEW'
}

function shown(held: Held, at: Date): Invoice {
  const { id, wanted, units, rate, address, expiresAt, watchedUntil, payments } = held
  return {
    id,
    status: statusOf(held, at),
    address,
    addresses: [address],
    due: seenUnits(held) < units ? units - seenUnits(held) : 0n,
    paymentLink: `${wanted.coin.toLowerCase()}:${address}?amount=${formatUnits(units, wanted.coin)}`,
    rate: rate.toString(),
    units,
    expiresAt,
    watchedUntil,
    payments: [...payments],
  }
}
