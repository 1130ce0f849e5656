import { coins } from '../coins.ts'
import type { Invoice } from '../models.ts'
import { type Html, html, page } from './html.ts'

const maxShown = 100

/** All invoices, newest first. */
export function listPage(invoices: readonly Invoice[]): string {
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

export function stateText({ status, additionalStatus }: Invoice): string {
  return additionalStatus === 'None' ? status : `${status} (${additionalStatus})`
}

export function missingPage(): string {
  const body = html`<h1>There is no such invoice</h1>
<p>Perhaps it belongs to another data folder. <a href="/">All invoices</a></p>`
  return page('No such invoice', body)
}
