import { execFile } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { type Breaking, changeBody, changeDemand, openShop, type Shop } from './shop.fixture.ts'

let shop: Shop | undefined

afterEach(() => shop?.close())

interface Ran {
  readonly code: number | string | null | undefined
  readonly stdout: string
  readonly stderr: string
}

function doctor(...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['doctor/main.ts', ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

const freeOfCharge: Breaking = (page, { path }) => {
  if (path === '/buy')
    changeDemand(page, ({ accepts }) => Object.assign(accepts[0], { amount: '0' }))
}

test('a shop in order is told to be, with exit code 0', async () => {
  shop = await openShop()
  const { code, stdout, stderr } = await doctor(shop.origin)
  expect(stderr).toBe('')
  expect(stdout).toBe(
    `Looked at ${shop.origin}: POST /buy, GET /report\n\nNothing would stop a buyer.\n`,
  )
  expect(code).toBe(0)
})

test('what only costs a listing is told, with exit code 0', async () => {
  shop = await openShop((page, { path }) => {
    if (path === '/llms.txt') page.status = 404
  })
  const { code, stdout } = await doctor(shop.origin)
  expect(stdout).toContain('Missing:\n  llms_missing: There is no text for models at /llms.txt.')
  expect(code).toBe(0)
})

test('a fault that stops a buyer is printed with its place and its fix, with exit code 1', async () => {
  shop = await openShop(freeOfCharge)
  const { code, stdout } = await doctor(shop.origin)
  expect(stdout).toContain(
    'Stops buyers:\n  amount_wrong: The amount is not a positive whole number',
  )
  expect(stdout).toContain('    Fix: Write it as digits: "500000" is 0.50 USDC.')
  expect(stdout).toContain('      POST /buy, accepts[0]: 0\n')
  expect(stdout).toMatch(/A buyer would be stopped; the first group above says where\.\n$/)
  expect(code).toBe(1)
})

test('a fault that is everywhere is not told at every place', async () => {
  shop = await openShop((page, { path }) => {
    if (path !== '/.well-known/x402') return
    const more = Array.from({ length: 20 }, (_, index) => `https://elsewhere.example/${index}`)
    changeBody(page, ({ resources }) => resources.push(...more))
  })
  const { stdout } = await doctor(shop.origin)
  expect(stdout.match(/elsewhere\.example/g)).toHaveLength(6)
  expect(stdout).toContain('      and at 14 more\n')
})

test('as JSON it is one object', async () => {
  shop = await openShop(freeOfCharge)
  const { code, stdout } = await doctor(shop.origin, '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    store: shop.origin,
    public: shop.origin,
    ok: false,
    operations: ['POST /buy', 'GET /report'],
    findings: [{ code: 'amount_wrong', level: 'stop', where: 'POST /buy, accepts[0]', seen: '0' }],
  })
  expect(code).toBe(1)
})

test('a stranger’s words cannot reach the terminal as commands', async () => {
  shop = await openShop((page, { path }) => {
    if (path !== '/llms.txt') return
    page.status = 500
    page.body = JSON.stringify({ error: `\u001b[2J\u009b31m${'x'.repeat(5_000)}` })
  })
  const { stdout } = await doctor(shop.origin)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  expect(stdout.length).toBeLessThan(1_000)
})

test.each([
  [[], 'Name the store: its URL is missing.'],
  [['shop'], 'shop is no http or https URL, such as https://shop.example.'],
  [['ftp://shop.example'], 'ftp://shop.example is no http or https URL'],
  [['https://me:secret@shop.example'], 'Leave user name and password out of the URL.'],
  [['https://a.example', 'https://b.example'], 'One store at a time; https://b.example'],
  [['https://a.example', '--public', 'a'], 'a is no http or https URL'],
  [['https://a.example', '--pay'], "Unknown option '--pay'"],
])('%j is refused with a sentence and the usage, with exit code 2', async (args, sentence) => {
  const { code, stderr } = await doctor(...args)
  expect(stderr).toContain(sentence)
  expect(stderr).toContain('npm run doctor -- URL')
  expect(stderr).not.toContain('secret')
  expect(code).toBe(2)
})

test('the usage is told on request', async () => {
  expect(await doctor('--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('never pays'),
  })
})
