import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readFileIfThere, writePrivateFile } from '../private-file.ts'

const settings = z.object({
  clusterDir: z.string().optional(),
  password: z.string().min(20),
  port: z.int().min(1).max(65_535).optional(),
})

/**
 * What the data folder remembers about its database server. `clusterDir` is set only if the cluster could not be put
 * into the data folder itself.
 */
export type Settings = z.infer<typeof settings>

/** Reads the settings, or makes new ones, with a random password of 192 bits. */
export async function loadSettings(dataDir: string): Promise<Settings> {
  const text = await readFileIfThere(settingsFile(dataDir))
  if (text !== undefined) return settings.parse(JSON.parse(text))
  return { password: randomBytes(24).toString('base64url') }
}

export async function saveSettings(dataDir: string, value: Settings): Promise<void> {
  await writePrivateFile(settingsFile(dataDir), `${JSON.stringify(value, null, 2)}\n`)
}

export function settingsFile(dataDir: string): string {
  return join(dataDir, 'postgres.json')
}
