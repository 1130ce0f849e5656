import type { ChildProcess } from 'node:child_process'
import type { Wire } from './line.ts'

/** The channel to a process that this one has started. */
export function wireToChild(child: ChildProcess): Wire {
  return {
    send: (message, failed) =>
      void child.send(message as object, (error) => error && failed(error)),
    listen: (hear) => void child.on('message', hear),
  }
}

/** The channel to the process that has started this one. */
export function wireToParent(): Wire {
  return {
    send(message, failed) {
      process.send?.(message, undefined, {}, (error) => error && failed(error))
    },
    listen: (hear) => void process.on('message', hear),
  }
}
