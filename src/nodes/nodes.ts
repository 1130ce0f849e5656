import type { Keyring } from '../secrets/keyring.ts'
import { keyIdOf } from '../secrets/vault.ts'
import type { Settings } from './shared-settings.ts'

/** One process that serves the store, as the others see it. */
interface Node {
  readonly id: string
  /** Where it runs, for operators. All processes of one port have the same. */
  readonly name: string
  readonly version: string
  /** The keys it can read with, the newest first. */
  readonly keyIds: readonly string[]
}

/** A node that joins, with what it may do without. */
export interface Joining extends Node {
  readonly lostKeys: LostKeys
  /** Digests of its settings under one of its keys, by the key's id. */
  readonly settings: (keyId: string) => Settings
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
  readonly version: string
  /** Digests under the key that it used. */
  readonly settings: Settings
  /** Whether it was heard of within half a minute, and has not ended. */
  readonly isHere: boolean
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

/** A node that was not heard of for so long is not told of as one that serves. */
export const hereForSeconds = 30

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
  node: Pick<Joining, 'keyIds' | 'lostKeys'>,
  others: readonly (KeyUse & Pick<Other, 'keyIds'>)[],
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
    currentIndex: () => used,
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
