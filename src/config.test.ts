import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { ConfigError } from './environment/environment.ts'

const gasKey = `0x${'ab12'.repeat(16)}`
const refundKey = `0x${'cd34'.repeat(16)}`
const secretsKey = Buffer.alloc(32, 9).toString('base64')
const olderKey = Buffer.alloc(32, 8).toString('base64')

const live: Record<string, string> = {
  MODE: 'live',
  NETWORK: 'base',
  RPC_URL: 'https://rpc.example',
  PAY_TO: `0x${'1'.repeat(40)}`,
  GAS_KEY: gasKey,
  REFUND_KEY: refundKey,
  DATABASE_URL: 'postgres://user:password@db.example/store',
  SUPPLIER_URL: 'https://supplier.example/v1/',
  SUPPLIER_KEY: 'supplier-key',
  SECRETS_KEY: secretsKey,
  PUBLIC_URL: 'https://store.example//',
}

/** The problems of an environment, one line for each. */
function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message
      .split('\n')
      .filter((line) => line.startsWith('  - '))
      .map((line) => line.slice(4))
  }
  return []
}

const rehearsal = { ...live, NETWORK: 'base-sepolia', REHEARSAL: '1' }

const without = (name: string) =>
  Object.fromEntries(Object.entries(live).filter(([key]) => key !== name))

describe('without any variable', () => {
  test('it is a sandbox that anyone on this machine can reach', () => {
    expect(readConfig({})).toMatchObject({
      mode: 'sandbox',
      host: '127.0.0.1',
      port: 8402,
      dataDir: './data',
      offers: 12_000,
      markupBps: 0,
      personalDataDays: 30,
      trustProxy: false,
      policy: { deliverWithinMs: 600_000, refundGraceMs: 21_600_000, patienceMs: 20_000 },
      site: {
        name: 'Kiosk402',
        url: 'http://localhost:8402',
        logo: 'http://localhost:8402/logo.svg',
      },
    })
  })

  test('an empty one counts as none', () => {
    expect(readConfig({ MODE: '', PORT: '', GAS_KEY: '' })).toEqual(readConfig({}))
  })
})

describe('a live store', () => {
  test('is read whole', () => {
    const config = readConfig({
      ...live,
      SECRETS_KEY: `${secretsKey}, ${olderKey}`,
    })
    expect(config).toMatchObject({
      mode: 'live',
      network: { id: 'eip155:8453', usdcDomain: { name: 'USD Coin' } },
      suppliers: { zendit: { url: 'https://supplier.example/v1', key: 'supplier-key' } },
      site: { url: 'https://store.example' },
      secretsKeys: [Buffer.alloc(32, 9), Buffer.alloc(32, 8)],
      walletFactories: [],
    })
    expect(config).toHaveProperty('suppliers.zendit.webhook', undefined)
  })

  test.each(Object.keys(live).filter((name) => name !== 'MODE'))('needs %s', (name) => {
    expect(problemsOf(without(name))).toEqual([
      expect.stringMatching(`^${name} is missing; set it`),
    ])
    expect(problemsOf({ ...live, [name]: '' })).toEqual(problemsOf(without(name)))
  })

  test('that lacks everything is told everything at once', () => {
    const names = problemsOf({ MODE: 'live' }).map((line) => line.split(' ')[0])
    const needed = Object.keys(live).filter((name) => name !== 'MODE')
    expect(names.toSorted()).toEqual(needed.toSorted())
  })

  test.each(['DATA_DIR', 'SANDBOX_OFFERS'])('refuses %s', (name) => {
    expect(problemsOf({ ...live, [name]: '500' })).toEqual([
      `${name} is only for the sandbox; leave it out with MODE=live`,
    ])
  })

  test.each([
    { SUPPLIER_KEY: 'sand_0123456789' },
    { SUPPLIER_URL: 'https://test-api.zendit.io/v1' },
    { SUPPLIER_URL: 'https://API.sandbox.zendit.io/v1' },
  ])('sells nothing of a test mode for real money: %j', (test) => {
    const refused =
      /^SUPPLIER_KEY or SUPPLIER_URL is of the test mode of zendit.*NETWORK=base takes/
    expect(problemsOf({ ...live, ...test })).toEqual([expect.stringMatching(refused)])
    expect(readConfig({ ...live, ...test, NETWORK: 'base-sepolia' }).mode).toBe('live')
  })

  test('refuses one wallet for two purposes, however it is written', () => {
    const shouted = `0x${gasKey.slice(2).toUpperCase()}`
    expect(problemsOf({ ...live, REFUND_KEY: shouted })).toEqual([
      expect.stringMatching(/^GAS_KEY and REFUND_KEY are the same/),
    ])
    for (const [name, key] of Object.entries({ GAS_KEY: gasKey, REFUND_KEY: refundKey })) {
      const payTo = privateKeyToAddress(key as `0x${string}`)
      for (const PAY_TO of [payTo, payTo.toLowerCase()]) {
        expect(problemsOf({ ...live, PAY_TO })).toEqual([
          expect.stringMatching(`^PAY_TO is the wallet of ${name}`),
        ])
      }
    }
  })

  test('asks further nodes only when it is given some', () => {
    const urls = 'https://one.example/key, https://two.example/key'
    expect(readConfig(live)).toHaveProperty('witnesses', undefined)
    expect(readConfig({ ...live, RPC_WITNESS_URLS: urls })).toHaveProperty('witnesses', {
      urls: ['https://one.example/key', 'https://two.example/key'],
      fromUsdc: 100,
    })
    const all = { ...live, RPC_WITNESS_URLS: urls, WITNESS_ABOVE_USDC: '0' }
    expect(readConfig(all)).toHaveProperty('witnesses.fromUsdc', 0)
  })

  test('that rehearses says so before all else, and only where money is not real', () => {
    const config = readConfig({ ...rehearsal, STORE_DESCRIPTION: 'Cards.' })
    expect(config).toMatchObject({ mode: 'live', isRehearsal: true, site: { isRehearsal: true } })
    expect(config.site.description).toBe(
      'Rehearsal with test money on Base Sepolia: nothing here is for sale. Cards.',
    )
    expect(readConfig({ ...rehearsal, REHEARSAL: '' })).toMatchObject({ isRehearsal: false })
    for (const wrong of [{ NETWORK: 'base' }, { REHEARSAL: 'true' }, { REHEARSAL: '0' }]) {
      expect(problemsOf({ ...rehearsal, ...wrong })).toEqual([expect.stringMatching(/^REHEARSAL /)])
    }
  })

  describe('with a hosted facilitator', () => {
    const hosted = { ...live, FACILITATOR_URL: 'https://facilitator.example/x402' }

    test('takes a token, or the key that signs one, and how often it settles', () => {
      expect(readConfig(hosted)).toMatchObject({
        ...{ facilitatorKey: undefined, facilitatorEveryMs: undefined },
      })
      const pem = ['-----BEGIN EC PRIVATE KEY-----', 'AAAA', '-----END EC PRIVATE KEY-----']
      const cdp = { FACILITATOR_KEY: pem.join('\\n'), FACILITATOR_KEY_ID: 'organizations/1' }
      expect(readConfig({ ...hosted, ...cdp, FACILITATOR_EVERY_DAYS: '20' })).toMatchObject({
        facilitatorKey: { secret: pem.join('\n'), id: 'organizations/1' },
        facilitatorEveryMs: 20 * 86_400_000,
      })
    })
  })

  describe('with BTCPay Server', () => {
    const btcpay = {
      BTCPAY_URL: 'https://btcpay.example//',
      BTCPAY_STORE_ID: 'AbCdEfGh12345678',
      BTCPAY_API_KEY: 'k'.repeat(40),
      BTCPAY_METHODS: 'BTC, xmr, USDT=USDT-ETHEREUM',
    }

    test('takes the coins that are configured, and publishes them', () => {
      const config = readConfig({ ...live, ...btcpay, BTCPAY_WEBHOOK_SECRET: 's'.repeat(16) })
      expect(config).toHaveProperty('processor', {
        url: 'https://btcpay.example',
        storeId: 'AbCdEfGh12345678',
        apiKey: 'k'.repeat(40),
        webhookSecret: 's'.repeat(16),
        methods: [
          { coin: 'BTC', id: 'BTC-CHAIN', network: 'Bitcoin' },
          { coin: 'XMR', id: 'XMR-CHAIN', network: 'Monero' },
          { coin: 'USDT', id: 'USDT-ETHEREUM', network: 'Ethereum' },
        ],
        isTestnet: false,
      })
      expect(config.site.acceptsCrypto).toEqual(['BTC', 'XMR', 'USDT'])
      expect(readConfig(live)).toMatchObject({ processor: undefined, site: { acceptsCrypto: [] } })
      const onTestNetwork = readConfig({ ...live, ...btcpay, NETWORK: 'base-sepolia' })
      expect(onTestNetwork).toHaveProperty('processor.isTestnet', true)
    })

    test.each(Object.keys(btcpay))('refuses all of it but %s', (name) => {
      const others = Object.entries(btcpay).filter(([key]) => key !== name)
      expect(problemsOf({ ...live, ...Object.fromEntries(others) })).toEqual([
        expect.stringContaining(` without ${name}: set all`),
      ])
    })

    test('refuses a secret of webhooks alone, and names all that is missing', () => {
      expect(problemsOf({ ...live, BTCPAY_WEBHOOK_SECRET: 's'.repeat(16) })).toEqual([
        expect.stringContaining(` without ${Object.keys(btcpay).join(', ')}: set all`),
      ])
    })
  })

  test('takes both halves of the webhook', () => {
    const webhook = { SUPPLIER_WEBHOOK_HEADER: 'X-Hook', SUPPLIER_WEBHOOK_SECRET: 'a'.repeat(16) }
    expect(readConfig({ ...live, ...webhook })).toMatchObject({
      suppliers: { zendit: { webhook: { header: 'X-Hook', value: 'a'.repeat(16) } } },
    })
  })
})

describe('a bad value is named with its variable', () => {
  const key = 'k'.repeat(16)
  const btcpay = {
    BTCPAY_URL: 'https://b.example',
    BTCPAY_STORE_ID: 'AbCdEfGh',
    BTCPAY_API_KEY: key,
  }
  const needed: Readonly<Record<string, Record<string, string>>> = {
    SUPPLIER_WEBHOOK_HEADER: { SUPPLIER_WEBHOOK_SECRET: key },
    FACILITATOR_KEY: { FACILITATOR_URL: 'https://f.example' },
    FACILITATOR_EVERY_DAYS: { FACILITATOR_URL: 'https://f.example' },
    BTCPAY_STORE_ID: { ...btcpay, BTCPAY_METHODS: 'BTC' },
    BTCPAY_METHODS: btcpay,
  }
  test.each([
    ['NETWORK', 'polygon'],
    ['STORE_COLOR', 'green'],
    ['TERMS_FILE', './no/such/file'],
    ['RPC_URL', 'rpc.example'],
    ['PAY_TO', '0x12', 'store.eth', `0x${'g'.repeat(40)}`],
    // Of a wrong checksum.
    ['PAY_TO', '0x036CbD53842c5426634e7929541eC2318f3dCF7f'],
    ['GAS_KEY', 'ab12'.repeat(16), `0x${'f'.repeat(64)}`],
    ['REFUND_KEY', `0x${'0'.repeat(64)}`],
    ['DATABASE_URL', 'mysql://db.example/store'],
    ['SUPPLIER_KEY', 'short'],
    ['SECRETS_KEY', 'short', `${secretsKey},`],
    ['SECRETS_KEY', `${secretsKey},${Buffer.alloc(31).toString('base64')}`],
    ['PUBLIC_URL', 'javascript:alert(1)', 'https://ada:secret@store.example'],
    ['PUBLIC_URL', 'https://store.example/?from=mail', 'https://store.example/#top'],
    ['WALLET_FACTORIES', `0x${'1'.repeat(40)},0x12`],
    ['PORT', '65536', 'http'],
    ['REDIS_URL', 'http://redis.example'],
    ['MARKUP_BPS', '-1', '2.5'],
    ['TRUSTED_PROXIES', 'true', '-1', '999', 'proxy.example', '10.0.0.1,', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '0.0.0.0/0', '::/0', '::ffff:10.0.0.0/8', '::FFFF:a00:0/96'],
    ['STORE_CONTACT', 'nobody'],
    ['SUPPLIER_WEBHOOK_HEADER', 'X Hook'],
    ['RPC_WITNESS_URLS', 'ftp://two.example', 'two.example', 'HTTPS://RPC.example:443/'],
    ['RPC_WITNESS_URLS', 'https://two.example,https://rpc.example'],
    ['RPC_WITNESS_URLS', 'https://two.example,https://two.example/'],
    ['FACILITATOR_KEY', 'short'],
    ['FACILITATOR_EVERY_DAYS', '30'],
    ['BTCPAY_STORE_ID', '../other'],
    ['BTCPAY_METHODS', 'BTC,BEANS', 'BTC,BTC', ',', 'BTC=BTC-LN', 'ETH=BTC-CHAIN'],
    // Without what they need.
    ['WITNESS_ABOVE_USDC', '10'],
    ['SUPPLIER_WEBHOOK_SECRET', key],
    ['FACILITATOR_KEY_ID', 'organizations/1'],
  ])('%s=%s', (name, ...values) => {
    for (const value of values) {
      const lines = problemsOf({ ...live, ...needed[name], [name]: value })
      expect(lines, value).toEqual([expect.stringMatching(`^${name} `)])
    }
  })

  test('and never with the value of a key', () => {
    const keys = {
      GAS_KEY: `${gasKey}00`,
      REFUND_KEY: refundKey.slice(0, -1),
      SUPPLIER_KEY: 'hunter2',
      SECRETS_KEY: 'correcthorsebatterystaple',
      DATABASE_URL: 'mysql://root:letmein@db.example/store',
      SUPPLIER_WEBHOOK_SECRET: 'open-sesame',
      SUPPLIER_WEBHOOK_HEADER: 'X-Hook',
      RPC_URL: 'rpc.example/v3/api-token-1',
      METRICS_TOKEN: 'swordfish',
      BTCPAY_API_KEY: 'xyzzy',
      BTCPAY_WEBHOOK_SECRET: 'plugh',
    }
    const lines = problemsOf({ ...live, ...keys })
    expect(lines).toHaveLength(11)
    const secrets =
      /ab12ab|cd34cd|hunter2|correcthorse|letmein|sesame|token-1|swordfish|xyzzy|plugh/
    expect(lines.join('\n')).not.toMatch(secrets)
  })

  test('all of them in one message', () => {
    const bad = { PORT: 'x', MARKUP_BPS: 'x', LOG_LEVEL: 'x', STORE_CONTACT: 'x' }
    const names = problemsOf({ ...bad, GAS_KEY: gasKey }).map((line) => line.split(' ')[0])
    expect(names.toSorted()).toEqual(
      ['GAS_KEY', 'LOG_LEVEL', 'MARKUP_BPS', 'PORT', 'STORE_CONTACT'].toSorted(),
    )
  })
})

describe('a good value is taken', () => {
  test.each<[string, string, unknown]>([
    ['TRUSTED_PROXIES', '1', 1],
    ['TRUSTED_PROXIES', '10.0.0.1, 2001:db8::/32', ['10.0.0.1', '2001:db8::/32']],
    ['TRUSTED_PROXIES', 'loopback', ['loopback']],
    ['TRUSTED_PROXIES', '::ffff:10.0.0.0/104', ['::ffff:10.0.0.0/104']],
  ])('%s=%s', (name, value, trustProxy) => {
    expect(readConfig({ [name]: value }).trustProxy).toEqual(trustProxy)
  })

  test('for the address that is paid, with and without its checksum', () => {
    const address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
    expect(readConfig({ ...live, PAY_TO: address })).toHaveProperty('payTo', address)
    expect(problemsOf({ ...live, PAY_TO: address.toLowerCase() })).toEqual([])
  })
})

test('the terms are those of the file, or elsewhere, and not both', () => {
  expect(readConfig({ TERMS_FILE: 'LICENSE' }).site.terms).toEqual({
    text: expect.stringContaining('Apache License'),
  })
  const TERMS_URL = 'https://shop.example/terms'
  expect(readConfig({ TERMS_URL }).site.terms).toEqual({ url: TERMS_URL })
  expect(() => readConfig({ TERMS_URL, TERMS_FILE: 'LICENSE' })).toThrow('set one of them')
})

describe('a sandbox', () => {
  const liveOnly = Object.keys(live).filter(
    (name) => !['MODE', 'DATABASE_URL', 'PUBLIC_URL'].includes(name),
  )
  test.each([...liveOnly, 'FACILITATOR_URL', 'WALLET_FACTORIES', 'RATES_URL'])(
    'refuses %s, because somebody meant it to be live',
    (name) => {
      expect(problemsOf({ [name]: live[name] ?? 'https://x.example' })).toEqual([
        `${name} is only for MODE=live, and MODE is not set to live`,
      ])
    },
  )

  test('may have a database of its own', () => {
    const { DATABASE_URL = '' } = live
    expect(readConfig({ DATABASE_URL })).toHaveProperty('databaseUrl', DATABASE_URL)
  })
})

test('there is no third mode', () => {
  expect(problemsOf({ MODE: 'production' })).toEqual([
    'MODE is "production"; it must be sandbox or live',
  ])
})
