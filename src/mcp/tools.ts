import type { Tool } from './tool.ts'
import { buy } from './tools/buy.ts'
import { getOffer } from './tools/get-offer.ts'
import { orderStatus } from './tools/order-status.ts'
import { quote } from './tools/quote.ts'
import { refund } from './tools/refund.ts'
import { search } from './tools/search.ts'

/** Every tool, in the order in which a buyer needs them. */
export const tools: readonly Tool[] = [search, getOffer, quote, buy, orderStatus, refund]
