import { formatDecimal } from '../../btcpay/amounts.ts'
import { coins } from '../../btcpay/coins.ts'
import type { Demo, Step } from '../demo.ts'
import type { CoinPayment } from '../ledger.ts'
import {
  atProcessor,
  choose,
  coin,
  look,
  movedFor,
  type Paying,
  press,
  type Seen,
} from '../person.ts'

/** In the sandbox, a confirmation takes two seconds and a delivery one. */
const maxFollowSeconds = 60
const name = { firstName: 'Ada', lastName: 'Lovelace' }

/** A person on the website, without script: one payment succeeds, and one is too small. */
export const coinPayments: Step = {
  name: 'pay_in_coins',
  title: 'Pay in BTC as a person does on the website, and get back what was too little',
  async run(demo) {
    const coinPayments = [await payInFull(demo), await payTooLittle(demo)]
    const data = coinPayments.map(({ paid, returned, ...rest }) => {
      return { ...rest, coin, paid: coinText(paid), returned: coinText(returned) }
    })
    return { change: 0n, coinPayments, data: { payments: data } }
  },
}

async function payInFull(demo: Demo): Promise<CoinPayment> {
  const { store, tell } = demo
  const paying = await begin(demo, 'TEST-VOUCHER-OK')
  await atProcessor(paying, 'pay')
  const { location = '' } = await follow(demo, paying.path, paying, isElsewhere)
  const order = await follow(demo, location, paying, ({ html }) =>
    html.includes(`${location}/goods`),
  )
  tell.fact('Order', `GET ${location}: "${order.heading}"`)
  const goods = await press(store, `${location}/goods`, paying.cookie)
  if (goods.status !== 200) throw new Error(`The goods of ${location} answered ${goods.status}.`)
  tell.fact('Button', `POST ${location}/goods shows the code`)
  return {
    id: location.slice('/orders/'.length),
    state: 'FULFILLED',
    ...(await moved(demo, paying)),
  }
}

/** Pays most of the price, and lets the invoice expire. The store would keep less than 0.50 USDC. */
async function payTooLittle(demo: Demo): Promise<CoinPayment> {
  const paying = await begin(demo, 'TEST-VOUCHER-LOST')
  const most = (paying.asked * 4n) / 5n
  demo.tell.note(`pays ${coinText(most)} ${coin} only, and the time to pay passes`)
  await atProcessor(paying, 'pay', { amount: coinText(most) })
  await atProcessor(paying, 'expire')
  await follow(demo, paying.path, paying, ({ html }) => html.includes('id="returns"'))
  await followMoney(demo, paying)
  return { id: paying.id, state: 'RETURNED', ...(await moved(demo, paying)) }
}

async function begin({ store, tell }: Demo, offerId: string): Promise<Paying> {
  const paying = await choose(store, offerId, name)
  tell.fact('Form', `POST /buy/${offerId} leads to ${paying.path}`)
  tell.fact('To pay', `${coinText(paying.asked)} ${coin} to ${paying.address}`)
  return paying
}

/** Reloads a page, as browsers without script do, until it shows what is waited for. */
async function follow(
  { store, tell, wait }: Demo,
  path: string,
  { cookie }: Paying,
  isThere: (seen: Seen) => boolean,
): Promise<Seen> {
  let told = ''
  for (let waited = 0; waited < maxFollowSeconds; waited += 1) {
    const seen = await look(store, path, cookie)
    if (seen.heading !== told && seen.heading !== '') tell.fact('Page', `"${seen.heading}"`)
    told = seen.heading
    if (isThere(seen)) return seen
    await wait(1)
  }
  throw new Error(`The page ${path} still says "${told}" after ${maxFollowSeconds} s.`)
}

function isElsewhere({ status, location }: Seen): boolean {
  return status === 303 && location !== undefined
}

/** Waits until the return is on the chain; the page's word is not enough. */
async function followMoney({ wait }: Demo, paying: Paying): Promise<void> {
  for (let waited = 0; waited < maxFollowSeconds; waited += 1) {
    if ((await movedFor(paying)).returned > 0n) return
    await wait(1)
  }
  throw new Error(`Nothing of the payment ${paying.id} came back in ${maxFollowSeconds} s.`)
}

async function moved({ tell }: Demo, paying: Paying) {
  const { paid, returned } = await movedFor(paying)
  tell.fact('On chain', `${coinText(paid)} ${coin} paid, ${coinText(returned)} came back`)
  return { paid, returned }
}

export function coinText(units: bigint): string {
  return formatDecimal(units, coins[coin].decimals)
}
