import { describeNodeBook } from '../contract/node-book.ts'
import { memoryNodes } from './memory-nodes.ts'

describeNodeBook('in memory', () => {
  let at = Date.now()
  const book = memoryNodes(() => new Date(at))
  return {
    books: [book, book],
    pass: (minutes) => {
      at += minutes * 60_000
    },
  }
})
