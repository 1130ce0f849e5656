import { afterEach, expect, it } from 'vitest'
import { makeAddress } from '../../../sandbox/btcpay/addresses.ts'
import { type Btcpay, startBtcpay } from '../../../sandbox/btcpay/server.ts'
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

function processorAt(url: string, notes: ReadonlyMap<string, string> = new Map()) {
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
      hands: { find: async (reference) => notes.get(reference) },
      record: memoryPayouts(),
      now: () => new Date(),
    },
  )
  return { processor, faults: fitting.faults }
}

/** Calls the sandbox for what only it can do or show. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as a stranger would, field by field.
async function ask(url: string, path: string, body?: object): Promise<any> {
  const init = { method: 'POST', body: JSON.stringify(body) }
  const headers = { authorization: `token ${apiKey}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, { headers, ...(body === undefined ? {} : init) })
  if (!response.ok) throw new Error(`${path} answers ${response.status}`)
  return response.json()
}

const running: Btcpay[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((btcpay) => btcpay.stop()))
})

async function started(
  options: { readonly permissions?: readonly string[] } = {},
): Promise<Btcpay> {
  const webhook = { url: 'http://127.0.0.1:9/webhooks/btcpay', secret: 'x' }
  const btcpay = await startBtcpay({
    apiKey,
    storeId,
    confirmMs: 1,
    payoutMs: 1,
    webhook,
    ...options,
  })
  running.push(btcpay)
  return btcpay
}

it('sells and pays back in every coin that it can, with a key that may do no more than the check demands', async () => {
  const permissions = permissionsMissing([], storeId)
  const { url } = await started({ permissions })
  const { processor, faults } = processorAt(url)
  const sandbox = (path: string, body: object) => ask(url, `/sandbox${path}`, body)
  await processor.check()
  for (const coin of coins) {
    const [checkout, order] = [`chk_${coin}` as CheckoutId, `ord_${coin}` as OrderId]
    const opened = await processor.open({ checkout, order, coin, amount: usdc(25_000_000n) })
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
  expect(coins.filter((coin) => processor.sends(coin))).toEqual(['BTC', 'ETH', 'LTC'])
  expect(faults).toEqual([])
})

it('has lost invoices and payouts after a restore, and pays nothing again', async () => {
  const { url } = await started()
  const notes = new Map<string, string>()
  const { processor, faults } = processorAt(url, notes)
  const amount = usdc(25_000_000n)
  const wanted = { checkout: 'chk_1' as CheckoutId, order: 'ord_1' as OrderId, coin: 'LTC', amount }
  const opened = await processor.open({ ...wanted, coin: 'LTC' })
  if (opened.outcome !== 'open') throw new Error(JSON.stringify(opened))
  const to = makeAddress('LTC', 'contract', 'buyer')
  const payout = {
    reference: 'ours-1',
    coin: 'LTC',
    network: 'Litecoin',
    to,
    units: 150_000n,
  } as const
  await expect.poll(() => processor.payOut(payout)).toMatchObject({ outcome: 'paid' })
  await ask(url, '/sandbox/restore', {})
  expect(await processor.read(opened.invoice.id, 'LTC')).toMatchObject({ isGone: true })
  expect(await processor.payOut(payout)).toMatchObject({ code: 'payout_gone' })
  notes.set(payout.reference, 'by-hand')
  expect(await processor.payOut(payout)).toEqual({ outcome: 'paid', transaction: 'by-hand' })
  expect(faults).toEqual([])
})
