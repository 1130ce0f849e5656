import { expect, it } from 'vitest'
import { type Reply, scripted } from './scripted.fixture.ts'

const rates = (reply: Reply) => scripted(() => reply).processor.rates()

it('reads what each coin is worth, and leaves out what BTCPay does not know', async () => {
  const { processor, asked, unfit } = scripted(() => ({
    json: [
      { currencyPair: 'BTC_USD', errors: [], rate: '64392.23' },
      { currencyPair: 'XMR_USD', errors: ['no source'] },
      { currencyPair: 'DOGE_USD', errors: [], rate: '0.1' },
    ],
  }))
  expect([...(await processor.rates())]).toEqual([['BTC', '64392.23']])
  const pairs = ['BTC', 'LTC', 'XMR', 'ETH', 'USDT'].map((coin) => `currencyPair=${coin}_USD`)
  expect(asked.map(({ call }) => call)).toEqual([`GET /api/v1/stores/S1/rates?${pairs.join('&')}`])
  expect(unfit).toEqual([])
})

it.each<readonly [Reply, string]>([
  ['unreached', 'ECONNREFUSED'],
  [{ status: 403, json: { code: 'missing-permission', message: 'x' } }, 'gives no rates'],
  [{ json: [{ currencyPair: 'BTC_USD', rate: 64_392.23 }] }, 'does not fit'],
])('says that it could not read them: %j', async (reply, reason) => {
  await expect(rates(reply)).rejects.toThrow(reason)
})
