import { beforeEach, expect, test } from 'vitest'
import { handClock } from '../../test/doubles/orders.ts'
import { createIncidentBook } from '../adapters/storage/incidents.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { watchIncidents } from './incidents.ts'
import type { Channel, Incident, IncidentBook } from './ports.ts'
import { ills, wellState } from './store-state.fixture.ts'
import type { StoreState } from './store-state.ts'

const minute = 60_000
const day = 24 * 60 * minute
const postgres = migratedPostgres()
const ill = (condition: string) => wellState(ills[condition]?.[0])
const { parts } = wellState()
const databaseDown = wellState({
  parts: { ...parts, database: { state: 'down', detail: 'It does not answer.' } },
})

/** Two nodes of a store, a mail server, and a clock. */
async function open() {
  const pools = await postgres.openForTwo()
  const clock = handClock()
  const mails: string[] = []
  const mail = { isAway: false }
  const tell = async ({ condition, subject, recoveredAt }: Incident) => {
    if (mail.isAway) throw new Error('ECONNREFUSED')
    mails.push([condition, subject, recoveredAt ? 'over' : ''].filter(Boolean).join(' '))
  }
  const failures: string[] = []
  const nodes = pools.map((pool, at) => {
    const seen: { state: StoreState; isCut: boolean } = { state: wellState(), isCut: false }
    const book: IncidentBook = createIncidentBook(pool)
    const orCut = <A extends unknown[], T>(call: (...args: A) => Promise<T>) => {
      return async (...args: A) => {
        if (seen.isCut) throw new Error('the database is away')
        return call(...args)
      }
    }
    const look = watchIncidents({
      readState: async () => seen.state,
      book: {
        note: orCut(book.note),
        noteTold: orCut(book.noteTold),
        claimDue: orCut(book.claimDue),
        end: orCut(book.end),
      },
      tellers: new Map<Channel, typeof tell>([['mail', tell]]),
      isFirst: () => at === 0,
      now: clock.now,
      failed: (what) => failures.push(what),
    })
    return { seen, look: () => look().catch(() => failures.push('look')), book }
  })
  const [pool] = pools
  /** Lets time pass, by the clocks of the nodes and of the database. */
  async function pass(ms: number) {
    clock.pass(ms)
    const earlier = (table: string, columns: readonly string[]) =>
      pool.query(
        `update ${table} set ${columns.map((name) => `${name} = ${name} - $1 * interval '1 ms'`).join()}`,
        [ms],
      )
    await earlier('incidents', ['opened_at', 'seen_at', 'recovered_at'])
    await earlier('incident_notices', ['due_at', 'locked_until'])
  }
  /** Both nodes look every half minute. */
  async function live(ms: number) {
    for (let passed = 0; passed < ms; passed += minute / 2) {
      await Promise.all(nodes.map(({ look }) => look()))
      await pass(minute / 2)
    }
  }
  const see = (state: StoreState, isCut = false) => {
    for (const { seen } of nodes) Object.assign(seen, { state, isCut })
  }
  const close = async () => void (await Promise.all(pools.map((one) => one.end())))
  return { nodes, mails, mail, failures, pass, live, see, pool, close }
}

let store: Awaited<ReturnType<typeof open>>

beforeEach(async () => {
  store = await open()
  return store.close
})

test('an incident is told once for the whole store, and once that it is over', async () => {
  store.see(ill('refund_failed'))
  await store.live(30 * minute)
  expect(store.mails).toEqual(['refund_failed'])
  store.see(wellState())
  await store.live(30 * minute)
  expect(store.mails).toEqual(['refund_failed', 'refund_failed over'])
  store.see(ill('refund_failed'))
  await store.live(5 * minute)
  expect(store.mails).toHaveLength(3)
})

test('what only one node sees is told, and is not over while it sees it', async () => {
  Object.assign(store.nodes[1]?.seen ?? {}, { state: ill('part_down') })
  await store.live(30 * minute)
  expect(store.mails).toEqual(['part_down gas'])
})

test('what does not last is not told, and what comes and goes is one incident', async () => {
  store.see(ill('part_down'))
  await store.live(minute)
  store.see(wellState())
  await store.live(10 * minute)
  expect(store.mails).toEqual([])
  for (let time = 0; time < 5; time += 1) {
    store.see(ill('part_down'))
    await store.live(2 * minute)
    store.see(wellState())
    await store.live(2 * minute)
  }
  expect(store.mails).toEqual(['part_down gas'])
})

test('what cannot be read meanwhile is not over', async () => {
  store.see(ill('refund_failed'))
  await store.live(5 * minute)
  store.see(wellState({ orders: undefined }))
  await store.live(30 * minute)
  expect(store.mails).toEqual(['refund_failed'])
})

test('a mail server that is away for a day loses nothing: one mail an incident', async () => {
  store.mail.isAway = true
  store.see(ill('refund_failed'))
  await store.live(10 * minute)
  store.see(ill('run_old'))
  await store.live(20 * minute)
  for (let hour = 0; hour < 24; hour += 1) {
    await store.pass(day / 24 - minute)
    await store.live(minute)
  }
  expect(store.failures.length).toBeGreaterThan(20)
  store.mail.isAway = false
  await store.live(15 * minute)
  expect([...store.mails].sort()).toEqual(['refund_failed over', 'run_old reconcile'])
})

test('a node that dies while it tells leaves it to another, after a minute', async () => {
  store.see(ill('refund_failed'))
  const [node] = store.nodes
  await node?.look()
  await store.pass(2 * minute)
  Object.assign(node?.seen ?? {}, { isCut: true })
  await node?.book.note(
    [{ condition: 'refund_failed', subject: '', text: 'x', isDue: true }],
    ['mail'],
  )
  expect(await node?.book.claimDue(['mail'])).toHaveLength(1)
  await store.nodes[1]?.look()
  expect(store.mails).toEqual([])
  await store.pass(minute)
  await store.nodes[1]?.look()
  expect(store.mails).toEqual(['refund_failed'])
})

test('an outage of the database is told by the first node, and recorded when it is back', async () => {
  store.see(databaseDown, true)
  await store.live(10 * minute)
  expect(store.mails).toEqual(['part_down database'])
  store.see(wellState())
  await store.live(2 * minute)
  store.see(databaseDown, true)
  await store.live(2 * minute)
  store.see(wellState())
  await store.live(20 * minute)
  expect(store.mails).toEqual(['part_down database', 'part_down database over'])
})

test('a database that is down for the health checks alone is told once too', async () => {
  store.see(databaseDown)
  await store.live(10 * minute)
  expect(store.mails).toEqual(['part_down database'])
  store.see(wellState())
  await store.live(10 * minute)
  expect(store.mails).toEqual(['part_down database', 'part_down database over'])
})

test('an outage of database and mail server is told when both are back', async () => {
  store.mail.isAway = true
  store.see(databaseDown, true)
  await store.live(5 * minute)
  store.mail.isAway = false
  store.see(wellState())
  await store.live(minute)
  expect(store.mails).toEqual(['part_down database'])
  await store.live(10 * minute)
  expect(store.mails).toEqual(['part_down database', 'part_down database over'])
})

test('each channel is told on its own', async () => {
  const [node] = store.nodes
  const sighting = { condition: 'catalog_old', subject: '', text: 'x', isDue: true }
  await node?.book.note([sighting], ['mail', 'webhook'])
  const [mail] = (await node?.book.claimDue(['mail'])) ?? []
  if (mail) await node?.book.end(mail, undefined)
  expect(await node?.book.claimDue(['mail', 'webhook'])).toMatchObject([{ channel: 'webhook' }])
})
