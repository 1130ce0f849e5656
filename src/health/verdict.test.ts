import { isDeepStrictEqual } from 'node:util'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { documentSite } from '../../openapi/document.ts'
import { orderWorld } from '../../test/doubles/orders.ts'
import type { StoreDeps } from '../api/operation.ts'
import { live, manifests, ready } from '../api/store.ts'
import { routeStoreOperations } from '../http/routes.ts'
import { type Usdc, usdc } from '../lib/money.ts'
import { Refusal } from '../lib/refusal.ts'
import { requireSold } from '../orders/price.ts'
import { createHealth, type FundsRefusal, type Health } from './health.ts'
import { ample, fundsOf } from './means.fixture.ts'
import type { Cover, Gas, Signals } from './verdict.ts'

const cheapest = usdc(10n)
const amounts = [0n, 9n, 10n, 11n, 100n].map(usdc)
const flags = [false, true]

/** The facts that decide whether the store sells, with each value that makes a difference. */
const facts = {
  /** A part that failed once is degraded, and the store sells on. */
  failing: ['none', 'supplier', 'chain', 'database', 'database once'],
  isCatalogRead: flags,
  isLookedAt: flags,
  held: flags,
  float: [undefined, ...amounts.slice(0, -1)],
  funds: [undefined, ...amounts.slice(0, -1)],
  maxRefund: amounts.slice(1),
  maxBorneOut: [undefined, usdc(9n), usdc(11n)],
  gas: [undefined, 0n, 5n],
  refusals: [1, 2],
  /** The price of another order that is not on record yet (`sold`) or not settled yet (`pending`). */
  sold: [0n, 1n],
  pending: [0n, 1n],
} as const

/** The facts that come from reading the wallets. */
const means = ['float', 'funds', 'maxRefund', 'maxBorneOut', 'gas', 'pending'] as const

type Fact = { [Name in keyof typeof facts]: (typeof facts)[Name][number] }

/** Divides none of the sizes above, so that any few facts still meet in each combination. */
const step = 17

function* everyFact(): Generator<Fact> {
  const names = Object.keys(facts) as (keyof typeof facts)[]
  const total = names.reduce((product, name) => product * facts[name].length, 1)
  for (let index = 0; index < total; index += step) {
    let rest = index
    const chosen = names.map((name) => {
      const one = facts[name][rest % facts[name].length]
      rest = Math.floor(rest / facts[name].length)
      return [name, one]
    })
    const fact = Object.fromEntries(chosen) as Fact
    // Without a reading these facts make no difference, so one combination of them is enough.
    if (fact.isLookedAt || means.every((name) => fact[name] === facts[name][0])) yield fact
  }
}

const { now } = orderWorld().deps

function failingAt(health: Health, failing: Fact['failing']): void {
  if (failing === 'none') return
  const times = failing === 'database once' ? 1 : 3
  for (let time = 0; time < times; time += 1) {
    if (failing === 'supplier') health.noteSupplier('zendit', false, 'timeout')
    else health.note(failing === 'chain' ? 'chain' : 'database', false, 'timeout')
  }
}

function healthWith(fact: Fact) {
  const health = createHealth(now)
  if (fact.isCatalogRead) health.noteCatalog(now())
  health.hold(fact.held ? 'not known yet' : undefined)
  failingAt(health, fact.failing)
  const cover: Cover | undefined =
    fact.float === undefined ? undefined : { float: usdc(4n * fact.float + 7n), exposure: usdc(7n) }
  const pending = usdc(fact.pending)
  const funds =
    fact.funds === undefined
      ? new Map()
      : fundsOf(fact.funds + 3n, { pending, committed: usdc(3n) })
  const gas: Gas | undefined = fact.gas === undefined ? undefined : { balance: fact.gas, need: 5n }
  const { maxRefund, maxBorneOut } = fact
  if (fact.isLookedAt)
    health.noteMeans({ cover, gas, funds, maxRefund, maxBorneOut, cheapest, pending })
  if (fact.sold > 0n) health.sell('sold', usdc(fact.sold), 'zendit')
  for (let count = 0; count < fact.refusals; count += 1) {
    const refusal: FundsRefusal = { reference: `r${count}`, at: now() }
    health.noteFundsRefusal('zendit', refusal)
  }
  return health
}

const offer = { source: { supplier: 'zendit', product: 'A' } }

function codeOf(health: ReturnType<typeof healthWith>, amount: Usdc, isFromFloat = true) {
  try {
    requireSold(health, { amount, offer }, isFromFloat)
    return 'sold'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

const [manifest] = manifests
const stranger = { isOperator: false }
const nobody = { token: undefined, isOpenHere: false }

/** What probes, agents that read the manifest, and a buyer of the cheapest offer are told. */
function toldBy(health: Health) {
  const { signal: draining } = new AbortController()
  const deps: StoreDeps = {
    ...{ health, draining, site: documentSite, keys: { published: [] }, operations: [] },
    fulfillmentDeadlineSeconds: 600,
  }
  const published: Partial<{ signals: Signals }> = manifest?.run(deps, stranger).body ?? {}
  return {
    live: live.run(deps, stranger).status ?? 200,
    ready: ready.run(deps, stranger).status,
    action: published.signals?.agent_action,
    bought: codeOf(health, cheapest),
  }
}

test('probes, manifest and buyers are told the same in every state', () => {
  const selling = { live: 200, ready: 200, bought: 'sold' }
  const paused = { live: 200, ready: 503, bought: 'store_paused' }
  const wrong: Fact[] = []
  const seen = new Set<string>()
  for (const fact of everyFact()) {
    const health = healthWith(fact)
    const isDown = Object.values(health.parts()).some(({ state }) => state === 'down')
    const { action, ...told } = toldBy(health)
    const agrees = isDeepStrictEqual(told, isDown ? paused : selling)
    if (!agrees || (action === 'stop') !== isDown) wrong.push(fact)
    seen.add(action ?? '')
  }
  expect(wrong).toEqual([])
  expect([...seen].sort()).toEqual(['pay', 'retry_later', 'stop'])
})

/** What a store that sells answers for this amount. */
function expectedCode(fact: Fact, amount: Usdc): string {
  const { float = 0n, funds = 0n, maxBorneOut = 100n, maxRefund, sold, pending } = fact
  const wallets = [float, funds].map((one) => one - sold - pending)
  const fits = [...wallets, maxRefund, maxBorneOut].every((most) => amount <= most)
  return fits ? 'sold' : 'offer_unavailable'
}

test('sells purchases exactly up to the tightest bound and refuses larger ones with the reason', () => {
  const wrong: object[] = []
  for (const fact of everyFact()) {
    const health = healthWith(fact)
    if (health.signals().agent_action === 'stop') continue
    const misjudged = amounts.filter((one) => codeOf(health, one) !== expectedCode(fact, one))
    if (misjudged.length > 0) wrong.push({ ...fact, misjudged })
  }
  expect(wrong).toEqual([])
})

test('the refund wallet does not limit purchases that are refunded from elsewhere', () => {
  const health = createHealth(now)
  health.noteCatalog(now())
  const cover = { float: usdc(40n), exposure: usdc(0n) }
  health.noteMeans({ ...ample, cover, maxRefund: usdc(50n), maxBorneOut: usdc(30n), cheapest })
  const codes = [40n, 50n, 51n].map((amount) => codeOf(health, usdc(amount), false))
  expect(codes).toEqual(['sold', 'sold', 'offer_unavailable'])
  expect(codeOf(health, usdc(11n))).toBe('offer_unavailable')
})

test('unconfirmed coin payments reserve at most half of the supplier’s wallet', () => {
  const health = createHealth(now)
  health.noteCatalog(now())
  const most = (unconfirmed: bigint) => {
    const open = { committed: usdc(10n), unconfirmed: usdc(unconfirmed) }
    health.noteMeans({ ...ample, funds: fundsOf(100n, open) })
    return health.bounds().find(({ by }) => by === 'supplier_funds')?.max
  }
  expect([0n, 50n, 51n, 1_000n].map(most)).toEqual([90n, 40n, 40n, 40n])
})

test('an empty wallet closes the store before any price is known', () => {
  const cover = { float: usdc(7n), exposure: usdc(7n) }
  const health = createHealth(now)
  health.noteCatalog(now())
  health.noteMeans({ ...ample, cover: { ...cover, float: usdc(11n) } })
  expect(health.signals().agent_action).toBe('pay')
  health.noteMeans({ ...ample, cover })
  expect(health.parts().refunds.state).toBe('down')
})

const dear: Gas = { balance: 5n, need: 5n, settlement: { cost: 11n, most: 10n } }

test.each([
  // A dear network stops x402 alone, the payment processor the coins alone.
  { gas: ample.gas, processor: undefined, told: [200, 'healthy', 'pay', 'sold', 'sold'] },
  { gas: ample.gas, processor: true, told: [200, 'healthy', 'pay', 'sold', 'sold'] },
  { gas: ample.gas, processor: false, told: [200, 'degraded', 'pay', 'sold', 'store_paused'] },
  { gas: dear, processor: undefined, told: [503, 'down', 'stop', 'too_costly', 'sold'] },
  { gas: dear, processor: true, told: [200, 'down', 'stop', 'too_costly', 'sold'] },
  { gas: dear, processor: false, told: [503, 'down', 'stop', 'too_costly', 'store_paused'] },
])(
  'a dear network and a silent processor each stop one way to pay: $told',
  ({ gas, processor, told }) => {
    const health = createHealth(now)
    health.noteCatalog(now())
    health.noteMeans({ ...ample, gas })
    for (let time = 0; time < 3; time += 1) {
      if (processor !== undefined) health.noteProcessor(processor, 'HTTP 500')
    }
    const { ready, action, bought } = toldBy(health)
    const { provider_health } = health.signals()
    expect([ready, provider_health, action, bought, codeOf(health, cheapest, false)]).toEqual(told)
    expect(health.takesCoins()).toBe(processor !== false)
    expect(health.parts().processor?.state).toBe(
      processor === undefined ? undefined : processor ? 'healthy' : 'down',
    )
    const isDear = health.parts().gas.detail.includes('MAX_SETTLEMENT_GWEI')
    expect(isDear).toBe(gas === dear)
  },
)

test('a silent processor and a supplier that is down leave the others selling for USDC', () => {
  const health = createHealth(now)
  health.noteCatalog(now())
  health.noteMeans({ ...ample, funds: new Map([...ample.funds, ['acme', 'unbounded']]) })
  for (let time = 0; time < 3; time += 1) {
    health.noteProcessor(false)
    health.noteSupplier('acme', true)
    health.noteSupplier('zendit', false, 'timeout')
  }
  expect(health.signals().agent_action).toBe('pay')
  expect(health.unsold(cheapest, 'acme', true)).toBeUndefined()
  expect(health.unsold(cheapest, 'zendit', true)?.type).toBe('supplier_paused')
  expect(health.unsold(cheapest, 'acme', false)?.type).toBe('paused')
})

test('/readyz agrees with the signals and names the part', async () => {
  const well: Fact = {
    failing: 'none',
    isCatalogRead: true,
    isLookedAt: true,
    held: false,
    float: usdc(10n),
    funds: usdc(10n),
    maxRefund: usdc(10n),
    maxBorneOut: undefined,
    gas: 5n,
    refusals: 1,
    sold: 0n,
    pending: 0n,
  }
  const ills: readonly [Partial<Fact>, string][] = [
    [{}, ''],
    [{ float: usdc(9n) }, 'refunds'],
    [{ maxRefund: usdc(9n) }, 'refunds'],
    [{ maxBorneOut: usdc(9n) }, 'chain'],
    [{ funds: usdc(9n) }, 'supplier'],
    [{ refusals: 2 }, 'supplier'],
    [{ gas: 0n }, 'gas'],
    [{ failing: 'chain' }, 'chain'],
    [{ failing: 'supplier' }, 'supplier'],
    [{ failing: 'database' }, 'database'],
    [{ held: true }, 'refunds'],
    [{ float: undefined }, 'refunds'],
    [{ funds: undefined }, 'supplier'],
    [{ gas: undefined }, 'gas'],
    [{ isLookedAt: false }, 'supplier refunds gas'],
    [{ isCatalogRead: false }, 'catalog'],
  ]
  for (const [ill, part] of ills) {
    const health = healthWith({ ...well, ...ill })
    const app = Fastify()
    const deps: Partial<StoreDeps> = { health, draining: new AbortController().signal }
    routeStoreOperations(app, deps as StoreDeps, [ready], nobody)
    const { statusCode, body } = await app.inject('/readyz')
    const { parts } = JSON.parse(body) as { parts: Record<string, { state: string }> }
    const down = Object.entries(parts).flatMap(([name, { state }]) =>
      state === 'down' ? [name] : [],
    )
    expect([statusCode, down]).toEqual(part === '' ? [200, []] : [503, part.split(' ')])
    expect(health.signals().agent_action).toBe(part === '' ? 'pay' : 'stop')
    await app.close()
  }
})
