import type { FastifyRequest } from 'fastify'
import { pageOf, paging, readParams, refused, text } from '../params.ts'

/** The most orders on a page, as everywhere in the catalog interface (decisions 3). */
const limitMost = 100

/** The query of a list of orders. @throws Refusal 400 */
export function pageQuery(request: FastifyRequest) {
  return pageOf(readParams(request.url, paging(limitMost)))
}

/** The query of a look-up by transaction or payment, or of the list. @throws Refusal 400 */
export function orderQuery(request: FastifyRequest) {
  const params = readParams(request.url, {
    ...paging(limitMost),
    transactionHash,
    paymentId: text,
  })
  return {
    ...pageOf(params),
    transactionHash: params.transactionHash,
    paymentId: params.paymentId,
  }
}

function transactionHash(name: string, value: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
  throw refused(name, `${name} must be 0x and 64 hexadecimal digits.`)
}
