import { expect, test, vi } from 'vitest'
import { joinNodes, type Node, type OtherNode } from './nodes.ts'

const [oldKey, newKey, foreignKey] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [
  Buffer,
  Buffer,
  Buffer,
]
const shared = { MARKUP_BPS: '0', PAY_TO: '"0xa"' }

/** What a node with these keys and settings tells of itself. */
async function nodeWith(secretsKeys: readonly Buffer[], settings = shared): Promise<OtherNode> {
  const beat = vi.fn(async () => [])
  await joinNodes({ beat, leave }, deps({ secretsKeys, shared: settings }))
  const [[node]] = beat.mock.calls as unknown as [[Node]]
  return { ...node, name: 'shop-2:8402', isHere: true }
}

const leave = async () => undefined
const log = { info: vi.fn(), warn: vi.fn() }
const deps = (config: { secretsKeys: readonly Buffer[]; shared: Record<string, string> }) => ({
  config: { port: 8_402, ...config },
  version: '1.0.0',
  log,
  signal: AbortSignal.abort(),
  failed: vi.fn(),
})

/** A node with the old key first and the new one second, that meets these others. */
async function join(others: readonly OtherNode[]) {
  vi.useFakeTimers()
  const stopping = new AbortController()
  const beat = async () => others
  const own = deps({ secretsKeys: [oldKey, newKey], shared })
  const membership = await joinNodes({ beat, leave }, { ...own, signal: stopping.signal })
  return {
    isFirst: membership.isFirst,
    differing: () => membership.lastState().disagreements.map(({ setting }) => setting),
    async stop() {
      stopping.abort()
      await membership.loop
      vi.useRealTimers()
    },
  }
}

const dearer = { ...shared, MARKUP_BPS: '500' }
const ofAnotherVersion = { PAY_TO: shared.PAY_TO, NEW: '1' } as unknown as typeof shared

test.each<[string, readonly Buffer[], typeof shared, string[]]>([
  ['with the same keys and settings', [oldKey, newKey], shared, []],
  ['that seals with a key that this one lists second', [newKey, oldKey], shared, []],
  ['with another price', [oldKey, newKey], dearer, ['MARKUP_BPS']],
  ['with another price and the new key in front', [newKey, oldKey], dearer, ['MARKUP_BPS']],
  ['of a version with other variables', [oldKey], ofAnotherVersion, []],
  ['that cannot read with the key of this one', [newKey], shared, ['SECRETS_KEY']],
  ['whose key this one cannot read with', [foreignKey, oldKey], shared, ['SECRETS_KEY']],
  ['without a common key', [foreignKey], dearer, ['SECRETS_KEY']],
])('compares itself with a node %s', async (_, keys, settings, expected) => {
  const { differing, stop } = await join([await nodeWith(keys, settings)])
  expect(differing()).toEqual(expected)
  await stop()
})

test('is the first by name, unless another one that is here is', async () => {
  const node = await nodeWith([oldKey])
  const isFirst = async (name: string, isHere: boolean) => {
    const { isFirst: asked, stop } = await join([{ ...node, name, isHere }])
    await stop()
    return asked()
  }
  const [before, after] = ['\u0000', '\uffff']
  expect(await isFirst(after, true)).toBe(true)
  expect(await isFirst(before, true)).toBe(false)
  expect(await isFirst(before, false)).toBe(true)
})

test('names the lost key of a node that is gone, and none of its settings', async () => {
  const gone = { ...(await nodeWith([foreignKey, oldKey], dearer)), isHere: false }
  const { differing, stop } = await join([gone])
  expect(differing()).toEqual(['SECRETS_KEY'])
  await stop()
})

test('shows no setting, and not the same digest of it under another key', async () => {
  const { settings } = await nodeWith([oldKey, newKey])
  const [one, other] = Object.values(settings)
  expect(one?.['MARKUP_BPS']).toMatch(/^[0-9a-f]{16}$/)
  expect(one?.['MARKUP_BPS']).not.toBe(other?.['MARKUP_BPS'])
})
