import { told } from './told'
import { purchaseEsim, search } from './orval-client'

const [, , , offerId = ''] = process.argv

async function buy() {
  const found = await search({ query: 'esim japan' })
  const answer = await purchaseEsim({ offerId })
  if (found.status !== 200 || answer.status !== 200) throw new Error(String(answer.status))
  if (!('orderId' in answer.data)) throw new Error(answer.data.message)
  const { orderId, orders } = answer.data
  told({ total: found.data.total, orderId, states: orders.map(({ state }) => state) })
}

void buy()
