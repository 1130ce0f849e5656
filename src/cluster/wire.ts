import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Wire } from './line.ts'

/** The channel to a process that this one has started. */
export function wireToChild(child: ChildProcess): Wire {
  return {
    send(message, failed, connection) {
      // This process keeps its end until it hears that the other one has the connection.
      const options = { keepOpen: true }
      child.send(message as object, connection, options, (error) => error && failed(error))
    },
    listen: (hear) => void child.on('message', (message) => hear(message)),
  }
}

/** The channel to the process that has started this one. */
export function wireToParent(): Wire {
  return {
    send(message, failed) {
      process.send?.(message, undefined, {}, (error) => error && failed(error))
    },
    listen(hear) {
      process.on('message', (message, handle) => hear(message, handle as Socket | undefined))
    },
  }
}
