import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { aliveForMinutes, type Joining, KeyMissing, type NodeBook } from '../../src/nodes/nodes.ts'

export interface NodeBookHarness {
  /** The same book, as two nodes see it. */
  readonly books: readonly [NodeBook, NodeBook]
  /** Lets this many minutes pass. */
  pass(minutes: number): unknown
}

const [oldKey, newKey] = ['0'.repeat(12), 'e'.repeat(12)]

const node = (name: string, ...keyIds: string[]): Joining => ({
  ...{ id: randomUUID(), name, version: '1.0.0', keyIds, lostKeys: [] },
  settings: (keyId) => ({ MARKUP_BPS: `500 under ${keyId}` }),
})

/** The contract of `NodeBook`, also for two nodes at once. */
export function describeNodeBook(
  name: string,
  start: () => Promise<NodeBookHarness> | NodeBookHarness,
): void {
  describe(`the book of nodes ${name}`, () => {
    let harness: NodeBookHarness
    beforeEach(async () => {
      harness = await start()
    })
    const keyOf = async (book: NodeBook, one: Joining) => (await book.beat(one)).keyId

    test('uses a new key once every node knows it, and not before', async () => {
      const [book, other] = harness.books
      expect(await book.inForce()).toBeUndefined()
      const a = node('a', oldKey)
      const b = node('b', oldKey)
      expect(await keyOf(book, a)).toBe(oldKey)
      expect(await keyOf(other, b)).toBe(oldKey)
      await book.leave(a.id)
      const a2 = node('a', newKey, oldKey)
      expect(await book.beat(a2)).toEqual({
        keyId: oldKey,
        others: [
          {
            ...{ name: 'b', version: '1.0.0', keyIds: [oldKey], keyId: oldKey, isHere: true },
            settings: { MARKUP_BPS: `500 under ${oldKey}` },
          },
        ],
      })
      await other.leave(b.id)
      expect(await keyOf(book, a2)).toBe(oldKey)
      const b2 = node('b', newKey, oldKey)
      expect(await keyOf(other, b2)).toBe(newKey)
      expect(await book.inForce()).toEqual({ name: 'b', keyId: newKey })
      expect(await keyOf(book, a2)).toBe(newKey)
    })

    test('turns back to an older key once every node has that one in front', async () => {
      const [book, other] = harness.books
      const a = node('a', newKey, oldKey)
      const b = node('b', oldKey, newKey)
      expect(await keyOf(book, a)).toBe(newKey)
      expect(await keyOf(other, b)).toBe(newKey)
      expect(await keyOf(book, a)).toBe(newKey)
      await book.leave(a.id)
      expect(await keyOf(book, node('a', oldKey, newKey))).toBe(oldKey)
      expect(await keyOf(other, b)).toBe(oldKey)
    })

    test('takes no node that lacks the key in use, also when all others are gone', async () => {
      const [book, other] = harness.books
      const a = node('a', newKey, oldKey)
      await book.beat(a)
      await expect(other.beat(node('b', oldKey))).rejects.toThrow(KeyMissing)
      await expect(other.beat(node('b', oldKey))).rejects.toThrow(
        `SECRETS_KEY lacks the key ${newKey}`,
      )
      await book.leave(a.id)
      await harness.pass(aliveForMinutes + 1)
      await expect(other.beat(node('b', oldKey))).rejects.toThrow(KeyMissing)
      expect(await keyOf(other, node('b', newKey))).toBe(newKey)
    })

    test('takes a node without a key that is lost, and stops those that have it', async () => {
      const [book, other] = harness.books
      const a = node('a', newKey)
      await book.beat(a)
      const b = node('b', oldKey)
      await expect(other.beat({ ...b, lostKeys: [oldKey] })).rejects.toThrow(KeyMissing)
      expect(await other.beat({ ...b, lostKeys: [newKey] })).toEqual({ keyId: oldKey, others: [] })
      await expect(book.beat(a)).rejects.toThrow(KeyMissing)
      expect(await keyOf(book, { ...a, lostKeys: 'any' })).toBe(newKey)
    })

    test('waits for a silent node, then goes on without it, and stops it when it comes back', async () => {
      const [book, other] = harness.books
      const frozen = node('frozen', oldKey)
      await other.beat(frozen)
      const a = node('a', newKey, oldKey)
      await harness.pass(aliveForMinutes - 1)
      expect(await keyOf(book, a)).toBe(oldKey)
      await harness.pass(2)
      expect(await keyOf(book, a)).toBe(newKey)
      await expect(other.beat(frozen)).rejects.toThrow(KeyMissing)
    })

    test('tells of another node what it runs, under the key that it uses, and whether it is here', async () => {
      const [book, other] = harness.books
      const a = node('a', oldKey)
      const b = { ...node('b', newKey, oldKey), version: '1.1.0' }
      await book.beat(a)
      await other.beat(b)
      const seen = async () => (await book.beat(a)).others
      expect(await seen()).toMatchObject([
        { version: '1.1.0', settings: { MARKUP_BPS: `500 under ${oldKey}` }, isHere: true },
      ])
      await harness.pass(1)
      expect(await seen()).toMatchObject([{ name: 'b', isHere: false }])
      await other.beat(b)
      expect(await seen()).toMatchObject([{ name: 'b', isHere: true }])
      await other.leave(b.id)
      expect(await seen()).toMatchObject([{ name: 'b', isHere: false }])
    })

    test('lets one of two through that join at once with keys the other lacks', async () => {
      const [book, other] = harness.books
      const joined = await Promise.allSettled([
        book.beat(node('a', oldKey)),
        other.beat(node('b', newKey)),
      ])
      expect(joined.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })
  })
}
