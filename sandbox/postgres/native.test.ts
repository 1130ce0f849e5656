import { execFileSync } from 'node:child_process'
import { chmod, cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canReach } from './account.ts'
import { installedNativeDir, nativeDir } from './native.ts'

const stranger = { uid: 61_234, gid: 61_234 }
let parent: string
let installed: string

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'kiosk402-native-'))
  const copy = join(parent, 'closed', 'package')
  await cp(dirname(installedNativeDir()), copy, { recursive: true, verbatimSymlinks: true })
  await chmod(parent, 0o711)
  await chmod(join(parent, 'closed'), 0o700)
  installed = join(copy, 'native')
})

afterAll(() => rm(parent, { recursive: true }))

describe('the programs of PostgreSQL', () => {
  it('run after an install without install scripts and without executable bits', async () => {
    const lib = join(installed, 'lib')
    for (const entry of await readdir(lib, { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(join(lib, entry.name))
    }
    await chmod(join(installed, 'bin', 'postgres'), 0o644)
    const version = () =>
      execFileSync(join(installed, 'bin', 'postgres'), ['--version'], { encoding: 'utf8' })
    expect(version).toThrow()

    expect(await nativeDir(undefined, join(parent, 'system'), installed)).toBe(installed)

    expect(version()).toContain('PostgreSQL) 18')
  })

  it('are copied once for an account that cannot reach them', async () => {
    const system = join(parent, 'system')
    expect(await canReach(join(installed, 'bin', 'postgres'), stranger, 0o5)).toBe(false)
    await chmod(join(installed, 'share', 'postgresql', 'postgres.bki'), 0o600)
    await chmod(join(installed, 'share', 'postgresql'), 0o700)

    const copied = await nativeDir(stranger, system, installed)

    expect(dirname(copied)).toBe(system)
    expect(await canReach(join(copied, 'bin', 'postgres'), stranger, 0o5)).toBe(true)
    expect(await canReach(join(copied, 'share', 'postgresql', 'postgres.bki'), stranger, 0o4)).toBe(
      true,
    )
    const made = (await stat(copied)).ctimeMs
    expect(await nativeDir(stranger, system, installed)).toBe(copied)
    expect((await stat(copied)).ctimeMs).toBe(made)
    expect(await readdir(system)).toHaveLength(1)
  })
})

describe('reach', () => {
  it('asks each folder on the way, by owner, group and others', async () => {
    const { uid, gid } = await stat(join(parent, 'closed'))
    expect(await canReach(join(parent, 'closed'), { uid, gid })).toBe(true)
    expect(await canReach(join(parent, 'closed', 'package'), stranger)).toBe(false)
    await chmod(join(parent, 'closed'), 0o710)
    expect(await canReach(join(parent, 'closed', 'package'), { uid: stranger.uid, gid })).toBe(true)
    await chmod(join(parent, 'closed'), 0o700)
  })
})
