import { expect, test } from 'vitest'
import { qrCode } from './qr.ts'

const lpa = 'LPA:1$smdp.example.com$SBX-AAAA-BBBB'
const esc = String.fromCharCode(27)

test('without colours the picture has no escape codes, and its finder patterns', async () => {
  const drawn = await qrCode(lpa, false)
  expect(drawn).not.toContain(esc)
  expect(drawn.split('\n')[1]).toMatch(/^ {2}█▀▀▀▀▀█ .* █▀▀▀▀▀█ {2}$/)
})

test('with colours every line ends without them, so nothing after it is painted', async () => {
  const lines = (await qrCode(lpa, true)).split('\n')
  expect(lines.length).toBeGreaterThan(10)
  for (const line of lines) expect(line.endsWith(`${esc}[0m`)).toBe(true)
})
