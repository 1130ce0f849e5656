import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { leftOut } from '../test/harness/left-out.ts'
import { freePort } from './port.ts'

const why = leftOut(
  process.platform === 'linux' ? undefined : 'only Linux has sockets that go with their process',
)

/**
 * Asks in a separate process whose random choice begins with this port; also reports the ports on which it listened.
 */
function askedElsewhere(first: number): { readonly given: number; readonly tried: number[] } {
  const program = `
    import crypto from 'node:crypto'
    import { syncBuiltinESMExports } from 'node:module'
    import { Server } from 'node:net'
    const { randomInt } = crypto
    const drawn = [${first}]
    crypto.randomInt = (...range) => drawn.shift() ?? randomInt(...range)
    syncBuiltinESMExports()
    const { listen } = Server.prototype
    const tried = []
    Server.prototype.listen = function (where, ...more) {
      if ('port' in where) tried.push(where.port)
      return listen.call(this, where, ...more)
    }
    const { freePort } = await import('./sandbox/port.ts')
    console.log(JSON.stringify({ given: await freePort(), tried }))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

it.skipIf(why)(
  'gives no port that another process here was given and has not taken yet',
  async () => {
    const given = await freePort()
    const elsewhere = askedElsewhere(given)
    expect(elsewhere.given).toBeGreaterThan(0)
    // The other process must not even listen on it for a moment.
    expect(elsewhere.tried).not.toContain(given)
    // The reservation ended with that process.
    expect(askedElsewhere(elsewhere.given).given).toBe(elsewhere.given)
  },
)
