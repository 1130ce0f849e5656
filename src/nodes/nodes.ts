import type { Keyring } from '../secrets/keyring.ts'
import { keyIdOf } from '../secrets/vault.ts'
import type { Settings } from './shared-settings.ts'

/** A process of the store, as the others see it. */
interface Node {
  readonly id: string
  /** Host and port, for operators. All processes behind one port have the same name. */
  readonly name: string
  readonly version: string
  /** The ids of the keys that it can read with, the newest first. */
  readonly keyIds: readonly string[]
}

/** A node that joins, with the keys that it may do without. */
export interface Joining extends Node {
  readonly lostKeys: LostKeys
  /** Digests of its settings under one of its keys, by the key's id. */
  readonly settings: (keyId: string) => Settings
}

/** The ids of keys that the operator has declared lost. `any`, in the sandbox: every key that this node lacks. */
export type LostKeys = readonly string[] | 'any'

/** The key that a node seals and signs with. */
export interface KeyUse {
  readonly name: string
  readonly keyId: string
}

/** Another node that is alive, and the key that it used at its last beat. */
export interface Other extends KeyUse {
  readonly keyIds: readonly string[]
  readonly version: string
  /** Its digests under that key. */
  readonly settings: Settings
  /** Whether its last beat was within half a minute and it has not left. */
  readonly isHere: boolean
}

/** The result of a beat. */
interface Meeting {
  /** The key that it uses from now on. */
  readonly keyId: string
  readonly others: readonly Other[]
}

/** The register in which the nodes of one store find each other. */
export interface NodeBook {
  /**
   * Records that this node is alive and, in the same step, decides which key it uses from now on, so that no
   * node can join between the look at the others and the use of a key.
   *
   * @throws KeyMissing when the node lacks a key that is in use; nothing is recorded then
   */
  beat(node: Joining): Promise<Meeting>
  /** Records that the node has ended. It still counts until a node of its name joins, or for `aliveForMinutes`. */
  leave(id: string): Promise<void>
  /** The key that the nodes agreed on last; undefined before the first node. */
  inForce(): Promise<KeyUse | undefined>
}

/**
 * A node that was silent for this long no longer counts. Long enough for a machine to restart, because it
 * comes back with the keys that it had.
 */
export const aliveForMinutes = 15

/** A node that was silent for this long is no longer listed as serving. */
export const hereForSeconds = 30

/** This node lacks the key that the others seal and sign with. */
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

/** Whether the node lacks that key and goes on without what was sealed with it. */
export function doesWithout(
  { keyIds, lostKeys }: Pick<Joining, 'keyIds' | 'lostKeys'>,
  keyId: string,
): boolean {
  return !keyIds.includes(keyId) && (lostKeys === 'any' || lostKeys.includes(keyId))
}

/**
 * The key in force, or a newer one as soon as every node lists it before that one. So nodes that get a new
 * list one after the other switch together, and lists in different orders change nothing.
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

/** The operator's keys, with the key that the nodes have agreed on. */
export interface AgreedKeys extends Keyring {
  readonly ids: readonly string[]
  use(id: string): void
}

/** Until the nodes have agreed, the oldest key is used, which the others most likely know. */
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
