import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { freePort } from '../port.ts'
import { readFileIfThere, writePrivateFile } from '../private-file.ts'
import type { ProcessId } from '../process.ts'
import { isAlive, launch, logTail, terminate, waitUntil } from '../process.ts'
import { anvilArgs, anvilProgram, CHAIN_ID } from './anvil.ts'
import { isOurs } from './genesis.ts'
import type { ChainKeys } from './keys.ts'
import { chainClient } from './rpc.ts'
import { saveLastState, stateFileIn } from './state.ts'

const nodeRecord = z.object({
  process: z.object({ pid: z.int(), birth: z.string() }),
  port: z.int().min(1).max(65_535),
})
type NodeRecord = z.infer<typeof nodeRecord>

export type ChainNode = { process: ProcessId; rpcUrl: string; adopted: boolean }

export type NodeOptions = {
  /** The chain's own folder, which must exist. */
  chainDir: string
  keys: ChainKeys
  /** Requires a port. Undefined: the last one if it is free, else another. */
  port: number | undefined
}

/** In milliseconds. The node first reads the saved state, which has more than 100 MB after a long run. */
const START_MS = 60_000
const ANSWER_MS = 5_000

/**
 * The running node of this folder: the one that an earlier store left running, if it answers and has our token, else a
 * new one with the saved state.
 */
export async function adoptOrStart(options: NodeOptions): Promise<ChainNode> {
  const record = await readRecord(options.chainDir)
  return (record && (await adopt(record, options))) ?? start(options, record?.port)
}

export function stopNode(process: ProcessId): Promise<void> {
  return terminate(process, [
    ['SIGTERM', 3_000],
    ['SIGKILL', 10_000],
  ])
}

/** Adopts a node that was left running. One that cannot be used is stopped, and its state saved if it is ours. */
async function adopt(record: NodeRecord, options: NodeOptions): Promise<ChainNode | undefined> {
  const { process, port } = record
  if (!isAlive(process)) return undefined
  const rpcUrl = rpcUrlOf(port)
  const client = chainClient(rpcUrl)
  const answered = await waitUntil(() => answers(rpcUrl), ANSWER_MS, 50)
  const ours = answered && (await isOurs(client, options.keys))
  if (ours && (options.port ?? port) === port) return { process, rpcUrl, adopted: true }
  if (ours) await saveLastState(client, options.chainDir)
  await stopNode(process)
  return undefined
}

async function start(options: NodeOptions, lastPort: number | undefined): Promise<ChainNode> {
  const deadline = performance.now() + START_MS
  for (;;) {
    const port = await freePort(options.port ?? lastPort)
    if (options.port !== undefined && port !== options.port) {
      throw new Error(`Port ${options.port}, which the sandbox chain is to use, is taken.`)
    }
    const process = await launchNode(options.chainDir, port)
    if (await comesUp(process, rpcUrlOf(port))) {
      return { process, rpcUrl: rpcUrlOf(port), adopted: false }
    }
    await stopNode(process)
    const trouble = logTail(logFileIn(options.chainDir))
    const isPassing = trouble.includes('Address already in use') && performance.now() < deadline
    if (!isPassing) throw startFailed(options.chainDir, trouble)
    await delay(50)
  }
}

async function launchNode(chainDir: string, port: number): Promise<ProcessId> {
  const state = stateFileIn(chainDir)
  const process = await launch({
    command: await anvilProgram(),
    args: anvilArgs(port, existsSync(state) ? state : undefined),
    logFile: logFileIn(chainDir),
  })
  const record: NodeRecord = { process, port }
  await writePrivateFile(recordFileIn(chainDir), `${JSON.stringify(record)}\n`)
  return process
}

async function comesUp(process: ProcessId, rpcUrl: string): Promise<boolean> {
  await waitUntil(async () => !isAlive(process) || (await answers(rpcUrl)), START_MS, 5)
  return isAlive(process) && answers(rpcUrl)
}

/** Whether the node answers. A refused, reset or silent connection means that it does not, or not yet. */
async function answers(rpcUrl: string): Promise<boolean> {
  try {
    return (await chainClient(rpcUrl).getChainId()) === CHAIN_ID
  } catch {
    return false
  }
}

function startFailed(chainDir: string, trouble: string): Error {
  return new Error(
    `The sandbox chain did not start. It wrote to ${logFileIn(chainDir)}:\n${trouble}\n` +
      `If its saved state is damaged, remove ${stateFileIn(chainDir)} to begin a new chain.`,
  )
}

async function readRecord(chainDir: string): Promise<NodeRecord | undefined> {
  const text = await readFileIfThere(recordFileIn(chainDir))
  return text === undefined ? undefined : nodeRecord.parse(JSON.parse(text))
}

function rpcUrlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

function recordFileIn(chainDir: string): string {
  return join(chainDir, 'node.json')
}

function logFileIn(chainDir: string): string {
  return join(chainDir, 'anvil.log')
}
