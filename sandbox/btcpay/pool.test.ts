import { expect, test } from 'vitest'
import { stoppedAfterEach } from '../stopping.fixture.ts'
import { ask, startTestBtcpay, storeId } from './client.fixture.ts'

const started = stoppedAfterEach()

/** A server whose USDt plugin has two addresses. */
async function begin() {
  const { url, stop } = await startTestBtcpay({ usdtAddresses: 2 })
  started.push({ stop })
  const call = (name: string, body: object = {}) => ask(url, `POST ${name}`, body)
  const invoice = () =>
    call(`/api/v1/stores/${storeId}/invoices`, {
      amount: '5',
      checkout: { paymentMethods: ['USDT-TRON'] },
    })
  const read = async (id: string) => {
    const [method] = (await ask(url, `GET /api/v1/invoices/${id}/payment-methods`)).body
    return method
  }
  return { call, invoice, read }
}

test('an address is given again as soon as no invoice waits there, and none when all are taken', async () => {
  const { call, invoice, read } = await begin()
  const [one, two] = [(await invoice()).body, (await invoice()).body]
  const [first, second] = [await read(one.id), await read(two.id)]
  expect(first.destination).not.toBe(second.destination)
  expect(await invoice()).toMatchObject({ status: 400, body: { code: 'generic-error' } })
  await call(`/sandbox/invoices/${one.id}/expire`)
  expect((await read((await invoice()).body.id)).destination).toBe(first.destination)
})

test('late money is seen by nobody, or for the invoice that has its address then', async () => {
  const { call, invoice, read } = await begin()
  const { id } = (await invoice()).body
  const late = await call(`/sandbox/invoices/${id}/pay`, { late: true })
  expect(late.body.seen).toBe(false)
  const next = (await invoice()).body
  await call(`/sandbox/invoices/${id}/pay`)
  expect((await read(id)).payments).toEqual([])
  expect((await read(next.id)).payments).toHaveLength(1)
})

test('what is not confirmed when the time is over stays so', async () => {
  const { call, invoice, read } = await begin()
  const { id } = (await invoice()).body
  await call(`/sandbox/invoices/${id}/pay`, { amount: '1', confirm: false })
  await call(`/sandbox/invoices/${id}/expire`)
  await call(`/sandbox/invoices/${id}/confirm`)
  expect((await read(id)).payments).toMatchObject([{ status: 'Processing' }])
})
