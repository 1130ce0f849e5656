import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { leftOut } from '../test/harness/left-out.ts'
import { freePort } from './port.ts'

const why = leftOut(
  process.platform === 'linux' ? undefined : 'only Linux has sockets that go with their process',
)

/** Asks in a process of its own, for which chance begins with this port. */
function askedElsewhere(first: number): number {
  const program = `
    import crypto from 'node:crypto'
    import { syncBuiltinESMExports } from 'node:module'
    const { randomInt } = crypto
    const drawn = [${first}]
    crypto.randomInt = (...range) => drawn.shift() ?? randomInt(...range)
    syncBuiltinESMExports()
    const { freePort } = await import('./sandbox/port.ts')
    console.log(await freePort())`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  return Number(stdout)
}

it.skipIf(why)(
  'gives no port that another process here was given and has not taken yet',
  async () => {
    const given = await freePort()
    const elsewhere = askedElsewhere(given)
    expect(elsewhere).toBeGreaterThan(0)
    expect(elsewhere).not.toBe(given)
    // What that process reserved went with it.
    expect(askedElsewhere(elsewhere)).toBe(elsewhere)
  },
)
