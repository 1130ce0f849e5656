import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { repeat } from '../lib/repeat.ts'
import type { NodesState } from '../operations/gauges.ts'
import { type AgreedKeys, KeyMissing, type LostKeys, type NodeBook, type Other } from './nodes.ts'
import { differences, type Settings } from './shared-settings.ts'

/** How often a node reports that it is alive. A new key takes over within this time once all nodes have it. */
const beatMs = 3_000

export interface Membership {
  readonly work: Promise<void>
  /** Resolves when the nodes use a key that this node lacks. */
  readonly refused: Promise<KeyMissing>
  /** The nodes as they were at the last beat. */
  seen(): NodesState
  leave(): Promise<void>
}

interface Log {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
}

interface JoiningDeps {
  readonly config: { readonly port: number; readonly lostKeys: LostKeys }
  readonly keys: AgreedKeys
  readonly version: string
  /** The digests of this node's settings under one of its keys. */
  readonly settings: (key: Buffer) => Settings
  readonly log: Log
  readonly signal: AbortSignal
  readonly failed: (what: string, error: unknown) => void
}

/**
 * Registers this process with the other nodes, uses the key that all of them know, and reports settings in
 * which they differ.
 *
 * @throws KeyMissing when they use a key that this node lacks
 */
export async function joining(book: NodeBook, deps: JoiningDeps): Promise<Membership> {
  const { config, keys, version, log, signal, failed } = deps
  const id = randomUUID()
  const name = `${hostname()}:${config.port}`
  const digests = keys.keys.map(deps.settings)
  const settings = (keyId: string) => digests[keys.ids.indexOf(keyId)] ?? {}
  const node = { id, name, version, keyIds: keys.ids, settings, lostKeys: config.lostKeys }
  const refused = Promise.withResolvers<KeyMissing>()
  const tellKey = keyTeller(keys.ids, log)
  const tellSettings = settingsTeller(log)
  let seen: NodesState = { processes: [{ node: name, version }], disagreements: [] }
  const meet = async () => {
    const { keyId, others } = await book.beat(node)
    keys.use(keyId)
    tellKey(keyId, others)
    const here = others.filter(({ isHere }) => isHere)
    seen = {
      processes: [...seen.processes.slice(0, 1), ...here.map(processOf)],
      disagreements: disagreementsOf(settings, here),
    }
    tellSettings(seen.disagreements)
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
    seen: () => seen,
    leave: () => book.leave(id).catch((error: unknown) => failed('nodes', error)),
  }
}

const processOf = ({ name, version }: Other) => ({ node: name, version })

/** Each pair of node and setting once, however many processes a node has. */
function disagreementsOf(own: (keyId: string) => Settings, others: readonly Other[]) {
  const found = others.flatMap(({ name: node, keyId, settings }) =>
    differences(own(keyId), settings).map((setting) => [`${node} ${setting}`, { node, setting }]),
  ) as [string, NodesState['disagreements'][number]][]
  return [...new Map(found).values()]
}

/** Logs each change of the key in use, and of the nodes that still lack a newer key. */
function keyTeller(ids: readonly string[], log: Log) {
  const isNews = newsOf()
  return (keyId: string, others: readonly Other[]) => {
    const [newest = keyId] = ids
    const waiting = others.filter(({ keyIds }) => keyIds[0] !== newest).map(({ name }) => name)
    const facts = { keyId, ...(keyId !== newest && { newest, waitsFor: [...new Set(waiting)] }) }
    if (!isNews(facts)) return
    if (keyId === newest) log.info(facts, 'this key seals and signs')
    else log.info(facts, 'this key seals and signs until every node knows the newest')
  }
}

/** Logs once in which settings the nodes differ, and once when they agree again. */
function settingsTeller(log: Log) {
  const isNews = newsOf({ settings: [], nodes: [] })
  return (disagreements: NodesState['disagreements']) => {
    const settings = [...new Set(disagreements.map(({ setting }) => setting))].sort()
    const nodes = [...new Set(disagreements.map(({ node }) => node))].sort()
    if (!isNews({ settings, nodes })) return
    if (settings.length === 0) log.info({}, 'the nodes agree on their settings again')
    else log.warn({ settings, nodes }, 'nodes of this store differ in settings that must agree')
  }
}

/** Returns a function that tells whether its argument differs from that of the last call. */
function newsOf(first?: object) {
  let last = JSON.stringify(first)
  return (facts: object): boolean => {
    const text = JSON.stringify(facts)
    const isNew = text !== last
    last = text
    return isNew
  }
}
