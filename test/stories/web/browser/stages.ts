import { formatUnits, parseUnits } from '../../../../src/payments/coins.ts'
import { bodyFor, buy, callerFor, type Kind } from '../../requests.ts'
import { limitsAt } from '../../signing-in.ts'
import type { Store } from '../../store.ts'
import {
  chooseCoin,
  fillIn,
  formFor,
  type OpenPayment,
  shownPayment,
  startPayment,
  testOffer,
} from './shopping.ts'
import type { Visit, VisitWithWallet } from './visit.ts'

export interface Stage {
  /** As its picture is named. */
  readonly name: string
  /** Leads a visitor there. */
  readonly reach: (visited: VisitWithWallet, store: Store) => Promise<unknown>
  /** Looks much as another one does, so no picture is taken of it. */
  readonly hasNoPicture?: true
}

const at = (name: string, path: string): Stage => ({
  name,
  reach: ({ page }) => page.goto(path),
})

const offers = { voucher: 'STEAM_US_25_EGIFT', topup: 'CUBACEL_CU_OPEN', esim: 'ESIM-US-7D-1GB' }

const plain: readonly Stage[] = [
  at('home', '/'),
  at('search', '/search?kind=voucher&q=game'),
  at('search-none', '/search?kind=esim&q=moon'),
  at('how-it-works', '/how-it-works'),
  at('terms', '/terms'),
  { ...at('errors', '/errors'), hasNoPicture: true },
  at('find', '/find'),
  at('not-found', '/nowhere'),
  { ...at('reveal', '/reveal'), hasNoPicture: true },
  { ...at('approve-open', '/approve'), hasNoPicture: true },
]

const forms: readonly Stage[] = [
  {
    name: 'buy',
    reach: async ({ page }) => {
      await page.goto(`/buy/${offers.voucher}`)
      await fillIn(page, 'voucher')
      await chooseCoin(page, 'BTC')
    },
  },
  {
    name: 'buy-wallet',
    reach: async ({ page, wallet }) => {
      wallet.state.balance = 1_000_000n
      await page.goto(`/buy/${offers.esim}`)
      await page.locator('#pay-USDC').check()
      await page.getByRole('button', { name: /^Pay/ }).click()
      await page.getByText('This wallet has 1.00 USDC').waitFor()
    },
  },
  {
    name: 'buy-faults',
    reach: async ({ page }) => {
      await page.goto(`/buy/${offers.topup}`)
      await page.getByLabel('Amount').fill('3.3333')
      await page.getByLabel('Phone number').fill('12')
      await page.locator('#pay-XMR').check()
      await page.locator('#refundTo-XMR').fill('my wallet')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.waitForSelector('.faults')
    },
  },
]

/** A payment in a coin, and what a person does with it. */
const paying = (
  name: string,
  reach: (visited: Visit, payment: OpenPayment, store: Store) => Promise<unknown>,
  outcome = 'OK',
): Stage => ({
  name,
  reach: async (visited, store) => {
    await reach(visited, await startPayment(visited.page, store, 'LTC', { outcome }), store)
  },
})

const pay = (store: Store, { invoice }: OpenPayment, how: object = {}) =>
  store.btcpay(`/invoices/${invoice}/pay`, how)

const part = ({ amount }: OpenPayment) => formatUnits((parseUnits(amount, 'LTC') * 4n) / 5n, 'LTC')

const payments: readonly Stage[] = [
  paying('pay', async () => {}),
  paying('pay-partly', async ({ page }, payment, store) => {
    await pay(store, payment, { amount: part(payment) })
    await page.getByRole('heading', { name: 'Partial payment received' }).waitFor()
  }),
  paying('pay-seen', async ({ page }, payment, store) => {
    await pay(store, payment, { confirm: false })
    await page.getByRole('heading', { name: 'Payment detected' }).waitFor()
  }),
  paying(
    'pay-over',
    async ({ page }, payment, store) => {
      // Of the cheaper test offers a part is too little to go back.
      await pay(store, payment, { amount: part(payment) })
      await store.btcpay(`/invoices/${payment.invoice}/expire`)
      await page.getByRole('heading', { name: 'Payment window expired' }).waitFor()
      await page.getByText('was refunded').waitFor()
    },
    'LOST',
  ),
  paying('pay-locked', async ({ page, context }) => {
    await context.clearCookies()
    await page.goto(page.url())
  }),
  paying('order-unpaid', async ({ page }, { id }, store) => {
    const [row] = await store.query('select order_id from checkouts where id = $1', [id])
    await page.goto(`/orders/${row.order_id}`)
  }),
]

/** An order that was paid in a coin. */
const ordered = (
  name: string,
  { kind = 'voucher', outcome }: { kind?: Kind; outcome?: string },
  reach: (visited: Visit, store: Store) => Promise<unknown>,
): Stage => ({
  name,
  reach: async (visited, store) => {
    const { page } = visited
    if (outcome === undefined) {
      await page.goto(`/buy/${kind === 'topup' ? testOffer(kind) : offers[kind]}`)
      await fillIn(page, kind)
      await chooseCoin(page, 'BTC')
    } else await formFor(page, 'BTC', kind, outcome)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/pay/*')
    const { invoice } = await shownPayment(page, store)
    await store.btcpay(`/invoices/${invoice}/pay`)
    await page.waitForURL('**/orders/*')
    await reach(visited, store)
  },
})

const reveal = async ({ page }: Visit) => {
  await page.waitForSelector('.stage.delivered')
  await page.locator('.yours button').click()
  await page.waitForSelector('.yours.open')
}

/** The page on which a person approves what an agent buys. */
const approval: Stage = {
  name: 'approve',
  reach: async ({ page }, store) => {
    await page.goto(await askedApproval(store))
    await page.getByRole('heading', { name: 'Approve this purchase?' }).waitFor()
  },
}

/** The address of an approval that was asked for. */
async function askedApproval(store: Store): Promise<string> {
  const buyer = await limitsAt(callerFor(store)).limitedTo({ approveAboveUsdc: '0.1' })
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  return answer.body.approvalUrl
}

const orders: readonly Stage[] = [
  ordered('order-under-way', { outcome: 'HANG' }, ({ page }) =>
    page.waitForSelector('.stage.delivering'),
  ),
  ordered('order', {}, ({ page }) => page.waitForSelector('.stage.delivered')),
  ordered('order-voucher', {}, reveal),
  ordered('order-topup', { kind: 'topup' }, reveal),
  ordered('order-esim', { kind: 'esim' }, reveal),
  ordered('order-locked', {}, async ({ page, context }) => {
    await page.waitForSelector('.stage.delivered')
    await context.clearCookies()
    await page.goto(new URL(page.url()).pathname)
  }),
  ordered('order-refunded', { outcome: 'DECLINED' }, async ({ page }) => {
    await page.waitForSelector('.stage.refunded')
    await page.waitForSelector('#refund-transaction')
  }),
]

const limited: Stage = {
  name: 'too-many',
  hasNoPicture: true,
  reach: async ({ page }) => {
    // As many as a minute has room for, and one more.
    for (let sent = 0; sent < 300; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => page.request.get('/terms')))
    }
    await page.goto('/terms')
    await page.getByText('We received too many requests from your network').waitFor()
  },
}

const wrong: Stage = {
  name: 'find-wrong',
  hasNoPicture: true,
  reach: async ({ page }) => {
    await page.goto('/find')
    await page.getByLabel('transaction').fill('my order')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.waitForSelector('[aria-invalid]')
  },
}

/** Every page of the website, in every state that looks its own way. */
export const stages: readonly Stage[] = [
  ...plain,
  ...forms,
  ...payments,
  ...orders,
  approval,
  limited,
  wrong,
]
