import { memoryPayouts } from '../../../test/doubles/memory-payouts.ts'
import { fittingFetch } from '../../../test/harness/greenfield.ts'
import { readMethods } from '../../payments/btcpay-methods.ts'
import { createProcessor } from './processor.ts'

export const apiKey = 'key-that-nobody-may-see'
const storeId = 'S1'

export interface RecordedRequest {
  /** "POST /api/v1/stores/S1/invoices", with its query. */
  readonly call: string
  readonly body: unknown
}

export type Reply =
  | { readonly status?: number; readonly json?: unknown }
  | { readonly text: string; readonly status?: number }
  /** The server cannot be reached. */
  | 'unreached'

/**
 * A BTCPay Server whose every answer the test decides. Requests are checked against BTCPay's API document.
 */
export function scripted(script: (asked: RecordedRequest) => Reply | Promise<Reply>) {
  const asked: RecordedRequest[] = []
  const play = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(input))
    const one = {
      call: `${init.method} ${pathname}${search}`,
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
    }
    asked.push(one)
    const reply = await script(one)
    if (reply === 'unreached') {
      throw new TypeError(`fetch failed: authorization token ${apiKey}`, {
        cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
      })
    }
    const { status = 200 } = reply
    if ('text' in reply) return new Response(reply.text, { status })
    return new Response(reply.json === undefined ? null : JSON.stringify(reply.json), { status })
  }
  const fitting = fittingFetch(play as typeof fetch)
  const record = memoryPayouts()
  const notes = new Map<string, string>()
  const clock = { at: new Date('2026-07-01T12:00:00Z') }
  const processor = createProcessor(
    {
      url: 'https://btcpay.example.com/',
      storeId,
      apiKey,
      timeoutMs: 60_000,
      methods: readMethods('BTC,LTC,XMR,ETH,USDT=USDT-ETHEREUM'),
      expirationMinutes: 20,
      monitoringMinutes: 1_440,
      fetch: fitting.fetch,
    },
    {
      hands: { find: async (reference) => notes.get(reference) },
      record,
      now: () => clock.at,
    },
  )
  return { processor, asked, notes, record, clock, unfit: fitting.faults }
}

/** Answers by call; a list of answers is used up one after the other. */
export function playing(table: Readonly<Record<string, Reply | readonly Reply[]>>) {
  const counts = new Map<string, number>()
  const world = scripted(({ call }) => {
    const replies = [table[call] ?? { status: 500, text: 'not in the script' }].flat()
    const count = counts.get(call) ?? 0
    counts.set(call, count + 1)
    return replies[Math.min(count, replies.length - 1)] as Reply
  })
  return { ...world, calls: () => world.asked.map(({ call }) => call) }
}

/** An invoice as BTCPay shows it. */
export function invoiceJson(changes: object = {}) {
  return {
    id: 'Inv1',
    storeId,
    amount: '25.00',
    paidAmount: '0',
    currency: 'USD',
    type: 'Standard',
    checkoutLink: 'https://btcpay.example.com/i/Inv1',
    createdTime: 1_782_907_200,
    expirationTime: 1_782_908_400,
    monitoringExpiration: 1_782_994_800,
    status: 'New',
    additionalStatus: 'None',
    availableStatusesForManualMarking: ['Settled', 'Invalid'],
    archived: false,
    metadata: { orderId: 'chk_1' },
    ...changes,
  }
}

export function methodJson(changes: object = {}) {
  const { amount = '0.00038825' } = changes as { readonly amount?: unknown }
  return {
    paymentMethodId: 'BTC-CHAIN',
    currency: 'BTC',
    destination: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    paymentLink: 'bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4?amount=0.00038825',
    rate: '64392.23',
    paymentMethodPaid: '0',
    totalPaid: '0',
    due: amount,
    amount,
    paymentMethodFee: '0',
    payments: [],
    activated: true,
    additionalData: {},
    ...changes,
  }
}

const inTime = 1_782_907_800

export function paymentJson(changes: object = {}) {
  return {
    id: `${'ab'.repeat(32)}-1`,
    receivedDate: inTime,
    value: '0.00038825',
    fee: '0',
    status: 'Settled',
    destination: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    ...changes,
  }
}

/** A pull payment as BTCPay shows it. */
export function pullJson(id: string, name: string, changes: object = {}) {
  return {
    id,
    name,
    description: '',
    currency: 'BTC',
    amount: '0.0012',
    BOLT11Expiration: '30',
    autoApproveClaims: true,
    archived: false,
    viewLink: `https://btcpay.example.com/pull-payments/${id}`,
    ...changes,
  }
}

/** A payout of a pull payment, as BTCPay shows it. */
export function payoutJson(state: string, changes: object = {}) {
  return {
    id: 'Out1',
    revision: 0,
    destination: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    originalCurrency: 'BTC',
    originalAmount: '0.00120000',
    payoutCurrency: 'BTC',
    payoutAmount: '0.0012',
    payoutMethodId: 'BTC-CHAIN',
    state,
    metadata: {},
    ...changes,
  }
}
