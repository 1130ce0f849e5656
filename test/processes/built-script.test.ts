import { appendFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runToItsEnd } from '../child-store.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiosk402-built-'))
  for (const part of ['src', 'scripts', 'package.json']) {
    await cp(part, join(folder, part), { recursive: true })
  }
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
})
afterAll(() => rm(folder, { recursive: true }))

const build = () => runToItsEnd([join(folder, 'scripts/build.ts')], {})
const load = () =>
  runToItsEnd(
    ['--input-type=module', '--eval', loading, join(folder, 'src/web/frame/built-script.ts')],
    {},
  )
const loading = `
  const { builtScript } = await import(process.argv[1])
  console.log(builtScript('wallet.js').length > 10_000, builtScript('sign-in.js').length < 10_000)
`

test('a script of the page that was built from other sources is not served', async () => {
  expect((await load()).stderr).toContain('wallet.js was not built. Run: npm run prepare')
  expect(await build()).toMatchObject({ code: 0 })
  expect(await load()).toMatchObject({ code: 0, stdout: 'true true\n' })
  // The second one is a page's own, which the script shares.
  for (const source of ['src/web/scripts/wallet/terms.ts', 'src/web/shop/money-text.ts']) {
    await appendFile(join(folder, source), '// changed\n')
    expect((await load()).stderr).toContain('wallet.js was built from other sources')
    expect(await build()).toMatchObject({ code: 0 })
    expect(await load()).toMatchObject({ code: 0 })
  }
})

test('an installation without the bundler keeps what was built, and asks for nothing else', async () => {
  await rm(join(folder, 'node_modules'))
  expect(await build()).toMatchObject({ code: 0 })
  await rm(join(folder, 'build'), { recursive: true })
  expect(await build()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('npm ci && npm prune --omit=dev --omit=optional'),
  })
})
