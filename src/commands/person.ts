import { erasePerson } from '../operator/persons.ts'
import { type Act, parseCommand, UsageError } from './act.ts'

const usage = `Usage: kiosk402 person erase PERSON --reason "..."

Erases the e-mail addresses, phone numbers and names of a person from all of their orders. What was bought and paid
stays, and the denylist knows them by a keyed digest. With --dry-run it says how much that is.

A person is an e-mail address, a phone number with its +, or an ICCID. For more of one person, erase each.

Examples:
  kiosk402 person erase ada@example.org --reason "asked for it on 29 November" --dry-run
  kiosk402 person erase "+49 1512 3456789" --reason "asked for it on 29 November"`

export const person: Act = {
  summary: 'erases a person from orders and denylist',
  usage,
  async run(args, { withOperator }) {
    const { names, reason = '' } = parseCommand(args, { erase: ['names', 'reason'] })
    if (names.length === 0) throw new UsageError('erase needs an e-mail address or a phone number')
    if (reason.length < 3) throw new UsageError('erase needs a --reason')
    const data = await withOperator((operator) => erasePerson(operator, names.join(' '), reason))
    const { orders, checkouts, denylistEntries, later } = data
    const counts = `${orders} orders, ${checkouts} checkouts, ${denylistEntries} entries of the denylist`
    const open = later.map((id) => `${id} is still open; erase them again once it has ended`)
    return { exit: later.length > 0 ? 1 : 0, data, lines: [`Erased: ${counts}.`, ...open] }
  },
}
