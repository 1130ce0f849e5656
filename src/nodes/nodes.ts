import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type LoopDeps, repeatWork } from '../lib/scheduling.ts'
import { createDigest, keyIdOf } from '../secrets/secrets.ts'

type Settings = Readonly<Record<string, string>>

/** Under each of its keys, by the key's id. Two nodes compare those of a common key. */
type KeyedSettings = Readonly<Record<string, Settings>>

interface NodeFacts {
  /** Host and port, for operators. */
  readonly name: string
  readonly version: string
  /** Of the key that it seals and signs with. */
  readonly keyId: string
  readonly settings: KeyedSettings
}

export interface Node extends NodeFacts {
  readonly id: string
}

export interface OtherNode extends NodeFacts {
  /** Whether it reported within half a minute and has not left. */
  readonly isHere: boolean
}

export interface NodeBook {
  /** Returns the others, and those that are gone but sealed with a key that this node lacks. */
  beat(node: Node): Promise<readonly OtherNode[]>
  leave(id: string): Promise<void>
}

interface NodesState {
  readonly processes: readonly { readonly node: string; readonly version: string }[]
  readonly disagreements: readonly { readonly node: string; readonly setting: string }[]
}

/** A node that was silent for this long no longer counts as serving. */
export const hereForSeconds = 30

const beatMs = 3_000

export interface Membership {
  readonly name: string
  readonly loop: Promise<void>
  /** At the last beat. */
  lastState(): NodesState
  /** Whether this is the first of the nodes by name, at the last beat. */
  isFirst(): boolean
  leave(): Promise<void>
}

interface JoinDeps extends LoopDeps {
  readonly config: {
    readonly port: number
    readonly secretsKeys: readonly Buffer[]
    readonly shared: Readonly<Record<string, string>>
  }
  readonly version: string
  readonly log: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
  }
}

export async function joinNodes(book: NodeBook, deps: JoinDeps): Promise<Membership> {
  const { config, version, log, signal, failed } = deps
  const [keyId = '', ...otherKeys] = config.secretsKeys.map(keyIdOf)
  const name = `${hostname()}:${config.port}`
  const node = { id: randomUUID(), name, version, keyId, settings: digestsOf(config) }
  const report = reporterOfDifferences(log)
  let lastState: NodesState
  const beat = async () => {
    const others = await book.beat(node)
    const here = others.filter(({ isHere }) => isHere)
    const disagreements = others.flatMap((other) => disagreementsWith(other, node))
    lastState = { processes: [node, ...here].map(processOf), disagreements }
    report(disagreements)
  }
  await beat()
  log.info({ keyId, otherKeys }, 'this key seals and signs')
  return {
    name,
    loop: repeatWork('nodes', beat, { everyMs: beatMs, signal, failed }),
    lastState: () => lastState,
    isFirst: () => lastState.processes.every((other) => other.node >= name),
    leave: () => book.leave(node.id).catch((error: unknown) => failed('nodes', error)),
  }
}

/** With the database but without a key, nobody can guess a setting, not even one with few possible values. */
function digestsOf({ secretsKeys, shared }: JoinDeps['config']): KeyedSettings {
  const under = (key: Buffer) => {
    const digest = createDigest([key], 'settings')
    const of = ([name, text]: [string, string]) => digest.of(`${name}=${text}`).slice(0, 16)
    return Object.fromEntries(Object.entries(shared).map((one) => [one[0], of(one)]))
  }
  return Object.fromEntries(secretsKeys.map((key) => [keyIdOf(key), under(key)]))
}

const processOf = ({ name, version }: NodeFacts) => ({ node: name, version })

/** Each must read with the key that the other seals with. */
function disagreementsWith(other: OtherNode, own: Node): NodesState['disagreements'] {
  const canRead = other.keyId in own.settings && own.keyId in other.settings
  const common = Object.keys(own.settings).find((id) => id in other.settings)
  const [ours, theirs] = [own.settings[common ?? ''] ?? {}, other.settings[common ?? ''] ?? {}]
  // A variable that only one of them knows is of another version.
  const differing = Object.keys(ours).filter((key) => key in theirs && ours[key] !== theirs[key])
  return [...(canRead ? [] : ['SECRETS_KEY']), ...(other.isHere ? differing : [])].map(
    (setting) => ({ node: other.name, setting }),
  )
}

function reporterOfDifferences(log: JoinDeps['log']) {
  let last = JSON.stringify({ settings: [], nodes: [] })
  return (disagreements: NodesState['disagreements']) => {
    const settings = [...new Set(disagreements.map(({ setting }) => setting))].sort()
    const nodes = [...new Set(disagreements.map(({ node }) => node))].sort()
    const text = JSON.stringify({ settings, nodes })
    if (text === last) return
    last = text
    if (settings.length === 0) log.info({}, 'the nodes agree on their settings again')
    else log.warn({ settings, nodes }, 'nodes of this store differ in settings that must agree')
  }
}
