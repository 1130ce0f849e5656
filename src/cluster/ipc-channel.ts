import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { IpcChannel } from './ipc.ts'

/** The channel to a child process. */
export function channelToChild(child: ChildProcess): IpcChannel {
  return {
    send(message, failed, connection) {
      // The primary closes its handle only after the worker has confirmed the connection.
      const options = { keepOpen: true }
      child.send(message as object, connection, options, (error) => error && failed(error))
    },
    listen: (hear) => void child.on('message', (message) => hear(message)),
  }
}

/** The channel to the parent process. */
export function channelToParent(): IpcChannel {
  return {
    send(message, failed) {
      process.send?.(message, undefined, {}, (error) => error && failed(error))
    },
    listen(hear) {
      process.on('message', (message, handle) => hear(message, handle as Socket | undefined))
    },
  }
}
