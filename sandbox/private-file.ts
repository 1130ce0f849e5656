import { chmod, mkdir, open, readFile, rename, stat } from 'node:fs/promises'

/**
 * Makes a folder that no other account can enter, or closes an existing one that was open.
 *
 * @returns whether an existing folder was open
 */
export async function closedFolder(path: string): Promise<boolean> {
  const mode = 0o700
  await mkdir(path, { recursive: true, mode })
  const had = (await stat(path)).mode & 0o777
  if ((had & ~mode) === 0) return false
  await chmod(path, had & mode)
  return true
}

/**
 * Writes a file that only its owner may read. It is written to a temporary file and renamed, so that even after a
 * crash or a power cut it has either the old or the new content, never a part.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const part = `${path}.part`
  const file = await open(part, 'w', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, path)
}

/** The text of a file; undefined if there is no such file. @throws any other error */
export async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
