import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { noBrowser } from '../../../harness/browser.ts'
import { eventually } from '../../requests.ts'
import { openSibling } from '../../store.ts'
import { expectGoods, fillIn, formFor, madeFor, testOffer } from './shopping.ts'
import { browserStories } from './visit.ts'

const { test, parts } = browserStories({ offers: 600 })

const toPayment = (page: Page) => page.getByRole('button', { name: 'Continue' })
const offers = { open: 'CUBACEL_CU_OPEN', mail: 'STEAM_US_25_EGIFT' }

interface Wrong {
  readonly name: string
  readonly offer: string
  /** What is typed, by the id of its field. */
  readonly typed: Readonly<Record<string, string>>
  readonly field: string
  readonly told: RegExp
}

const wrongs: readonly Wrong[] = [
  {
    name: 'a phone number that is none',
    offer: testOffer('topup'),
    typed: { msisdn: '+1 202 55' },
    field: 'msisdn',
    told: /phone|number/i,
  },
  {
    name: 'an amount off the increment',
    offer: offers.open,
    typed: { value: '5.05', msisdn: '+5355564362' },
    field: 'value',
    told: /in its steps/,
  },
  {
    name: 'an e-mail address that is none',
    offer: offers.mail,
    typed: { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example' },
    field: 'email',
    told: /Enter a valid e-mail address|must be an e-mail address/,
  },
]

async function type(page: Page, { offer, typed }: Wrong): Promise<void> {
  await page.goto(`/buy/${offer}`)
  for (const [id, text] of Object.entries(typed)) await page.locator(`#${id}`).fill(text)
}

/** The page that answers shows the fault beside its field, tied to it, and all that was typed is still there. */
async function expectTold(page: Page, { field, told, typed }: Wrong): Promise<void> {
  const fault = page.locator(`#${field}-fault`)
  await expect(eventually(async () => (await fault.textContent()) ?? '', Boolean)).resolves.toMatch(
    told,
  )
  const input = page.locator(`#${field}`)
  expect(await input.getAttribute('aria-invalid')).toBe('true')
  expect(await input.getAttribute('aria-describedby')).toContain(`${field}-fault`)
  for (const [id, text] of Object.entries(typed)) {
    expect(await page.locator(`#${id}`).inputValue()).toBe(text)
  }
}

describe.skipIf(noBrowser !== undefined)('what is typed wrong', () => {
  test.concurrent.for(wrongs)(
    '$name is told before a wallet is asked',
    async (wrong, { visitWithWallet }) => {
      const { page, wallet } = await visitWithWallet({ funds: 0n })
      await type(page, wrong)
      await page.locator('#pay-USDC').check()
      await page.getByRole('button', { name: /^Pay/ }).click()
      await expectTold(page, wrong)
      expect(await page.locator('#pay-USDC').isChecked()).toBe(true)
      expect(wallet.calls).toEqual([])
    },
  )
})

/** From here on another node of the store takes the purchases of this page. */
async function buyThrough(page: Page, nodeUrl: string): Promise<void> {
  const { origin, host } = new URL(parts.store.url)
  await page.route(/\/(buy|purchase)\//, async (route, request) => {
    const url = request.url().replace(origin, nodeUrl)
    // As a proxy before several nodes passes a request on: with the host that was asked for.
    const headers = { ...(await request.allHeaders()), host }
    const response = await route.fetch({ url, headers, maxRedirects: 0 })
    // Each node of the story has an address of its own; the nodes of a store share one.
    const body = (await response.text()).replaceAll(nodeUrl, origin)
    await route.fulfill({ response, body })
  })
}

describe.skipIf(noBrowser !== undefined)('a price that went up since the page was opened', () => {
  test('is told, and paid only when the person agrees, on both methods', async ({
    visit,
    visitWithWallet,
  }) => {
    const coin = (await visit()).page
    const { page, paid, wallet } = await visitWithWallet()
    const offer = testOffer('voucher', 'LATE')
    const refundTo = await formFor(coin, 'ETH', 'voucher', 'LATE')
    await page.goto(`/buy/${offer}`)
    await fillIn(page, 'voucher')
    await page.locator('#pay-USDC').check()
    const before = await page.getByRole('button', { name: /^Pay/ }).textContent()

    // The catalog is loaded anew when a node starts, which is sooner than its next look.
    await parts.store.admin('/offers', { offerId: offer, price: 90 })
    const later = await openSibling(parts.store)
    const priceThere = async () => {
      const html = await (await coin.request.get(`${later.url}/buy/${offer}`)).text()
      return /name="seen" value="fixed:(\d+)"/.exec(html)?.[1]
    }
    await eventually(priceThere, (cents) => cents === '90')
    for (const tab of [coin, page]) await buyThrough(tab, later.url)

    await toPayment(coin).click()
    await coin.getByText('The price has changed to 0.90').waitFor()
    expect(await coin.locator('#refundTo-ETH').inputValue()).toBe(refundTo)
    expect(await madeFor(parts.store, refundTo)).toEqual({ checkouts: 0, orders: 0 })
    await toPayment(coin).click()
    await coin.waitForURL('**/pay/*')

    expect(before).toContain('0.70')
    await page.getByRole('button', { name: /^Pay/ }).click()
    await page.getByText('The price has risen to 0.90 USDC').waitFor()
    expect([wallet.calls, await paid()]).toEqual([[], []])
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.waitForURL('**/orders/*')
    expect(await paid()).toEqual([900_000n])
    await later.close()
  })
})

describe.skipIf(noBrowser !== undefined)('a wallet', () => {
  test.concurrent('that is wrong in every way says so at its step, and pays once', async ({
    visitWithWallet,
  }) => {
    const { page, wallet, paid } = await visitWithWallet({
      rejects: 'connect',
      chainId: 1,
      balance: 1n,
    })
    await page.goto(`/buy/${testOffer('esim')}`)
    await page.locator('#pay-USDC').check()
    const press = () => page.getByRole('button', { name: /^(Pay|Try again)/ }).click()
    const told = page.locator('#wallet-fault')
    const steps = [
      [
        'You declined the connection in Test Wallet',
        () => Object.assign(wallet.state, { rejects: 'switch' }),
      ],
      ['is on another network', () => Object.assign(wallet.state, { rejects: 'sign' })],
      ['This wallet has 0.000001 USDC', () => Object.assign(wallet.state, { balance: undefined })],
      [
        'You declined the signature in Test Wallet',
        () => Object.assign(wallet.state, { rejects: 'nothing' }),
      ],
    ] as const
    for (const [words, mend] of steps) {
      await press()
      await told.getByText(words).waitFor()
      expect(await paid()).toEqual([])
      mend()
    }
    await press()
    await expectGoods(page, 'esim')
    expect(await paid()).toEqual([500_000n])
  })

  test.concurrent('whose money is gone when it is taken is told, and no order is made', async ({
    visitWithWallet,
  }) => {
    const { page, wallet, paid } = await visitWithWallet({ funds: 0n, balance: 9_000_000n })
    await page.goto(`/buy/${testOffer('esim')}`)
    await page.locator('#pay-USDC').check()
    await page.getByRole('button', { name: /^Pay/ }).click()
    await page.getByText('The payment was not accepted').waitFor()
    expect(await paid()).toEqual([])
    const orders = await parts.store.query('select id from orders where payer = $1', [
      wallet.address.toLowerCase(),
    ])
    expect(orders).toEqual([])
  })
})
