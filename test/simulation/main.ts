import { modelShop } from '../model/shop.ts'
import { simulate } from './run.ts'

const shop = modelShop()
const from = Number(process.argv[2] ?? 1),
  runs = Number(process.argv[3] ?? 1)
for (let seed = from; seed < from + runs; seed++) {
  const t = Date.now()
  const o = await simulate(shop, seed, { orders: 30, nodes: 3 })
  console.log(
    seed,
    o.digest,
    o.orders,
    (o.virtualMs / 3.6e6).toFixed(1) + 'h',
    Date.now() - t + 'ms',
    o.counts.get('calls'),
    [...o.ends].map((e) => e.join(':')).join(', '),
  )
  if (o.violations.length) {
    console.log(o.violations)
    if (runs === 1) console.log(o.linesOf(o.violations[0]?.order).join('\n'))
  }
}
