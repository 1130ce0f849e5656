import { mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DestinationStream } from 'pino'

/** Where lines go in the end. What it has not taken yet, it keeps. */
export interface Sink {
  readonly writableLength: number
  write(text: string, done: (error?: Error | null) => void): unknown
}

/** A reader that stands still may cost so many bytes of memory; further lines are lost. */
const maxKept = 8 * 1024 * 1024

/**
 * A log must never be the reason that the store stops: while a disk is full, a pipe closed or its reader
 * stalled, lines are lost, and the next one that gets through comes after a line that says how many.
 */
export function lossy(sink: Sink): DestinationStream {
  let lost = 0
  // A disk that fills up takes the beginning of a line.
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
 * Standard output, or that of errors. Node writes to a pipe without waiting for its reader, and goes on
 * after an error.
 */
export function standard(stream: NodeJS.WriteStream): DestinationStream {
  // Each write hears of its own error.
  stream.on('error', () => undefined)
  return lossy(inOneWrite(stream))
}

/** What is written in one turn of the event loop goes out together: a busy store writes many lines in each. */
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

/** A file that lines are added to. */
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
