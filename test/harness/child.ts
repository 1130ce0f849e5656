import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

/** Runs a script that calls `serveParent`, as an operator starts the store; it ends with this process. */
export async function startChild<Started, Seen>(script: string, input: object) {
  const child = spawn(resolve('scripts/run'), [script], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code}`)
  })
  const ask = async (message: object) => {
    child.send(message)
    const [answer] = await Promise.race([once(child, 'message'), ended])
    return answer
  }
  return {
    started: (await ask(input)) as Started,
    look: (): Promise<Seen> => ask({}),
    async stop() {
      child.disconnect()
      await ended.catch(() => {})
    },
  }
}

/** The script's side: starts with the input, then answers every message with what `look` sees. */
export async function serveParent<Input>(
  start: (input: Input) => Promise<{
    readonly started: unknown
    readonly look: () => unknown
    stop(): Promise<unknown>
  }>,
): Promise<void> {
  const [input] = await once(process, 'message')
  const { started, look, stop } = await start(input)
  process.on('message', () => process.send?.(look()))
  process.once('disconnect', async () => {
    await stop()
    process.exit(0)
  })
  process.send?.(started)
}
