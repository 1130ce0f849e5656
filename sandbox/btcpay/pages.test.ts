import { expect, test } from 'vitest'
import { stoppedAfterEach } from '../stopping.fixture.ts'
import { until } from '../waiting.fixture.ts'
import { ask, startTestBtcpay, storeId } from './client.fixture.ts'

const started = stoppedAfterEach()

async function begin() {
  const { url, stop } = await startTestBtcpay()
  started.push({ stop })
  const request = {
    amount: '25',
    checkout: { paymentMethods: ['BTC-CHAIN'] },
    metadata: { orderId: '<b>order</b>' },
  }
  const { id } = (await ask(url, `POST /api/v1/stores/${storeId}/invoices`, request)).body
  const press = (fields: Record<string, string>) =>
    fetch(`${url}/i/${id}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
    })
  const shown = async () => (await fetch(`${url}/i/${id}`)).text()
  const state = async () => /id="state">([^<]*)</.exec(await shown())?.[1]
  const becomes = (wanted: string) =>
    until(async () => ((await state()) === wanted ? true : undefined))
  return { becomes, id, press, shown, state, url }
}

test('the list leads to the invoice, and what came from outside is only text there', async () => {
  const { id, shown, url } = await begin()
  const list = await (await fetch(url)).text()
  expect(list).toContain(`href="/i/${id}"`)
  const page = await shown()
  expect(page).toContain('&lt;b&gt;order&lt;/b&gt;')
  expect(page).not.toContain('<b>order')
  expect(page).toContain('0.00038825 BTC')
})

const presses: readonly (readonly [actions: readonly string[], state: string])[] = [
  [['pay'], 'Settled'],
  [['underpay'], 'New (PaidPartial)'],
  [['underpay', 'expire'], 'Expired (PaidPartial)'],
  [['overpay'], 'Settled (PaidOver)'],
  [['late'], 'Expired (PaidLate)'],
  [['expire'], 'Expired'],
  [['pay', 'again', 'confirm'], 'Settled (PaidOver)'],
]

test.each(presses)('after %j it is %s', async (actions, wanted) => {
  const { becomes, id, press } = await begin()
  for (const action of actions) {
    const hold = actions.includes('confirm') ? { hold: 'yes' } : {}
    const response = await press({ action, coin: 'BTC', amount: '', ...hold })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe(`/i/${id}`)
  }
  await becomes(wanted)
})

test('what cannot be done is said on the page, and changes nothing', async () => {
  const { press, state, url } = await begin()
  for (const fields of [
    { action: 'pay', amount: 'much' },
    { action: 'pay', coin: 'LTC' },
    { action: 'steal' },
  ]) {
    const response = await press(fields)
    expect(response.status).toBe(422)
    expect(await response.text()).toContain('role="alert"')
  }
  expect(await state()).toBe('New')
  const missing = await fetch(`${url}/i/nothing`)
  expect(missing.status).toBe(404)
  expect(await missing.text()).toContain('There is no such invoice')
})
