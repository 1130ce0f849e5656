import { expect, it, onTestFinished } from 'vitest'
import { makeAddress } from '../../../sandbox/btcpay/addresses.ts'
import { startBtcpay } from '../../../sandbox/btcpay/server.ts'
import { memoryPayouts } from '../../../test/doubles/memory-payouts.ts'
import { fittingFetch } from '../../../test/harness/greenfield.ts'
import type { CheckoutId, OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import { readMethods } from '../../payments/btcpay-methods.ts'
import { coins, formatUnits } from '../../payments/coins.ts'
import { permissionsMissing } from './check.ts'
import { createProcessor } from './processor.ts'

const apiKey = 'sandbox-key'
const storeId = 'SandboxStore'
const table = 'BTC,LTC,XMR,ETH,USDT'

function processorAt(url: string) {
  const fitting = fittingFetch()
  const processor = createProcessor(
    {
      url,
      storeId,
      apiKey,
      timeoutMs: 60_000,
      methods: readMethods(table),
      expirationMinutes: 30,
      monitoringMinutes: 60,
      fetch: fitting.fetch,
    },
    {
      hands: { find: async () => undefined },
      record: memoryPayouts(),
      now: () => new Date(),
    },
  )
  return { processor, faults: fitting.faults }
}

it('sells and pays back in every coin that it can, with a key that may do no more than the check demands', async () => {
  const permissions = permissionsMissing([], storeId)
  const webhook = { url: 'http://127.0.0.1:9/webhooks/btcpay', secret: 'x' }
  const options = { apiKey, storeId, confirmMs: 1, payoutMs: 1, webhook, permissions }
  const { url, stop } = await startBtcpay(options)
  onTestFinished(stop)
  const { processor, faults } = processorAt(url)
  const sandbox = async (path: string, body: object) => {
    const headers = { authorization: `token ${apiKey}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    expect((await fetch(`${url}/sandbox${path}`, init)).ok).toBe(true)
  }
  await processor.check()
  for (const coin of coins) {
    const [checkout, order] = [`chk_${coin}` as CheckoutId, `ord_${coin}` as OrderId]
    const opened = await processor.openInvoice({ checkout, order, coin, amount: usdc(25_000_000n) })
    if (opened.outcome !== 'open') throw new Error(JSON.stringify(opened))
    const { id, units } = opened.invoice
    expect(opened.invoice.paymentLink).toContain(opened.invoice.address)
    const amount = formatUnits(units, coin)
    await sandbox(`/invoices/${id}/pay`, { amount, late: false, confirm: false })
    expect(await processor.read(id, coin)).toMatchObject({ invoice: { status: 'PROCESSING' } })
    await sandbox(`/invoices/${id}/confirm`, {})
    const settled = await processor.read(id, coin)
    expect(settled).toMatchObject({ invoice: { status: 'SETTLED', payments: [{ units }] } })
  }
  const to = makeAddress('LTC', 'contract', 'buyer')
  const back = {
    reference: 'back-1',
    coin: 'LTC',
    network: 'Litecoin',
    to,
    units: 150_000n,
  } as const
  await expect.poll(() => processor.payOut(back)).toMatchObject({ outcome: 'paid' })
  expect(coins.filter((coin) => processor.sends(coin))).toEqual(['BTC', 'ETH', 'LTC'])
  expect(faults).toEqual([])
})
