import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

/** Longer than the run itself by far: what it waits for at its end is bounded by itself. */
const withinMs = 900_000

/** Runs chaos as its user does; everything it starts ends with it. */
async function runChaos(args: readonly string[]) {
  const child = spawn(process.execPath, ['chaos/main.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const [code] = await once(child, 'close')
  const figure = (name: string) => {
    const line = output.split('\n').find((one) => one.startsWith(`${name} `))
    return Number(line?.split(/\s+/).at(-1))
  }
  return { code, output, figure }
}

test(
  'kill -9 under load and attack loses nothing, does nothing twice, and pauses no sale',
  async () => {
    const { code, output, figure } = await runChaos('--orders 150 --kills 6 --attackers'.split(' '))
    expect(code, output).toBe(0)
    for (const part of [
      'store nodes',
      'the PostgreSQL postmaster',
      'the supplier',
      'BTCPay Server',
    ])
      expect(figure(`kills of ${part}`)).toBeGreaterThan(0)
    expect(figure('kills of the node of the chain')).toBeGreaterThan(0)
    expect(figure('payments on the chains')).toBeGreaterThan(0)
    expect(figure('delivered')).toBeGreaterThan(0)
    expect(figure('refunds on the chains')).toBeGreaterThan(0)
    expect(figure('lost')).toBe(0)
  },
  withinMs,
)
