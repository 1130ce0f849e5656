import { describe, expect } from 'vitest'
import { noBrowser } from '../../../harness/browser.ts'
import { expectGoods, testOffer } from './shopping.ts'
import { browserStories } from './visit.ts'

const { test } = browserStories()

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
})
