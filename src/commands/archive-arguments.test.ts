import { describe, expect, it } from 'vitest'
import { fewestArchiveMonths } from '../environment/common.ts'
import { commandOf, monthsAgo } from './archive-arguments.ts'

const now = new Date('2026-05-31T12:00:00Z')

describe('the command line of the archive', () => {
  it.each([
    ['--to a', { type: 'move', dir: 'a', before: undefined }],
    ['--to a --before 2026-01', { type: 'move', dir: 'a', before: new Date('2026-01-01') }],
    ['--from a --show ord_1', { type: 'show', dir: 'a', order: 'ord_1', withGoods: false }],
    ['--show ord_1 --goods --from a', { type: 'show', dir: 'a', order: 'ord_1', withGoods: true }],
  ])('takes %s', (line, command) => {
    expect(commandOf(line.split(' '), now)).toEqual(command)
  })

  it.each([
    ['--before 2026-01', '--to is missing'],
    ['--to a --before 2026-13', 'must be a month'],
    ['--to a --before 2026-02', 'orders stay for three months after their end'],
    ['--to a --before 2027-01', 'it must be 2026-01 or earlier'],
    ['--show ord_1', '--from is missing'],
    ['--to a --show ord_1', '--show moves nothing'],
    ['--from a', '--show is missing'],
    ['--to a --goods', '--show is missing'],
    ['--to a --all', "Unknown option '--all'"],
  ])('refuses %s', (line, said) => {
    expect(() => commandOf(line.split(' '), now)).toThrow(said)
  })

  it('leaves in the tables what the tables would not let go, in every month', () => {
    for (let day = 0; day < 366; day += 1) {
      const today = new Date(Date.UTC(2027, 0, 1 + day))
      const age = today.getTime() - monthsAgo(fewestArchiveMonths, today).getTime()
      expect(age).toBeGreaterThanOrEqual(90 * 86_400_000)
      expect(today.getUTCDate() === 1 || age > 90 * 86_400_000).toBe(true)
    }
  })
})
