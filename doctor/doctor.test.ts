import { execFile } from 'node:child_process'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { examine } from './examine.ts'
import type { faults } from './faults.ts'
import { type Breaking, changeBody, changeDemand, openShop, shopToken } from './shop.fixture.ts'
import { askerOf } from './visit.ts'

async function shopWith(breaking?: Breaking) {
  const shop = await openShop(breaking)
  onTestFinished(shop.close)
  return shop
}

interface Case {
  readonly breaking?: Breaking
  /** Further findings that follow from this fault. */
  readonly also?: readonly (keyof typeof faults)[]
  /** The published address that the doctor is told; by default the shop's own. */
  readonly published?: string
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
const header = (name: string, value: string) =>
  at('/buy', (page) => {
    if (page.status === 402) page.headers[name] = value
  })
const status =
  (code: number): Breaking =>
  (page) => {
    page.status = code
  }
const gone = (path: string) => at(path, status(404))
const emptyCall = (answer: Breaking) =>
  at('/buy', (page, call) => {
    if (call.method === 'POST' && call.body === '') answer(page, call)
  })
const preflight = (answer: Breaking) =>
  at('/buy', (page, call) => {
    if (call.method === 'OPTIONS') answer(page, call)
  })

const cases = {
  unreachable: {},
  not_https: {
    published: 'http://shop.example',
    also: ['resource_other', 'sign_in_wrong'],
  },
  clock_off: {
    breaking: ({ headers }) => {
      headers['date'] = new Date(Date.now() + 60_000).toUTCString()
    },
  },
  document_missing: [
    gone('/.well-known/x402'),
    gone('/.well-known/jwks.json'),
    { ...gone('/openapi.json'), also: ['nothing_for_sale'] },
    gone('/mcp'),
  ],
  resource_wrong: [
    body('/.well-known/x402', ({ resources }) =>
      resources.push('https://elsewhere.example/buy', '/relative'),
    ),
    body('/.well-known/x402', ({ resources }) =>
      resources.push(resources[0].replace('buy', 'nowhere')),
    ),
  ],
  signals_stale: body('/.well-known/x402', ({ signals }) => {
    signals.last_updated = new Date(Date.now() - 400_000).toISOString()
  }),
  signals_stop: body('/.well-known/x402', ({ signals }) => {
    signals.agent_action = 'stop'
  }),
  keys_private: body('/.well-known/jwks.json', ({ keys }) => {
    keys[0].d = 'secret'
  }),
  nothing_for_sale: {
    ...body('/openapi.json', ({ paths }) => delete paths['/buy']),
    also: ['listing_remark'],
  },
  listing_error: body('/openapi.json', ({ paths }) => {
    paths['/buy'].post['x-payment-info'].protocols = [{ x402: 'yes' }]
  }),
  listing_remark: body('/openapi.json', ({ paths }) => {
    paths['/buy'].post['x-payment-info'].protocols = []
  }),
  mcp_broken: at('/mcp', status(500)),
  metrics_closed: gone('/metrics'),
  nodes_disagree: [
    at('/metrics', (page) => {
      page.body += 'kiosk402_nodes_disagree{node="b:8402",setting="MARKUP_BPS"} 1\n'
    }),
    at('/metrics', (page) => {
      page.body += 'kiosk402_nodes{node="c:8402",version="1.1.0"} 1\n'
    }),
  ],
  rate_limited: at('/buy', (page, call) => {
    if (call.body !== '') page.status = 429
  }),
  probe_failed: emptyCall(status(500)),
  probe_refused: [
    emptyCall(status(400)),
    demand(({ extensions }) => {
      extensions.bazaar.info.input.body.item = 'TROUSERS'
    }),
  ],
  demand_missing: at('/buy', (page) => {
    delete page.headers['payment-required']
  }),
  demand_large: header('x-filler', 'x'.repeat(9_000)),
  demand_cached: header('cache-control', 'public, max-age=60'),
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
  sign_in_wrong: at('/orders', (page) =>
    changeDemand(page, ({ extensions }) => {
      extensions['sign-in-with-x'].info.domain = 'inside:3000'
    }),
  ),
  browser_blocked: [
    preflight(status(402)),
    at('/buy', (page, { method }) => {
      if (method === 'POST') delete page.headers['access-control-expose-headers']
    }),
  ],
  // test/stories/released.test.ts shows the other one, listing_unchecked.
} satisfies Readonly<
  Record<Exclude<keyof typeof faults, 'listing_unchecked'>, Case | readonly Case[]>
>

test('in a shop that is in order there is nothing to find', async () => {
  const shop = await shopWith()
  const { findings, operations } = await examine(shop.origin, shop.origin, { token: shopToken })
  expect(findings).toEqual([])
  expect(operations).toEqual(['POST /buy'])
})

test('the clock of a shop is right when a cache returns its answer with an old Date', async () => {
  const { breaking } = at('/.well-known/x402', ({ headers }) => {
    headers['date'] = new Date(Date.now() - 150_000).toUTCString()
    headers['age'] = '150'
  })
  const shop = await shopWith(breaking)
  expect((await examine(shop.origin)).findings).toEqual([])
})

describe('in a shop with one fault, the doctor finds it', () => {
  const all = Object.entries(cases).flatMap(([code, some]) =>
    [some as Case | Case[]].flat().map((one) => [code, one] as const),
  )
  test.each(all)('%s', async (code, { breaking, also = [], published }) => {
    const shop = await shopWith(breaking)
    if (code === 'unreachable') await shop.close()
    const { findings } = await examine(shop.origin, published, { token: shopToken })
    const found = new Set(findings.map((finding) => finding.code))
    expect([...found].sort()).toEqual([code, ...also].sort())
  })
})

describe('a store that is not to be trusted', () => {
  const limits = { timeoutMs: 300, maxBytes: 1_000, maxRequests: 3, maxWaitMs: 50 }

  async function strangerAt(listener: RequestListener) {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return askerOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, limits)
  }

  test.each<[string, RequestListener, RegExp]>([
    ['never comes', () => {}, /timeout/],
    ['never ends', (_, response) => response.write('{'), /timeout/],
    ['is too long', (_, response) => response.end('x'.repeat(1_001)), /longer than 1000 bytes/],
  ])('an answer that %s is given up', async (_, listener, why) => {
    const ask = await strangerAt(listener)
    expect(await ask('/')).toMatchObject({ status: 0, failed: expect.stringMatching(why) })
  })

  test('leads nowhere else, by no redirect and no path', async () => {
    const ask = await strangerAt(({ url }, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(url)
    })
    expect(await ask('//elsewhere.example/buy')).toMatchObject({
      status: 307,
      text: '//elsewhere.example/buy',
    })
    await expect(ask('@elsewhere.example/')).rejects.toThrow('does not go to http://else')
  })

  test('gets only so many requests, and is waited for only so long', async () => {
    let count = 0
    const ask = await strangerAt((_, response) => {
      count += 1
      response.writeHead(count === 1 ? 429 : 200, { 'retry-after': '0' }).end('{}')
    })
    for (const _ of [1, 2]) expect(await ask('/')).toMatchObject({ status: 200, json: {} })
    expect((await ask('/')).failed).toBe('after 3 requests the doctor stops')
    const askBusy = await strangerAt((_, response) => {
      response.writeHead(429, { 'retry-after': '3600' }).end()
    })
    expect(await askBusy('/')).toMatchObject({ status: 429 })
  })
})

interface Ran {
  readonly code: number | string | null | undefined
  readonly stdout: string
  readonly stderr: string
}

function doctor(...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['src/commands/main.ts', 'doctor', ...args],
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

test('a fault that stops a buyer is printed with its place and its fix, with exit code 1', async () => {
  const shop = await shopWith(cases.demand_cached.breaking)
  const { code, stdout, stderr } = await doctor(shop.origin)
  expect(stderr).toBe('')
  expect(stdout).toContain('Stops buyers:\n  demand_cached: The 402 comes from a cache')
  expect(stdout).toContain('    Fix: Exclude the paid paths')
  expect(stdout).toContain('      POST /buy: public, max-age=60')
  expect(code).toBe(1)
})

test('as JSON it is one object, and without a fault the exit code is 0', async () => {
  const shop = await shopWith()
  const { code, stdout } = await doctor(shop.origin, '--json')
  expect(JSON.parse(stdout)).toEqual({
    ...{ store: shop.origin, public: shop.origin, ok: true, findings: [] },
    operations: ['POST /buy'],
  })
  expect(code).toBe(0)
})

test('a stranger’s words cannot reach the terminal as commands', async () => {
  const shop = await shopWith((page, { path }) => {
    if (path !== '/.well-known/jwks.json') return
    page.status = 500
    page.body = JSON.stringify({ error: `\u001b[2J\u009b31m${'x'.repeat(5_000)}` })
  })
  const { stdout } = await doctor(shop.origin)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  expect(stdout.length).toBeLessThan(1_000)
})

test.each([
  [['https://a.example', 'b'], 'One store at a time; b is one too many.'],
  [['ftp://shop.example'], 'ftp://shop.example is no http or https URL'],
  [['https://me:secret@shop.example'], 'Leave user name and password out of the URL.'],
  [['https://a.example', '--pay'], "Unknown option '--pay'"],
])('%j is refused with a sentence with exit code 2', async (args, sentence) => {
  const { code, stderr } = await doctor(...args)
  expect(stderr).toContain(sentence)
  expect(stderr).not.toContain('secret')
  expect(code).toBe(2)
})
