import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callerFor, expectDiscoveryRefusal, expectProblem, rowsOf } from './reading.ts'
import { useStore } from './store.ts'

const store = useStore('still')
const call = callerFor(store)
let before: Record<string, number>

beforeAll(async () => {
  before = await rowsOf(store)
})
afterAll(async () => {
  // Whatever was sent here, nothing of it was kept.
  expect(await rowsOf(store)).toEqual(before)
})

type Rule =
  | 'text'
  | 'words'
  | 'country'
  | 'countries'
  | 'list'
  | 'limit'
  | 'offset'
  | 'usd'
  | 'flag'
type Table = Readonly<Record<string, Readonly<Record<string, Rule | 'days' | 'hash'>>>>

const page = { limit: 'limit', offset: 'offset' } as const

/** Every parameter of every path that reads, by what it takes. */
const parameters: Table = {
  '/ai': {},
  '/ai/capabilities': {},
  '/ai/vouchers': { country: 'country', brand: 'text', subType: 'list', search: 'words', ...page },
  '/ai/topups': { country: 'country', brand: 'text', subType: 'list', region: 'list', ...page },
  '/ai/esims': { country: 'country', regions: 'list', q: 'words', brand: 'text', ...page },
  '/api/catalog/vouchers/offers': {
    brand: 'text',
    country: 'country',
    category: 'list',
    minValue: 'usd',
    maxValue: 'usd',
    ...page,
  },
  '/api/catalog/vouchers/offers/TEST-VOUCHER-OK': {},
  '/api/catalog/vouchers/brands': {},
  '/api/catalog/vouchers/countries': {},
  '/api/catalog/vouchers/filters': {},
  '/api/catalog/topups/offers': { country: 'country', region: 'list', operator: 'text', ...page },
  '/api/catalog/topups/offers/TEST-TOPUP-OK': {},
  '/api/catalog/topups/countries': {},
  '/api/catalog/topups/regions': {},
  '/api/catalog/esims/offers': {
    country: 'country',
    covers: 'countries',
    regions: 'list',
    region: 'list',
    regional: 'flag',
    duration: 'days',
    q: 'words',
    ...page,
  },
  '/api/catalog/esims/offers/TEST-ESIM-OK': {},
  '/api/catalog/esims/orders/info': page,
  '/api/catalog/orders': { transactionHash: 'hash', paymentId: 'text', ...page },
}

/** What no parameter takes, whatever its kind; written as it goes over the wire. */
const neverGood = [
  '%00',
  'a%00b',
  'a%0Ab',
  'a%0D%0Ab',
  '%1B%5B31m',
  '%7F',
  '%C2%85',
  '%FF',
  '%C3%28',
  '%C0%AF',
  '%ED%A0%80',
  '%F8%88%80%80%80',
  '%',
  '%4',
  '%zz',
  'x'.repeat(201),
  'x'.repeat(1_000),
  'x'.repeat(3_000),
  'x'.repeat(9_000),
]

/** What a parameter of this kind does not take besides. */
const badOf: Readonly<Record<Rule | 'days' | 'hash', readonly string[]>> = {
  text: [],
  words: ['!!', '%F0%9F%98%80', '-', '%E2%80%8B'],
  country: ['XX', 'UK', 'USA', 'U', 'u%20s', '1', '840', 'US,DE', 'null', '%5B%22US%22%5D'],
  countries: [
    'XX',
    'US,',
    ',US',
    'US,,DE',
    'US;DE',
    'US%20DE',
    'USA,DE',
    Array(51).fill('US').join(),
  ],
  list: ['nothing', 'null', 'undefined', '__proto__', 'constructor', '0', 'Asia,Africa', '*'],
  limit: ['0', '-1', '101', '1.5', '1e1', '0x10', '%2B5', 'ten', 'NaN', 'Infinity', 'true', '5,5'],
  offset: ['-1', '1.5', '1e1', 'ten', 'NaN', '9'.repeat(16), '9'.repeat(40), '-0.5', '٣'],
  usd: ['-1', '-0.01', '1e3', 'ten', 'NaN', 'Infinity', '$5', '5,50', '.5', '5.', '9'.repeat(20)],
  flag: ['TRUE', 'True', 'yes', '1', '0', 'on', 'null'],
  days: ['0', '-7', '7.5', '7d', 'week', '99999', '1e1'],
  hash: ['0x', 'abc', `0x${'g'.repeat(64)}`, `0x${'a'.repeat(63)}`, `0x${'a'.repeat(65)}`, 'a'],
}

/** Sends one query and expects the one refusal, which names the parameter. */
async function expectRefused(path: string, query: string, parameter?: string) {
  const answer = await call(`${path}?${query}`)
  if (path.startsWith('/ai')) expectDiscoveryRefusal(answer, 400, parameter)
  else expectProblem(answer, { status: 400, ...(parameter === undefined ? {} : { parameter }) })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  return answer.body
}

const withParameters = Object.entries(parameters).filter(([, own]) => Object.keys(own).length > 0)

describe.each(withParameters)('%s', (path, own) => {
  const names = Object.keys(own)

  test('takes no bad value of any parameter', async () => {
    for (const [name, rule] of Object.entries(own)) {
      const bad = [...neverGood, ...badOf[rule]]
      if (rule === 'limit' && path.startsWith('/ai')) bad.push('51')
      for (const value of bad) await expectRefused(path, `${name}=${value}`, name)
    }
  })

  test('takes an empty parameter as left out', async () => {
    const { status, body } = await call(path)
    const empty = await call(`${path}?${names.join('=&')}=%20`)
    expect([empty.status, empty.body.items]).toEqual([status, body.items])
  })

  test('takes no parameter twice, not even the same', async () => {
    const good = { limit: '5', offset: '0', country: 'US', brand: 'a', q: 'a', paymentId: 'a' }
    for (const [name, value] of Object.entries(good).filter(([name]) => names.includes(name))) {
      await expectRefused(path, `${name}=${value}&${name}=${value}`, name)
      await expectRefused(path, `${name}=${value}&%${hexOf(name)}=${value}`, name)
    }
  })
})

describe.each(Object.entries(parameters))('%s', (path, own) => {
  const names = Object.keys(own)

  test('takes no parameter that it has not', async () => {
    for (const name of ['x', 'debug', '__proto__', 'constructor', 'toString', 'limit[]']) {
      await expectRefused(path, `${encodeURIComponent(name)}=1`, name)
    }
    for (const query of ['Limit+=1', '=1', '%FF=1', '%00=1', Array(400).fill('a=1').join('&')]) {
      await expectRefused(path, query)
    }
  })

  test('knows which parameter was meant', async () => {
    for (const name of names) {
      const upper = name.toUpperCase() === name ? name.toLowerCase() : name.toUpperCase()
      const body = await expectRefused(path, `${upper}=1`, upper)
      expect(body.didYouMean, upper).toBe(name)
      expect(JSON.stringify(body)).toContain(`Did you mean ${name}?`)
      expect([...body.allowed].sort()).toEqual([...names].sort())
      for (const list of [`${name}[]=1`, `${name}%5B0%5D=1`, `${name}.x=1`]) {
        await expectRefused(path, list)
      }
    }
  })
})

describe('a refusal says what is allowed', () => {
  test.each([
    ['/ai/vouchers?subType=Shop', 16],
    ['/ai/topups?subType=sms', 3],
    ['/ai/topups?region=Global', 12],
    ['/ai/esims?regions=Asia%20Minor', 6],
    ['/api/catalog/esims/offers?regions=Europe', 13],
    ['/api/catalog/esims/offers?region=europe', 13],
    ['/api/catalog/topups/offers?region=moon', 12],
    ['/api/catalog/esims/offers?regional=ja', 2],
  ])('%s: one of %d', async (path, count) => {
    const { status, body } = await call(path)
    expect(status).toBe(400)
    expect(body.allowed).toHaveLength(count)
    expect(new Set(body.allowed).size).toBe(count)
  })

  test('a range tells its bounds', async () => {
    expect((await call('/ai/vouchers?limit=51')).body.error).toContain('1 to 50')
    expect((await call('/api/catalog/esims/offers?limit=101')).body.detail).toContain('1 to 100')
    expect((await call('/ai/topups?offset=-1')).body.error).toContain('0 or more')
  })

  test('what cannot hold together is said', async () => {
    for (const region of ['south-america', 'south-asia', 'southeast-asia']) {
      const body = await expectRefused(
        '/api/catalog/esims/offers',
        `regional=true&region=${region}`,
        'region',
      )
      expect(body.detail).toContain('regional=true')
    }
    await expectRefused('/api/catalog/esims/offers', 'regions=Asia&region=africa', 'region')
    await expectRefused('/api/catalog/vouchers/offers', 'minValue=5&maxValue=4.99', 'minValue')
  })
})

describe('ids that are none', () => {
  const ids = [
    'NONE',
    '__proto__',
    'constructor',
    '%00',
    '%0A',
    '%F0%9F%98%80',
    '..%2f..%2fetc%2fpasswd',
    '..%5c..%5c',
    '%2F',
    "' or 1=1 --",
    'x'.repeat(201),
    'x'.repeat(5_000),
  ]

  test.each(['vouchers', 'topups', 'esims'])('of %s are 404', async (family) => {
    for (const id of [...ids, family === 'esims' ? 'TEST-TOPUP-OK' : 'TEST-ESIM-OK']) {
      expectProblem(await call(`/api/catalog/${family}/offers/${id}`), { status: 404 })
    }
    for (const id of ['%FF', '%zz', '%', '%C3%28']) {
      expectProblem(await call(`/api/catalog/${family}/offers/${id}`), {
        status: 400,
        code: 'invalid_url',
      })
    }
  })

  test('of orders and refunds are 404 and tell nothing', async () => {
    const looksGood = `ord_${'z'.repeat(26)}`
    for (const id of [...ids, looksGood, `pay_${'z'.repeat(26)}`, looksGood.toUpperCase()]) {
      expectProblem(await call(`/api/catalog/orders/${id}`), { status: 404 })
      const answer = await call(`/api/catalog/orders/${id}/refund`)
      // A path with more parts is another path, and not one about money.
      const charges = answer.body.charged !== undefined
      expectProblem(answer, { status: 404, charges })
    }
    const paymentId = encodeURIComponent("' or 1=1 --")
    expectProblem(await call(`/api/catalog/orders?paymentId=${paymentId}`), { status: 404 })
  })

  test('of pages are a page that says so', async () => {
    for (const id of ['NONE', '%00', '__proto__', '%3Cscript%3E', 'x'.repeat(150)]) {
      const { status, headers, text } = await call(`/buy/${id}`)
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(text).not.toContain('<script>')
    }
  })
})

/** The first letter in percent encoding, and the rest: the same name, written another way. */
function hexOf(name: string): string {
  return name.charCodeAt(0).toString(16) + name.slice(1)
}
