import { expect, onTestFinished } from 'vitest'
import { makeAddress } from '../../../sandbox/btcpay/addresses.ts'
import type { BtcpayOptions } from '../../../sandbox/btcpay/deps.ts'
import { startBtcpay } from '../../../sandbox/btcpay/server.ts'
import { memoryPayouts } from '../../../test/doubles/memory-payouts.ts'
import { fittingFetch } from '../../../test/harness/greenfield.ts'
import type { CoinPayout } from '../../checkouts/ports.ts'
import type { CheckoutId, OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import { readMethods } from '../../payments/btcpay-methods.ts'
import { type Coin, formatUnits } from '../../payments/coins.ts'
import { permissionsMissing } from './check.ts'
import { createProcessor } from './processor.ts'

const apiKey = 'sandbox-key'
const authorization = `token ${apiKey}`
export const storeId = 'SandboxStore'
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

/** What an operator may do, and the store may not. */
export const operator = { permissions: ['btcpay.store.canmodifystoresettings'] }

/** A stand-in with a store's adapter, whose chains confirm and whose processor sends in a millisecond. */
export async function begin(options: Partial<BtcpayOptions> = {}) {
  const webhook = { url: 'http://127.0.0.1:9/webhooks/btcpay', secret: 'x' }
  const permissions = permissionsMissing([], storeId)
  const quick = { confirmMs: 1, payoutMs: 1, webhook, permissions }
  const { url, stop } = await startBtcpay({ apiKey, storeId, ...quick, ...options })
  onTestFinished(stop)
  const { processor, faults } = processorAt(url)
  const post = async (path: string, body: object = {}) => {
    const headers = { authorization, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    expect((await fetch(`${url}/sandbox${path}`, init)).ok).toBe(true)
  }
  const open = async (coin: Coin) => {
    const [checkout, order] = [`chk_${coin}` as CheckoutId, `ord_${coin}` as OrderId]
    const opened = await processor.openInvoice({ checkout, order, coin, amount: usdc(25_000_000n) })
    if (opened.outcome !== 'open') throw new Error(JSON.stringify(opened))
    const { invoice } = opened
    const read = async () => {
      const answer = await processor.read(invoice.id, coin)
      if (answer.outcome !== 'found') throw new Error(answer.reason)
      return answer.invoice
    }
    const pay = (units: bigint, how: object = {}) =>
      post(`/invoices/${invoice.id}/pay`, { amount: formatUnits(units, coin), ...how })
    return { invoice, pay, read, act: (what: string) => post(`/invoices/${invoice.id}/${what}`) }
  }
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization } })
    return response.json()
  }
  const archive = async (name: string) => {
    const list = (await get(`/stores/${storeId}/pull-payments`)) as { id: string; name: string }[]
    const { id } = list.find((one) => one.name === name) ?? {}
    const init = { method: 'DELETE', headers: { authorization } }
    expect((await fetch(`${url}/api/v1/pull-payments/${id}`, init)).ok).toBe(true)
  }
  return { processor, faults, post, open, archive, get }
}

/** Money that goes back to a buyer. */
export function back(reference = 'back-1'): CoinPayout {
  return {
    ...{ reference, coin: 'LTC', network: 'Litecoin', units: 150_000n },
    to: makeAddress('LTC', 'contract', reference),
  }
}
