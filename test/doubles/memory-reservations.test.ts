import { describeReservations } from '../contract/reservations.ts'
import { memoryReservations } from './memory-reservations.ts'
import { handClock } from './orders.ts'

describeReservations('memory', async () => {
  const clock = handClock()
  const store = memoryReservations(clock.now)
  return {
    store,
    other: store,
    now: async () => clock.now(),
    pass: async (ms) => clock.pass(ms),
    close: async () => {},
  }
})
