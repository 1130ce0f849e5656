import { never } from '../lib/errors.ts'
import { formatUsdc, usdc, usdcFromText } from '../lib/money.ts'
import type { Operator } from '../operator/operator.ts'
import {
  dropRefunds,
  giveGoodwill,
  type Outcome,
  type RefundStatus,
  recordPaid,
  refundStatus,
  releaseRefunds,
  retryRefunds,
  startRefunds,
  stopRefunds,
  type Tried,
} from '../operator/refunds.ts'
import { type Act, parseCommand, type Result } from './act.ts'
import {
  everything,
  goodwillIn,
  paidIn,
  referencesIn,
  requireReason,
  takes,
  usage,
} from './refund-arguments.ts'

export const refund: Act = {
  summary: 'what refunds wait for: retry, stop, start, goodwill, paid by hand',
  usage,
  async run(args, { withOperator }) {
    const { what, names, reason, all, transfer } = parseCommand(args, takes)
    switch (what) {
      case 'status':
        return withOperator(status)
      case 'stop': {
        const why = requireReason(what, reason, 'the key may have leaked')
        return withOperator((operator) => stop(operator, why))
      }
      case 'start':
        return withOperator((operator) => start(operator, reason))
      case 'retry': {
        const which = all ? everything(names) : referencesIn(what, names)
        return withOperator((operator) => retry(operator, which))
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

async function status(operator: Operator): Promise<Result> {
  const data = await refundStatus(operator, operator.config.refundCaps)
  return { exit: 0, data, lines: statusLines(data) }
}

async function stop(operator: Operator, reason: string): Promise<Result> {
  const data = await stopRefunds(operator, reason)
  const line = 'Refunds are stopped, on every node. Each one waits and goes on after "start".'
  return { exit: 0, data, lines: [line] }
}

async function start(operator: Operator, reason: string | undefined): Promise<Result> {
  const data = await startRefunds(operator, reason)
  return { exit: 0, data, lines: [`Refunds go out again. ${data.waiting} of them were waiting.`] }
}

/** Of all, nobody named those that are left alone. */
async function retry(operator: Operator, which: 'all' | readonly string[]): Promise<Result> {
  const result = await tried(retryRefunds(operator, which))
  if (which !== 'all') return result
  return {
    ...result,
    exit: 0,
    ...(result.lines.length === 0 && { lines: ['No refund has failed.'] }),
  }
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

type Open = RefundStatus['open'][number]

function statusLines(status: RefundStatus): readonly string[] {
  const { switch: turned, granted, open } = status
  const waiting = (what: Open['waitsFor']) => open.filter(({ waitsFor }) => waitsFor === what)
  const held = waiting('release')
  const byHand = [
    ...handTable('To be paid by you', waiting('your_payment')),
    ...handTable('Paid by BTCPay, of which you know the transaction', waiting('its_transaction')),
  ]
  return [
    turned.stopped
      ? `Refunds are STOPPED since ${turned.since.toISOString()}${byAndWhy(turned)}`
      : 'Refunds go out.',
    `Refunds granted in ${againstCaps(granted.refunds, status)}`,
    `Returns granted in ${againstCaps(granted.returns, status)}`,
    `Goodwill granted in ${againstCaps(granted.goodwill, status)}`,
    '',
    ...tableOf('failed and waiting for you', waiting('retry')),
    ...(held.length === 0
      ? []
      : [
          ...tableOf('held, because the payee is on the denylist', held),
          '  If you may pay one: kiosk402 refund release REFERENCE --reason "..."',
        ]),
    ...tableOf('under way', waiting('the_store')),
    ...(byHand.length === 0
      ? []
      : ['', ...byHand, 'Then say so: kiosk402 refund paid REFERENCE TRANSACTION']),
  ]
}

function againstCaps(granted: RefundStatus['caps'], { caps }: RefundStatus): string {
  return (
    `the last hour ${granted.hourUsdc} of ${caps.hourUsdc} USDC, ` +
    `in the last day ${granted.dayUsdc} of ${caps.dayUsdc} USDC.`
  )
}

function byAndWhy({ by, reason }: RefundStatus['switch']): string {
  return `${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`
}

function handTable(what: string, listed: readonly Open[]): string[] {
  if (listed.length === 0) return []
  const linesFor = ({ reference, since, amount, coin, network, to }: Open) => [
    `  ${reference}  since ${since.toISOString()}`,
    `      ${amount} ${coin}${network === null ? ', from another wallet than the refund wallet' : ` on ${network}`}`,
    `      to ${to}`,
  ]
  return [`${what}: ${listed.length}`, ...listed.flatMap(linesFor)]
}

function tableOf(what: string, listed: readonly Open[]): readonly string[] {
  const worth = listed.reduce((total, { worthUsdc }) => total + usdcFromText(worthUsdc), 0n)
  const few = listed.length === 0 ? 'none' : `${listed.length}, ${formatUsdc(usdc(worth))} USDC`
  return [`Refunds ${what}: ${few}`, ...listed.flatMap(linesOf)]
}

function linesOf({ reference, to, state, code, reason, since, amount, coin }: Open): string[] {
  const text = `${amount} ${coin}`.padStart(14)
  return [
    `  ${reference}  ${text}  to ${to}  ${code ?? state}  since ${since.toISOString()}`,
    ...(reason === null ? [] : [`      ${reason}`]),
  ]
}
