import {
  checkL2ForOpenAPI,
  checkL4ForOpenAPI,
  getL3ForOpenAPI,
  getOpenAPI,
  getWarningsForL2,
  getWarningsForL3,
  getWarningsForL4,
  getWarningsForOpenAPI,
  validatePaymentRequiredDetailed,
} from '@agentcash/discovery'
import { validate } from 'mppx/discovery'
import { expect, test } from 'vitest'
import { operations as allOperations } from '../../src/api/operations.ts'
import { kinds } from '../../src/catalog/offer.ts'
import { bodyFor, callerFor, get, post, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore({
  env: { STORE_NAME: 'Corner Kiosk', STORE_CONTACT: 'help@kiosk.example' },
})
const call = callerFor(store)

interface Resource {
  readonly url: string
  readonly description: string
  readonly inputSchema: {
    readonly type: string
    readonly properties: Readonly<Record<string, unknown>>
    readonly required?: readonly string[]
  }
}

/** What some vouchers ask of both who gets them and who sends them. */
function partiesOf(names: string): readonly string[] {
  return ['recipient', 'sender'].flatMap((party) =>
    names.split(' ').map((name) => `${party}${name}`),
  )
}

/** The operations of the published endpoint table with their parameters; required ones marked. */
const operations: Readonly<Record<string, string>> = {
  '/vouchers/offers': 'brand country category minValue maxValue limit offset',
  '/vouchers/offers/{id}': 'id*',
  '/vouchers/brands': '',
  '/vouchers/countries': '',
  '/vouchers/filters': '',
  '/vouchers/purchase/info': [
    'offerId* firstName* lastName* email country value maxUsdc confirmAnother webhookUrl',
    ...partiesOf('MiddleName Msisdn Carrier'),
    ...partiesOf('AddressStreet AddressCity AddressState AddressPostal AddressCountry'),
    'deliveryChallengeQuestion deliveryChallengeAnswer deliveryDate deliveryLanguage deliveryMessage',
  ].join(' '),
  '/topups/offers': 'country region operator limit offset',
  '/topups/offers/{id}': 'id*',
  '/topups/countries': '',
  '/topups/regions': '',
  '/topups/purchase/info': 'offerId* msisdn* confirmNumber value maxUsdc confirmAnother webhookUrl',
  '/esims/offers': 'country covers regions region regional duration q limit offset',
  '/esims/offers/{id}': 'id*',
  '/esims/purchase/info': 'offerId* iccid maxUsdc confirmAnother webhookUrl',
  '/esims/orders/info': 'limit offset',
  '/orders': 'transactionHash paymentId limit offset',
  '/orders/{orderId}': 'orderId*',
  '/orders/{orderId}/receipt': 'orderId*',
  '/orders/{orderId}/refund': 'orderId*',
  '/orders/{orderId}/webhook': 'orderId*',
  '/orders/{orderId}/webhook/redeliver': 'orderId*',
  '/limits': 'perOrderUsdc perDayUsdc approveAboveUsdc kinds countries recipients',
}

test('the manifest is the same at both addresses, and has every documented field', async () => {
  const [{ body }, other] = await Promise.all([call('/api/catalog'), call('/.well-known/x402')])
  const { resources: _, signals, ...rest } = body
  expect({ ...body, signals: undefined }).toEqual({ ...other.body, signals: undefined })
  expect(other.headers.get('cache-control')).toMatch(/max-age=\d{1,2}$/)
  expect(signals).toEqual({
    provider_health: 'healthy',
    agent_action: 'pay',
    last_updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
  })
  expect(rest).toMatchObject({
    x402Version: 2,
    name: 'Corner Kiosk',
    description: expect.stringMatching(/\S/),
    url: store.url,
    logo: `${store.url}/logo.svg`,
    contact: 'help@kiosk.example',
    extensions: {
      bazaar: {
        name: 'Corner Kiosk',
        description: expect.stringMatching(/\S/),
        logo_url: `${store.url}/logo.svg`,
        category: expect.stringMatching(/\S/),
        provider_url: store.url,
      },
    },
    fulfillment_policy: {
      version: '0.2',
      mode: 'instant',
      fulfillment_deadline_seconds: 600,
      status_endpoint: '/api/catalog/orders/{orderId}',
      retry_after_seconds: 5,
    },
    refund_policy: {
      version: '0.2',
      mode: 'instant',
      type: 'conditional',
      triggers: ['fulfillment_failed', 'upstream_timeout', 'expired'],
      refund_to: 'original_payer',
      refund_endpoint: '/api/catalog/orders/{orderId}/refund',
      refund_deadline_seconds: 86_400,
      refund_claim_deadline_seconds: null,
      partial_refunds_supported: false,
      idempotency_required: true,
      compensating_actions_optional: false,
      refund_policy_by_state: {
        FULFILLMENT_FAILED: {
          type: 'automatic',
          triggers: ['fulfillment_failed', 'upstream_timeout'],
        },
        EXPIRED: { type: 'automatic', triggers: ['expired'] },
      },
      refund_policy_by_product: {
        esim: { type: 'automatic' },
        topup: { type: 'automatic' },
        voucher: { type: 'none' },
      },
    },
  })
})

test('the manifest lists every operation of the endpoint table with its input schema', async () => {
  const resources: Resource[] = (await call('/api/catalog')).body.resources
  const base = `${store.url}/api/catalog`
  const sorted = (names: readonly string[]) => [...names].sort().join(' ')
  const listed = resources.map(({ url, inputSchema: { properties, required = [] } }) => {
    const names = Object.keys(properties)
    return [
      url.replace(base, ''),
      sorted(names.map((name) => (required.includes(name) ? `${name}*` : name))),
    ]
  })
  const published = Object.entries(operations).map(([path, names]) => [
    path,
    sorted(names.split(' ')),
  ])
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(published))
  for (const { url, inputSchema, description } of resources) {
    if (url.endsWith('/purchase/info')) {
      expect(description).toContain('USDC on the Base network through x402')
    }
    if (!url.endsWith('/offers')) continue
    expect(inputSchema.properties).toMatchObject({ limit: { default: 20 }, offset: { default: 0 } })
  }
})

test.each(kinds)('the manifest says what the 402 of a %s says of it', async (kind) => {
  const { body: manifest } = await call('/api/catalog')
  const { body: demand } = await post(store.url, purchasePath(kind), bodyFor(kind, 'OK'))
  const { refund_policy_by_product: byProduct, ...common } = manifest.refund_policy
  const beside = demand.accepts[0].extensions['x402-signals']
  expect(beside.fulfillment_policy).toEqual(manifest.fulfillment_policy)
  expect(beside.refund_policy).toEqual({ ...common, type: byProduct[kind].type })
})

test('the document speaks of this store alone, and is not sent twice', async () => {
  const { body, headers } = await get(store.url, '/openapi.json')
  expect(body).toMatchObject({ info: { title: 'Corner Kiosk' }, servers: [{ url: store.url }] })
  expect(JSON.stringify(body)).not.toContain('localhost:8402')
  const etag = headers.get('etag') ?? ''
  const again = await get(store.url, '/ai/openapi.json', { 'if-none-match': etag })
  expect([again.status, again.body]).toEqual([304, ''])
})

test('x402scan and MPP have nothing to say against the document', async () => {
  const source = (await getOpenAPI(store.url))._unsafeUnwrap()
  if (source === null || 'parseFailure' in source) throw new Error(JSON.stringify(source))
  const details = allOperations.map(({ path, method }) => getL3ForOpenAPI(source, path, method))
  expect([
    ...getWarningsForOpenAPI(source),
    ...getWarningsForL2(checkL2ForOpenAPI(source)),
    ...details.flatMap((detail) => getWarningsForL3(detail)),
    ...getWarningsForL4(checkL4ForOpenAPI(source)),
  ]).toEqual([])
  const seen = checkL2ForOpenAPI(source).routes.map(({ method, path, authMode }) => [
    `${method} ${path}`,
    authMode,
  ])
  const meant = allOperations.map(({ method, path, access }) => {
    const mode = access === 'free' ? 'unprotected' : access === 'sign_in' ? 'siwx' : 'paid'
    return [`${method} ${path}`, mode]
  })
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(meant))
  expect(validate((await get(store.url, '/openapi.json')).body)).toEqual([])
  for (const kind of kinds) {
    const { body } = await post(store.url, purchasePath(kind), undefined)
    expect(validatePaymentRequiredDetailed(body)).toMatchObject({ valid: true, issues: [] })
  }
})
