import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { scriptedStore } from './scripted-store.fixture.ts'

const main = new URL('main.ts', import.meta.url).pathname

/** Runs the program as npm does, without the variables of this process that configure stores. */
async function demo(...args: readonly string[]) {
  const { STORE_URL: _, ...env } = process.env
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { out, err, code }
}

test('no store: exit 1, and how to start one', async () => {
  expect(await demo('--store', 'http://127.0.0.1:1')).toEqual({
    out: '\n✗  No store at http://127.0.0.1:1. Start it with: npm start, or name another with: npm run demo -- --store URL\n\n',
    err: '',
    code: 1,
  })
})

test('--json keeps to JSON lines when something is wrong', async () => {
  const { url } = await scriptedStore({})
  const [noStore, badArgument] = [await demo('--json', '--store', url), await demo('--json', '-x')]
  expect(noStore).toMatchObject({ err: '', code: 1 })
  expect(JSON.parse(noStore.out)).toMatchObject({ step: 'meet', ok: false })
  expect(badArgument).toMatchObject({ err: '', code: 1 })
  expect(JSON.parse(badArgument.out)).toMatchObject({ step: 'arguments', ok: false })
})

test('--help tells the options', async () => {
  const { out, code } = await demo('--help')
  expect(out).toContain('--store URL')
  expect(code).toBe(0)
})
