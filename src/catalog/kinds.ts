import { esim } from './kinds/esim.ts'
import type { KindDefinition } from './kinds/kind.ts'
import { topup } from './kinds/topup.ts'
import { voucher } from './kinds/voucher.ts'

/** Every kind of good the store sells. A new kind is one new file and one new line here. */
export const goods = { voucher, topup, esim } satisfies Readonly<Record<string, KindDefinition>>
