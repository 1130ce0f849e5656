import { promptTotals } from '../accounting.ts'
import { formatDecimal } from '../amounts.ts'
import { coins } from '../coins.ts'
import type { Invoice, Prompt } from '../models.ts'
import { type Html, html, page } from './html.ts'
import { stateText } from './list.ts'

/** The buttons: their values in the form and their labels. */
const buttons: readonly (readonly [action: string, text: string])[] = [
  ['pay', 'Pay'],
  ['underpay', 'Underpay (half)'],
  ['overpay', 'Overpay (double)'],
  ['again', 'Pay again'],
  ['late', 'Pay late'],
  ['confirm', 'Confirm'],
  ['expire', 'Expire'],
  ['forget', 'Stop watching'],
]

/** Whether payments wait for confirmations. Only then does the page reload itself, which loses what somebody types. */
const isConfirming = ({ payments }: Invoice) =>
  payments.some(({ status, confirmAt }) => status === 'Processing' && confirmAt !== undefined)

/** One invoice, with buttons for everything that a buyer, a chain and time can do to it. */
export function invoicePage(invoice: Invoice, now: number, fault?: string): string {
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
${buttons.map(([action, text]) => html`<button name="action" value="${action}">${text}</button>`)}
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
