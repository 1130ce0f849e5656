import { namesPayout } from '../checkouts/checkout.ts'
import { never } from '../lib/errors.ts'
import { isOrderId } from '../lib/ids.ts'
import { formatUsdc, type Usdc, usdc, usdcFromText } from '../lib/money.ts'
import {
  dropRefunds,
  type Gift,
  giveGoodwill,
  type Outcome,
  type PaidByHand,
  type RefundStatus,
  recordPaid,
  refundStatus,
  releaseRefunds,
  retryRefunds,
  startRefunds,
  stopRefunds,
  type Tried,
} from '../operator/refunds.ts'
import { type Act, parseCommand, type Result, UsageError } from './act.ts'

const usage = `Usage: kiosk402 refund WHAT

  status                  whether refunds go out, what was granted, every refund that is open, and
                          those that you have to pay by hand
  stop --reason "..."     stops all refunds, on every node, at once
  start [--reason "..."]  lets them go on
  retry REFERENCE...      makes refunds due again that have failed
  retry --all             all of them
  release REFERENCE... --reason "..."
                          pays refunds that are held because the payee is on the denylist,
                          this once; the payee stays on the list
  drop REFERENCE...       ends what failed and is not owed: returns whose payment is not
                          shown any more, and goodwill
  paid REFERENCE TRANSACTION
                          notes the transaction with which you paid it; where it pays
                          the same amount twice to one address, the second one is noted
                          with --transfer 2
  goodwill ORDER USDC --reason "..."
                          gives the buyer of delivered goods money of yours, once an order
                          and at most its price; it is no refund

A reference is the id of an order, or that of a checkout and the number of its return: chk_...-1. For
goodwill it is ord_...-goodwill.

Examples:
  kiosk402 refund status
  kiosk402 refund stop --reason "The key may have leaked."
  kiosk402 refund retry --all`

const takes = {
  status: [],
  stop: ['reason'],
  start: ['reason'],
  retry: ['names', 'all'],
  drop: ['names'],
  release: ['names', 'reason'],
  paid: ['names', 'transfer'],
  goodwill: ['names', 'reason'],
} as const

export const refund: Act = {
  summary: 'what refunds wait for: retry, stop, start, goodwill, paid by hand',
  usage,
  async run(args, { withOperator }) {
    const { what, names, reason, all, transfer } = parseCommand(args, takes)
    switch (what) {
      case 'status':
        return withOperator(async (operator) => {
          const data = await refundStatus(operator, operator.config.refundCaps)
          return { exit: 0, data, lines: statusLines(data) }
        })
      case 'stop': {
        const why = requireReason(what, reason, 'the key may have leaked')
        const line = 'Refunds are stopped, on every node. Each one waits and goes on after "start".'
        return withOperator(async (operator) => {
          return { exit: 0, data: await stopRefunds(operator, why), lines: [line] }
        })
      }
      case 'start':
        return withOperator(async (operator) => {
          const data = await startRefunds(operator, reason)
          const line = `Refunds go out again. ${data.waiting} of them were waiting.`
          return { exit: 0, data, lines: [line] }
        })
      case 'retry': {
        if (all && names.length > 0)
          throw new UsageError('retry takes references or --all, not both')
        if (all) return withOperator((operator) => allTried(retryRefunds(operator, 'all')))
        const which = referencesIn(what, names)
        return withOperator((operator) => tried(retryRefunds(operator, which)))
      }
      case 'drop': {
        const which = referencesIn(what, names)
        return withOperator((operator) => tried(dropRefunds(operator, which)))
      }
      case 'release': {
        const which = referencesIn(what, names)
        const why = requireReason(what, reason, 'our lawyer allows it')
        return withOperator((operator) => tried(releaseRefunds(operator, which, why)))
      }
      case 'paid': {
        const payment = paidIn(names, transfer)
        return withOperator((operator) => one(payment.reference, recordPaid(operator, payment)))
      }
      case 'goodwill': {
        const gift = goodwillIn(names, reason)
        return withOperator((operator) => one(gift.order, giveGoodwill(operator, gift)))
      }
      default:
        return never(what)
    }
  },
}

function one(reference: string, outcome: Promise<Outcome>): Promise<Result> {
  return tried(outcome.then((done) => [{ reference, ...done }]))
}

async function tried(outcomes: Promise<readonly Tried[]>): Promise<Result> {
  const data = await outcomes
  return {
    exit: data.every(({ isDone }) => isDone) ? 0 : 1,
    data,
    lines: data.map(({ reference, told }) => `${reference}: ${told}`),
  }
}

/** Nobody named those that are left alone. */
async function allTried(outcomes: Promise<readonly Tried[]>): Promise<Result> {
  const { data, lines } = await tried(outcomes)
  return { exit: 0, data, lines: lines.length === 0 ? ['No refund has failed.'] : lines }
}

type Open = RefundStatus['open'][number]

function statusLines({ switch: turned, granted, caps, open }: RefundStatus): readonly string[] {
  const { stopped, since, by, reason } = turned
  const turnedBy = `${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`
  const kinds = Object.entries({
    Refunds: granted.refunds,
    Returns: granted.returns,
    Goodwill: granted.goodwill,
  })
  return [
    stopped ? `Refunds are STOPPED since ${since.toISOString()}${turnedBy}` : 'Refunds go out.',
    ...kinds.map(
      ([kind, { hourUsdc, dayUsdc }]) =>
        `${kind} granted in the last hour ${hourUsdc} of ${caps.hourUsdc} USDC, ` +
        `in the last day ${dayUsdc} of ${caps.dayUsdc} USDC.`,
    ),
    '',
    ...tables.flatMap(([waits, title, way]) => {
      const listed = open.filter(({ waitsFor }) => waitsFor === waits)
      if (listed.length === 0 && way !== undefined) return []
      const worth = listed.reduce((total, { worthUsdc }) => total + usdcFromText(worthUsdc), 0n)
      const few = listed.length === 0 ? 'none' : `${listed.length}, ${formatUsdc(usdc(worth))} USDC`
      return [`Refunds ${title}: ${few}`, ...listed.flatMap(linesOf), ...(way ? [`  ${way}`] : [])]
    }),
  ]
}

/** By what a payout waits for. One with a way to go on is shown only if it has any. */
const tables: readonly (readonly [Open['waitsFor'], string, string?])[] = [
  ['retry', 'failed and waiting for you'],
  [
    'release',
    'held, because the payee is on the denylist',
    'If you may pay one: kiosk402 refund release REFERENCE --reason "..."',
  ],
  ['the_store', 'under way'],
  [
    'your_payment',
    'to be paid by you',
    'If you have paid one (USDC not from the wallet of refunds): kiosk402 refund paid REFERENCE TRANSACTION',
  ],
  [
    'its_transaction',
    'paid by BTCPay, of which only you can see the transaction',
    'If you know it: kiosk402 refund paid REFERENCE TRANSACTION',
  ],
]

function linesOf({ reference, since, reason, ...one }: Open): readonly string[] {
  const amount = `${one.amount} ${one.coin}`.padStart(14)
  const network = one.network === null ? '' : ` on ${one.network}`
  const state = one.code ?? one.state
  return [
    `  ${reference}  ${amount}${network}  to ${one.to}  ${state}  since ${since.toISOString()}`,
    ...(reason === null ? [] : [`      ${reason}`]),
  ]
}

function requireReason(what: string, reason: string | undefined, example: string): string {
  if (reason) return reason
  throw new UsageError(`${what} needs a reason: --reason "${example}"`)
}

export function referencesIn(
  what: 'retry' | 'drop' | 'release',
  names: readonly string[],
): readonly string[] {
  if (names.length === 0) throw new UsageError(`${what} needs a reference`)
  for (const name of names) requireReference(name)
  return [...new Set(names)]
}

function requireReference(name: string): void {
  if (namesPayout(name)) return
  throw new UsageError(
    `"${name}" is not the id of an order, nor the reference of a return or of goodwill`,
  )
}

export function goodwillIn(names: readonly string[], reason = ''): Gift {
  const [order = '', text = '', ...more] = names
  if (more.length > 0 || !isOrderId(order)) {
    throw new UsageError('goodwill takes the id of an order and an amount in USDC')
  }
  if (reason.length < 3 || reason.length > 500) {
    throw new UsageError('goodwill needs a --reason of 3 to 500 characters')
  }
  return { order, amount: amountIn(text), reason }
}

function amountIn(text: string): Usdc {
  try {
    const amount = usdcFromText(text)
    if (amount > 0n) return amount
  } catch {}
  throw new UsageError(`"${text}" is not an amount in USDC; write it as 12.50`)
}

export function paidIn(names: readonly string[], transfer: string | undefined): PaidByHand {
  const [reference = '', transaction = '', ...more] = names
  if (transaction === '' || more.length > 0) {
    throw new UsageError('paid takes a reference and the transaction that paid it')
  }
  requireReference(reference)
  if (!/^(0x)?[0-9a-f]{64}$/i.test(transaction)) {
    throw new UsageError(
      `"${transaction}" is not a transaction: 64 hexadecimal digits, with 0x before them on Ethereum`,
    )
  }
  if (transfer !== undefined && !/^[1-9]\d{0,2}$/.test(transfer)) {
    throw new UsageError('--transfer counts the equal transfers of a transaction, from 1')
  }
  const which = transfer === undefined ? {} : { transfer: Number(transfer) }
  return { reference, transaction: transaction.toLowerCase(), ...which }
}
