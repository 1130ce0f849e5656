import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientKeyOf } from '../../http/client-key.ts'
import { Refusal } from '../../lib/refusal.ts'
import { privately } from '../frame/private-page.ts'
import { accessIn } from '../visit/access.ts'
import { createRooms, type Place, type Rooms } from './rooms.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The listeners of all live pages in this process. */
    liveRooms?: Rooms
  }
}

/** How long a browser waits before it reconnects; milliseconds. */
const retryMs = 2_000

/**
 * Serves `GET {path}/live`: server-sent events that tell browsers when the content of the page at `path` changes. Each
 * event is the version of the page; the first one is sent at once. With `?once` the version is sent as plain text, for
 * browsers and networks that do not support event streams.
 *
 * Visitors of the same page with the same token share one look a second. The number of listeners is limited: further
 * ones are answered 429, and poll instead.
 *
 * @param versionOf returns a short text on one line, which changes whenever the content of the page does. It may depend
 *   only on the URL and on the visitor's token (`accessIn`), and on nothing else in the request. Its errors are
 *   answered as those of the page
 */
export function routeLive(
  pages: FastifyInstance,
  path: string,
  versionOf: (request: FastifyRequest) => Promise<string>,
): void {
  const rooms = roomsOf(pages)
  // HEAD would open a stream that nobody reads.
  const options = { config: { limit: 'reading' }, exposeHeadRoute: false } as const
  pages.get(`${path}/live`, options, async (request, reply) => {
    const [address = '', query] = request.url.split('?')
    const version = await versionOf(request)
    privately(reply)
    if (query === 'once') return reply.type('text/plain; charset=utf-8').send(version)
    const place: Place = {
      room: `${address} ${accessIn(request) ?? ''}`,
      visitor: clientKeyOf(request.ip),
      look: () => versionOf(request),
      failed: (error) => request.log.warn({ err: error }, 'a live page cannot be looked at'),
    }
    return sendEvents(reply, rooms, place, version)
  })
}

/** One set of rooms for all pages, so that the bounds hold for the whole process. */
function roomsOf(pages: FastifyInstance): Rooms {
  if (pages.liveRooms) return pages.liveRooms
  const rooms = createRooms()
  pages.decorate('liveRooms', rooms)
  // Before the store stops it waits for all open responses, and these would never end by themselves.
  pages.addHook('preClose', (done) => {
    rooms.close()
    done()
  })
  return rooms
}

function sendEvents(reply: FastifyReply, rooms: Rooms, place: Place, version: string) {
  const events = new Readable({ read() {} })
  let isOver = false
  // A listener that does not read is disconnected, so that no data accumulates.
  const push = (text: string) => {
    if (!isOver && !events.push(text)) events.destroy()
  }
  const end = () => {
    if (!isOver) events.push(null)
    isOver = true
  }
  const leave = rooms.enter(
    place,
    {
      tell: (changed) => push(`data: ${changed}\n\n`),
      pulse: () => push(':\n\n'),
      end,
    },
    version,
  )
  if (leave === undefined) {
    throw new Refusal('rate_limited', 'Too many pages listen at once.', { retryAfterSeconds: 5 })
  }
  events.on('close', leave)
  // The 'close' event of a visitor who left during the first look has already passed.
  if (reply.raw.destroyed) events.destroy()
  push(`retry: ${retryMs}\n\n`)
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('x-accel-buffering', 'no')
    .send(events)
}
