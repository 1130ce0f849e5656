import { expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { startWithReceiver, storeId } from './client.fixture.ts'

const start = startWithReceiver()

async function begin() {
  const { call, url } = await start({})
  const request = {
    amount: '25',
    checkout: { paymentMethods: ['BTC-CHAIN'] },
    metadata: { orderId: '<b>order</b>' },
  }
  const { id } = (await call(`POST /api/v1/stores/${storeId}/invoices`, request)).body
  const body = (fields: Record<string, string>) => new URLSearchParams(fields)
  const press = (fields: Record<string, string>) =>
    fetch(`${url}/i/${id}`, { method: 'POST', body: body(fields), redirect: 'manual' })
  const shown = async (path = `/i/${id}`) => (await fetch(`${url}${path}`)).text()
  const state = async () => /id="state">([^<]*)</.exec(await shown())?.[1]
  return { id, press, shown, state }
}

test('the list leads to the invoice, and what came from outside is only text there', async () => {
  const { id, shown } = await begin()
  expect(await shown('/')).toContain(`href="/i/${id}"`)
  const page = await shown()
  expect(page).toContain('0.00038825 BTC')
  expect(page).toContain('&#60;b&#62;order')
  expect(page).not.toContain('<b>order')
})

test.each<[actions: readonly string[], state: string]>([
  [['underpay', 'expire'], 'Expired (PaidPartial)'],
  [['overpay'], 'Settled (PaidOver)'],
  [['late'], 'Expired (PaidLate)'],
  [['pay', 'pay', 'confirm'], 'Settled (PaidOver)'],
])('after %j it is %s', async (actions, wanted) => {
  const { id, press, state } = await begin()
  for (const action of actions) {
    const hold = actions.includes('confirm') ? { hold: 'yes' } : {}
    const { headers } = await press({ action, coin: 'BTC', amount: '', ...hold })
    expect(headers.get('location')).toBe(`/i/${id}`)
  }
  await until(async () => ((await state()) === wanted ? true : undefined))
})

test('what cannot be done is said on the page, and changes nothing', async () => {
  const { press, shown, state } = await begin()
  const bad = [
    { action: 'pay', amount: 'much' },
    { action: 'pay', coin: 'LTC' },
    { action: 'steal' },
  ]
  for (const fields of bad) {
    const response = await press(fields as Record<string, string>)
    expect(response.status).toBe(422)
    expect(await response.text()).toContain('role="alert"')
  }
  expect(await state()).toBe('New')
  expect(await shown('/i/nothing')).toContain('There is no such invoice')
})
