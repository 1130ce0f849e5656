import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import { plainEnvironment } from './process.ts'

/** Starts a server as a separate process, and waits until it says that it is ready. */
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
    /** Asks it to stop, and checks that it exits without an error. */
    end: async () => {
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    },
  }
}

/** The message with which a process refuses to start without settings. */
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
