import { createSmtpMailer } from '../adapters/mail/smtp.ts'
import { isOrderId, type OrderId } from '../lib/ids.ts'
import { findOrders } from '../operator/finding.ts'
import { type Resending, resendLink } from '../operator/links.ts'
import { type Operator, Refused } from '../operator/operator.ts'
import { retryOrder, showOrder } from '../operator/orders.ts'
import { type Act, parseCommand, type Result, UsageError } from './act.ts'

const usage = `Usage: kiosk402 order WHAT

  find TEXT        orders by whatever a buyer names: the id of an order, payment or checkout, a transaction, wallet,
                   address of a coin, e-mail address, phone number in any spelling, ICCID, recovery code, reference
                   at the supplier, or the id of a request
  show ORDER       its whole life in one list, and what may be done now
  retry ORDER      has the running store look at once at what is under way
  resend ORDER [--to ADDRESS] --reason "..."
                   mails a link that opens the order for seven days, to a new address too; without an
                   address, prints it

Money: kiosk402 refund --help. Personal fields: kiosk402 person --help.

Examples:
  kiosk402 order find "+49 1512 345-6789"
  kiosk402 order show ord_5x8q2m7d3k9v4c1n6b0t8w5y2r
  kiosk402 order resend ord_5x8q2m7d3k9v4c1n6b0t8w5y2r --to ada@example.org --reason "lost her link"`

const takes = {
  find: ['names'],
  show: ['names'],
  retry: ['names'],
  resend: ['names', 'to', 'reason'],
} as const

export const order: Act = {
  summary: 'finds an order by anything, shows its life, and resends its link',
  usage,
  async run(args, { isDryRun, withOperator }) {
    const { what, names, to, reason = '' } = parseCommand(args, takes)
    const text = names.join(' ')
    if (what === 'find') {
      if (text === '') throw new UsageError('find needs a text')
      return withOperator((operator) => find(operator, text))
    }
    if (!isOrderId(text)) throw new UsageError(`${what} needs the id of an order; find gives it`)
    if (what === 'show') return withOperator((operator) => show(operator, text))
    if (what === 'retry')
      return withOperator(async (operator) => {
        const data = await retryOrder(operator, text)
        return { exit: 0, data, lines: ['The running store looks at it now.'] }
      })
    if (reason === '') throw new UsageError('resend needs a reason: --reason "..."')
    return withOperator((operator) => resend(operator, text, { to, reason }, isDryRun))
  },
}

async function find(operator: Operator, text: string): Promise<Result> {
  const data = await findOrders(operator, text)
  const lines = data.found.map((one) =>
    [
      one.placedAt.toISOString(),
      one.order,
      `${one.brandName} ${one.country ?? ''} ${one.kind}`,
      `${one.amountUsdc} USDC`,
      `${one.state}${one.refundState === null ? '' : ` ${one.refundState}`}`,
      `by ${one.foundBy}`,
    ].join('  '),
  )
  const more = data.isMore ? ['There are more, which are older.'] : []
  const isFound = data.found.length > 0
  return { exit: isFound ? 0 : 1, data, lines: isFound ? [...lines, ...more] : ['No order.'] }
}

async function resend(
  operator: Operator,
  id: OrderId,
  resending: Resending,
  isDryRun: boolean,
): Promise<Result> {
  const { to } = resending
  const { mail } = operator.config
  if (to !== undefined && !mail) {
    throw new Refused('This store sends no mail: it has no SMTP_URL. Leave --to out for the link.')
  }
  const mailer = mail && !isDryRun ? createSmtpMailer(mail) : undefined
  const { link, ...data } = await resendLink(operator, id, resending, mailer)
  if (link === null) {
    const which = data.isNewAddress ? ', which is its address from now on' : ''
    return { exit: 0, data, lines: [`${isDryRun ? 'Would be sent' : 'Sent'} to ${to}${which}.`] }
  }
  // A link that is printed opens the order, whether or not its row is kept.
  if (isDryRun) return { exit: 0, data, lines: ['Would print a link.'] }
  const lines = [link, 'It opens the order, and shows its goods, for seven days.']
  return { exit: 0, data: { ...data, link }, lines }
}

async function show(operator: Operator, id: OrderId): Promise<Result> {
  const data = await showOrder(operator, id)
  const { order: facts, checkout, life, payouts, mayDo } = data
  const factLines = Object.entries(facts ?? checkout ?? {}).map(
    ([name, value]) => `  ${name.padEnd(18)}${textOf(value)}`,
  )
  const lifeLines = life.map(({ at, of, what, detail }) => {
    const details = Object.keys(detail).length === 0 ? '' : `  ${textOf(detail)}`
    return `  ${at.toISOString()}  ${of} ${what}${details}`
  })
  const open = payouts.map(
    ({ reference, state, code, amount, coin }) =>
      `  ${reference}  ${amount} ${coin}  ${code ?? state}`,
  )
  const ways = mayDo.flatMap(({ command, causes }) => [`  ${command}`, `      ${causes}`])
  const lines = [...factLines, '', ...lifeLines, ...open, '', 'What may be done now:', ...ways]
  return { exit: 0, data, lines }
}

function textOf(value: unknown): string {
  if (value === null) return '-'
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object') return String(value)
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? one.toString() : one))
}
