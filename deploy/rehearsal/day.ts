import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import type { startFront } from '../../test/harness/deployed.ts'
import { query } from '../../test/harness/query.ts'
import { crowdBuys } from './crowd.ts'
import { runProgram } from './node.ts'
import { type Parts, recordOf } from './parts.ts'
import { agentBuys, personBuys } from './shopping.ts'

export interface Wanted {
  /** The least number of vouchers that the crowd buys. */
  readonly orders: number
  readonly tell: (line: string) => void
}

type Front = Awaited<ReturnType<typeof startFront>>
type Node = Parts['nodes'][number]

const buyers = 4

/**
 * Rehearses a day of a store, and checks each step.
 *
 * @throws Error at the first step that fails
 */
export async function rehearse(parts: Parts, wanted: Wanted): Promise<void> {
  const { nodes } = parts
  const { tell } = wanted
  try {
    await startNodes(parts)
    const front = await parts.startFront()
    try {
      tell(`two nodes are ready behind ${parts.proxy}`)
      for (const bought of await agentBuys(parts)) tell(`bought in USDC: ${bought}`)
      for (const bought of await personBuys(parts)) tell(`bought in ${bought}`)
      await underLoad(parts, front, wanted)
      const unreadyMs = await databaseDies(parts)
      tell(`the database died: /readyz said 503 after ${unreadyMs.map(seconds).join(' and ')}`)
      await databaseIsLost(parts, front, tell)
      await examined(parts, tell)
    } finally {
      await front.stop()
    }
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

/** Starts one node after the other, as an operator does. */
async function startNodes({ nodes, settings }: Parts): Promise<void> {
  for (const node of nodes) await node.start(settings)
}

/** A crowd buys while the nodes are restarted one after the other, with a new key. */
async function underLoad(parts: Parts, front: Front, { orders, tell }: Wanted): Promise<void> {
  let isRestarted = false
  const goesOn = ({ delivered }: { readonly delivered: number }) =>
    !isRestarted || delivered < orders
  const buying = crowdBuys(front.ask, parts, buyers, goesOn)
  // Report the failure of a buyer after the restarts, not in the middle of one.
  buying.catch(() => undefined)
  await withNewKey(parts, front)
  tell('restarted both nodes with a new key')
  isRestarted = true
  const { delivered, askedAgain } = await buying
  tell(`meanwhile ${buyers} bought: ${delivered} delivered, ${askedAgain} were told to try again`)
}

/** Lists a new key last at one node after the other, and then first. */
async function withNewKey(parts: Parts, front: Front): Promise<void> {
  const { SECRETS_KEY: oldKey } = parts.settings
  const newKey = randomBytes(32).toString('base64')
  for (const keys of [`${oldKey},${newKey}`, `${newKey},${oldKey}`]) {
    parts.settings = { ...parts.settings, SECRETS_KEY: keys }
    for (const node of parts.nodes) await restarted(parts, node, front)
  }
}

/** Restarts a node as in docs/operators/going-live.md: nginx is reconfigured, Caddy notices by itself. */
async function restarted({ proxy, settings }: Parts, node: Node, front: Front): Promise<void> {
  const line = `server ${node.at}`
  if (proxy === 'nginx') await front.change((text) => text.replace(line, `${line} down`))
  await node.stop()
  await node.start(settings)
  if (proxy === 'nginx') await front.change((text) => text)
}

/** Measures how long each node needs to notice that the database is down. */
async function databaseDies({ database, nodes }: Parts): Promise<readonly number[]> {
  const diedAt = performance.now()
  const dying = database.kill()
  const seen = await Promise.all(
    nodes.map((node) => node.untilStatus(503).then(() => performance.now() - diedAt)),
  )
  await dying
  await database.startAgain()
  await Promise.all(nodes.map((node) => node.untilStatus(200)))
  return seen
}

/** The database is lost, and the backup is older than the last purchases. */
async function databaseIsLost(parts: Parts, front: Front, tell: Wanted['tell']): Promise<void> {
  const { database, dir, nodes } = parts
  const lost = recordOf(parts)
  const file = join(dir, 'kiosk402.dump')
  await database.backUp(lost, file)
  await crowdBuys(front.ask, parts, 1, ({ delivered }) => delivered < 3)
  const bought = await agentBuys(parts)
  tell(`backed up, and sold ${3 + bought.length} more, the last of them ${bought.at(-1)}`)
  await Promise.all(nodes.map((node) => node.stop()))
  const everything = await ordersIn(lost)

  const restored = await database.create('restored')
  await database.restore(file, restored)
  parts.settings = { ...parts.settings, DATABASE_URL: restored }
  const missing = everything.length - (await ordersIn(restored)).length
  await reconciled(parts, '--rebuild')
  const found = await ordersIn(restored)
  const differing = everything.filter((order) => !found.includes(order))
  if (differing.length > 0) throw new Error(`Not as before:\n${differing.join('\n')}`)
  tell(`restored the backup, and reconcile --rebuild found the ${missing} orders it lacked`)
  await startNodes(parts)
}

async function ordersIn(databaseUrl: string): Promise<readonly string[]> {
  const rows = await query(databaseUrl, 'select id, state, refund_state from orders order by id')
  return rows.map(({ id, state, refund_state }) => `${id} ${state} ${refund_state ?? ''}`)
}

/** Runs the doctor from outside, and compares the records. */
async function examined(parts: Parts, tell: Wanted['tell']): Promise<void> {
  const trusting = { NODE_EXTRA_CA_CERTS: parts.certificate }
  const doctor = await runProgram(['src/commands/main.ts', 'doctor', parts.publicUrl], trusting)
  if (doctor.code !== 0) throw new Error(`The doctor ended with ${doctor.code}:\n${doctor.said}`)
  tell('kiosk402 doctor ended with 0')
  tell(`kiosk402 reconcile ended with 0: ${await reconciled(parts)}`)
}

/** Compares the records once all payments are in a safe block; returns the result. */
async function reconciled(parts: Parts, ...more: string[]): Promise<string> {
  const reader = chainClient(parts.chain.rpcUrl)
  const newest = await reader.getBlockNumber()
  while ((await reader.getBlock({ blockTag: 'safe' })).number < newest) await delay(200)
  const args = ['reconcile', '--settle-minutes', '0', ...more]
  const [node] = parts.nodes
  const { code, said } = await node.command(parts.settings, args)
  if (code !== 0) throw new Error(`kiosk402 ${args.join(' ')} ended with ${code}:\n${said}`)
  return said.trimEnd().split('\n').at(-1)?.trim() ?? ''
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
