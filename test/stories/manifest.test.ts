import { describe, expect, test } from 'vitest'
import { kinds } from '../../src/catalog/good.ts'
import { callerFor } from './reading.ts'
import { bodyFor, post, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore({ env: { STORE_CONTACT: 'help@kiosk.example' } })
const call = callerFor(store)

interface Resource {
  readonly url: string
  readonly method: string
  readonly name: string
  readonly description: string
  readonly requiredHeaders?: readonly string[]
  readonly inputSchema: {
    readonly type: string
    readonly properties: Record<string, { type?: string; default?: unknown; enum?: unknown }>
    readonly required?: readonly string[]
  }
}

/** The operations of the published endpoint table with their parameters; required ones marked. */
const operations: Readonly<Record<string, string>> = {
  '/vouchers/offers': 'brand country category minValue maxValue limit offset',
  '/vouchers/offers/{id}': 'id*',
  '/vouchers/brands': '',
  '/vouchers/countries': '',
  '/vouchers/filters': '',
  '/vouchers/purchase/info': 'offerId* firstName* lastName* email country value maxUsdc webhookUrl',
  '/topups/offers': 'country region operator limit offset',
  '/topups/offers/{id}': 'id*',
  '/topups/countries': '',
  '/topups/regions': '',
  '/topups/purchase/info': 'offerId* msisdn* confirmNumber value maxUsdc webhookUrl',
  '/esims/offers': 'country covers regions region regional duration q limit offset',
  '/esims/offers/{id}': 'id*',
  '/esims/purchase/info': 'offerId* iccid maxUsdc webhookUrl',
  '/esims/orders/info': 'limit offset',
  '/orders': 'transactionHash paymentId limit offset',
  '/orders/{orderId}': 'orderId*',
  '/orders/{orderId}/receipt': 'orderId*',
  '/orders/{orderId}/refund': 'orderId*',
  '/orders/{orderId}/webhook': 'orderId*',
  '/orders/{orderId}/webhook/redeliver': 'orderId*',
  '/limits': 'perOrderUsdc perDayUsdc approveAboveUsdc kinds countries recipients',
}

describe('the manifest', () => {
  test('is the same at both addresses, but for the time of its signals', async () => {
    const [one, other] = await Promise.all([call('/.well-known/x402'), call('/api/catalog')])
    for (const { status, headers } of [one, other]) {
      expect(status).toBe(200)
      expect(headers.get('content-type')).toContain('application/json')
      expect(headers.get('cache-control')).toMatch(/max-age=\d{1,2}$/)
    }
    const { signals: _, ...first } = one.body
    const { signals: __, ...second } = other.body
    expect(first).toEqual(second)
  })

  test('has every documented field', async () => {
    const { body } = await call('/api/catalog')
    const { resources: _, signals: __, ...rest } = body
    expect(rest).toMatchObject({
      x402Version: 2,
      name: 'Kiosk402',
      description: expect.stringMatching(/\S/),
      url: store.url,
      logo: `${store.url}/logo.svg`,
      contact: 'help@kiosk.example',
      extensions: {
        bazaar: {
          name: 'Kiosk402',
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
    expect((await call('/logo.svg')).status).toBe(200)
  })

  test('lists every operation of the endpoint table with its input schema', async () => {
    const resources: Resource[] = (await call('/api/catalog')).body.resources
    const base = `${store.url}/api/catalog`
    const listed = resources.map(({ url, inputSchema }) => {
      const { properties, required = [] } = inputSchema
      const names = Object.keys(properties).map((name) =>
        required.includes(name) ? `${name}*` : name,
      )
      return [url.replace(base, ''), names.sort().join(' ')]
    })
    const published = Object.entries(operations).map(([path, names]) => [
      path,
      names.split(' ').sort().join(' '),
    ])
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(published))
    for (const { url, name, description, inputSchema } of resources) {
      expect(url.startsWith(base)).toBe(true)
      expect(name).toMatch(/\S/)
      expect(description).toMatch(/\S/)
      expect(inputSchema.type).toBe('object')
      for (const [parameter, schema] of Object.entries(inputSchema.properties)) {
        expect(schema.type, `${url} ${parameter}`).toMatch(
          /^(string|number|integer|boolean|array)$/,
        )
      }
      if (!url.endsWith('/offers')) continue
      expect(inputSchema.properties['limit']).toMatchObject({ default: 20 })
      expect(inputSchema.properties['offset']).toMatchObject({ default: 0 })
    }
  })

  test.each(kinds)('says what the 402 of a %s says of it', async (kind) => {
    const { body: manifest } = await call('/api/catalog')
    const { body: demand } = await post(store.url, purchasePath(kind), bodyFor(kind, 'OK'))
    const { refund_policy_by_product: byProduct, ...common } = manifest.refund_policy
    const beside = demand.accepts[0].extensions['x402-signals']
    expect(beside.fulfillment_policy).toEqual(manifest.fulfillment_policy)
    expect(beside.refund_policy).toEqual({ ...common, type: byProduct[kind].type })
    expect(beside.signals).toMatchObject({ agent_action: manifest.signals.agent_action })
    expect(Object.keys(beside.signals).sort()).toEqual(Object.keys(manifest.signals).sort())
  })

  test('has signals that are made when asked', async () => {
    const before = Date.now()
    const { signals } = (await call('/.well-known/x402')).body
    const at = Date.parse(signals.last_updated)
    expect(signals.last_updated).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    expect(at).toBeGreaterThanOrEqual(before)
    expect(at).toBeLessThanOrEqual(Date.now())
    expect(signals).toMatchObject({ provider_health: 'healthy', agent_action: 'pay' })
    expect(Object.keys(signals).sort()).toEqual(['agent_action', 'last_updated', 'provider_health'])
  })
})
