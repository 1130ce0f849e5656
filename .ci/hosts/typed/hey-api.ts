import { told } from './told'
import { purchaseEsim, search } from './hey'
import { client } from './hey/client.gen'

const [, , baseUrl = '', offerId = ''] = process.argv

async function buy() {
  client.setConfig({ baseUrl })
  const found = await search({ query: { query: 'esim japan' } })
  const { data } = await purchaseEsim({ body: { offerId }, throwOnError: true })
  if (!('orderId' in data)) throw new Error(data.message)
  told({ total: found.data?.total, orderId: data.orderId, states: data.orders.map(({ state }) => state) })
}

void buy()
