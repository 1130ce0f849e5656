import { expect, it } from 'vitest'
import { settledUnits } from '../../checkouts/checkout.ts'
import { coins } from '../../payments/coins.ts'
import { back, begin, operator, storeId } from './sandbox.fixture.ts'

it('sells and pays back in every coin that it can, with a key that may do no more than the check demands', async () => {
  const { processor, faults, open } = await begin()
  await processor.check()
  for (const coin of coins) {
    const { act, invoice, pay, read } = await open(coin)
    const { address, paymentLink, units } = invoice
    expect(paymentLink).toContain(address)
    await pay(units, { confirm: false })
    expect(await read()).toMatchObject({ status: 'PROCESSING', due: 0n })
    await act('confirm')
    expect(await read()).toMatchObject({ status: 'SETTLED', payments: [{ units }] })
  }
  await expect.poll(() => processor.payOut(back())).toMatchObject({ outcome: 'paid' })
  expect(coins.filter((coin) => processor.sends(coin))).toEqual(['BTC', 'ETH', 'LTC'])
  expect(faults).toEqual([])
})

it('asks for what is due of a Monero invoice paid in five parts, each at the address of then', async () => {
  const { faults, open } = await begin()
  const { invoice, pay, read } = await open('XMR')
  const addresses = [invoice.address]
  for (let part = 1; part <= 5; part += 1) {
    const { due, address, paymentLink } = await read()
    expect(paymentLink).toContain(address)
    const half = due / 2n + 1n
    // Once a buyer pays to the first address again, which the processor still watches.
    const how = part === 3 ? { address: addresses[0] } : {}
    await pay(part === 5 ? due : half, how)
    addresses.push((await read()).address)
  }
  await expect.poll(read).toMatchObject({ status: 'SETTLED', due: 0n })
  const { payments } = await read()
  // Each part cost a network fee, and the price had one of them.
  expect(settledUnits({ payments })).toBe(invoice.units + 4n * 30_640_000n)
  expect(new Set(addresses).size).toBe(4)
  expect(faults).toEqual([])
})

it('asks for the fee that each part of a payment costs where BTCPay is set so', async () => {
  const { open } = await begin({ networkFeeMode: 'MultiplePaymentsOnly' })
  const { invoice, pay, read } = await open('BTC')
  await pay(10_000n)
  expect(await read()).toMatchObject({ status: 'NEW', due: invoice.units - 10_000n + 1_410n })
  // What the price lacks alone is not enough.
  await pay(invoice.units - 10_000n)
  expect(await read()).toMatchObject({ status: 'NEW', due: 2n * 1_410n })
  await pay(2n * 1_410n)
  await expect.poll(read).toMatchObject({ status: 'SETTLED', due: 0n })
})

it('asks again for a payment that another transaction has replaced', async () => {
  const { open } = await begin()
  const { act, invoice, pay, read } = await open('BTC')
  await pay(invoice.units, { confirm: false })
  expect(await read()).toMatchObject({ status: 'PROCESSING', due: 0n })
  await act('replace')
  const payments = [{ status: 'INVALID' }]
  expect(await read()).toMatchObject({ status: 'NEW', due: invoice.units, payments })
})

it('pays nothing again that an operator has archived in BTCPay, sent or not', async () => {
  const { archive, post, processor } = await begin(operator)
  await expect.poll(() => processor.payOut(back('sent'))).toMatchObject({ outcome: 'paid' })
  await post('/processor', { enabled: false })
  expect(await processor.payOut(back('held'))).toMatchObject({ outcome: 'pending' })
  for (const reference of ['sent', 'held']) {
    await archive(reference)
    expect(await processor.payOut(back(reference))).toMatchObject({ code: 'payout_archived' })
  }
  const hidden = ['held', 'sent']
  const seen = await processor.payouts(() => true)
  expect(seen.outcome === 'found' && [...seen.hidden].sort()).toEqual(hidden)
})

it('waits for a payout that BTCPay calls under way and that no node took', async () => {
  const { post, processor } = await begin()
  await post('/broadcasts', { refused: true })
  await processor.payOut(back())
  const reason = 'the payout is sent and not confirmed yet'
  await expect.poll(() => processor.payOut(back())).toEqual({ outcome: 'pending', reason })
})

it('waits where BTCPay sends once an hour, and asks for nothing twice', async () => {
  const { processor, get } = await begin({ payoutMs: 3_600_000 })
  for (const reference of ['back-1', 'back-2', 'back-1', 'back-2']) {
    expect(await processor.payOut(back(reference))).toMatchObject({ outcome: 'pending' })
  }
  const pulls = (await get(`/stores/${storeId}/pull-payments`)) as readonly { id: string }[]
  const payouts = await Promise.all(pulls.map(({ id }) => get(`/pull-payments/${id}/payouts`)))
  expect(payouts).toMatchObject([[{ state: 'AwaitingPayment' }], [{ state: 'AwaitingPayment' }]])
})

it('says at the start what is wrong with the fees and the clock of BTCPay', async () => {
  const { open, processor } = await begin({ networkFeeMode: 'Always', hostAheadMinutes: 120 })
  const { invoice, pay, read } = await open('BTC')
  await pay(invoice.units)
  await expect.poll(read).toMatchObject({ status: 'SETTLED' })
  const texts = (await processor.check()).map(({ text }) => text)
  expect(texts).toEqual([
    expect.stringContaining('networkFeeMode Always'),
    expect.stringContaining('does not run in UTC'),
    'Money in XMR, USDT goes back only when somebody sends it.',
  ])
})
