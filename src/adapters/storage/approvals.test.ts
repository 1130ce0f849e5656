import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { newOrderId } from '../../../test/doubles/ids.ts'
import { maxOpenApprovals } from '../../../test/doubles/memory-approvals.ts'
import { usdc } from '../../lib/money.ts'
import type { Approval, ApprovalStore } from '../../orders/ports.ts'
import { createVault } from '../../secrets/secrets.ts'
import { createApprovalStore } from './limits.ts'
import { inTurn, twoNodes } from './stores.fixture.ts'

const nodes = twoNodes(createApprovalStore)
let store: ApprovalStore
let other: ApprovalStore
beforeEach(() => {
  ;({ store, other } = nodes())
})

const noon = new Date('2026-03-01T12:00:00Z')
const minutes = (count: number) => new Date(noon.getTime() + count * 60_000)
const vault = createVault([Buffer.alloc(32, 7)])
const payer = `0x${'aa'.repeat(20)}`

function wanted(changes: Partial<Approval> = {}): Approval {
  const id = randomUUID()
  return {
    id,
    tokenHash: `hash of ${id}`,
    payer,
    purchase: 'a card',
    amount: usdc(10n),
    most: usdc(12n),
    bought: vault.seal('a card', { order: id, field: 'approval' }),
    endsAt: minutes(15),
    ...{ decision: null, usedBy: null, ...changes },
  }
}

const bought = { payer, purchase: 'a card', amount: usdc(10n) }
const approved = { decision: 'APPROVED', now: minutes(1), endsAt: minutes(16) } as const
const declined = { ...approved, decision: 'DECLINED' } as const

/** The approval that stands for this one. */
async function requested(node: ApprovalStore, approval: Approval, now = noon): Promise<Approval> {
  const answer = await node.request(approval, now)
  if ('openUntil' in answer) throw new Error('too many are open')
  return answer
}

async function given(changes: Partial<Approval> = {}) {
  const approval = await requested(store, wanted(changes))
  expect(await store.decide(approval.tokenHash, approved)).toBe(true)
  return approval
}

it('are found by their token, on the other node too', async () => {
  const asked = await requested(store, wanted())
  expect(await other.find(asked.tokenHash)).toStrictEqual(asked)
  expect(await other.find('another')).toBeUndefined()
  await store.decide(asked.tokenHash, approved)
  expect(await other.find(asked.tokenHash)).toStrictEqual({
    ...asked,
    decision: 'APPROVED',
    endsAt: minutes(16),
  })
})

it('are asked for once while they are waited for', async () => {
  const first = await requested(store, wanted())
  expect(await other.request(wanted(), minutes(14))).toEqual(first)
  expect(await other.request(wanted({ amount: usdc(12n) }), minutes(1))).toEqual(first)
  for (const changes of [
    { purchase: 'another card' },
    { payer: `0x${'bb'.repeat(20)}` },
    { amount: usdc(13n), most: usdc(13n) },
  ]) {
    const another = wanted(changes)
    expect(await store.request(another, noon)).toEqual(another)
  }
  const later = wanted({ endsAt: minutes(30) })
  expect(await store.request(later, minutes(15))).toEqual(later)
})

it('are told to be declined until that is over, whatever the price', async () => {
  const first = await requested(store, wanted())
  expect(await store.decide(first.tokenHash, declined)).toBe(true)
  const costly = wanted({ amount: usdc(99n), most: usdc(99n) })
  expect(await other.request(costly, minutes(15))).toMatchObject({ decision: 'DECLINED' })
  expect(await store.use(bought, newOrderId(), minutes(2))).toBe(false)
  expect(await other.request(costly, minutes(16))).toEqual(costly)
})

it('are open for so many purchases of one payer, however many ask at once on two nodes', async () => {
  const ask = (node: ApprovalStore, changes: Partial<Approval>, now = noon) =>
    node.request(wanted(changes), now)
  const asked = await inTurn({ store, other }, maxOpenApprovals + 6, (node, at) =>
    ask(node, { purchase: `card ${at}` }),
  )
  const refused = asked.filter((one) => 'openUntil' in one)
  expect(refused).toEqual(Array(6).fill({ openUntil: minutes(15) }))
  expect(await ask(store, { payer: `0x${'bb'.repeat(20)}` })).toHaveProperty('tokenHash')
  const [first] = asked.filter((one) => 'tokenHash' in one)
  expect(await ask(other, { purchase: first?.purchase ?? '' })).toEqual(first)
  await store.decide(first?.tokenHash ?? '', declined)
  expect(await ask(store, { purchase: 'one more' })).toHaveProperty('tokenHash')
  expect(await ask(store, { purchase: 'too many' })).toHaveProperty('openUntil')
  const later = { purchase: 'later', endsAt: minutes(31) }
  expect(await ask(store, later, minutes(16))).toHaveProperty('tokenHash')
})

it('are decided once, and in time', async () => {
  const { tokenHash } = await requested(store, wanted())
  const said = await inTurn({ store, other }, 6, (node, at) =>
    node.decide(tokenHash, at % 2 ? approved : declined),
  )
  expect(said.filter(Boolean)).toHaveLength(1)
  const late = await requested(store, wanted({ purchase: 'late' }))
  const inTime = { ...approved, now: minutes(15) }
  expect(await store.decide(late.tokenHash, inTime)).toBe(false)
  expect(await store.decide('another', approved)).toBe(false)
})

it('are used by one of many orders at once, on two nodes', async () => {
  await given()
  const used = await inTurn({ store, other }, 16, (node) =>
    node.use(bought, newOrderId(), minutes(2)),
  )
  expect(used.filter(Boolean)).toHaveLength(1)
})

it.each([
  ['of nobody else', { payer: `0x${'bb'.repeat(20)}` }, 2],
  ['for nothing else', { purchase: 'another card' }, 2],
  ['for no higher price', { amount: usdc(13n) }, 2],
  ['not after their end', {}, 16],
])('are %s', async (_, changes, at) => {
  await given()
  expect(await store.use({ ...bought, ...changes }, newOrderId(), minutes(at))).toBe(false)
  expect(await store.use({ ...bought, amount: usdc(12n) }, newOrderId(), minutes(15))).toBe(true)
})

it('are forgotten once they have ended', async () => {
  const { tokenHash } = await requested(store, wanted())
  expect(await store.forget(minutes(15))).toBe(0)
  expect(await store.forget(minutes(16))).toBe(1)
  expect(await other.find(tokenHash)).toBeUndefined()
})
