import type { ParamSource } from '../../catalog/search/param-source.ts'
import {
  described,
  type Param,
  pageOf,
  paging,
  readParams,
  refused,
  text,
} from '../../catalog/search/params.ts'

/** The most orders on a page, as in every list of the catalog interface. */
const maxLimit = 100

const transactionHash: Param<string> = {
  schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
  read: (name, value) => {
    if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
    throw refused(name, `${name} must be 0x and 64 hexadecimal digits.`)
  },
}

/** What a list of orders takes. */
export const pageParams = paging(maxLimit)

/** What finds an order by its payment, or pages through the list. */
export const orderParams = {
  ...pageParams,
  transactionHash: described(
    transactionHash,
    'The transaction that paid. It is public: alone it tells only how the order stands',
  ),
  paymentId: described(text, 'From the answer to the purchase'),
}

/** The page of a list of orders. @throws Refusal 400 */
export function pageIn(given: ParamSource) {
  return pageOf(readParams(given, pageParams))
}

/** A look-up by transaction or payment, or a page of the list. @throws Refusal 400 */
export function lookUpIn(given: ParamSource) {
  const params = readParams(given, orderParams)
  return {
    ...pageOf(params),
    transactionHash: params.transactionHash,
    paymentId: params.paymentId,
  }
}
