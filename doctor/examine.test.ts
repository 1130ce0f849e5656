import { afterEach, describe, expect, test } from 'vitest'
import { examine } from './examine.ts'
import { type FaultCode, faults } from './faults.ts'
import {
  type Breaking,
  changeBody,
  changeDemand,
  openShop,
  type Shop,
  shopToken,
} from './shop.fixture.ts'

let shop: Shop | undefined

afterEach(() => shop?.close())

interface Case {
  readonly breaking?: Breaking
  /** Further findings that follow from this fault. */
  readonly also?: readonly FaultCode[]
  /** The published address that the doctor is told; by default the shop's own. */
  readonly published?: (origin: string) => string
}

/** Breaks the answers of one path. */
const at = (path: string, breaking: Breaking): Case => ({
  breaking: (page, call) => {
    if (call.path === path) breaking(page, call)
  },
})
// biome-ignore lint/suspicious/noExplicitAny: what is broken is of any shape
const body = (path: string, change: (json: any) => void) =>
  at(path, (page) => changeBody(page, change))
// biome-ignore lint/suspicious/noExplicitAny: what is broken is of any shape
const demand = (change: (demand: any) => void) => at('/buy', (page) => changeDemand(page, change))
const tracking = (one: Case, also: readonly FaultCode[]): Case => ({ ...one, also })

const gone = (path: string) =>
  at(path, (page) => {
    page.status = 404
  })
const header = (name: string, value: string) =>
  at('/buy', (page) => {
    if (page.status === 402) page.headers[name] = value
  })
const paidCall: (answer: Breaking) => Case = (answer) =>
  at('/buy', (page, call) => {
    if (call.headers['payment-signature'] !== undefined) answer(page, call)
  })
const emptyCall: (answer: Breaking) => Case = (answer) =>
  at('/buy', (page, call) => {
    if (call.method === 'POST' && call.body === '') answer(page, call)
  })
const status =
  (code: number): Breaking =>
  (page) => {
    page.status = code
  }

const cases: Readonly<Record<FaultCode, Case>> = {
  unreachable: {
    breaking: () => {
      void shop?.close()
    },
  },
  not_https: {
    published: () => 'http://shop.example',
    also: ['resource_other', 'sign_in_elsewhere'],
  },
  rate_limited: at('/buy', (page, call) => {
    if (call.body === '{"') page.status = 429
  }),
  nothing_for_sale: {
    breaking: (page, { path }) => {
      if (path === '/.well-known/x402') changeBody(page, (json) => json.resources.splice(1, 2))
      if (path === '/openapi.json') changeBody(page, ({ paths }) => delete paths['/buy'])
      if (path === '/openapi.json') changeBody(page, ({ paths }) => delete paths['/report'])
    },
    also: ['listing_remark'],
  },
  manifest_missing: gone('/.well-known/x402'),
  manifest_unreadable: at('/.well-known/x402', (page) => {
    page.body = '[]'
  }),
  manifest_version: body('/.well-known/x402', (json) => {
    json.version = '0.9'
  }),
  resource_elsewhere: body('/.well-known/x402', ({ resources }) =>
    resources.push('https://elsewhere.example/buy', '/relative'),
  ),
  resource_unreachable: body('/.well-known/x402', ({ resources }) =>
    resources.push(
      resources[0].replace('search', 'nowhere'),
      resources[0].replace('search', '/elsewhere.example/buy'),
    ),
  ),
  policy_missing: body('/.well-known/x402', (json) => delete json.refund_policy),
  signals_missing: body('/.well-known/x402', (json) => delete json.signals),
  signals_stale: body('/.well-known/x402', ({ signals }) => {
    signals.last_updated = new Date(Date.now() - 400_000).toISOString()
  }),
  signals_stop: body('/.well-known/x402', ({ signals }) => {
    signals.agent_action = 'stop'
  }),
  openapi_missing: gone('/openapi.json'),
  openapi_unreadable: at('/openapi.json', (page) => {
    page.body = 'openapi: 3.1.0'
  }),
  openapi_version: body('/openapi.json', (json) => {
    json.openapi = '3.0.3'
  }),
  openapi_elsewhere: tracking(
    body('/openapi.json', ({ paths }) => {
      for (const path of ['//elsewhere.example/buy', 'https://api.elsewhere.example/buy', 'buy']) {
        paths[path] = paths['/buy']
      }
    }),
    ['listing_remark'],
  ),
  openapi_unpriced: body('/openapi.json', ({ paths }) => {
    delete paths['/buy'].post['x-payment-info']
    paths['/buy'].post.security = []
  }),
  openapi_no_402: body('/openapi.json', ({ paths }) => delete paths['/buy'].post.responses['402']),
  openapi_security: tracking(
    body('/openapi.json', ({ paths }) => delete paths['/search'].get.security),
    ['listing_error'],
  ),
  openapi_guidance: tracking(
    body('/openapi.json', ({ info }) => delete info['x-guidance']),
    ['listing_remark'],
  ),
  openapi_contact: tracking(
    body('/openapi.json', ({ info }) => delete info.contact),
    ['listing_remark'],
  ),
  listing_error: body('/openapi.json', ({ paths }) => {
    paths['/buy'].post['x-payment-info'].protocols = [{ x402: 'yes' }]
  }),
  listing_remark: body('/openapi.json', ({ paths }) => {
    paths['/buy'].post['x-payment-info'].protocols = []
  }),
  llms_missing: gone('/llms.txt'),
  jwks_missing: gone('/.well-known/jwks.json'),
  jwks_private: body('/.well-known/jwks.json', ({ keys }) => {
    keys[0].d = 'secret'
  }),
  mcp_missing: gone('/mcp'),
  mcp_broken: at('/mcp', status(500)),
  tool_undescribed: body('/mcp', ({ result }) => {
    if (result?.tools) result.tools[0].description = ''
  }),
  clock_off: clock(60),
  clock_far_off: clock(-600),
  sign_in_future: signIn(({ info }) => {
    info.issuedAt = new Date(Date.now() + 60_000).toISOString()
  }),
  sign_in_expired: signIn(({ info }) => {
    info.expirationTime = new Date(Date.now() - 60_000).toISOString()
  }),
  sign_in_elsewhere: signIn(({ info }) => {
    info.domain = 'inside:3000'
  }),

  metrics_closed: gone('/metrics'),
  nodes_disagree: at('/metrics', (page) => {
    page.body += 'kiosk402_nodes_disagree{node="b:8402",setting="MARKUP_BPS"} 1\n'
  }),
  versions_differ: at('/metrics', (page) => {
    page.body += 'kiosk402_nodes{node="c:8402",version="1.1.0"} 1\n'
  }),
  probe_refused: emptyCall(status(400)),
  probe_failed: tracking(emptyCall(status(500)), ['bad_payment_failed']),
  probe_sold: tracking(emptyCall(status(200)), ['bad_payment_sold']),
  example_refused: demand(({ extensions }) => {
    extensions.bazaar.info.input.body.item = 'TROUSERS'
  }),
  broken_body_priced: at('/buy', (page) => {
    if (page.status === 422) page.status = 402
  }),
  broken_body_failed: at('/buy', (page) => {
    if (page.status === 422) page.status = 500
  }),
  bad_payment_failed: paidCall(status(500)),
  bad_payment_sold: paidCall(status(200)),
  bad_payment_refused: paidCall(status(400)),
  head_buys: at('/report', (page, { method }) => {
    if (method === 'HEAD') page.status = 200
  }),
  get_buys: at('/buy', (page, { method }) => {
    if (method !== 'GET') return
    Object.assign(page, { status: 200, body: '{"orderId":"1"}' })
  }),
  demand_missing: at('/buy', (page) => {
    delete page.headers['payment-required']
  }),
  demand_unreadable: header('payment-required', 'bm90IGpzb24='),
  demand_large: demand(({ extensions }) => {
    extensions.bazaar.schema.description = 'x'.repeat(4_000)
  }),
  headers_large: header('x-filler', 'x'.repeat(9_000)),
  demand_cacheable: header('cache-control', 'public, max-age=60'),
  demand_cached: header('x-cache', 'Hit from edge'),
  accepts_empty: tracking(
    demand((json) => {
      json.accepts = []
    }),
    ['listing_error'],
  ),
  amount_wrong: demand(({ accepts }) => {
    accepts[0].amount = '0.5'
  }),
  network_unknown: demand(({ accepts }) => {
    accepts[0].network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
  }),
  asset_unknown: demand(({ accepts }) => {
    accepts[0].asset = `0x${'11'.repeat(20)}`
  }),
  asset_domain: demand(({ accepts }) => {
    accepts[0].extra.name = 'USDC'
  }),
  payee_wrong: demand(({ accepts }) => {
    accepts[0].payTo = `0x${'00'.repeat(20)}`
  }),
  timeout_short: demand(({ accepts }) => {
    accepts[0].maxTimeoutSeconds = 5
  }),
  timeout_long: demand(({ accepts }) => {
    accepts[0].maxTimeoutSeconds = 86_400
  }),
  resource_insecure: {
    published: (origin) => origin.replace('http:', 'https:'),
    also: ['sign_in_elsewhere'],
  },
  resource_other: demand(({ resource }) => {
    resource.url = 'http://inside:3000/buy'
  }),
  forwarded_trusted: at('/buy', (page, { headers }) => {
    const host = headers['x-forwarded-host']
    if (host === undefined) return
    changeDemand(page, ({ resource }) => {
      resource.url = `http://${host}/buy`
    })
  }),
  bazaar_missing: tracking(
    demand((json) => delete json.extensions),
    ['listing_error', 'listing_remark'],
  ),
  bazaar_input: tracking(
    demand(({ extensions }) => delete extensions.bazaar.info.input.method),
    ['bazaar_invalid'],
  ),
  bazaar_invalid: demand(({ extensions }) => {
    extensions.bazaar.info.input.body = 'SOCKS'
  }),
  description_long: demand(({ resource }) => {
    resource.description = 'x'.repeat(500)
  }),
  metadata_wrong: demand(({ resource }) => {
    resource.iconUrl = 'http://127.0.0.1/icon.png'
  }),
  preflight_refused: at('/buy', (page, { method }) => {
    if (method === 'OPTIONS') page.status = 402
  }),
  preflight_headers: at('/buy', (page, { method }) => {
    if (method === 'OPTIONS') page.headers['access-control-allow-headers'] = 'content-type'
  }),
  demand_hidden: at('/buy', (page, { method }) => {
    if (method === 'POST') delete page.headers['access-control-expose-headers']
  }),
}

test('in a shop that is in order there is nothing to find', async () => {
  shop = await openShop()
  const { findings, operations } = await examine(shop.origin, shop.origin, { token: shopToken })
  expect(findings).toEqual([])
  expect(operations).toEqual(['POST /buy', 'GET /report'])
})

test('the clock of a shop is right when a cache returns its answer with an old Date', async () => {
  const { breaking } = at('/.well-known/x402', ({ headers }) => {
    headers['date'] = new Date(Date.now() - 150_000).toUTCString()
    headers['age'] = '150'
  })
  shop = await openShop(breaking)
  const { findings } = await examine(shop.origin, shop.origin, { token: shopToken })
  expect(findings).toEqual([])
})

test('a demand that asks for nothing and names no resource is not readable', async () => {
  const { breaking } = demand((json) => {
    json.accepts = []
    delete json.resource
  })
  shop = await openShop(breaking)
  const { findings } = await examine(shop.origin, shop.origin, { token: shopToken })
  expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['demand_unreadable']))
})

describe('in a shop with one fault, the doctor finds it', () => {
  test.each(Object.entries(cases) as [FaultCode, Case][])('%s', async (code, one) => {
    shop = await openShop(one.breaking)
    const { findings } = await examine(shop.origin, one.published?.(shop.origin), {
      token: shopToken,
    })
    const found = new Set(findings.map((finding) => finding.code))
    expect([...found].sort()).toEqual([code, ...(one.also ?? [])].sort())
    const finding = findings.find((each) => each.code === code)
    expect(finding).toMatchObject({ ...faults[code], where: expect.stringMatching(/\S/) })
  })
})

function clock(seconds: number): Case {
  return {
    breaking: ({ headers }) => {
      headers['date'] = new Date(Date.now() + seconds * 1_000).toUTCString()
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what is broken is of any shape
function signIn(change: (extension: any) => void): Case {
  return at('/orders', (page) =>
    changeDemand(page, ({ extensions }) => change(extensions['sign-in-with-x'])),
  )
}
