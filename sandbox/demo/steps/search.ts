import { type MoneyLike, VoucherSearch } from '../answers.ts'
import type { Step } from '../demo.ts'

const path = '/ai/vouchers?search=netflix&country=US&limit=2'

/** Searches the catalog, which is free and needs no key. */
export const search: Step = {
  name: 'search',
  title: 'Search the catalog',
  async run({ store, tell }) {
    tell.fact('Asks', `GET ${path}`)
    const { body } = await store.get(path, VoucherSearch)
    if (body.items.length === 0) throw new Error(`GET ${path} finds nothing.`)
    tell.fact('Answer', `${body.total} offers, among them:`)
    for (const { brandName, country, price, offerId, buy_url } of body.items) {
      tell.fact('', `${brandName} ${country ?? ''} ${priceText(price)}  (${offerId})`)
      tell.fact('', `  for people: ${buy_url}`)
    }
    return { change: 0n, data: { path, total: body.total, items: body.items } }
  },
}

/** A price of the catalog in its own currency: "25.00 USD", or "10.00 to 95.00 USD". */
export function priceText({ currency, currencyDivisor, fixed, min, max }: MoneyLike): string {
  const decimals = Math.round(Math.log10(currencyDivisor))
  const amounts = [fixed, min, max].filter((amount) => amount !== undefined)
  const texts = amounts.map((amount) => (amount / currencyDivisor).toFixed(decimals))
  return `${texts.join(' to ')} ${currency}`
}
