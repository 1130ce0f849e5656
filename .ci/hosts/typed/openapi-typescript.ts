import createClient from 'openapi-fetch'
import { told } from './told'
import type { paths } from './store'

const [, , baseUrl = '', offerId = ''] = process.argv

async function buy() {
  const client = createClient<paths>({ baseUrl })
  const found = await client.GET('/ai/search', { params: { query: { query: 'esim japan' } } })
  const { data, error } = await client.POST('/api/catalog/esims/purchase/info', {
    body: { offerId },
  })
  if (data === undefined || !('orderId' in data)) throw new Error(error?.code)
  told({ total: found.data?.total, orderId: data.orderId, states: data.orders.map(({ state }) => state) })
}

void buy()
