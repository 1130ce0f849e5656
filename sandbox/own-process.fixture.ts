import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import { plainEnvironment } from './process.ts'

/** A server that runs as a process of its own and has said that it is ready. */
export async function startOwnProcess(main: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [main], {
    env: { ...plainEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { ready, port, pid } = JSON.parse(line)
  expect([ready, pid]).toEqual([true, child.pid])
  return {
    url: `http://127.0.0.1:${port}`,
    /** Asks it to end, and sees that it does so without a fault. */
    end: async () => {
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    },
  }
}

/** What a process says when nothing is set for it, which it refuses to start with. */
export async function refusalWithoutSettings(main: string): Promise<string> {
  const child = spawn(process.execPath, [main], {
    env: plainEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const parts: Buffer[] = []
  child.stderr.on('data', (part: Buffer) => parts.push(part))
  expect(await once(child, 'close')).toEqual([1, null])
  return Buffer.concat(parts).toString()
}
