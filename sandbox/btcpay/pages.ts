import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { promptTotals } from './accounting.ts'
import { formatDecimal } from './amounts.ts'
import { coins, symbols } from './coins.ts'
import type { Deps } from './deps.ts'
import { ApiError, invalid, parsed } from './errors.ts'
import { invoiceOf } from './invoices.ts'
import type { Invoice, Prompt } from './models.ts'
import { confirm, expire, forget, pay, unitsOf } from './payments.ts'

/** The buttons: their values in the form and their labels. */
const buttons = {
  pay: 'Pay',
  underpay: 'Underpay (half)',
  overpay: 'Overpay (double)',
  again: 'Pay again',
  late: 'Pay late',
  confirm: 'Confirm',
  expire: 'Expire',
  forget: 'Stop watching',
} as const
type Action = keyof typeof buttons

const formSchema = z.object({
  action: z.enum(Object.keys(buttons) as Action[], 'is none of the buttons'),
  coin: z.enum(symbols, 'is no coin of this sandbox').optional(),
  amount: z.string().trim().default(''),
  hold: z.string().optional(),
})
type Form = z.infer<typeof formSchema>
type Call = { Params: { id: string } }

/** The pages for people. They work without script: every button is a form. */
export function pageRoutes(app: FastifyInstance, deps: Deps): void {
  const type = 'text/html; charset=utf-8'
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  app.get('/', (_request, reply) => reply.type(type).send(listPage(deps.ledger.all('invoice'))))
  app.get<Call>('/i/:id', ({ params }, reply) => {
    const invoice = deps.ledger.find('invoice', params.id)
    reply.type(type)
    return invoice
      ? reply.send(invoicePage(invoice, Date.now()))
      : reply.code(404).send(missingPage())
  })
  app.post<Call>('/i/:id', ({ params, body }, reply) => {
    const invoice = deps.ledger.find('invoice', params.id)
    if (!invoice) return reply.code(404).type(type).send(missingPage())
    try {
      act(deps, invoice.id, parsed(formSchema, body), Date.now())
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      reply.code(error.status).type(type)
      return reply.send(invoicePage(invoice, Date.now(), error.message))
    }
    return reply.redirect(`/i/${invoice.id}`, 303)
  })
}

function act(deps: Deps, id: string, form: Form, now: number): void {
  switch (form.action) {
    case 'confirm':
      confirm(deps, id, now)
      return
    case 'expire':
      expire(deps, id, now)
      return
    case 'forget':
      forget(deps, id, now)
      return
    default:
      pay(deps, id, payerOf(deps, id, form), now)
  }
}

function payerOf(deps: Deps, id: string, { action, coin, amount, hold }: Form) {
  const invoice = invoiceOf(deps, id)
  const prompt = invoice.prompts.find((one) => coin === undefined || one.coin === coin)
  if (!prompt) throw invalid('coin', `This invoice cannot be paid in ${coin}.`)
  const totals = promptTotals(invoice, prompt)
  const due = totals.due > 0n ? totals.due : totals.amount
  const usual = { underpay: totals.amount / 2n, overpay: totals.amount * 2n, again: totals.amount }
  const units =
    action === 'underpay' || action === 'overpay' || action === 'again' ? usual[action] : due
  return {
    coin: prompt.coin,
    units: amount === '' ? units : unitsOf(amount, prompt.coin),
    late: action === 'late',
    confirm: hold === undefined,
  }
}

/** Whether payments wait for confirmations. Only then does the page reload itself, which loses what somebody types. */
const isConfirming = ({ payments }: Invoice) =>
  payments.some(({ status, confirmAt }) => status === 'Processing' && confirmAt !== undefined)

/** One invoice, with buttons for everything that a buyer, a chain and time can do to it. */
function invoicePage(invoice: Invoice, now: number, fault?: string): string {
  const { id, amount, expiresAt, monitoredUntil, prompts } = invoice
  const body = html`<p><a href="/">All invoices</a></p>
<h1>Invoice ${id}</h1>
${fault === undefined ? html`` : html`<p class="fault" role="alert">${fault}</p>`}
<table>
<tr><th scope="row">State</th><td id="state">${stateText(invoice)}</td></tr>
<tr><th scope="row">Price</th><td>$${amount}</td></tr>
<tr><th scope="row">Order</th><td>${String(invoice.metadata['orderId'] ?? '')}</td></tr>
<tr><th scope="row">To be paid until</th><td>${timeText(expiresAt, now)}</td></tr>
<tr><th scope="row">Watched until</th><td>${timeText(monitoredUntil, now)}</td></tr>
</table>
${form(invoice)}
${prompts.map((prompt) => promptPart(invoice, prompt))}`
  return page(`Invoice ${id}`, body, isConfirming(invoice) && fault === undefined ? 2 : undefined)
}

function timeText(at: number, now: number): string {
  return `${new Date(at).toISOString()}${at <= now ? ' (over)' : ''}`
}

function form({ id, prompts }: Invoice): Html {
  const options = prompts.map(({ coin }) => html`<option>${coin}</option>`)
  return html`<form method="post" action="/i/${id}">
<label>Coin <select name="coin">${options}</select></label>
<label>Amount <input type="text" name="amount" inputmode="decimal" placeholder="what is due"></label>
<label><input type="checkbox" name="hold" value="yes"> Hold confirmations back</label>
${Object.entries(buttons).map(([action, text]) => html`<button name="action" value="${action}">${text}</button>`)}
</form>`
}

function promptPart(invoice: Invoice, prompt: Prompt): Html {
  const { decimals, network } = coins[prompt.coin]
  const { amount, due, paidHere } = promptTotals(invoice, prompt)
  const write = (units: bigint) => `${formatDecimal(units, decimals)} ${prompt.coin}`
  const payments = invoice.payments
    .filter(({ coin }) => coin === prompt.coin)
    .map(
      ({ transaction, units, status }) => html`<tr>
<td><code>${transaction}</code></td><td>${write(BigInt(units))}</td><td>${status}</td>
</tr>`,
    )
  return html`<h2>${prompt.coin} on ${network}</h2>
<p><code>${prompt.address}</code></p>
<p>Asked ${write(amount)}, paid ${write(paidHere)}, due ${write(due)}, at $${prompt.rate} for one.</p>
${payments.length === 0 ? html`` : html`<table><tbody>${payments}</tbody></table>`}`
}

const maxShown = 100

/** All invoices, newest first. */
function listPage(invoices: readonly Invoice[]): string {
  const shown = invoices.toReversed().slice(0, maxShown)
  const body = html`<h1>Sandbox payments</h1>
<p>This stands in for BTCPay Server and for five blockchains. Every invoice of the store is here;
open one to pay it, well or badly. Nothing here is worth anything.</p>
${shown.length === 0 ? html`<p>There is no invoice yet. Buy something in the store, and pay in a coin.</p>` : table(shown)}
<p><a href="/sandbox/ledger">What came in and went out, by coin</a></p>`
  return page('Sandbox payments', body)
}

function table(invoices: readonly Invoice[]): Html {
  const rows = invoices.map(
    (invoice) => html`<tr>
<td><a href="/i/${invoice.id}">${invoice.id}</a></td>
<td>$${invoice.amount}</td>
<td>${invoice.prompts.map(({ coin }) => coins[coin].symbol).join(', ')}</td>
<td>${stateText(invoice)}</td>
<td>${new Date(invoice.createdAt).toISOString()}</td>
</tr>`,
  )
  return html`<table>
<thead><tr><th>Invoice</th><th>Price</th><th>Coin</th><th>State</th><th>Made</th></tr></thead>
<tbody>${rows}</tbody>
</table>`
}

function stateText({ status, additionalStatus }: Invoice): string {
  return additionalStatus === 'None' ? status : `${status} (${additionalStatus})`
}

function missingPage(): string {
  const body = html`<h1>There is no such invoice</h1>
<p>Perhaps it belongs to another data folder. <a href="/">All invoices</a></p>`
  return page('No such invoice', body)
}

/** Markup made by `html`, which needs no escaping. */
interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly Html[]

/** Escapes every value that it did not make itself. */
function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = parts.map(write)
  return { html: texts.map((text, index) => text + (written[index] ?? '')).join('') }
}

function write(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return 'html' in part ? part.html : part.map((each) => each.html).join('')
}

function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (letter) => names[letter] ?? letter)
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #8884; vertical-align: top }
code { overflow-wrap: anywhere }
form { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; align-items: center }
button, select, input[type=text] { font: inherit; min-height: 2.75rem; padding: 0 1rem }
.fault { border: 2px solid #c33; padding: .6rem 1rem }
`

/** A whole page. It reloads itself after `refreshSeconds`, if given. */
function page(title: string, body: Html, refreshSeconds?: number): string {
  const refresh =
    refreshSeconds === undefined
      ? html``
      : html`<meta http-equiv="refresh" content="${refreshSeconds}">`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh}
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.html
}
