import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Makes sure that a port is occupied. Tests run in parallel, so another one may already have taken it, which is just as
 * good.
 *
 * @returns a function that frees the port
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
