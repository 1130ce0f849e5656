import type { RefundCaps } from '../adapters/storage/payouts.ts'
import { never } from '../lib/errors.ts'
import { formatUsdc, usdc, usdcFromText } from '../lib/money.ts'
import {
  dropRefunds,
  giveGoodwill,
  type RefundStatus,
  type RefundsOperator,
  recordPaid,
  refundStatus,
  releaseRefunds,
  retryRefunds,
  startRefunds,
  stopRefunds,
  type Tried,
} from '../operator/refunds.ts'
import type { Act, Result } from './act.ts'
import { commandOf, type RefundsCommand, usage } from './refund-arguments.ts'

type As = RefundsOperator & { readonly config: { readonly refundCaps: RefundCaps } }

export const refund: Act = {
  summary: 'what refunds wait for: retry, stop, start, goodwill, paid by hand',
  usage,
  async run(args, { withOperator }) {
    const command = commandOf(args)
    return withOperator((operator) => carryOut(operator, command))
  },
}

export async function carryOut(operator: As, command: RefundsCommand): Promise<Result> {
  switch (command.does) {
    case 'status': {
      const status = await refundStatus(operator, operator.config.refundCaps)
      return { exit: 0, data: status, lines: statusLines(status) }
    }
    case 'stop': {
      const data = await stopRefunds(operator, command.reason)
      const line = 'Refunds are stopped, on every node. Each one waits and goes on after "start".'
      return { exit: 0, data, lines: [line] }
    }
    case 'start': {
      const data = await startRefunds(operator, command.reason)
      return {
        ...{ exit: 0, data },
        lines: [`Refunds go out again. ${data.waiting} of them were waiting.`],
      }
    }
    case 'retry': {
      const tried = triedResult(await retryRefunds(operator, command.names))
      return command.names === 'all' ? afterAll(tried) : tried
    }
    case 'drop':
      return triedResult(await dropRefunds(operator, command.names))
    case 'release':
      return triedResult(await releaseRefunds(operator, command.names, command.reason))
    case 'paid': {
      const { reference } = command
      return triedResult([{ reference, ...(await recordPaid(operator, command)) }])
    }
    case 'goodwill':
      return triedResult([{ reference: command.order, ...(await giveGoodwill(operator, command)) }])
    default:
      return never(command)
  }
}

function triedResult(data: readonly Tried[]): Result {
  return {
    exit: data.every(({ isDone }) => isDone) ? 0 : 1,
    data,
    lines: data.map(({ reference, told }) => `${reference}: ${told}`),
  }
}

/** Nobody named those that were left alone. */
function afterAll({ data, lines }: Result): Result {
  return { exit: 0, data, lines: lines.length > 0 ? lines : ['No refund has failed.'] }
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
