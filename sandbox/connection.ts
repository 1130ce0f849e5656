import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { readFileIfThere, writePrivateFile } from './private-file.ts'
import { identify, isAlive, processId } from './process.ts'
import type { SandboxParts } from './sandbox.ts'

const record = z.object({
  process: processId,
  secretsKey: z.base64(),
  /** Not validated further: the same version of this program wrote it. */
  parts: z.custom<Omit<SandboxParts, 'secretsKey'>>((value) => typeof value === 'object'),
})

/**
 * Locks a data folder for this process: two stores at once would write to the same files.
 *
 * @throws if another store is running in the folder
 */
export async function lockFolder(dataDir: string): Promise<void> {
  const file = join(dataDir, 'store.lock')
  const text = await readFileIfThere(file)
  const other = text === undefined ? undefined : processId.parse(JSON.parse(text))
  if (other && other.pid !== process.pid && isAlive(other)) {
    throw new Error(
      `Another store (process ${other.pid}) is running in ${dataDir}. Stop it, or give this one its own DATA_DIR and PORT.`,
    )
  }
  await writePrivateFile(file, JSON.stringify(identify(process.pid)))
}

/**
 * Writes a file that tells the operator's commands how to reach the parts of the store in this folder. It contains
 * keys, like the files beside it, so only its owner may read it.
 */
export async function writeConnection(dataDir: string, sandbox: SandboxParts): Promise<void> {
  const { secretsKey, ...parts } = sandbox
  const holder = identify(process.pid)
  const text = { process: holder, secretsKey: secretsKey.toString('base64'), parts }
  await writePrivateFile(fileIn(dataDir), JSON.stringify(text))
}

export async function removeConnection(dataDir: string): Promise<void> {
  await rm(fileIn(dataDir), { force: true })
}

/** The parts of the store that runs in this folder; undefined if none runs. */
export async function runningSandbox(dataDir: string): Promise<SandboxParts | undefined> {
  const text = await readFileIfThere(fileIn(dataDir))
  if (text === undefined) return undefined
  const { process: holder, secretsKey, parts } = record.parse(JSON.parse(text))
  // A store that was killed leaves the file behind.
  if (!isAlive(holder)) return undefined
  return { ...parts, secretsKey: Buffer.from(secretsKey, 'base64') }
}

function fileIn(dataDir: string): string {
  return join(resolve(dataDir), 'connection.json')
}
