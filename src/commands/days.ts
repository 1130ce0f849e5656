import type { Span } from '../adapters/storage/books.ts'
import { UsageError } from './act.ts'

/** Days in UTC, both included, as options name them. @throws UsageError */
export function daysIn({ from, to }: { readonly from?: string; readonly to?: string }) {
  const first = from === undefined ? undefined : dayIn('--from', from)
  const last = to === undefined ? undefined : dayIn('--to', to)
  if (first && last && first > last) throw new UsageError('--from is after --to')
  return { from: first, to: last && new Date(last.getTime() + 86_400_000) } satisfies Partial<
    Record<keyof Span, Date | undefined>
  >
}

function dayIn(option: string, text: string): Date {
  const day = new Date(`${text}T00:00:00Z`)
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime())
  if (isDay && day.toISOString().startsWith(text)) return day
  throw new UsageError(`${option} is "${text}"; write a day as 2026-10-31`)
}
