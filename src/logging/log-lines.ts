import { mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DestinationStream } from 'pino'

/** Where lines end up. It buffers what it has not written yet. */
export interface Sink {
  readonly writableLength: number
  write(text: string, done: (error?: Error | null) => void): unknown
}

/** The most bytes that are buffered for a stalled reader; further lines are lost. */
const maxKept = 8 * 1024 * 1024

/**
 * A log must never stop the store: while a disk is full, a pipe closed or its reader stalled, lines are lost,
 * and the next line that gets through comes after one that says how many.
 */
export function lossy(sink: Sink): DestinationStream {
  let lost = 0
  // A disk that fills up may take only the beginning of a line.
  let isCut = false
  return {
    write(line) {
      if (sink.writableLength > maxKept) {
        lost += 1
        return
      }
      const carried = lost
      const loss = carried === 0 ? '' : `${isCut ? '\n' : ''}${lossLine(carried)}`
      lost = 0
      isCut = false
      sink.write(`${loss}${line}`, (error) => {
        if (!error) return
        lost += carried + 1
        isCut = true
      })
    },
  }
}

function lossLine(lost: number): string {
  return `${JSON.stringify({ level: 40, time: Date.now(), lost, msg: 'lines of the log were lost' })}\n`
}

/**
 * Standard output or standard error. Node writes to a pipe without waiting for its reader, and goes on after
 * an error.
 */
export function standard(stream: NodeJS.WriteStream): DestinationStream {
  // Each write gets its own error in its callback.
  stream.on('error', () => undefined)
  return lossy(inOneWrite(stream))
}

/** Writes together what comes in one turn of the event loop: a busy store writes many lines in each. */
function inOneWrite(stream: NodeJS.WriteStream): Sink {
  let isWaiting = false
  const letGo = () => {
    if (isWaiting) stream.uncork()
    isWaiting = false
  }
  process.on('exit', letGo)
  return {
    get writableLength() {
      return stream.writableLength
    },
    write(text, done) {
      if (!isWaiting) {
        stream.cork()
        setImmediate(letGo)
      }
      isWaiting = true
      stream.write(text, done)
    },
  }
}

/** A file that lines are appended to. */
export function fileIn(folder: string, name: string): DestinationStream {
  mkdirSync(folder, { recursive: true })
  const file = openSync(join(folder, name), 'a')
  return lossy({
    writableLength: 0,
    write(text, done) {
      try {
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
}
