import { stoppedAfterEach } from '../stopping.fixture.ts'
import { ask, startReceiver, startTestBtcpay } from './client.fixture.ts'
import type { BtcpayOptions } from './options.ts'

/** Starts servers, each with a receiver of its webhooks. Both stop after the test that started them. */
export function heardBtcpay() {
  const started = stoppedAfterEach()
  return async (options: Partial<BtcpayOptions>) => {
    const receiver = await startReceiver()
    const server = await startTestBtcpay({ webhook: receiver.webhook, ...options })
    started.push(server, receiver)
    const call = (what: string, body?: unknown) => ask(server.url, what, body)
    return { call, receiver }
  }
}
