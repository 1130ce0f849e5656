import { afterEach, expect, it } from 'vitest'
import { makeAddress } from '../../../sandbox/btcpay/addresses.ts'
import { type Btcpay, startBtcpay } from '../../../sandbox/btcpay/server.ts'
import { describeProcessor } from '../../../test/contract/processor.ts'
import { memoryPayouts } from '../../../test/doubles/memory-payouts.ts'
import { fittingFetch } from '../../../test/harness/greenfield.ts'
import { readMethods } from '../../payments/btcpay-methods.ts'
import { type Coin, formatUnits, parseUnits } from '../../payments/coins.ts'
import { permissionsMissing } from './check.ts'
import { createProcessor } from './processor.ts'

const apiKey = 'sandbox-key'
const storeId = 'SandboxStore'
const table = 'BTC,LTC,XMR,ETH,USDT'

function processorAt(url: string, notes: ReadonlyMap<string, string> = new Map(), key = apiKey) {
  const fitting = fittingFetch()
  const processor = createProcessor(
    {
      url,
      storeId,
      apiKey: key,
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

describeProcessor('BTCPay Server, as the sandbox plays it', async () => {
  // The key may do nothing but what the check demands, so that the check demands all that is needed.
  const permissions = permissionsMissing([], storeId)
  const btcpay = await startBtcpay({ apiKey, storeId, permissions, confirmMs: 1, payoutMs: 1 })
  const notes = new Map<string, string>()
  const { processor, faults } = processorAt(btcpay.url, notes)
  await processor.check()
  const coinsOf = new Map<string, 'BTC' | 'LTC' | 'XMR' | 'ETH' | 'USDT'>()
  const sandbox = (path: string, body: object) => ask(btcpay.url, `/sandbox${path}`, body)
  let addresses = 0
  return {
    processor: {
      ...processor,
      open: async (wanted) => {
        const opened = await processor.open(wanted)
        if (opened.outcome === 'open') coinsOf.set(opened.invoice.id, wanted.coin)
        return opened
      },
    },
    async pay(invoice, units, { late = false, confirmed = true } = {}) {
      const amount = formatUnits(units, coinsOf.get(invoice) ?? 'BTC')
      await sandbox(`/invoices/${invoice}/pay`, { amount, late, confirm: false })
      if (confirmed) await sandbox(`/invoices/${invoice}/confirm`, {})
    },
    confirm: (invoice) => sandbox(`/invoices/${invoice}/confirm`, {}),
    expire: (invoice) => sandbox(`/invoices/${invoice}/expire`, {}),
    loseNext: () => sandbox('/faults', { mode: 'lose', only: 'POST /api/v1' }),
    dropNext: (call) => {
      const only = { open: '/invoices', read: 'GET /api/v1/invoices', payOut: '/pull-payments' }[
        call
      ]
      return sandbox('/faults', { mode: 'drop', only })
    },
    invoicesOf: async (checkout) => {
      const path = `/api/v1/stores/${storeId}/invoices?orderId=${checkout}`
      return (await ask(btcpay.url, path)).length
    },
    restore: () => sandbox('/restore', {}),
    async paidTo(address) {
      const statement: Record<Coin, { outgoing: { amount: string; address: string }[] }> =
        await ask(btcpay.url, '/sandbox/ledger')
      return Object.entries(statement).flatMap(([coin, { outgoing }]) => {
        const here = outgoing.filter((one) => one.address === address)
        return here.map(({ amount }) => parseUnits(amount, coin as Coin))
      })
    },
    noteHand: (reference, transaction) => void notes.set(reference, transaction),
    addressOf: (coin) => {
      addresses += 1
      return makeAddress(coin, 'contract', String(addresses))
    },
    async close() {
      await btcpay.stop()
      // All requests and answers conform to BTCPay's own API document.
      expect(faults).toEqual([])
    },
  }
})

const running: Btcpay[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((btcpay) => btcpay.stop()))
})

async function started(): Promise<Btcpay> {
  const webhook = { url: 'http://127.0.0.1:9/webhooks/btcpay', secret: 'x' }
  const btcpay = await startBtcpay({ apiKey, storeId, confirmMs: 1, payoutMs: 1, webhook })
  running.push(btcpay)
  return btcpay
}

it('tells the payouts that it made, by their names', async () => {
  const { url } = await started()
  const { processor, faults } = processorAt(url)
  const payout = (reference: string, coin: 'BTC' | 'LTC') => {
    const network = coin === 'BTC' ? 'Bitcoin' : 'Litecoin'
    return {
      reference,
      coin,
      network,
      to: makeAddress(coin, 'contract', reference),
      units: 150_000n,
    }
  }
  const [ours, other] = [payout('ours-1', 'LTC'), payout('other', 'BTC')]
  for (const one of [ours, other]) {
    await processor.payOut(one)
    await expect.poll(() => processor.payOut(one)).toMatchObject({ outcome: 'paid' })
  }
  const again = await processor.payOut(ours)
  const { reference, coin, to, units } = ours
  const transaction = again.outcome === 'paid' && again.transaction
  expect(await processor.payouts((name) => name === ours.reference)).toEqual({
    outcome: 'found',
    payouts: [{ reference, coin, to, units, isSent: true, transaction }],
  })
  expect(faults).toEqual([])
})

it('finds nothing to say of a processor that is set up', async () => {
  const { url } = await started()
  const { processor, faults } = processorAt(url)
  const findings = await processor.check()
  expect(findings.filter(({ level }) => level === 'fault')).toEqual([])
  expect(findings).toEqual([{ level: 'notice', text: expect.stringContaining('XMR') }])
  expect(faults).toEqual([])
})

it('says what keeps it from working', async () => {
  const { url } = await started()
  const { processor: stranger } = processorAt(url, new Map(), 'wrong-key')
  expect(await stranger.check()).toEqual([{ level: 'fault', text: 'BTCPay refuses the API key.' }])
  await running.pop()?.stop()
  expect(await processorAt(url).processor.check()).toEqual([
    { level: 'fault', text: expect.stringMatching(/^BTCPay: the connection failed/) },
  ])
})
