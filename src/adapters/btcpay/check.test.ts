import { expect, it } from 'vitest'
import { coins } from '../../payments/coins.ts'
import { permissionsMissing } from './check.ts'
import { invoiceJson, methodJson, paymentJson, type Reply, scripted } from './scripted.fixture.ts'

const methods = 'GET /api/v1/stores/S1/payment-methods'
const key = 'GET /api/v1/api-keys/current'
const processors = 'GET /api/v1/stores/S1/payout-processors'
const webhooks = 'GET /api/v1/stores/S1/webhooks'
const store = 'GET /api/v1/stores/S1'
const server = 'GET /api/v1/server/info'
const settled = 'GET /api/v1/stores/S1/invoices?status=Settled&take=10&includePaymentMethods=true'
const webhook = { id: 'W1', enabled: true, url: 'https://shop.example/webhooks/btcpay' }
const ids = ['BTC-CHAIN', 'LTC-CHAIN', 'XMR-CHAIN', 'ETH-CHAIN', 'USDT-ETHEREUM']
const all = ids.map((paymentMethodId) => ({ paymentMethodId, enabled: true }))
const good: Readonly<Record<string, Reply>> = {
  [methods]: { json: all },
  [key]: { json: { apiKey: 'x', label: '', permissions: ['unrestricted'] } },
  [processors]: { json: [{ name: 'OnChain', friendlyName: 'x', payoutMethods: ids }] },
  [webhooks]: { json: [webhook] },
  [store]: { json: { id: 'S1', networkFeeMode: 'Never' } },
  [server]: { json: { version: '2.10.0+5d1f', fullySynched: true } },
  [settled]: { json: [] },
}

/** An invoice with a payment that was found so many seconds after it was made. */
const paidAfter = (seconds: number, createdTime = 1_782_907_200) => {
  const payments = [paymentJson({ receivedDate: createdTime + seconds })]
  const paymentMethods = [methodJson({ payments })]
  return { json: [invoiceJson({ status: 'Settled', createdTime, paymentMethods })] }
}

const checked = (changes: Readonly<Record<string, Reply>>) => {
  const table = { ...good, ...changes }
  return scripted(({ call }) => table[call] ?? 'unreached').processor.check()
}

const byHandInMonero = {
  level: 'notice',
  text: 'Money in XMR goes back only when somebody sends it.',
}

it('finds nothing more than Monero when all is well', async () => {
  expect(await checked({ [settled]: paidAfter(300) })).toEqual([byHandInMonero])
})

it('knows which coins BTCPay sends by itself, as it said last', async () => {
  let payoutMethods: readonly string[] | undefined = [
    'BTC-CHAIN',
    'ETH-CHAIN',
    'XMR-CHAIN',
    'ltc-chain',
  ]
  const { processor } = scripted(({ call }) => {
    if (call !== processors) return good[call] ?? 'unreached'
    return payoutMethods ? { json: [{ name: 'x', friendlyName: 'x', payoutMethods }] } : 'unreached'
  })
  const sent = () => coins.filter((coin) => processor.sends(coin))
  expect(sent()).toEqual([])
  await processor.check()
  expect(sent()).toEqual(['BTC', 'ETH'])
  payoutMethods = undefined
  await processor.check()
  expect(sent()).toEqual(['BTC', 'ETH'])
  payoutMethods = ['LTC-CHAIN']
  await processor.check()
  expect(sent()).toEqual(['LTC'])
})

it.each<readonly [Readonly<Record<string, Reply>>, string, string]>([
  [
    { [methods]: { json: all.slice(1) } },
    'fault',
    'BTCPay has no payment method BTC-CHAIN for BTC.',
  ],
  [
    { [methods]: { json: all.map((one, at) => ({ ...one, enabled: at !== 2 })) } },
    'fault',
    'The payment method XMR-CHAIN for XMR is not enabled.',
  ],
  [
    { [methods]: { status: 401, json: { code: 'unauthenticated', message: 'x' } } },
    'fault',
    'BTCPay refuses the API key.',
  ],
  [
    { [methods]: { status: 403, json: { code: 'missing-permission', message: 'x' } } },
    'fault',
    'BTCPay does not let the API key see the store (btcpay.store.canviewstoresettings).',
  ],
  [
    { [methods]: { status: 404, json: { code: 'store-not-found', message: 'x' } } },
    'fault',
    'BTCPay does not know the store: BTCPay answers 404 store-not-found.',
  ],
  [
    {
      [methods]: { json: [...all.slice(1), { paymentMethodId: 'btc-CHAIN', enabled: true }] },
    },
    'fault',
    'BTCPay writes the payment method BTC-CHAIN as btc-CHAIN: write it so in BTCPAY_METHODS.',
  ],
  ...['2.3.11', '1.13.7+abc'].map((version) => {
    const text = `BTCPay ${version} is older than 2.4.0: update it.`
    return [{ [server]: { json: { version } } }, 'notice', text] as const
  }),
  [
    { [store]: { json: { id: 'S1', networkFeeMode: 'MultiplePaymentsOnly' } } },
    'notice',
    'BTCPay asks who pays in parts for a network fee on top (networkFeeMode MultiplePaymentsOnly). Set "Add additional fee to invoice for network cost" to never.',
  ],
  [
    { [store]: { json: { id: 'S1', networkFeeMode: 'Always' } } },
    'notice',
    'BTCPay asks everybody for a network fee on top (networkFeeMode Always). Set "Add additional fee to invoice for network cost" to never.',
  ],
  // Two hours ahead of UTC, and five behind: the test's clock stands when the invoice is made.
  ...[paidAfter(300 - 2 * 3_600), paidAfter(300 + 5 * 3_600)].map(
    (json) =>
      [
        { [settled]: json },
        'fault',
        "BTCPay's host does not run in UTC: it dates payments of invoice Inv1 before the invoice or in the future. Set its time zone to UTC.",
      ] as const,
  ),
  [{ [methods]: 'unreached' }, 'fault', 'BTCPay: the connection failed (ECONNREFUSED).'],
  [
    {
      [key]: { json: { apiKey: 'x', label: '', permissions: ['btcpay.store.canmodifyinvoices'] } },
    },
    'fault',
    'The API key of BTCPay lacks btcpay.store.cancreatepullpayments, btcpay.store.canviewpullpayments, btcpay.store.canviewstoresettings.',
  ],
  [
    {
      [processors]: { json: [{ name: 'OnChain', friendlyName: 'x', payoutMethods: ids.slice(1) }] },
    },
    'notice',
    'Money in BTC, XMR goes back only when somebody sends it.',
  ],
  [
    {
      [webhooks]: {
        json: [
          { ...webhook, enabled: false },
          { ...webhook, url: 'https://x.example' },
        ],
      },
    },
    'notice',
    'BTCPay has no enabled webhook to /webhooks/btcpay: payments are seen later.',
  ],
])('says what is wrong: %j', async (changes, level, text) => {
  const found = (await checked(changes)).filter((one) => one.text !== byHandInMonero.text)
  expect(found).toEqual([{ level, text }])
})

it('says nothing of a key that may not be asked what it may', async () => {
  expect(await checked({ [key]: { status: 403 }, [processors]: { status: 403 } })).toEqual([])
})

it('says nothing of what BTCPay does not tell', async () => {
  const silence = { [server]: 'unreached', [store]: 'unreached', [settled]: 'unreached' } as const
  expect(await checked({ ...silence, [processors]: 'unreached' })).toEqual([])
  const bare = invoiceJson({ status: 'Settled' })
  const unpaid = methodJson({ payments: null })
  const listed = [bare, invoiceJson({ status: 'Settled', paymentMethods: [unpaid] })]
  expect(await checked({ [settled]: { json: listed } })).toEqual([byHandInMonero])
})

it('counts no coin of a payout processor that names none', async () => {
  const unnamed = { name: 'Lightning', friendlyName: 'x', payoutMethods: null }
  const [{ text } = { text: '' }] = await checked({ [processors]: { json: [unnamed] } })
  expect(text).toBe('Money in BTC, LTC, XMR, ETH, USDT goes back only when somebody sends it.')
})

const three = ['canmodifyinvoices', 'cancreatepullpayments', 'canviewstoresettings']

it.each([
  [three.map((name) => `btcpay.store.${name}`)],
  [three.map((name) => `btcpay.store.${name}:S1`)],
  [['btcpay.store.canmodifystoresettings']],
  [['unrestricted']],
])('is content with %j', (granted) => {
  expect(permissionsMissing(granted, 'S1')).toEqual([])
})

it('counts no permission for another store', () => {
  const granted = three.map((name) => `btcpay.store.${name}:S2`)
  expect(permissionsMissing(granted, 'S1')).toHaveLength(6)
})

it('misses what ends an invoice, where a key may only create and read them', () => {
  const granted = ['cancreateinvoice', 'canviewinvoices', ...three.slice(1)]
  const names = granted.map((name) => `btcpay.store.${name}`)
  expect(permissionsMissing(names, 'S1')).toEqual(['btcpay.store.canmodifyinvoices'])
})
