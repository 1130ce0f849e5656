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
import { describe, expect, test } from 'vitest'
import { operations } from '../../src/api/operations.ts'
import { kinds } from '../../src/catalog/good.ts'
import { networks } from '../../src/payments/networks.ts'
import { get, post, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore({
  env: {
    STORE_NAME: 'Corner Kiosk',
    STORE_DESCRIPTION: 'All that a kiosk has.',
    STORE_CONTACT: 'help@kiosk.example',
  },
})

test('the document is served at both addresses, and not sent twice', async () => {
  const [one, other] = await Promise.all([
    get(store.url, '/openapi.json'),
    get(store.url, '/ai/openapi.json'),
  ])
  expect(one.status).toBe(200)
  expect(one.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(one.headers.get('access-control-allow-origin')).toBe('*')
  expect(other.body).toEqual(one.body)
  const etag = one.headers.get('etag') ?? ''
  const again = await get(store.url, '/ai/openapi.json', { 'if-none-match': etag })
  expect([again.status, again.body]).toEqual([304, ''])
})

test('it speaks of this store, and of no other', async () => {
  const { body } = await get(store.url, '/openapi.json')
  expect(body).toMatchObject({
    info: {
      title: 'Corner Kiosk',
      description: 'All that a kiosk has.',
      contact: { name: 'Corner Kiosk', email: 'help@kiosk.example', url: store.url },
      'x-guidance': expect.stringContaining('PAYMENT-SIGNATURE'),
    },
    servers: [{ url: store.url }],
  })
  expect(JSON.stringify(body)).not.toContain('localhost:8402')
  const { offers } = body.paths['/api/catalog/esims/purchase/info'].post['x-payment-info']
  expect(offers).toMatchObject([{ currency: networks['base-sepolia'].usdc }])
})

describe('x402scan', () => {
  const read = async () => {
    const source = (await getOpenAPI(store.url))._unsafeUnwrap()
    if (source === null || 'parseFailure' in source) throw new Error(JSON.stringify(source))
    return source
  }

  test('has nothing to say against it', async () => {
    const source = await read()
    const details = operations.map(({ path, method }) => getL3ForOpenAPI(source, path, method))
    expect([
      ...getWarningsForOpenAPI(source),
      ...getWarningsForL2(checkL2ForOpenAPI(source)),
      ...details.flatMap((detail) => getWarningsForL3(detail)),
      ...getWarningsForL4(checkL4ForOpenAPI(source)),
    ]).toEqual([])
  })

  test('sees what is paid, what needs a sign-in, and what is free', async () => {
    const { routes, contactEmail } = checkL2ForOpenAPI(await read())
    expect(contactEmail).toBe('help@kiosk.example')
    const seen = routes.map(({ method, path, authMode }) => [`${method} ${path}`, authMode])
    const meant = operations.map(({ method, path, access }) => {
      const mode = access === 'free' ? 'unprotected' : access === 'sign_in' ? 'siwx' : 'paid'
      return [`${method} ${path}`, mode]
    })
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(meant))
    const paid = routes.filter(({ authMode }) => authMode === 'paid')
    expect(paid).toHaveLength(3)
    for (const route of paid) {
      expect(route).toMatchObject({
        pricingMode: 'dynamic',
        currency: 'USD',
        price: 'from 0.01 USD',
        protocols: ['x402'],
      })
    }
  })
})

test.each(kinds)(
  'x402scan has nothing to say against what it gets when it calls %s',
  async (kind) => {
    const { body } = await post(store.url, purchasePath(kind), undefined)
    expect(validatePaymentRequiredDetailed(body)).toMatchObject({ valid: true, issues: [] })
  },
)

test('MPP has nothing to say against it', async () => {
  const { body } = await get(store.url, '/openapi.json')
  expect(validate(body)).toEqual([])
})
