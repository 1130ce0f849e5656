import { join } from 'node:path'
import * as z from 'zod'
import { readFileIfThere, writePrivateFile } from './private-file.ts'
import { identify, isAlive } from './process.ts'

const holder = z.object({ pid: z.int(), birth: z.string() })

/**
 * Locks a data folder for this process. A store adopts the parts that a killed store left running, so two stores at
 * once would share them, and the first to stop would stop the parts of both.
 *
 * @throws if another store is running in the folder
 */
export async function lockFolder(dataDir: string): Promise<void> {
  const file = join(dataDir, 'store.lock')
  const text = await readFileIfThere(file)
  const other = text === undefined ? undefined : holder.parse(JSON.parse(text))
  if (other && other.pid !== process.pid && isAlive(other)) {
    throw new Error(
      `Another store (process ${other.pid}) is running in ${dataDir}. Stop it, or give this one its own DATA_DIR and PORT.`,
    )
  }
  await writePrivateFile(file, JSON.stringify(identify(process.pid)))
}
