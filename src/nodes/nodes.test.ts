import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryNodes } from '../../test/doubles/memory-nodes.ts'
import { keyIdOf } from '../secrets/vault.ts'
import { aliveForMinutes, type Joining, KeyMissing, keysInForce, keyToUse } from './nodes.ts'

const keyIds = fc.uniqueArray(fc.constantFrom('k1', 'k2', 'k3'), { minLength: 1 })
const step = fc.record({
  who: fc.nat({ max: 2 }),
  does: fc.constantFrom('beats', 'restarts', 'ends', 'falls silent' as const),
  keyIds,
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Three nodes that start with any keys, end, and fall silent for longer than they count as alive. */
function openWorld() {
  let at = Date.now()
  const book = memoryNodes(() => new Date(at))
  const alive = new Map<number, { readonly node: Joining; readonly used: string }>()

  async function beat(who: number, node: Joining): Promise<void> {
    alive.delete(who)
    const met = await book.beat(node).catch((error: unknown) => {
      if (!(error instanceof KeyMissing)) throw error
    })
    if (met !== undefined) alive.set(who, { node, used: met.keyId })
  }
  async function beatOthers(who: number): Promise<void> {
    const others = [...alive].filter(([other]) => other !== who)
    for (const [other, { node }] of others) await beat(other, node)
  }
  async function end(who: number): Promise<void> {
    const own = alive.get(who)
    alive.delete(who)
    if (own) await book.leave(own.node.id)
  }
  const does: Record<string, (step: Step) => Promise<void>> = {
    beats: async ({ who }) => {
      const own = alive.get(who)
      if (own) await beat(who, own.node)
    },
    ends: ({ who }) => end(who),
    restarts: async ({ who, keyIds }) => {
      await end(who)
      await beat(who, {
        id: randomUUID(),
        name: `node ${who}`,
        keyIds,
        lostKeys: [],
        version: '1.0.0',
        settings: () => ({}),
      })
    },
    // The others keep beating while this one is silent. It counts again only after a beat of its own.
    'falls silent': async ({ who }) => {
      const own = alive.get(who)
      for (const minutes of [aliveForMinutes - 1, 2]) {
        at += minutes * 60_000
        await beatOthers(who)
      }
      if (own) await beat(who, own.node)
    },
  }
  return { alive, take: (one: Step) => does[one.does]?.(one) }
}

test('whatever nodes do, none uses a key that another living one lacks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { alive, take } = openWorld()
      for (const one of steps) {
        await take(one)
        const readers = [...alive.values()]
        for (const { used } of readers)
          for (const { node } of readers) expect(node.keyIds).toContain(used)
      }
    }),
    { numRuns: 500 },
  )
})

const node = { keyIds: ['old'], lostKeys: [] }

test('says where the missing key is, and how to go on when it is lost', () => {
  const inForce = { name: 'shop-2:8402', keyId: 'new' }
  expect(() => keyToUse(node, [], inForce)).toThrow(
    /^SECRETS_KEY lacks the key new, which shop-2:8402 seals and signs with\. .* SECRETS_KEY_LOST=new\.$/,
  )
  expect(keyToUse({ ...node, lostKeys: ['new'] }, [], inForce)).toBe('old')
})

test('a command uses the key in force, and not a newer one that nodes may lack', async () => {
  const [newest, older] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const secretsKeys = [newest, older]
  const used = async (keyId: string | undefined, lostKeys: readonly string[] = []) => {
    const inForce = async () => (keyId === undefined ? undefined : { name: 'shop', keyId })
    const keys = await keysInForce({ inForce }, { secretsKeys, lostKeys })
    return keys.keys[keys.currentIndex()]
  }
  expect(await used(keyIdOf(older))).toBe(older)
  expect(await used(undefined)).toBe(newest)
  await expect(used('000000000000')).rejects.toThrow(KeyMissing)
  expect(await used('000000000000', ['000000000000'])).toBe(newest)
})
