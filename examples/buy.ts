/**
 * Buys one gift voucher and prints its code: search, quote, pay, wait.
 *
 *   PRIVATE_KEY=0x… node examples/buy.ts "netflix" [offerId]
 *
 * Needs Node 24, `npm install @x402/fetch @x402/evm viem`, and a wallet with USDC on the store's network.
 *
 *   PRIVATE_KEY    key of the paying wallet; it needs no ETH
 *   STORE_URL      address of the store; default http://localhost:8402
 *   MAX_USD        highest price to pay; default 1, which is also the default of the client
 *   PURCHASE_KEY   idempotency key of this purchase; by default a new one, which is printed. Set it to repeat
 *                  an interrupted run: the store never charges twice for the same key.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { type Hex, isHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const {
  STORE_URL: store = 'http://localhost:8402',
  MAX_USD: most = '1',
  PURCHASE_KEY: purchaseKey = crypto.randomUUID(),
} = process.env
const [words = 'sandbox test', wanted] = process.argv.slice(2)
const recipient = { firstName: 'Ada', lastName: 'Lovelace' }
const purchaseUrl = `${store}/api/catalog/vouchers/purchase/info`

interface Offer {
  readonly offerId: string
  readonly brandName: string
  readonly price: { readonly fixed?: number }
}
interface Order {
  readonly orderId: string
  readonly accessToken?: string
  readonly refund_state: string | null
  readonly orders: [{ state: string; error: { message: string } | null; result: unknown }]
}

// 1. Search. Free, and open to anyone.
const search = await fetch(`${store}/ai/vouchers?limit=50&search=${encodeURIComponent(words)}`)
const { items = [] } = await read<{ items?: Offer[] }>(search)
const offer = items.find((one) => (wanted ? one.offerId === wanted : one.price.fixed !== undefined))
if (offer === undefined) stop(`Nothing to buy was found for "${words}".`)

// 2. Quote. Free too; it makes all checks of the purchase.
const purchase = { offerId: offer.offerId, ...recipient }
const quote = await read<{ display: string; usdc: { amount: string } }>(
  await fetch(`${purchaseUrl}?${new URLSearchParams(purchase)}`),
)
console.log(`${offer.brandName}, ${offer.offerId}: ${quote.display}`)
if (Number(quote.usdc.amount) > Number(most) * 1_000_000) {
  stop(`That is more than MAX_USD, ${most}.`)
}

// 3. Buy. The client signs what the 402 asks for, up to the limit, and sends the request again.
const client = new x402Client()
  .register('eip155:*', new ExactEvmScheme(privateKeyToAccount(keyOf(process.env['PRIVATE_KEY']))))
  .setSpendControls({ maxAmountPerPayment: `$${most}` })
const pay = wrapFetchWithPayment(fetch, client)
console.log(`PURCHASE_KEY=${purchaseKey}`)
let order = await read<Order>(await buy())

// 4. Wait. 200 has the goods; 202 means that the purchase is paid and the goods are on their way.
const { orderId, accessToken } = order
while (['PAYMENT_PENDING', 'PAID', 'FULFILLING'].includes(order.orders[0].state)) {
  const answer = await fetch(`${store}/api/catalog/orders/${orderId}`, {
    headers: { authorization: `Bearer ${accessToken}` },
  })
  order = await read<Order>(answer)
  await sleep(Number(answer.headers.get('retry-after') ?? 0) * 1_000)
}

const [{ state, error, result }] = order.orders
console.log(`${orderId} is ${state}`)
if (state !== 'FULFILLED') {
  // Do nothing: the store refunds the paying wallet by itself.
  stop(`${error?.message ?? 'There are no goods.'} Refund: ${order.refund_state}.`)
}
console.log(JSON.stringify(result, null, 2))

/** Sends the purchase until it is answered. With the same key, every repetition is the same purchase. */
async function buy(attempt = 1): Promise<Response> {
  let pause = attempt
  try {
    const response = await pay(purchaseUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': purchaseKey },
      body: JSON.stringify(purchase),
      signal: AbortSignal.timeout(60_000),
    })
    if (response.status < 500 && response.status !== 429) return response
    if (attempt === 4) return response
    pause = Number(response.headers.get('retry-after') ?? pause)
  } catch (failure) {
    // The answer was lost, perhaps after the payment.
    if (attempt === 4) stop(`The store does not answer: ${failure}`)
  }
  await sleep(pause * 1_000)
  return buy(attempt + 1)
}

/** The JSON of an answer. An error answer ends the program with the reason and whether money moved. */
async function read<T>(response: Response): Promise<T> {
  const body: unknown = await response.json().catch(() => ({}))
  if (response.ok) return body as T
  // 402 after the payment: it was refused, for instance because the wallet is empty.
  const { detail, error, charged = 'not stated' } = body as Record<string, string | undefined>
  stop(`${response.status}: ${detail ?? error ?? response.statusText} (charged: ${charged})`)
}

function keyOf(text: string | undefined): Hex {
  if (isHex(text) && text.length === 66) return text
  stop('PRIVATE_KEY must be 0x and 64 hexadecimal digits.')
}

function stop(why: string): never {
  console.error(why)
  process.exit(1)
}
