import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** Puts the store together, and is the only part that names concrete adapters and suppliers. */
const composition = [
  'lib',
  'catalog',
  'suppliers',
  'payments',
  'orders',
  'checkouts',
  'secrets',
  'health',
  'api',
  'http',
  'mcp',
  'web',
  'operations',
  'reconcile',
  'adapters',
  'environment',
  'config.ts',
  'nodes',
  'logging',
  'app',
  'app.ts',
  '../sandbox/sandbox.ts',
  '../sandbox/connection.ts',
  '../package.json',
]

interface Part {
  /** Its lines of source (TypeScript, SQL, CSS, JavaScript; no tests), rounded up to the next hundred. */
  readonly lines: number
  /** What it may import besides itself. */
  readonly mayImport: readonly string[]
}

/** The architecture: each part, its size, and what it may import. To raise a size, say in the commit what the lines buy. */
const parts: Readonly<Record<string, Part>> = {
  lib: { lines: 600, mayImport: [] },
  secrets: { lines: 300, mayImport: ['lib'] },
  health: { lines: 700, mayImport: ['lib'] },
  // The build is the table of the operators of phone numbers.
  catalog: { lines: 6100, mayImport: ['lib', '../build'] },
  // What the store knows of a supplier, the map of them, and a folder for each.
  'suppliers/supplier.ts': { lines: 200, mayImport: ['lib', 'catalog'] },
  'suppliers/suppliers.ts': { lines: 100, mayImport: ['suppliers'] },
  suppliers: { lines: 1200, mayImport: ['lib', 'catalog'] },
  payments: { lines: 1000, mayImport: ['lib', 'catalog', 'secrets'] },
  orders: {
    lines: 4400,
    mayImport: ['lib', 'catalog', 'suppliers/supplier.ts', 'payments', 'secrets', 'health'],
  },
  // The way of a person from a form to an order that is paid in a coin.
  checkouts: {
    lines: 1500,
    mayImport: ['lib', 'catalog', 'payments', 'orders', 'secrets', 'health'],
  },
  // What may be asked of the store and what it answers, whatever the transport.
  api: {
    lines: 5200,
    mayImport: ['lib', 'catalog', 'payments', 'orders', 'checkouts', 'secrets', 'health'],
  },
  http: {
    lines: 1500,
    mayImport: [
      'lib',
      'catalog',
      'suppliers/supplier.ts',
      'payments',
      'orders',
      'secrets',
      'health',
      'api',
    ],
  },
  // What every page stands in and says knows no page.
  'web/frame': { lines: 2100, mayImport: ['lib', 'catalog', 'api', 'http', 'web/texts'] },
  'web/texts': { lines: 200, mayImport: ['catalog/countries.ts', 'web/frame/html.ts'] },
  web: {
    lines: 5800,
    mayImport: [
      'lib',
      'catalog',
      'payments',
      'orders/price.ts',
      'orders/finding.ts',
      'checkouts',
      'api',
      'http',
      '../package.json',
    ],
  },
  // A transport like http, which has the limits that both count against.
  mcp: { lines: 1700, mayImport: ['lib', 'catalog', 'orders', 'api', 'http', '../package.json'] },
  operations: {
    lines: 1500,
    mayImport: [
      'lib',
      'catalog',
      'suppliers/supplier.ts',
      'payments',
      'orders',
      'checkouts',
      'health',
      'reconcile',
    ],
  },
  reconcile: {
    lines: 2300,
    mayImport: [
      'lib',
      'catalog',
      'suppliers/supplier.ts',
      'payments',
      'orders',
      'checkouts',
      'secrets',
    ],
  },
  // An adapter knows the port it fills and the words used there, nothing else.
  'adapters/chain': { lines: 2900, mayImport: ['lib', 'payments', 'reconcile/ports.ts'] },
  'adapters/rates': { lines: 200, mayImport: ['lib', 'catalog'] },
  'adapters/storage': {
    lines: 5500,
    mayImport: [
      'lib',
      'catalog',
      'suppliers/supplier.ts',
      'payments',
      'secrets',
      'nodes/nodes.ts',
      'orders/ports.ts',
      'orders/order.ts',
      'orders/workflow.ts',
      'orders/payout.ts',
      'orders/goodwill.ts',
      'orders/finding.ts',
      'orders/ledger.ts',
      'orders/ports.ts',
      'orders/budgets.ts',
      'orders/webhooks/ports.ts',
      'checkouts/ports.ts',
      'checkouts/checkout.ts',
      'reconcile/ports.ts',
      'operations/ports.ts',
    ],
  },
  'adapters/mail': { lines: 100, mayImport: ['orders/ports.ts'] },
  'adapters/webhooks': { lines: 200, mayImport: ['orders/webhooks/ports.ts'] },
  'adapters/redis': { lines: 200, mayImport: ['lib', 'http/gate.ts'] },
  'adapters/btcpay': {
    lines: 1400,
    mayImport: [
      'lib',
      'payments',
      'checkouts/checkout.ts',
      'checkouts/ports.ts',
      'reconcile/ports.ts',
    ],
  },
  environment: { lines: 900, mayImport: ['suppliers', 'payments'] },
  'config.ts': {
    lines: 300,
    mayImport: ['lib', 'suppliers', 'payments', 'orders', 'api', 'http', 'environment'],
  },
  // How the processes of one store find each other, on this machine and on others.
  nodes: {
    lines: 200,
    mayImport: ['lib', 'suppliers', 'secrets', 'environment', 'config.ts'],
  },
  logging: { lines: 300, mayImport: [] },
  app: { lines: 800, mayImport: composition },
  'app.ts': { lines: 400, mayImport: composition },
  'main.ts': { lines: 200, mayImport: ['lib', 'environment', 'config.ts', 'app', 'app.ts'] },
  // What a person does to the store: acts that answer with data, for the command line and for pages.
  operator: {
    lines: 2000,
    mayImport: [
      'lib',
      'catalog',
      'suppliers/supplier.ts',
      'payments',
      'orders',
      'checkouts',
      'secrets',
      'health',
      'api',
      'reconcile',
      'adapters',
      'environment',
      'config.ts',
      'nodes',
      '../package.json',
      // The mail with the link of an order.
      'web/orders/link-mail.ts',
      'web/texts',
    ],
  },
  // The command line on it.
  commands: {
    lines: 1800,
    mayImport: [
      'lib',
      'catalog',
      'suppliers/supplier.ts',
      'payments',
      'orders',
      'checkouts',
      'secrets',
      'reconcile',
      'adapters',
      'environment',
      'config.ts',
      'nodes',
      'app',
      'operator',
      '../doctor/report.ts',
      '../doctor/examine.ts',
      '../package.json',
    ],
  },
}

/**
 * The core is told about the world through its ports. Besides Node's pure parts: data and schemas, and
 * how addresses are spelled.
 */
const core =
  /^((lib|secrets|health|catalog|payments|orders|checkouts|reconcile)\/|suppliers\/supplier\.ts$)/
const coreMayUse =
  /^(zod|libphonenumber-js\/(max|mobile\/examples)|i18n-iso-countries(\/.*)?|fastest-levenshtein|lru-cache|@scure\/(base|btc-signer)|viem\/utils|node:(crypto|util|assert|zlib))$/

const maxLines = 500

const isTest = (file: string) => /\.(test|fixture)\.ts$/.test(file)
const sources = globSync('**/*.ts', { cwd: 'src' }).filter((file) => !isTest(file))
const sandbox = globSync('**/*.ts', { cwd: 'sandbox' }).filter((file) => !isTest(file))
const doctor = globSync('**/*.ts', { cwd: 'doctor' }).filter((file) => !isTest(file))

test.each(sources)('src/%s imports only what it may', (file) => {
  const part = partOf(file)
  expect(parts, `${file} belongs to no part; add it to the table`).toHaveProperty([part])
  const allowed = [part, ...(parts[part]?.mayImport ?? [])]

  for (const target of importsOf('src', file)) {
    if (target.startsWith('.')) {
      const path = join(dirname(file), target)
      const may = allowed.some((name) => isWithin(path, name))
      expect(may, `${file} may not import ${path}`).toBe(true)
    } else if (core.test(file)) {
      expect(target, `${file} belongs to the core`).toMatch(coreMayUse)
    }
  }
})

/** In the catalog the type of an offer follows from the kinds, and a kind says how it is searched (docs/contributors/decisions/012). */
const importedBy = new Map(
  sources.map((file) => {
    const own = importsOf('src', file).filter((target) => target.startsWith('.'))
    return [file, own.map((target) => join(dirname(file), target))]
  }),
)

test.each(sources.filter((file) => partOf(file) !== 'catalog'))(
  'src/%s imports nothing that leads back to it',
  (file) => {
    const reached = new Set(importedBy.get(file))
    for (const path of reached) for (const next of importedBy.get(path) ?? []) reached.add(next)
    expect([...reached]).not.toContain(file)
  },
)

const weighed = globSync('**/*.{ts,sql,css,js}', { cwd: 'src' }).filter((file) => !isTest(file))

test.each(Object.keys(parts))('src/%s has no more lines than it may', (name) => {
  const files = weighed.filter((file) => partOf(file) === name)
  const lines = files.reduce((sum, file) => sum + read('src', file).split('\n').length - 1, 0)
  expect(Math.ceil(lines / 100) * 100, 'lines').toBe(parts[name]?.lines)
})

/** They stand outside: they speak to a store over HTTP and know none of its code. */
const outside = [
  ...sandbox.map((file) => ['sandbox', file] as const),
  ...doctor.map((file) => ['doctor', file] as const),
]

test.each(outside)('%s/%s knows nothing of the store', (root, file) => {
  const inside = importsOf(root, file).filter((target) => target.startsWith('.'))
  for (const target of inside) {
    expect(join(dirname(file), target), `${file} reaches out of ${root}`).not.toMatch(/^\.\./)
  }
})

test.each([...sources.map((file) => ['src', file] as const), ...outside])(
  '%s/%s fits on a few screens',
  (root, file) => {
    expect(read(root, file).split('\n').length).toBeLessThanOrEqual(maxLines)
  },
)

/** What is kept is given to anyone, so nothing about payments or buyers may come near it. */
test('only the reading routes and public pages are kept', () => {
  const near = sources.filter((file) =>
    /import [^;']*\bcreateAnswerCache\b/.test(read('src', file)),
  )
  expect(near.sort()).toEqual(['http/app.ts', 'web/frame/senders.ts'])
})

function partOf(file: string): string {
  return Object.keys(parts).find((name) => isWithin(file, name)) ?? 'none'
}

function importsOf(root: string, file: string): string[] {
  const matches = read(root, file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)
  return [...matches].map(([, target = '']) => target)
}

function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function isWithin(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}/`)
}
