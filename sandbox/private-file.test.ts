import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closedFolder } from './private-file.ts'

test('a data folder is closed to other accounts, also one that was open', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'kiosk402-closed-'))
  const othersMay = async (path: string) => (await stat(path)).mode & 0o077
  try {
    const made = join(parent, 'new')
    expect([await closedFolder(made), await othersMay(made)]).toEqual([false, 0])
    const old = join(parent, 'old')
    await mkdir(old)
    await chmod(old, 0o755)
    expect([await closedFolder(old), await othersMay(old)]).toEqual([true, 0])
    expect(await closedFolder(old)).toBe(false)
  } finally {
    await rm(parent, { recursive: true, force: true })
  }
})
