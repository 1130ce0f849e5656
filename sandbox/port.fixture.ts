import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Sees to it that a port is somebody else's. Tests run side by side, so another one may have taken it
 * in the meantime, which is just as good.
 *
 * @returns what gives the port up again
 */
export async function squat(port: number): Promise<() => void> {
  const squatter = createServer()
  const taken = once(squatter, 'error')
  const listening = once(squatter, 'listening')
  squatter.listen(port, '127.0.0.1')
  const error = await Promise.race([
    listening.then(() => undefined),
    taken.then(([first]) => first),
  ])
  if (error !== undefined && error.code !== 'EADDRINUSE') throw error
  return () => squatter.close()
}
