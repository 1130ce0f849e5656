import { z } from 'zod'
import { parsed } from './api-error.ts'

function whole(min: number, max: number) {
  const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`
  const text = `is required and must be a whole number ${range}`
  return z
    .string(text)
    .regex(/^\d{1,15}$/, text)
    .transform(Number)
    .refine((value) => value >= min && value <= max, text)
}

const paging = z.object({ _limit: whole(1, 1024), _offset: whole(0, Number.MAX_SAFE_INTEGER) })

interface Paging {
  readonly limit: number
  readonly offset: number
}

/** `_limit` (1 to 1024) and `_offset` are mandatory on every list; a 400 names what is wrong. */
export function pagingOf(query: unknown): Paging {
  const { _limit, _offset } = parsed(paging as z.ZodType<z.infer<typeof paging>>, query)
  return { limit: _limit, offset: _offset }
}

export function pageOf<T>(all: readonly T[], { limit, offset }: Paging) {
  return { limit, list: all.slice(offset, offset + limit), offset, total: all.length }
}

const createdAtPattern = /^(none|lte|lt|gte|gt)?(\d{4}-\d\d-\d\dT[\d:.]+Z)$/
const filters = z.object({
  createdAt: z
    .string()
    .regex(createdAtPattern, 'must be an RFC 3339 UTC time after lt, lte, gt, gte or nothing')
    .optional(),
  status: z.string().optional(),
  productType: z.string().optional(),
  type: z.string().optional(),
})

interface Dated {
  readonly createdAt: string
  readonly status: string
  readonly productType: string
  readonly type?: string
}

function timeTest(createdAt: string | undefined): (at: number) => boolean {
  const [, operator = '', time = ''] = createdAtPattern.exec(createdAt ?? '') ?? []
  const bound = Date.parse(time)
  if (createdAt === undefined) return () => true
  if (operator === 'lt') return (at) => at < bound
  if (operator === 'lte') return (at) => at <= bound
  if (operator === 'gt') return (at) => at > bound
  if (operator === 'gte') return (at) => at >= bound
  return (at) => at === bound
}

/** The records that match createdAt, status, productType and type, if given. */
export function filtered<T extends Dated>(records: readonly T[], query: unknown): readonly T[] {
  const { createdAt, status, productType, type } = parsed(filters, query)
  const inTime = timeTest(createdAt)
  return records.filter(
    (record) =>
      inTime(Date.parse(record.createdAt)) &&
      (status === undefined || record.status === status) &&
      (productType === undefined || record.productType === productType) &&
      (type === undefined || record.type === type),
  )
}
