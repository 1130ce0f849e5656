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
  return { code, output, figure: (name: string) => figureIn(output, name) }
}

function figureIn(output: string, name: string): number {
  const line = output.split('\n').find((one) => one.trim().startsWith(`${name} `))
  return Number(line?.trim().split(/\s+/).at(-1))
}

test(
  'kill -9 under load and attack loses nothing, does nothing twice, and pauses no sale',
  async () => {
    const args = '--seconds 20 --kill-every 2 --deadline 3 --end-leases --attackers'
    const { code, output, figure } = await runChaos(args.split(' '))
    expect(code, output).toBe(0)
    expect(figure('of store nodes')).toBeGreaterThan(0)
    expect(figure('of the PostgreSQL postmaster')).toBeGreaterThan(0)
    expect(figure('of the supplier')).toBeGreaterThan(0)
    expect(figure('of the node of the chain')).toBeGreaterThan(0)
    expect(figure('payments on the chain')).toBeGreaterThan(0)
    expect(figure('delivered')).toBeGreaterThan(0)
    expect(figure('refunds on the chain')).toBeGreaterThan(0)
    expect(figure('lost')).toBe(0)
    // Its answers depend on which parts are up. The stories of adversarial wallets test the refusal.
    expect(output).toMatch(/attack: wallet that agrees only in simulations: \d/)
  },
  withinMs,
)
