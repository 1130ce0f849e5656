import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { formatDecimal } from './amounts.ts'
import { coins, symbols } from './coins.ts'
import type { Deps } from './deps.ts'
import { ApiError, parsed } from './errors.ts'
import { promptTotals } from './life.ts'
import type { Invoice, Prompt } from './models.ts'
import { confirm, expire, payTogether, unitsOf } from './payments.ts'

/** The buttons: their values in the form and their labels. A button that pays takes the amount of the form. */
const buttons = {
  pay: 'Pay',
  underpay: 'Underpay (half)',
  overpay: 'Overpay (double)',
  late: 'Pay late',
  confirm: 'Confirm',
  expire: 'Expire',
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
    const page = invoice ? invoicePage(invoice) : missingPage
    return reply
      .code(invoice ? 200 : 404)
      .type(type)
      .send(page)
  })
  app.post<Call>('/i/:id', ({ params, body }, reply) => {
    const invoice = deps.ledger.find('invoice', params.id)
    if (!invoice) return reply.code(404).type(type).send(missingPage)
    try {
      act(deps, invoice, parsed(formSchema, body))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return reply.code(error.status).type(type).send(invoicePage(invoice, error.message))
    }
    return reply.redirect(`/i/${invoice.id}`, 303)
  })
}

function act(deps: Deps, invoice: Invoice, { action, coin, amount, hold }: Form): void {
  const now = Date.now()
  const others = { confirm, expire }
  if (action in others) {
    others[action as keyof typeof others](deps, invoice.id, now)
    return
  }
  const prompt = invoice.prompts.find((one) => one.coin === coin) ?? invoice.prompts[0]
  const price = prompt ? promptTotals(invoice, prompt).amount : 0n
  const usual = { underpay: price / 2n, overpay: price * 2n }[action as string]
  const units = amount === '' || !prompt ? usual : unitsOf(amount, prompt.coin)
  const transfer = { invoice: invoice.id, coin, units, late: action === 'late' }
  payTogether(deps, [{ ...transfer, confirm: hold === undefined }], now)
}

/** One invoice, with buttons for everything that a buyer, a chain and time can do to it. */
function invoicePage(invoice: Invoice, fault?: string): string {
  const { id, amount, expiresAt, monitoredUntil, prompts, payments, metadata } = invoice
  const body = html`<p><a href="/">All invoices</a></p>
<h1>Invoice ${id}</h1>
${fault === undefined ? html`` : html`<p class="fault" role="alert">${fault}</p>`}
<p>Order ${String(metadata['orderId'] ?? '')}, $${amount}: <b id="state">${stateText(invoice)}</b></p>
<p>To be paid until ${timeText(expiresAt)}, watched until ${timeText(monitoredUntil)}</p>
<form method="post" action="/i/${id}">
<label>Coin <select name="coin">${prompts.map(({ coin }) => html`<option>${coin}</option>`)}</select></label>
<label>Amount <input type="text" name="amount" inputmode="decimal" placeholder="what is due"></label>
<label><input type="checkbox" name="hold" value="yes"> Hold confirmations back</label>
${Object.entries(buttons).map(([action, text]) => html`<button name="action" value="${action}">${text}</button>`)}
</form>
${prompts.map((prompt) => promptPart(invoice, prompt))}`
  // Only while payments wait for confirmations does the page reload itself, which loses what somebody types.
  const isConfirming = payments.some(
    ({ status, confirmAt }) => status === 'Processing' && confirmAt !== undefined,
  )
  return page(`Invoice ${id}`, body, isConfirming && fault === undefined)
}

const timeText = (at: number) => new Date(at).toISOString()

function promptPart(invoice: Invoice, prompt: Prompt): Html {
  const { decimals, network } = coins[prompt.coin]
  const { amount, due, paidHere } = promptTotals(invoice, prompt)
  const write = (units: bigint) => `${formatDecimal(units, decimals)} ${prompt.coin}`
  const payments = invoice.payments.filter(({ coin }) => coin === prompt.coin)
  return html`<h2>${prompt.coin} on ${network}</h2>
<p><code>${prompt.address}</code></p>
<p>Asked ${write(amount)}, paid ${write(paidHere)}, due ${write(due)}, at $${prompt.rate} for one.</p>
${payments.map(({ transaction, units, status }) => html`<p><code>${transaction}</code>: ${write(BigInt(units))}, ${status}</p>`)}`
}

function listPage(invoices: readonly Invoice[]): string {
  const rows = invoices
    .toReversed()
    .slice(0, 100)
    .map(
      (invoice) =>
        html`<p><a href="/i/${invoice.id}">${invoice.id}</a>: $${invoice.amount} in
${invoice.prompts.map(({ coin }) => coin).join(', ')}, ${stateText(invoice)}, ${timeText(invoice.createdAt)}</p>`,
    )
  const body = html`<h1>Sandbox payments</h1>
<p>This stands in for BTCPay Server and for five blockchains. Every invoice of the store is here;
open one to pay it, well or badly. Nothing here is worth anything.</p>
${rows.length === 0 ? html`<p>There is no invoice yet. Buy something in the store, and pay in a coin.</p>` : rows}
<p><a href="/sandbox/ledger">What came in and went out, by coin</a></p>`
  return page('Sandbox payments', body)
}

function stateText({ status, additionalStatus }: Invoice): string {
  return additionalStatus === 'None' ? status : `${status} (${additionalStatus})`
}

interface Html {
  readonly html: string
}

/** Escapes every value that it did not make itself. */
function html(
  texts: TemplateStringsArray,
  ...parts: readonly (string | Html | readonly Html[])[]
): Html {
  const written = parts.map((part) => {
    if (typeof part === 'string')
      return part.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
    return 'html' in part ? part.html : part.map((each) => each.html).join('')
  })
  return { html: String.raw({ raw: texts }, ...written) }
}

const style = {
  html: `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
code { overflow-wrap: anywhere }
form { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; align-items: center }
button, select, input[type=text] { font: inherit; min-height: 2.75rem; padding: 0 1rem }
.fault { border: 2px solid #c33; padding: .6rem 1rem }
`,
}

function page(title: string, body: Html, reloads = false): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${reloads ? html`<meta http-equiv="refresh" content="2">` : html``}
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.html
}

const missingPage = page(
  'No such invoice',
  html`<h1>There is no such invoice</h1>
<p>Perhaps it belongs to another data folder. <a href="/">All invoices</a></p>`,
)
