import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { repeat } from './primitives/repeat.ts'
import type { Keyring } from './secrets/keyring.ts'
import { keyIdOf } from './secrets/vault.ts'

/** How often a node says that it lives. Another key is used this long after the last node knew it. */
const beatMs = 3_000

/** One process that serves the store, as the others see it. */
interface Node {
  readonly id: string
  /** Where it runs, for operators. All processes of one port have the same. */
  readonly name: string
  /** The keys it can read with, the newest first. */
  readonly keyIds: readonly string[]
}

/** A node that joins, with what it may do without. */
export interface Joining extends Node {
  readonly lostKeys: LostKeys
}

/** The ids of keys that nobody has any more, as their operator says; in the sandbox, any that this node lacks. */
export type LostKeys = readonly string[] | 'any'

/** Which key a node makes new things with. */
export interface KeyUse {
  readonly name: string
  readonly keyId: string
}

/** Another node that is alive, and the key that it made new things with when it was last heard of. */
export interface Other extends KeyUse {
  readonly keyIds: readonly string[]
}

/** What a node learns when it says that it lives. */
interface Meeting {
  /** The key that it uses from now on. */
  readonly keyId: string
  readonly others: readonly Other[]
}

/** Where the nodes of one store find each other. */
export interface NodeBook {
  /**
   * Notes that this node lives, and decides in the same step which key it uses from now on, so that
   * no node can join between the look at the others and the use of a key.
   *
   * @throws KeyMissing when the node lacks a key that is in use; it is not noted then
   */
  beat(node: Joining): Promise<Meeting>
  /** Notes that the node has ended. It counts on until one of its name joins, or for `aliveForMinutes`. */
  leave(id: string): Promise<void>
  /** The key that the nodes have agreed on last; none before the first node. */
  inForce(): Promise<KeyUse | undefined>
}

/**
 * A node that was not heard of for so long is no longer waited for. Long enough for a machine that is
 * started again: it comes back with the keys it had.
 */
export const aliveForMinutes = 15

/** This node cannot read what the others write. */
export class KeyMissing extends Error {
  override readonly name = 'KeyMissing'
  constructor({ keyId, name }: KeyUse) {
    super(
      `SECRETS_KEY lacks the key ${keyId}, which ${name} seals and signs with. Put the whole ` +
        'list of that node into SECRETS_KEY here, and start again. Nothing was sold without it. Only if ' +
        `that key is lost for good, and all that was sealed with it: set SECRETS_KEY_LOST=${keyId}.`,
    )
  }
}

/** Whether the node goes on without that key, and without what was sealed with it. */
export function doesWithout(
  { keyIds, lostKeys }: Pick<Joining, 'keyIds' | 'lostKeys'>,
  keyId: string,
): boolean {
  return !keyIds.includes(keyId) && (lostKeys === 'any' || lostKeys.includes(keyId))
}

/**
 * The key in force, or a newer one as soon as every node has it in front of that one. So nodes that are
 * given a new list one after the other change together, and lists in different orders change nothing.
 *
 * @param others the nodes that are alive
 * @throws KeyMissing
 */
export function keyToUse(
  node: Joining,
  others: readonly Other[],
  inForce: KeyUse | undefined,
): string {
  const current = inForce && !doesWithout(node, inForce.keyId) ? inForce : undefined
  const inUse = [...(current ? [current] : []), ...others]
  const missing = inUse.find(({ keyId }) => !node.keyIds.includes(keyId))
  if (missing) throw new KeyMissing(missing)
  const isInFront = (keyIds: readonly string[], id: string) =>
    keyIds.includes(id) &&
    (current === undefined || keyIds.indexOf(id) < keyIds.indexOf(current.keyId))
  const lists = [node, ...others].map(({ keyIds }) => keyIds)
  const newer = node.keyIds.find((id) => lists.every((keyIds) => isInFront(keyIds, id)))
  const chosen = newer ?? current?.keyId
  if (chosen === undefined) throw new Error('A node needs a key that the others know')
  return chosen
}

/** The operator's keys, with the one that the nodes have agreed on. */
export interface AgreedKeys extends Keyring {
  readonly ids: readonly string[]
  use(id: string): void
}

/** Until the nodes have agreed, the oldest key is used: the one that others know most likely. */
export function agreedKeys(keys: readonly Buffer[]): AgreedKeys {
  const ids = keys.map(keyIdOf)
  let used = keys.length - 1
  return {
    keys,
    ids,
    used: () => used,
    use(id) {
      used = ids.indexOf(id)
    },
  }
}

/**
 * The keys for a command that runs beside the nodes or instead of them.
 *
 * @throws KeyMissing
 */
export async function keysInForce(
  book: Pick<NodeBook, 'inForce'>,
  { secretsKeys, lostKeys }: { secretsKeys: readonly Buffer[]; lostKeys: LostKeys },
): Promise<AgreedKeys> {
  const keys = agreedKeys(secretsKeys)
  const inForce = await book.inForce()
  const [newest = ''] = keys.ids
  if (inForce === undefined || doesWithout({ keyIds: keys.ids, lostKeys }, inForce.keyId)) {
    keys.use(newest)
    return keys
  }
  if (!keys.ids.includes(inForce.keyId)) throw new KeyMissing(inForce)
  keys.use(inForce.keyId)
  return keys
}

export interface Membership {
  readonly work: Promise<void>
  /** Comes when a key is in use that this node lacks: it was away for too long. */
  readonly refused: Promise<KeyMissing>
  leave(): Promise<void>
}

interface JoiningDeps {
  readonly config: { readonly port: number; readonly lostKeys: LostKeys }
  readonly keys: AgreedKeys
  readonly log: { info(facts: object, message: string): void }
  readonly signal: AbortSignal
  readonly failed: (what: string, error: unknown) => void
}

/**
 * Makes this process known to the other nodes, and follows which key they all know.
 *
 * @throws KeyMissing when they use one that this node lacks
 */
export async function joining(
  book: NodeBook,
  { config: { port, lostKeys }, keys, log, signal, failed }: JoiningDeps,
): Promise<Membership> {
  const id = randomUUID()
  const node = { id, name: `${hostname()}:${port}`, keyIds: keys.ids, lostKeys }
  const refused = Promise.withResolvers<KeyMissing>()
  const tell = keyTeller(keys.ids, log)
  const meet = async () => {
    const { keyId, others } = await book.beat(node)
    keys.use(keyId)
    tell(keyId, others)
  }
  await meet()
  const task = async () => {
    try {
      await meet()
      return true
    } catch (error) {
      if (error instanceof KeyMissing) refused.resolve(error)
      else failed('nodes', error)
      return false
    }
  }
  return {
    work: repeat(task, { everyMs: beatMs, retryMs: beatMs, signal }),
    refused: refused.promise,
    leave: () => book.leave(id).catch((error: unknown) => failed('nodes', error)),
  }
}

/** Says once which key is used, and which nodes a newer one waits for. */
function keyTeller(ids: readonly string[], log: JoiningDeps['log']) {
  let told = ''
  return (keyId: string, others: readonly Other[]) => {
    const newest = ids[0] ?? keyId
    const waitsFor =
      keyId === newest
        ? []
        : [...new Set(others.filter((other) => other.keyIds[0] !== newest).map(({ name }) => name))]
    const facts = { keyId, ...(keyId !== newest && { newest, waitsFor }) }
    if (told === JSON.stringify(facts)) return
    told = JSON.stringify(facts)
    if (keyId === newest) log.info(facts, 'this key seals and signs')
    else log.info(facts, 'this key seals and signs until every node knows the newest')
  }
}
