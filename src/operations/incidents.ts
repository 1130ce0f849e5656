import { backOffMs } from '../orders/webhooks/sender.ts'
import { conditions } from './conditions.ts'
import type { Channel, Incident, IncidentBook, Notice, Sighting } from './ports.ts'
import type { StoreState } from './store-state.ts'

/** @throws if nobody was told */
export type Teller = (incident: Incident) => Promise<void>

export interface WatchDeps {
  readonly readState: () => Promise<StoreState>
  readonly book: IncidentBook
  readonly tellers: ReadonlyMap<Channel, Teller>
  /** Whether this node speaks for the others while they share no database. */
  readonly isFirst: () => boolean
  readonly now: () => Date
  readonly failed: (what: string, error: unknown) => void
}

/** A server that is back after a day hears of everything within this time. */
const maxAgainMs = 10 * 60_000
const quietMs = 5 * 60_000

const isOfDatabase = ({ condition, subject }: Sighting) =>
  condition === 'part_down' && subject === 'database'

/** An outage of the database, which no node can write down while it lasts. */
interface Away {
  readonly sighting: Sighting
  readonly openedAt: Date
  readonly seenAt: Date
  readonly told: readonly Channel[]
  readonly isOnRecord: boolean
}

/**
 * Looks once at all conditions, and tells what is due: each incident once for the whole store, and once that it is
 * over, however many nodes look and however long a mail server is away.
 *
 * @returns a look, which throws if the database is away
 */
export function watchIncidents(deps: WatchDeps): () => Promise<void> {
  const { book, tellers, now } = deps
  const channels = [...tellers.keys()]
  const sightingsIn = rememberingSince(now)
  let away: Away | undefined

  async function tell(channel: Channel, incident: Incident): Promise<boolean> {
    try {
      await tellers.get(channel)?.(incident)
      return true
    } catch (error) {
      deps.failed(`telling the operator by ${channel}`, error)
      return false
    }
  }

  async function tellNotice(notice: Notice): Promise<void> {
    const isTold = await tell(notice.channel, notice.incident)
    const againInMs = Math.min(maxAgainMs, backOffMs(notice.attempts, Math.random()))
    await book.end(notice, isTold ? undefined : againInMs)
  }

  /** The first node tells by itself, because no node could see in the database that another one did. */
  async function tellOfDatabase(sighting: Sighting): Promise<void> {
    const last = away ?? { openedAt: now(), told: [] as readonly Channel[], isOnRecord: false }
    const { openedAt, isOnRecord } = last
    const id = `database-${openedAt.getTime()}`
    const incident = { ...sighting, id, subject: 'database', openedAt, recoveredAt: null }
    const untold = channels.filter((channel) => !isOnRecord && !last.told.includes(channel))
    const isTold = await Promise.all(untold.map((channel) => tell(channel, incident)))
    const told = [...last.told, ...untold.filter((_, at) => isTold[at])]
    away = { ...last, sighting, seenAt: now(), told }
  }

  async function putOnRecord(): Promise<void> {
    if (!away || away.isOnRecord) return
    await book.noteTold(away.sighting, away.openedAt, channels, away.told)
    away = { ...away, isOnRecord: true }
  }

  return async () => {
    const sightings = sightingsIn(await deps.readState())
    const ofDatabase = sightings.find(isOfDatabase)
    if (ofDatabase?.isDue && (away || deps.isFirst())) await tellOfDatabase(ofDatabase)
    await putOnRecord()
    if (away && now().getTime() - away.seenAt.getTime() > quietMs) away = undefined
    const noted = sightings.map((one) => (isOfDatabase(one) ? { ...one, isDue: false } : one))
    await book.note(noted, channels)
    await Promise.all((await book.claimDue(channels)).map(tellNotice))
  }
}

function rememberingSince(now: () => Date) {
  const since = new Map<string, number>()
  return (state: StoreState): readonly Sighting[] => {
    const seen = Object.entries(conditions).flatMap(
      ([condition, { holds, forMinutes }]): readonly Sighting[] => {
        const held = holds(state)
        if (held === undefined) return [{ condition, subject: null, text: '', isDue: false }]
        return held.map(({ subject, text }) => {
          const key = JSON.stringify([condition, subject])
          const from = since.get(key) ?? now().getTime()
          since.set(key, from)
          return { condition, subject, text, isDue: now().getTime() - from >= forMinutes * 60_000 }
        })
      },
    )
    const keys = new Set(seen.map(({ condition, subject }) => JSON.stringify([condition, subject])))
    for (const key of since.keys()) if (!keys.has(key)) since.delete(key)
    return seen
  }
}
